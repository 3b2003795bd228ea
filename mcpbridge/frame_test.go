package mcpbridge

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

// read gives every message of a stream; a fault stands as its text.
func read(f *frames) []string {
	var all []string
	for {
		b, err := f.next()
		switch {
		case err == nil:
			all = append(all, string(b))
		case errors.Is(err, errTooLong):
			all = append(all, "LONG")
		case errors.Is(err, errHeader):
			all = append(all, "HEADER")
		case errors.Is(err, errTruncated):
			return append(all, "TRUNCATED")
		default:
			return all
		}
	}
}

func TestFrames(t *testing.T) {
	const limit = 40
	pad := func(n int) string { return "{" + strings.Repeat(" ", n-2) + "}" }
	for _, c := range []struct {
		name, in string
		want     string // messages with | between
		framed   bool
	}{
		{"two lines", "{1}\n{2}\n", "{1}|{2}", false},
		{"CRLF", "{1}\r\n{2}\r\n", "{1}|{2}", false},
		{"blank lines", "\n  \n\r\n{1}\n\t\n", "{1}", false},
		{"last line without newline", "{1}\n{2}", "{1}|{2}", false},
		{"nothing", "", "", false},
		{"byte order mark", "\xef\xbb\xbf{1}\n", "{1}", false},
		{"byte order mark after a blank line", "\n\xef\xbb\xbf{1}\n", "{1}", false},
		{"byte order mark later is not skipped", "{1}\n\xef\xbb\xbf{2}\n", "{1}|\xef\xbb\xbf{2}", false},
		{"longest line", pad(limit-1) + "\n{2}\n", pad(limit-1) + "|{2}", false},
		{"one too long", pad(limit) + "\n{2}\n", "LONG|{2}", false},
		{"one too long at the end", pad(limit), "LONG", false},
		{"longest at the end", pad(limit - 1), pad(limit - 1), false},
		{"valid call padded beyond", "{1}" + strings.Repeat(" ", 99) + "\n{2}\n", "LONG|{2}", false},
		{"two overlong", pad(99) + "\n" + pad(99) + "\n{3}\n", "LONG|LONG|{3}", false},

		{"framed", "Content-Length: 3\r\n\r\n{1}Content-Length: 3\r\n\r\n{2}", "{1}|{2}", true},
		{"framed with LF", "content-length:3\n\n{1}", "{1}", true},
		{"framed after a mark", "\xef\xbb\xbfContent-Length: 3\r\n\r\n{1}", "{1}", true},
		{"framed with newlines inside", "Content-Length: 7\r\n\r\n{\n1\r\n}\n", "{\n1\r\n}", true},
		{"framed with a second header", "Content-Type: x; charset=utf-8\r\nContent-Length: 3\r\n\r\n{1}", "{1}", true},
		{"framed then a newline", "Content-Length: 3\r\n\r\n{1}\nContent-Length: 3\r\n\r\n{2}\n", "{1}|{2}", true},
		{"framed then a line", "Content-Length: 3\r\n\r\n{1}\n{2}\n", "{1}|{2}", true},
		{"line then framed", "{1}\nContent-Length: 3\r\n\r\n{2}", "{1}|{2}", true},
		{"empty body", "Content-Length: 0\r\n\r\nContent-Length: 3\r\n\r\n{1}", "{1}", true},
		{"overlong body", "Content-Length: 50\r\n\r\n" + pad(50) + "Content-Length: 3\r\n\r\n{1}", "LONG|{1}", true},
		{"overlong body that never comes", "Content-Length: 9000000000000000000\r\n\r\n{1}", "LONG", true},
		{"longest body", "Content-Length: 40\r\n\r\n" + pad(40), pad(40), true},
		{"cut short", "Content-Length: 9\r\n\r\n{1}", "TRUNCATED", true},
		{"cut short in the headers", "Content-Length: 9\r\n", "TRUNCATED", false},
		{"no length", "Content-Type: x\r\n\r\n{1}\n", "HEADER|{1}", false},
		{"negative length", "Content-Length: -1\r\n\r\n{1}\n", "HEADER|{1}", false},
		{"length in words", "Content-Length: three\r\n\r\n{1}\n", "HEADER|{1}", false},
		{"length too large", "Content-Length: 99999999999999999999\r\n\r\n{1}\n", "HEADER|{1}", false},
		{"two lengths", "Content-Length: 3\r\nContent-Length: 4\r\n\r\n{1}\n", "HEADER|{1}", false},
		{"another header is no header", "Host: x\n{1}\n", "Host: x|{1}", false},
		{"endless headers", strings.Repeat("Content-Type: x\n", 17) + "{1}\n", "HEADER|{1}", false},
		{"endless header line", "Content-Length: 3\nX: " + strings.Repeat("x", frameBuffer) + "\n{1}\n", "HEADER|{1}", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.in), oneByte{strings.NewReader(c.in)}} {
				f := newFrames(r, limit)
				if got := strings.Join(read(f), "|"); got != c.want || f.framed.Load() != c.framed {
					t.Errorf("got %q framed %v, want %q framed %v", got, f.framed.Load(), c.want, c.framed)
				}
			}
		})
	}
}

// oneByte reads one byte at a time.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }

var manyX = strings.Repeat("x", frameBuffer)

// endless gives n bytes that never end a line.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), e.n))
	for done := 0; done < n; {
		done += copy(p[done:n], manyX)
	}
	e.n -= int64(n)
	return n, nil
}

func TestFramesKeepMemoryFlat(t *testing.T) {
	const limit = 1 << 20
	for name, r := range map[string]io.Reader{
		"line": io.MultiReader(&endless{1 << 30}, strings.NewReader("\n{1}\n")),
		"body": io.MultiReader(strings.NewReader("Content-Length: 1073741824\r\n\r\n"), &endless{1 << 30}, strings.NewReader("{1}\n")),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := strings.Join(read(newFrames(r, limit)), "|")
			runtime.ReadMemStats(&after)
			if got != "LONG|{1}" {
				t.Errorf("got %.40q, want LONG|{1}", got)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 16*limit {
				t.Errorf("a message of 1 GiB made %d bytes be allocated under a limit of %d", used, limit)
			}
		})
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("{1}\r\n\n{2}"), uint16(40))
	f.Add([]byte("Content-Length: 3\r\n\r\n{1}Content-Length: 99\r\n\r\n{2}"), uint16(40))
	f.Add([]byte("\xef\xbb\xbfContent-Type: x\nContent-Length: 3\n\n{1}"), uint16(40))
	f.Fuzz(func(t *testing.T, in []byte, limit uint16) {
		r := newFrames(bytes.NewReader(in), int(limit)+2)
		for n := 0; ; n++ {
			b, err := r.next()
			switch {
			case err == nil:
				if len(b) == 0 || len(b) > r.max || len(bytes.TrimSpace(b)) != len(b) {
					t.Fatalf("got a message of %d bytes under %d", len(b), r.max)
				}
			case err != errTooLong && err != errHeader:
				return
			}
			if n > len(in) {
				t.Fatal("more messages than bytes")
			}
		}
	})
}
