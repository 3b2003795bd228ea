package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
	"deskvnc/viewer/grid"
	"deskvnc/viewer/sshdial"
)

// A Session is a login with a program in a terminal.
type Session struct {
	client *sshdial.Client
	target viewer.Target
	grid   *grid.Terminal
	emit   func(viewer.Event)
	again  bool
	text   *charset
	out    *outbox
	slots  chan struct{} // a place for each command at work
	deaf   atomic.Bool   // the machine takes no signals for commands

	channel  ssh.Channel // set by start
	requests <-chan *ssh.Request

	done chan struct{} // closed when all has stopped

	sizing sync.Mutex // one change of size at a time

	mu     sync.Mutex   // guards below
	exit   *viewer.Exit // how the program ended, once the machine said so
	closed bool
	err    error
	size   [2]int // columns and rows that the machine was told
}

var (
	_ viewer.Session   = (*Session)(nil)
	_ viewer.Inputter  = (*Session)(nil)
	_ viewer.Releaser  = (*Session)(nil)
	_ viewer.Resizer   = (*Session)(nil)
	_ viewer.Encrypter = (*Session)(nil)
	_ viewer.Signaller = (*Session)(nil)
	_ viewer.Runner    = (*Session)(nil)
	_ viewer.Carrier   = (*Session)(nil)
)

const (
	// readPiece is how much of the output is drawn at once: a packet of SSH
	// holds as much.
	readPiece = 32 << 10
	// lastWords is how long the output of a program that has ended may take to
	// arrive.
	lastWords = 2 * time.Second
	// explains is how long the end of a connection may take to be known after
	// that of its channel.
	explains = 500 * time.Millisecond
)

func newSession(c *sshdial.Client, t viewer.Target, env viewer.Env, text *charset) *Session {
	return &Session{
		client: c, target: t, grid: env.Grid, emit: env.Emit, again: env.Again, text: text,
		out: newOutbox(env.Grid, text), slots: make(chan struct{}, maxCommands), done: make(chan struct{}),
	}
}

// abandon ends a session that did not start.
func (s *Session) abandon() {
	s.out.stop(errClosed)
	s.client.Close()
}

// start starts the program and what serves it.
func (s *Session) start(ctx context.Context) error {
	if s.target.Settings().NoShell {
		s.out.stop(&viewer.Error{Op: "shell.Post", Kind: viewer.Unsupported, Err: errors.New("this session was opened without a terminal")})
		go s.carry()
		return nil
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	if s.again {
		fmt.Fprintf(s.grid, "\x1b[2m[connected again at %s]\x1b[0m\r\n", time.Now().Format("15:04:05"))
	}
	cols, rows := s.size[0], s.size[1]
	s.emit(viewer.Resized{Width: cols, Height: rows})
	go s.serve()
	return nil
}

// carry serves a session without a terminal.
func (s *Session) carry() {
	<-s.client.Done()
	s.finish(s.client.Err())
}

// serve serves the program to its end.
func (s *Session) serve() {
	var working, writing sync.WaitGroup
	writing.Go(s.writeLoop)
	working.Go(s.readLoop)
	working.Go(s.requestLoop)
	working.Go(func() { io.Copy(io.Discard, s.channel.Stderr()) })
	working.Wait()
	err := s.why()
	s.out.stop(err)
	s.client.Close()
	writing.Wait()
	s.grid.LinkLost()
	s.finish(err)
}

func (s *Session) finish(err error) {
	s.out.stop(errClosed)
	s.mu.Lock()
	if !s.closed {
		s.err = err
	}
	s.mu.Unlock()
	close(s.done)
}

// why is the reason of the program's end.
func (s *Session) why() error {
	s.mu.Lock()
	exit, closed := s.exit, s.closed
	s.mu.Unlock()
	switch {
	case exit != nil:
		return &viewer.Error{Op: "shell", Kind: viewer.Exited, Err: exit}
	case closed:
		return errClosed
	}
	limit := time.NewTimer(explains)
	defer limit.Stop()
	select {
	case <-s.client.Done():
		if err := s.client.Err(); err != nil {
			return err
		}
	case <-limit.C:
	}
	return &viewer.Error{Op: "shell", Kind: viewer.Closed, Err: fmt.Errorf("%s closed the terminal and did not say how the program ended", s.target.Label())}
}

// readLoop draws what the program prints.
func (s *Session) readLoop() {
	b := make([]byte, readPiece)
	for {
		n, err := s.channel.Read(b)
		if n > 0 {
			s.draw(s.text.in(b[:n]))
		}
		if err != nil {
			return
		}
	}
}

// draw draws output, and passes on what comes of it.
func (s *Session) draw(b []byte) {
	s.grid.Write(b)
	if r := s.grid.Replies(); len(r) > 0 {
		s.out.reply(r)
	}
	for _, e := range s.grid.Events() {
		switch e.Kind {
		case grid.Title:
			s.emit(viewer.Named{Name: e.Text})
		case grid.Bell:
			s.emit(viewer.Bell{})
		case grid.Clipboard:
			s.emit(viewer.ClipboardAsked{Text: e.Text, Primary: e.Name == "p"})
		case grid.Notify:
			s.emit(viewer.Notified{Text: e.Text})
		}
	}
}

// requestLoop takes what the machine says of the program.
func (s *Session) requestLoop() {
	var last *time.Timer
	for r := range s.requests {
		if exit := exitOf(r); exit != nil {
			s.mu.Lock()
			first := s.exit == nil
			if first {
				s.exit = exit
			}
			s.mu.Unlock()
			if first {
				last = time.AfterFunc(lastWords, func() { s.client.Close() })
			}
		}
		if r.WantReply {
			r.Reply(false, nil)
		}
	}
	if last != nil {
		last.Stop()
	}
}

func (s *Session) writeLoop() {
	for {
		b, ok := s.out.take()
		if !ok {
			return
		}
		_, err := s.channel.Write(b)
		s.out.wrote(err)
	}
}

// Done is closed when the session has ended and all of it has stopped.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err is why the session has ended; of kind [viewer.Exited], with a
// [viewer.Exit], when the program did.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close ends the login and all that runs through it.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.out.stop(errClosed)
	s.client.Close()
	<-s.done
	return nil
}

// Encrypted reports that the session is protected on its way: always.
func (s *Session) Encrypted() bool { return true }

// Carrier is the login, for what runs beside the terminal.
func (s *Session) Carrier() viewer.Login { return s.client }

// User is who is logged in.
func (s *Session) User() string { return s.client.User() }

// Post queues inputs; see [viewer.Inputter].
func (s *Session) Post(in ...viewer.Input) error { return s.out.post(in) }

// Queued is the number of inputs not written yet.
func (s *Session) Queued() int { return s.out.queued() }

// Flush waits until all that was posted before has been written.
func (s *Session) Flush(ctx context.Context) error { return s.out.flush(ctx) }

// ReleaseAll clears the queue, also of the rest of a long paste, and lets go of
// what is held: a program that asked for the mouse is told so.
func (s *Session) ReleaseAll(ctx context.Context) error { return s.out.releaseAll(ctx) }

var errClosed = &viewer.Error{Op: "shell", Kind: viewer.Closed, Err: errors.New("the session was closed")}
