package callers

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// word is how a machine that speaks VNC begins (RFC 6143 7.1.1).
const word = "RFB "

// maxHeld bounds what a caller may say before it is answered; a greeting has 12
// bytes.
const maxHeld = 64

// A line is the connection of a caller that waits. It is read from, to know
// what the caller speaks and whether it is still there, and never written to.
// Once released it gives what was read before again.
type line struct {
	net.Conn
	greeted chan struct{} // closed once enough was read to know, or the end
	done    chan struct{} // closed when nobody reads any more
	gone    context.Context
	hangUp  context.CancelFunc

	mu   sync.Mutex // guards said while the line waits; after that the reader owns it
	said []byte
}

// hold has a caller wait.
func hold(c net.Conn) *line {
	l := &line{Conn: c, greeted: make(chan struct{}), done: make(chan struct{})}
	l.gone, l.hangUp = context.WithCancel(context.Background())
	go l.watch()
	return l
}

// watch reads until the caller hangs up, says too much or is released.
func (l *line) watch() {
	defer close(l.done)
	var known sync.Once
	knows := func() { known.Do(func() { close(l.greeted) }) }
	defer knows()
	b := make([]byte, maxHeld)
	for {
		n, err := l.Conn.Read(b)
		l.mu.Lock()
		l.said = append(l.said, b[:n]...)
		enough := len(l.said) >= len(word)
		full := len(l.said) >= maxHeld
		l.mu.Unlock()
		if enough {
			knows()
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded): // released
			return
		case err != nil:
			l.hangUp()
			return
		case full: // it does not wait for an answer: what follows stays where it is
			return
		}
	}
}

// speaks reports whether the caller speaks VNC.
func (l *line) speaks() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.said) >= len(word) && string(l.said[:len(word)]) == word
}

// onEnd calls fn when the caller hangs up, until stop is called.
func (l *line) onEnd(fn func()) (stop func() bool) { return context.AfterFunc(l.gone, fn) }

// ended reports whether the caller has hung up.
func (l *line) ended() bool { return l.gone.Err() != nil }

// release ends the waiting: from then on the line is a connection like others.
func (l *line) release() (net.Conn, error) {
	if err := l.stop(); err != nil {
		return nil, err
	}
	if l.ended() {
		_ = l.Conn.Close()
		return nil, net.ErrClosed
	}
	return l, l.Conn.SetReadDeadline(time.Time{})
}

// stop ends the reading and waits for its end.
func (l *line) stop() error {
	err := l.Conn.SetReadDeadline(time.Unix(1, 0))
	if err != nil {
		_ = l.Conn.Close()
	}
	<-l.done
	return err
}

// Close hangs up.
func (l *line) Close() error {
	err := l.Conn.Close()
	<-l.done
	l.hangUp()
	return err
}

// Read gives what was said while the caller waited, and then the rest.
func (l *line) Read(b []byte) (int, error) {
	if len(l.said) > 0 { // the watch has ended
		n := copy(b, l.said)
		l.said = l.said[n:]
		return n, nil
	}
	return l.Conn.Read(b)
}

// NetConn is the connection itself.
func (l *line) NetConn() net.Conn { return l.Conn }
