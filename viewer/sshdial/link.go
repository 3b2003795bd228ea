package sshdial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"deskvnc/viewer"
)

// A link is the stream to one machine. It knows how long the machine may take
// over the step at hand, and why it ended.
type link struct {
	net.Conn
	to    string       // the address of the machine
	heard atomic.Int64 // when bytes came last, in nanoseconds since epoch

	mu      sync.Mutex // guards below; never held across I/O
	timer   *time.Timer
	turn    int           // of the clock; one that was stopped too late is not this one
	left    time.Duration // of the step, while it stands still
	since   time.Time
	paused  int
	step    string
	limit   time.Duration
	settled bool  // the login is over
	cause   error // why it ended, when we ended it
	readErr error // why it ended, when the machine did
	waited  bool  // a person was asked
	strange bool  // the machine has sent a line that is no SSH greeting
	greeted bool  // the machine has sent an SSH greeting
	line    []byte
	onGreet func()
}

var epoch = time.Now()

func newLink(c net.Conn, to string) *link {
	l := &link{Conn: c, to: to}
	l.heard.Store(int64(time.Since(epoch)))
	return l
}

// Read notes when something came, and why nothing comes any more.
func (l *link) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if n > 0 {
		l.heard.Store(int64(time.Since(epoch)))
	}
	l.mu.Lock()
	if !l.greeted && n > 0 {
		l.greeting(p[:n])
	}
	greet := l.onGreet
	if l.greeted {
		l.onGreet = nil
	} else {
		greet = nil
	}
	if err != nil && l.readErr == nil {
		l.readErr = err
	}
	l.mu.Unlock()
	if greet != nil {
		greet()
	}
	return n, err
}

// greeting looks for the line that begins with SSH- (RFC 4253 4.2). The caller
// holds the lock.
func (l *link) greeting(p []byte) {
	for _, c := range p {
		if c == '\n' {
			if len(l.line) >= 4 && string(l.line[:4]) == "SSH-" {
				l.greeted, l.line = true, nil
				return
			}
			l.strange = true
			l.line = l.line[:0]
			continue
		}
		if len(l.line) < 4 {
			l.line = append(l.line, c)
		}
	}
}

// begin starts a step that the machine has so long for.
func (l *link) begin(step string, limit time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.settled {
		return
	}
	l.step, l.limit, l.left = step, limit, limit
	l.stop()
	if l.paused == 0 {
		l.start()
	}
}

// start and stop run and halt the clock; the caller holds the lock.
func (l *link) start() {
	turn := l.turn
	l.since = time.Now()
	l.timer = time.AfterFunc(l.left, func() { l.expired(turn) })
}

func (l *link) stop() {
	l.turn++
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

// pause halts the clock while a person is asked; resume lets it run on.
func (l *link) pause() (resume func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waited = true
	if l.paused++; l.paused == 1 && !l.settled {
		l.left -= time.Since(l.since)
		l.stop()
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.paused--; l.paused == 0 && !l.settled {
			l.left = max(l.left, time.Second)
			l.start()
		}
	}
}

// settle ends the clock: the login is over.
func (l *link) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settled = true
	l.stop()
}

func (l *link) expired(turn int) {
	l.mu.Lock()
	step, limit, live := l.step, l.limit, l.turn == turn && !l.settled
	strange := !l.greeted && (l.strange || !strings.HasPrefix("SSH-", string(l.line)))
	l.mu.Unlock()
	if live && strange {
		l.end(notSSH(l.to))
		return
	}
	if live {
		l.end(&viewer.Error{Op: "ssh", Kind: viewer.Timeout, Err: fmt.Errorf("the machine took longer than %v over %s", limit, step)})
	}
}

// end closes the stream, and keeps why unless there is a reason already.
func (l *link) end(why error) {
	l.mu.Lock()
	if l.cause == nil {
		l.cause = why
	}
	l.mu.Unlock()
	l.Conn.Close()
}

// broken is why the stream has ended, or nil.
func (l *link) broken() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause != nil {
		return l.cause
	}
	return l.readErr
}

// ended is why we ended the stream, or nil.
func (l *link) ended() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// watch ends the stream with ctx, until the function it returns is called.
func (l *link) watch(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		kind := viewer.KindOf(ctx.Err())
		l.end(&viewer.Error{Op: "ssh", Kind: kind, Err: ctx.Err()})
	})
}

// silence is for how long nothing came.
func (l *link) silence() time.Duration {
	return time.Since(epoch) - time.Duration(l.heard.Load())
}

var errClosed = &viewer.Error{Op: "ssh", Kind: viewer.Closed, Err: errors.New("the SSH connection has ended")}
