package server

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"deskvnc/control"
)

// An attachment is one agent with the connections that joined it.
type attachment struct {
	s      *Server
	id     string
	secret string
	plane  Attachment

	mu    sync.Mutex
	ended bool
	conns int
	calls map[string]context.CancelFunc // by the caller's own names
	ctx   context.Context               // of the calls; anew after everybody left
	stop  context.CancelFunc
	grace *time.Timer // runs while there is no connection
	once  sync.Once
}

// maxLabel bounds what a caller calls itself, in characters.
const maxLabel = 64

// hello starts an attachment for a connection, or lets it join one.
func (s *Server) hello(h control.Hello) (*attachment, error) {
	if h.Attachment != "" {
		return s.join(h)
	}
	s.mu.Lock()
	switch {
	case s.closed:
		s.mu.Unlock()
		return nil, errors.New("the window is closing")
	case len(s.attachments)+s.attaching >= MaxAttachments:
		s.mu.Unlock()
		return nil, fmt.Errorf("%d agents are attached already; close one first", MaxAttachments)
	}
	s.attaching++
	s.mu.Unlock()
	a, err := s.attach(h.Client)
	s.mu.Lock()
	s.attaching--
	closed := s.closed
	if err == nil && !closed {
		s.attachments[a.id] = a
	}
	s.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case closed:
		a.end()
		return nil, errors.New("the window is closing")
	}
	return a, nil
}

func (s *Server) attach(client string) (*attachment, error) {
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("no random numbers: %w", err)
	}
	p, err := s.config.Attach(label(client))
	if err != nil {
		return nil, err
	}
	a := &attachment{s: s, id: p.ID(), secret: hex.EncodeToString(secret), plane: p, conns: 1, calls: map[string]context.CancelFunc{}}
	a.ctx, a.stop = context.WithCancel(s.ctx)
	return a, nil
}

// label makes what a caller calls itself fit to be shown to a person.
func label(client string) string {
	kept := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, client)
	if r := []rune(kept); len(r) > maxLabel {
		kept = string(r[:maxLabel])
	}
	if kept = strings.TrimSpace(kept); kept == "" {
		return "agent"
	}
	return kept
}

// errNoAttachment does not tell a wrong id from a wrong secret.
var errNoAttachment = errors.New("there is no such attachment any more; start a new one by leaving attachment and secret out")

func (s *Server) join(h control.Hello) (*attachment, error) {
	s.mu.Lock()
	a := s.attachments[h.Attachment]
	s.mu.Unlock()
	if a == nil || subtle.ConstantTimeCompare([]byte(a.secret), []byte(h.Secret)) != 1 {
		return nil, errNoAttachment
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.ended:
		return nil, errNoAttachment
	case a.conns >= MaxConnections:
		return nil, fmt.Errorf("the attachment has %d connections already", MaxConnections)
	}
	a.conns++
	if a.grace != nil {
		a.grace.Stop()
		a.grace = nil
	}
	return a, nil
}

// leave takes a connection off. When it was the last one, what runs is
// cancelled at once, and the attachment ends unless somebody joins again.
func (a *attachment) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conns--; a.conns > 0 || a.ended {
		return
	}
	a.stop()
	a.ctx, a.stop = context.WithCancel(a.s.ctx)
	a.grace = time.AfterFunc(a.s.times.rejoin, a.expire)
}

// expire ends an attachment that nobody joined again.
func (a *attachment) expire() {
	a.mu.Lock()
	if a.conns > 0 || a.ended {
		a.mu.Unlock()
		return
	}
	a.ended = true // nobody joins any more
	a.mu.Unlock()
	a.end()
}

// end closes the attachment at the plane and forgets it.
func (a *attachment) end() {
	a.once.Do(func() {
		a.mu.Lock()
		a.ended = true
		a.stop()
		if a.grace != nil {
			a.grace.Stop()
		}
		a.mu.Unlock()
		a.plane.Close()
		a.s.mu.Lock()
		delete(a.s.attachments, a.id)
		a.s.mu.Unlock()
	})
}

// End closes an attachment with its connections. It reports whether there was
// one of that id.
func (s *Server) End(id string) bool {
	s.mu.Lock()
	a := s.attachments[id]
	var conns []*conn
	for c := range s.conns {
		if a != nil && c.current() == a {
			conns = append(conns, c)
		}
	}
	s.mu.Unlock()
	if a == nil {
		return false
	}
	a.end()
	for _, c := range conns {
		_ = c.nc.Close()
	}
	return true
}

// begin starts a call under the caller's own name for it; done must be called
// when it is over.
func (a *attachment) begin(name string) (ctx context.Context, done func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if name != "" && a.calls[name] != nil {
		return nil, nil, fmt.Errorf("a call named %.64q is still running", name)
	}
	ctx, cancel := context.WithCancel(a.ctx)
	if name == "" {
		return ctx, cancel, nil
	}
	a.calls[name] = cancel
	return ctx, func() {
		a.mu.Lock()
		delete(a.calls, name)
		a.mu.Unlock()
		cancel()
	}, nil
}

// cancel stops a running call; it reports whether there was one.
func (a *attachment) cancel(name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	cancel := a.calls[name]
	if cancel != nil {
		cancel()
	}
	return cancel != nil
}
