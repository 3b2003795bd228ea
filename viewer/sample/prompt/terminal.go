package prompt

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"
	"unicode/utf8"
)

const (
	// typedSize bounds what was typed and not yet read.
	typedSize = 64 << 10
	// lineSize bounds a line that a command reads.
	lineSize = 4096
)

// The largest terminal; a client may claim any.
const (
	maxCols = 1000
	maxRows = 500
)

// A Terminal is what a person types into and looks at. With a raw terminal
// keys are read as they are; else it edits lines, shows what is typed and
// makes signals of Ctrl+C and Ctrl+\.
type Terminal struct {
	out *Outlet

	mu         sync.Mutex // guards below
	cond       sync.Cond
	raw        bool
	line       []byte // typed, not finished
	ready      []byte // to be read
	eofs       []int  // where in ready an end of input stands
	hung       bool   // nothing comes any more
	reading    bool   // the command that runs reads what is typed
	interrupt  func(signal string)
	cols, rows int
	changed    chan struct{} // one place: the size changed
}

// NewTerminal is a terminal of a size that shows on out.
func NewTerminal(out *Outlet, cols, rows int) *Terminal {
	t := &Terminal{out: out, changed: make(chan struct{}, 1)}
	t.cond.L = &t.mu
	t.Resize(cols, rows)
	return t
}

// Resize says how large the terminal is now. It may be called by any
// goroutine.
func (t *Terminal) Resize(cols, rows int) {
	if cols <= 0 || rows <= 0 {
		cols, rows = 80, 24
	}
	t.mu.Lock()
	t.cols, t.rows = min(cols, maxCols), min(rows, maxRows)
	t.mu.Unlock()
	select {
	case t.changed <- struct{}{}:
	default:
	}
	t.cond.Broadcast()
}

// Size is how large it is.
func (t *Terminal) Size() (cols, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cols, t.rows
}

// Type takes what was typed. While nobody reads it, it waits here, and so does
// the caller once there is too much; what a command that reads nothing is
// given beyond the bound is lost.
func (t *Terminal) Type(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range p {
		for len(t.ready) >= typedSize && (t.raw || t.reading) && !t.hung {
			t.cond.Broadcast()
			t.cond.Wait()
		}
		if t.hung {
			return
		}
		if t.raw {
			t.ready = append(t.ready, c)
			continue
		}
		t.cook(c)
	}
	t.cond.Broadcast()
}

// cook takes one byte while a command runs. The caller holds mu.
func (t *Terminal) cook(c byte) {
	switch c {
	case 0x03:
		t.signal("INT", "^C")
	case 0x1c:
		t.signal("QUIT", `^\`)
	case 0x04:
		if len(t.line) > 0 {
			t.deliver()
		} else if len(t.eofs) < 64 {
			t.eofs = append(t.eofs, len(t.ready))
		}
	case '\r', '\n':
		t.line = append(t.line, '\n')
		t.out.offer([]byte("\r\n"))
		t.deliver()
	case 0x7f, 0x08:
		if len(t.line) > 0 {
			_, n := utf8.DecodeLastRune(t.line)
			t.rub(t.line[len(t.line)-n:])
			t.line = t.line[:len(t.line)-n]
		}
	case 0x15:
		t.rub(t.line)
		t.line = t.line[:0]
	default:
		if len(t.line) >= lineSize {
			t.out.offer([]byte{7})
			return
		}
		t.line = append(t.line, c)
		if c < ' ' && c != '\t' {
			t.out.offer([]byte{'^', c + '@'})
		} else {
			t.out.offer([]byte{c})
		}
	}
}

// rub takes characters off the screen.
func (t *Terminal) rub(b []byte) {
	for range textWidth(string(b)) {
		t.out.offer([]byte("\b \b"))
	}
}

func (t *Terminal) deliver() {
	if len(t.ready)+len(t.line) > typedSize && !t.reading {
		t.out.offer([]byte{7})
	} else {
		t.ready = append(t.ready, t.line...)
	}
	t.line = t.line[:0]
}

// signal ends what runs, and forgets what was typed and not yet shown.
func (t *Terminal) signal(name, echo string) {
	t.line, t.ready, t.eofs = t.line[:0], nil, nil
	if t.interrupt != nil {
		t.out.Drop()
		t.out.offer([]byte(echo))
		t.interrupt(name)
	}
}

// Signal is the key of a signal, INT or QUIT, from elsewhere.
func (t *Terminal) Signal(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.interrupt != nil:
		t.signal(name, "")
	case name == "INT" && len(t.ready) < typedSize:
		t.ready = append(t.ready, 0x03)
	}
	t.cond.Broadcast()
}

// Hang says that nothing will be typed any more.
func (t *Terminal) Hang() {
	t.mu.Lock()
	t.hung = true
	t.mu.Unlock()
	t.cond.Broadcast()
}

// foreground gives the keyboard to a command, which interrupt ends.
func (t *Terminal) foreground(interrupt func(signal string)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.interrupt, t.reading, t.raw, t.line, t.eofs = interrupt, false, false, t.line[:0], nil
	// What was typed ahead counts as typed to the command.
	ahead := t.ready
	t.ready = nil
	if i := bytes.LastIndexByte(ahead, 0x03); i >= 0 {
		ahead = ahead[i+1:]
	}
	for _, c := range ahead {
		t.cook(c)
	}
	t.cond.Broadcast()
}

// background takes the keyboard back for the line editor.
func (t *Terminal) background() {
	t.mu.Lock()
	for _, at := range slices.Backward(t.eofs) { // what ended the input is a key again
		t.ready = slices.Insert(t.ready, at, 0x04)
	}
	t.interrupt, t.reading, t.raw, t.eofs = nil, false, true, nil
	t.ready = append(t.ready, t.line...)
	t.line = t.line[:0]
	t.mu.Unlock()
	t.cond.Broadcast()
}

// setRaw has keys read as they are, or no longer.
func (t *Terminal) setRaw(raw bool) {
	t.mu.Lock()
	t.raw, t.line, t.eofs = raw, t.line[:0], nil
	t.mu.Unlock()
	t.cond.Broadcast()
}

// read waits for what is typed.
func (t *Terminal) read(ctx context.Context, p []byte) (int, error) {
	stop := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		t.cond.Broadcast()
		t.mu.Unlock()
	})
	defer stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reading = true
	t.cond.Broadcast()
	for {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if len(t.eofs) > 0 && t.eofs[0] == 0 {
			t.eofs = t.eofs[1:]
			return 0, io.EOF
		}
		if len(t.ready) > 0 {
			break
		}
		if t.hung {
			return 0, io.EOF
		}
		t.cond.Wait()
	}
	n := len(t.ready)
	if len(t.eofs) > 0 {
		n = t.eofs[0]
	}
	n = copy(p, t.ready[:n])
	t.ready = t.ready[:copy(t.ready, t.ready[n:])]
	for i := range t.eofs {
		t.eofs[i] -= n
	}
	t.cond.Broadcast()
	return n, nil
}

// waiting reports whether something was typed that is not read yet.
func (t *Terminal) waiting() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.ready) > 0
}

// A typist reads what is typed, for one command.
type typist struct {
	ctx context.Context
	t   *Terminal
}

func (r typist) Read(p []byte) (int, error) { return r.t.read(r.ctx, p) }

// A screen shows what a command prints; lines end with CR LF there.
type screen struct {
	ctx context.Context
	out *Outlet
}

func (s screen) Write(p []byte) (int, error) {
	if !bytes.Contains(p, []byte{'\n'}) {
		return s.out.write(s.ctx, p)
	}
	if _, err := s.out.write(s.ctx, bytes.ReplaceAll(p, []byte{'\n'}, []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A channel writes to an outlet as it is.
type channel struct {
	ctx context.Context
	out *Outlet
}

func (s channel) Write(p []byte) (int, error) { return s.out.write(s.ctx, p) }
