// Package engine holds the running sessions: it opens them with the driver of
// their protocol, keeps one picture for each across reconnects, tells
// watchers what happens, and ends them.
//
// It decides nothing about who may send input; that is the control plane's.
package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

// Defaults of [Config].
const (
	// MaxSessions bounds the sessions of a process.
	MaxSessions = 256
	// MaxFrameBytes bounds the pixels of all sessions together: 1.5 GiB.
	MaxFrameBytes = 3 << 29
)

// A Config is what an engine is made of.
type Config struct {
	Drivers viewer.Registry
	// Asker says who answers the questions of a session; nil, or a nil
	// Asker, means nobody can.
	Asker func(*Session) viewer.Asker
	// NoRetry keeps sessions from connecting again by themselves.
	NoRetry bool
	// Sessions and FrameBytes replace the defaults when positive.
	Sessions   int
	FrameBytes int64
}

// An Engine owns sessions. It is safe for concurrent use.
type Engine struct {
	config Config

	mu       sync.Mutex
	sessions []*Session // in order of start
	next     int
	closed   bool
	watchers []*watcher
}

type watcher struct{ fn func(Change) }

// A Change is a session that was opened or has gone from the list.
type Change struct {
	Session *Session
	Gone    bool
}

// New returns an engine without sessions.
func New(c Config) *Engine {
	c.Sessions = cmp.Or(max(c.Sessions, 0), MaxSessions)
	c.FrameBytes = cmp.Or(max(c.FrameBytes, 0), MaxFrameBytes)
	return &Engine{config: c}
}

// Open starts a session and returns at once, before it is connected: follow
// its state. The session stays in the list until it is closed, also when it
// cannot connect.
func (e *Engine) Open(t viewer.Target) (*Session, error) { return e.open(t, nil) }

// open starts a session, over the connection that dial gives when it is not
// nil.
func (e *Engine) open(t viewer.Target, dial DialFunc) (*Session, error) {
	driver := e.config.Drivers[t.Protocol]
	if driver == nil {
		return nil, &viewer.Error{Op: "open", Kind: viewer.Unsupported, Err: fmt.Errorf("this build has no %s driver", t.Protocol)}
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, &viewer.Error{Op: "open", Kind: viewer.Cancelled, Err: errors.New("the viewer is closing")}
	}
	if len(e.sessions) >= e.config.Sessions {
		e.mu.Unlock()
		return nil, &viewer.Error{Op: "open", Kind: viewer.Limit, Err: fmt.Errorf("%d sessions are open already; close one first", e.config.Sessions)}
	}
	e.next++
	s := newSession(e, driver, t, fmt.Sprintf("s_%d", e.next), e.freeSlot(t))
	s.line = line{called: dial != nil, next: dial}
	e.sessions = append(e.sessions, s)
	watchers := slices.Clone(e.watchers)
	e.mu.Unlock()
	for _, w := range watchers {
		w.fn(Change{Session: s})
	}
	go s.run()
	return s, nil
}

// Same reports whether two targets are the same machine.
func Same(a, b viewer.Target) bool {
	if a.HostID != "" || b.HostID != "" {
		return a.HostID == b.HostID && a.Protocol == b.Protocol
	}
	return a.Protocol == b.Protocol && a.Port == b.Port && viewer.Normalize(a.Address) == viewer.Normalize(b.Address)
}

// freeSlot is the lowest slot that no session to the machine has. A slot stays
// with its session, so that a limb's id does not move. The caller holds mu.
func (e *Engine) freeSlot(t viewer.Target) int {
	for slot := 0; ; slot++ {
		if !slices.ContainsFunc(e.sessions, func(s *Session) bool { return s.slot == slot && Same(s.target, t) }) {
			return slot
		}
	}
}

// Sessions returns the sessions in the order they were started.
func (e *Engine) Sessions() []*Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.sessions)
}

// Session returns the session with an id.
func (e *Engine) Session(id string) (*Session, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sessions {
		if s.id == id {
			return s, true
		}
	}
	return nil, false
}

// Subscribe calls fn for every change of the list until cancel is called. fn
// must not block; it may be called from any goroutine.
func (e *Engine) Subscribe(fn func(Change)) (cancel func()) {
	w := &watcher{fn}
	e.mu.Lock()
	e.watchers = append(e.watchers, w)
	e.mu.Unlock()
	return func() {
		e.mu.Lock()
		e.watchers = slices.DeleteFunc(slices.Clone(e.watchers), func(o *watcher) bool { return o == w })
		e.mu.Unlock()
	}
}

// forget takes an ended session off the list.
func (e *Engine) forget(s *Session) {
	e.mu.Lock()
	e.sessions = slices.DeleteFunc(slices.Clone(e.sessions), func(o *Session) bool { return o == s })
	watchers := slices.Clone(e.watchers)
	e.mu.Unlock()
	for _, w := range watchers {
		w.fn(Change{Session: s, Gone: true})
	}
}

// closeWait bounds how long Close waits for one session to let go.
const closeWait = 5 * time.Second

// Close ends every session and waits for them.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	sessions := slices.Clone(e.sessions)
	e.mu.Unlock()
	for _, s := range sessions {
		s.cancel()
	}
	limit := time.After(closeWait)
	for _, s := range sessions {
		select {
		case <-s.Done():
		case <-limit:
			return
		}
	}
}

// room makes sure that the pixels of s and all other sessions fit the bound,
// dropping pictures that nobody watches, the least recently read first.
func (e *Engine) room(s *Session) error {
	w, h := s.frame.Size()
	need := int64(w) * int64(h) * frame.BytesPerPixel
	for {
		var used int64
		var idle *Session
		var idleRead int64
		for _, o := range e.Sessions() {
			if o == s {
				continue
			}
			m := int64(o.frame.Memory())
			used += m
			if read := o.lastRead.Load(); m > 0 && !o.Watched() && (idle == nil || read < idleRead) {
				idle, idleRead = o, read
			}
		}
		switch {
		case used+need <= e.config.FrameBytes:
			return nil
		case idle == nil:
			return &viewer.Error{Op: "watch", Kind: viewer.Limit, Err: fmt.Errorf("the pictures of all sessions together would need more than %d MiB; close one first", e.config.FrameBytes>>20)}
		}
		idle.frame.Drop()
	}
}
