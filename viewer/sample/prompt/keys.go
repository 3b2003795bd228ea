package prompt

import (
	"context"
	"unicode/utf8"
)

// A key is a character, or a key of its own that has a name.
type key struct {
	r    rune
	name string
	text string // of a paste
}

// maxSequence bounds an escape sequence, and maxPaste a pasted text.
const (
	maxSequence = 32
	maxPaste    = 32 << 10
)

// A keyboard reads keys from a raw terminal. One goroutine uses it.
type keyboard struct {
	t   *Terminal
	buf []byte
}

// sequences are the keys that send more than a character (xterm).
var sequences = map[string]string{
	"[A": "up", "[B": "down", "[C": "right", "[D": "left", "[H": "home", "[F": "end",
	"OA": "up", "OB": "down", "OC": "right", "OD": "left", "OH": "home", "OF": "end",
	"[1~": "home", "[4~": "end", "[7~": "home", "[8~": "end", "[3~": "delete", "[5~": "page up", "[6~": "page down",
	"[1;5C": "word right", "[1;5D": "word left", "[1;3C": "word right", "[1;3D": "word left", "b": "word left", "f": "word right",
	"d": "kill word", "\x7f": "rub word", "[200~": "paste",
}

// next waits for a key.
func (k *keyboard) next(ctx context.Context) (key, error) {
	if err := k.want(ctx, 1); err != nil {
		return key{}, err
	}
	if k.buf[0] == 0x1b {
		return k.sequence(ctx)
	}
	for !utf8.FullRune(k.buf) {
		if err := k.want(ctx, len(k.buf)+1); err != nil {
			return key{}, err
		}
	}
	r, n := utf8.DecodeRune(k.buf)
	k.buf = k.buf[n:]
	return key{r: r}, nil
}

// want waits until n bytes are there.
func (k *keyboard) want(ctx context.Context, n int) error {
	var b [1024]byte
	for len(k.buf) < n {
		m, err := k.t.read(ctx, b[:])
		if err != nil {
			return err
		}
		k.buf = append(k.buf, b[:m]...)
	}
	return nil
}

// sequence reads what begins with ESC. ESC alone is the key when nothing comes
// with it.
func (k *keyboard) sequence(ctx context.Context) (key, error) {
	if len(k.buf) == 1 && !k.t.waiting() {
		k.buf = nil
		return key{name: "escape"}, nil
	}
	for n := 2; n <= maxSequence; n++ {
		if err := k.want(ctx, n); err != nil {
			return key{}, err
		}
		c := k.buf[n-1]
		if n == 2 && (c == '[' || c == 'O') {
			continue
		}
		if n > 2 && k.buf[1] == '[' && c < 0x40 {
			continue // parameters
		}
		name := sequences[string(k.buf[1:n])]
		k.buf = k.buf[n:]
		if name == "paste" {
			return k.paste(ctx)
		}
		return key{name: name}, nil
	}
	k.buf = k.buf[maxSequence:]
	return key{}, nil
}

// paste reads a bracketed paste; of a longer one the rest is lost.
func (k *keyboard) paste(ctx context.Context) (key, error) {
	const end = "\x1b[201~"
	var text []byte
	for {
		if err := k.want(ctx, 1); err != nil {
			return key{}, err
		}
		text = append(text, k.buf[0])
		k.buf = k.buf[1:]
		if n := len(text) - len(end); n >= 0 && string(text[n:]) == end {
			return key{name: "paste", text: string(text[:min(n, maxPaste)])}, nil
		}
		if len(text) > maxPaste+2*len(end) {
			text = append(text[:maxPaste+len(end)], text[len(text)-len(end):]...)
		}
	}
}
