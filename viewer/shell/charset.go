package shell

import (
	"fmt"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"

	"deskvnc/viewer"
)

// A charset turns the text of a machine that does not speak UTF-8 into UTF-8,
// and back. A nil one changes nothing.
type charset struct {
	encoding encoding.Encoding
	decoder  transform.Transformer // owned by the reader
	rest     []byte                // of a character that is cut
}

// charsetOf finds an encoding by its usual name.
func charsetOf(name string) (*charset, error) {
	if plain := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name)); plain == "" || plain == "utf8" {
		return nil, nil
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		return nil, &viewer.Error{Op: "shell.Open", Kind: viewer.Invalid, Err: fmt.Errorf("%.40q is no known text encoding: use utf-8, iso-8859-1, windows-1252, gbk, shift_jis or another of that kind", name)}
	}
	return &charset{encoding: e, decoder: e.NewDecoder()}, nil
}

func (c *charset) utf8() bool { return c == nil }

// in is output as UTF-8. A character that is cut waits for its rest.
func (c *charset) in(b []byte) []byte {
	if c == nil {
		return b
	}
	src := append(c.rest, b...)
	out := make([]byte, 0, 2*len(src)+16)
	for len(src) > 0 {
		out = growFor(out, len(src))
		n, used, err := c.decoder.Transform(out[len(out):cap(out)], src, false)
		out, src = out[:len(out)+n], src[used:]
		if err == transform.ErrShortSrc {
			break
		}
		if err != nil && err != transform.ErrShortDst || n == 0 && used == 0 && err == nil {
			out, src = append(out, "\ufffd"...), src[1:]
		}
	}
	c.rest = append([]byte(nil), src...)
	return out
}

// growFor makes room for the decoding of n bytes.
func growFor(b []byte, n int) []byte {
	if cap(b)-len(b) >= 3*n+16 {
		return b
	}
	return append(make([]byte, 0, len(b)+3*n+64), b...)
}

// out is input as the machine has it; a character that it does not have is a
// question mark.
func (c *charset) out(b []byte) []byte {
	if c == nil {
		return b
	}
	e := c.encoding.NewEncoder()
	if out, err := e.Bytes(b); err == nil {
		return out
	}
	var out []byte
	for _, r := range string(b) {
		one, err := e.Bytes([]byte(string(r)))
		if err != nil {
			one = []byte{'?'}
		}
		out = append(out, one...)
	}
	return out
}
