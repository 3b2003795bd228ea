package prompt

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"deskvnc/viewer/sample/tree"
)

// Interact is a login at a terminal: a prompt, lines and what they do, until
// the person logs out, the terminal hangs or ctx ends.
func (s *Shell) Interact(ctx context.Context, t *Terminal) End {
	s.term = t
	t.background()
	out := channel{ctx, t.out}
	if f, err := s.tree.Open("/etc/motd", tree.Read, 0); err == nil {
		io.Copy(onlyWriter{screen{ctx, t.out}}, f)
		f.Close()
	}
	e := &editor{s: s, t: t, k: keyboard{t: t}, out: out, ctx: ctx}
	for !s.over && ctx.Err() == nil {
		// The title is the folder, and the folder is told as an address (OSC 7).
		title := userName + "@" + hostName + ": " + printable(s.shortDir())
		io.WriteString(out, "\x1b]0;"+title+"\x07\x1b]7;file://"+hostName+urlPath(s.dir)+"\x07")
		line, err := e.line()
		switch {
		case errors.Is(err, errInterrupted):
			s.status = 128 + signals["INT"]
			continue
		case err == io.EOF:
			io.WriteString(out, "logout\r\n")
			return s.end()
		case err != nil:
			return End{Code: code(ctx)}
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		s.remember(line)
		s.typeAhead(&e.k)
		s.foreground(ctx, line)
		if s.status == 128+signals["INT"] || s.status == 128+signals["QUIT"] {
			io.WriteString(out, "\r\n")
		}
	}
	return s.end()
}

// typeAhead gives back to the terminal what the editor read beyond its line.
func (s *Shell) typeAhead(k *keyboard) {
	s.term.mu.Lock()
	s.term.ready = slices.Concat(k.buf, s.term.ready)
	s.term.mu.Unlock()
	k.buf = nil
}

func (s *Shell) remember(line string) {
	if n := len(s.history); n > 0 && s.history[n-1] == line {
		return
	}
	s.history = append(s.history, line)
	if len(s.history) > maxHistory {
		s.history = slices.Delete(s.history, 0, len(s.history)-maxHistory)
	}
}

// shortDir is the folder with ~ for home.
func (s *Shell) shortDir() string {
	if rest, ok := strings.CutPrefix(s.dir, tree.Home); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return s.dir
}

// urlPath is a path as it stands in an address.
func urlPath(p string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(p) {
		c := p[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/-_.~", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
		}
	}
	return b.String()
}
