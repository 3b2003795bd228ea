package sample

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer/sample/prompt"
	"deskvnc/viewer/sample/tree"
)

// pipe copies until one side ends.
func pipe(to io.Writer, from io.Reader) { io.Copy(writer{to}, reader{from}) }

// writer and reader hide what else a stream can do, so that memory is bounded
// by one buffer.
type writer struct{ io.Writer }
type reader struct{ io.Reader }

// A session is one channel in which something runs (RFC 4254 6).
type session struct {
	h     *shellHost
	ch    ssh.Channel
	shell *prompt.Shell

	// owned by the goroutine that reads the requests
	begun      bool
	pty        bool
	cols, rows int
	set        int    // variables
	start      func() // what is to be started once the request is answered

	ctx    context.Context // ends with the session
	cancel context.CancelCauseFunc
	work   sync.WaitGroup

	mu     sync.Mutex // guards below
	term   *prompt.Terminal
	signal string // that has ended it
}

// session serves one channel until both sides have closed it.
func (h *shellHost) session(ctx context.Context, c ssh.NewChannel) {
	ch, requests, err := c.Accept()
	if err != nil {
		return
	}
	s := &session{h: h, ch: ch, shell: prompt.New(h.files())}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	for r := range requests {
		ok := s.request(r)
		if r.WantReply {
			r.Reply(ok, nil)
		}
		if ok && s.begun && s.start != nil {
			s.work.Go(s.start)
			s.start = nil
		}
	}
	s.cancel(nil) // the client has closed it
	ch.Close()
	s.work.Wait()
}

// maxEnv bounds the variables that a client sets.
const maxEnv = 64

// request does what one request asks, and reports whether it could.
func (s *session) request(r *ssh.Request) bool {
	switch r.Type {
	case "env":
		var m struct{ Name, Value string }
		if s.begun || s.set >= maxEnv || ssh.Unmarshal(r.Payload, &m) != nil || !wanted(m.Name) || strings.IndexByte(m.Value, 0) >= 0 {
			return false
		}
		s.set++
		return s.shell.Setenv(m.Name, m.Value)
	case "pty-req":
		var m struct {
			Term          string
			Cols, Rows    uint32
			Width, Height uint32
			Modes         string
		}
		if s.begun || ssh.Unmarshal(r.Payload, &m) != nil {
			return false
		}
		s.pty, s.cols, s.rows = true, clamp(m.Cols), clamp(m.Rows)
		return s.shell.Setenv("TERM", strings.ReplaceAll(m.Term, "\x00", ""))
	case "window-change":
		var m struct{ Cols, Rows, Width, Height uint32 }
		if ssh.Unmarshal(r.Payload, &m) != nil {
			return false
		}
		s.cols, s.rows = clamp(m.Cols), clamp(m.Rows)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.term != nil {
			s.term.Resize(s.cols, s.rows)
		}
		return true
	case "signal":
		var m struct{ Name string }
		if ssh.Unmarshal(r.Payload, &m) == nil {
			s.hear(m.Name)
		}
		return true
	case "shell", "exec", "subsystem":
		return s.begin(r)
	}
	return false
}

// clamp keeps a size that a client claims within what an int takes.
func clamp(n uint32) int { return int(min(n, 1<<20)) }

// wanted are the variables that a client may set, as in OpenSSH.
func wanted(name string) bool {
	return name == "LANG" || strings.HasPrefix(name, "LC_") || name == "COLORTERM"
}

// begin makes ready what a channel is for. There is one thing a channel.
func (s *session) begin(r *ssh.Request) bool {
	if s.begun {
		return false
	}
	var m struct{ Text string }
	if r.Type != "shell" && ssh.Unmarshal(r.Payload, &m) != nil {
		return false
	}
	if r.Type == "subsystem" && m.Text != "sftp" {
		return false
	}
	s.begun = true
	switch {
	case r.Type == "subsystem":
		s.start = s.transfer
	case s.pty:
		s.start = s.terminal(m.Text, r.Type == "shell")
	case r.Type == "shell":
		s.start = s.lines
	default:
		s.start = func() { s.run(m.Text) }
	}
	return true
}

// transfer serves files.
func (s *session) transfer() {
	s.h.files().Serve(s.ch, tree.Home) // the client hears of what goes wrong, and nobody else is there
	s.end(prompt.End{})
}

// terminal is a shell at a terminal, or one command there.
func (s *session) terminal(line string, login bool) func() {
	out := prompt.NewOutlet(s.ch)
	t := prompt.NewTerminal(out, s.cols, s.rows)
	s.mu.Lock()
	s.term = t
	s.mu.Unlock()
	return func() {
		s.work.Go(func() {
			b := make([]byte, 4096)
			for {
				n, err := s.ch.Read(b)
				t.Type(b[:n])
				if err != nil {
					t.Hang()
					return
				}
			}
		})
		var end prompt.End
		if login {
			end = s.shell.Interact(s.ctx, t)
		} else {
			end = s.shell.RunOn(s.ctx, line, t)
		}
		t.Hang() // nothing is read any more
		s.finish(end, out)
	}
}

// run is one command without a terminal.
func (s *session) run(line string) {
	out, errs := prompt.NewOutlet(s.ch), prompt.NewOutlet(s.ch.Stderr())
	in, typed := io.Pipe()
	s.work.Go(func() {
		pipe(typed, s.ch)
		typed.Close()
	})
	stop := context.AfterFunc(s.ctx, func() { in.Close() })
	end := s.shell.Run(s.ctx, line, in, out, errs)
	stop()
	in.Close()
	s.finish(end, out, errs)
}

// maxScript bounds a script that comes in without a terminal.
const maxScript = 64 << 10

// lines is a shell without a terminal: all that comes in is one script.
func (s *session) lines() {
	b, err := io.ReadAll(io.LimitReader(s.ch, maxScript))
	if err != nil {
		s.end(prompt.End{Code: 1})
		return
	}
	out, errs := prompt.NewOutlet(s.ch), prompt.NewOutlet(s.ch.Stderr())
	end := s.shell.Run(s.ctx, string(b), strings.NewReader(""), out, errs)
	s.finish(end, out, errs)
}

// finish sends what is left to send, tells how it ended and closes the channel.
func (s *session) finish(end prompt.End, outs ...*prompt.Outlet) {
	for _, o := range outs {
		o.Flush(s.ctx)
	}
	s.end(end)
	for _, o := range outs {
		o.Close()
	}
}

// end tells how it ended, and closes the channel.
func (s *session) end(e prompt.End) {
	s.mu.Lock()
	if s.signal != "" {
		e.Signal = s.signal
	}
	s.mu.Unlock()
	// When this cannot be sent, the client has gone.
	if e.Signal != "" {
		s.ch.SendRequest("exit-signal", false, ssh.Marshal(struct {
			Name    string
			Core    bool
			Message string
			Lang    string
		}{Name: e.Signal}))
	} else {
		s.ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{uint32(e.Code)}))
	}
	s.ch.Close()
}

// endings are the signals that end what runs (RFC 4254 6.10).
var endings = []string{"ABRT", "ALRM", "HUP", "INT", "KILL", "PIPE", "QUIT", "SEGV", "TERM", "USR1", "USR2"}

// hear acts on a signal. At a terminal INT and QUIT are keys.
func (s *session) hear(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.begun || !slices.Contains(endings, name):
	case s.term != nil && name == "INT":
		s.term.Signal("INT")
	case s.term != nil && name == "QUIT":
		s.term.Signal("QUIT")
	case s.signal == "":
		s.signal = name
		s.cancel(nil)
	}
}
