package engine

import (
	"context"
	"errors"
	"net"

	"deskvnc/viewer"
)

// A DialFunc gives a session its connection; see [viewer.Env].
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Called opens a session over the connection of a machine that has called by
// itself; dial gives that connection, and is used once at most. Such a session
// never connects by itself: when its connection ends it waits, and the next
// call of the same machine goes on with it. How the machine is reached
// otherwise, a proxy or a repeater, is left out.
func (e *Engine) Called(t viewer.Target, dial DialFunc) (*Session, error) {
	t.Proxy, t.RepeaterID = "", ""
	for _, s := range e.Sessions() {
		if Same(s.target, t) && s.takes(dial) {
			return s, nil
		}
	}
	return e.open(t, dial)
}

// A line is how a session gets the connections that it cannot make.
type line struct {
	called  bool     // the machine calls by itself
	next    DialFunc // the connection of a call that was not used yet
	waiting bool     // the machine has hung up
}

// takes gives a waiting session the connection of a new call.
func (s *Session) takes(dial DialFunc) bool {
	s.mu.Lock()
	if !s.line.waiting || s.ctx.Err() != nil {
		s.mu.Unlock()
		return false
	}
	s.line.next, s.line.waiting = dial, false
	s.mu.Unlock()
	s.Reconnect()
	return true
}

// Called reports whether the session is that of a machine that calls by itself.
func (s *Session) Called() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line.called
}

// dial is how the next connection is made; nil is the usual way. An error says
// that only the machine can make one.
func (s *Session) dial() (DialFunc, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.line.next
	s.line.next = nil
	if s.line.called && d == nil {
		return nil, &viewer.Error{Op: "connect", Kind: viewer.Closed, Err: errors.New("the machine calls by itself and cannot be called")}
	}
	return d, nil
}

// hungUp has a session whose machine calls by itself wait for the next call.
// It reports false for any other.
func (s *Session) hungUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line.waiting = s.line.called
	return s.line.called
}

// callsAgain follows the reason why the connection of such a session ended.
const callsAgain = "; the session waits until it calls again"
