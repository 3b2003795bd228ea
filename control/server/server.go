package server

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"time"

	"deskvnc/control"
)

// The bounds of what callers may take.
const (
	// MaxAttachments bounds the attachments at one time.
	MaxAttachments = 64
	// MaxConnections bounds the connections of one attachment.
	MaxConnections = 16
	// maxStrangers bounds the connections that belong to no attachment.
	maxStrangers = 64
)

// times bound what waits for a caller or a command.
type times struct {
	auth    time.Duration // for a connection's first authorised request
	write   time.Duration // for a reply to be read
	rejoin  time.Duration // that an attachment without connections stays
	command time.Duration // for a command
}

var defaultTimes = times{auth: 30 * time.Second, write: 30 * time.Second, rejoin: 10 * time.Second, command: 60 * time.Second}

// An Attachment is one agent at the plane.
type Attachment interface {
	ID() string
	// Call runs a tool and returns its result; it stops soon after ctx ends.
	Call(ctx context.Context, tool string, arguments json.RawMessage) []byte
	// Close cancels what runs and releases everything.
	Close()
}

// Commands are the commands of the program. What a caller of the control
// socket may run is theirs to decide.
type Commands interface {
	List(ctx context.Context, filter string) (any, error)
	Execute(ctx context.Context, id string, params json.RawMessage) (any, error)
}

// Config is what a [Server] is made of.
type Config struct {
	// Attach starts an attachment for a caller that calls itself label.
	Attach func(label string) (Attachment, error)
	// Commands may be nil: then there are none.
	Commands Commands
	// NoRejoin ends an attachment at once when its last connection leaves,
	// instead of keeping it for a caller that comes back.
	NoRejoin bool
	// Version is the program's version.
	Version string
	// Key must be given on every connection; empty when the listener knows
	// its peers.
	Key string
}

// A Server serves control connections. It is safe for concurrent use.
type Server struct {
	config Config
	times  times           // set before Serve
	ctx    context.Context // of everything that runs
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu          sync.Mutex
	closed      bool
	listeners   map[net.Listener]struct{}
	conns       map[*conn]struct{}
	strangers   int // connections without an attachment
	attachments map[string]*attachment
	attaching   int // hellos that are about to add one
}

// New makes a server.
func New(c Config) *Server {
	s := &Server{
		config:      c,
		times:       defaultTimes,
		listeners:   map[net.Listener]struct{}{},
		conns:       map[*conn]struct{}{},
		attachments: map[string]*attachment{},
	}
	if c.NoRejoin {
		s.times.rejoin = 0
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// ErrClosed is what Serve returns after Close.
var ErrClosed = errors.New("control: the server is closed")

// maxAcceptPause bounds the pause after a failed accept.
const maxAcceptPause = time.Second

// Serve takes connections from l until l fails or the server is closed.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		_ = l.Close()
		return ErrClosed
	}
	s.listeners[l] = struct{}{}
	s.wg.Add(1)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, l)
		s.mu.Unlock()
		s.wg.Done()
	}()
	pause := time.Duration(0)
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			s.take(c)
			continue
		case s.ctx.Err() != nil:
			return ErrClosed
		case errors.Is(err, net.ErrClosed):
			return err
		}
		// Out of descriptors, or a caller that went while it was accepted.
		pause = min(max(2*pause, time.Millisecond), maxAcceptPause)
		select {
		case <-time.After(pause):
		case <-s.ctx.Done():
			return ErrClosed
		}
	}
}

// take starts serving a connection, or refuses it.
func (s *Server) take(nc net.Conn) {
	c := &conn{s: s, nc: nc}
	s.mu.Lock()
	switch {
	case s.closed:
		s.mu.Unlock()
		_ = nc.Close()
		return
	case s.strangers >= maxStrangers:
		s.wg.Add(1)
		s.conns[c] = struct{}{}
		s.mu.Unlock()
		go func() {
			defer s.wg.Done()
			defer s.forget(c)
			c.write(errorReply(nil, "too many connections without an attachment; close some first"))
			_ = nc.Close()
		}()
		return
	}
	s.strangers++
	c.stranger = true
	s.conns[c] = struct{}{}
	s.wg.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.wg.Done()
		c.serve()
	}()
}

// forget takes a connection off the list.
func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if c.stranger {
		s.strangers--
		c.stranger = false
	}
}

// Close stops listening, ends every connection and attachment, and waits for
// them.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.cancel() // before the listeners fail, so that Serve knows why
	for l := range s.listeners {
		_ = l.Close()
	}
	for c := range s.conns {
		_ = c.nc.Close()
	}
	left := make([]*attachment, 0, len(s.attachments))
	for _, a := range s.attachments {
		left = append(left, a)
	}
	s.mu.Unlock()
	for _, a := range left {
		a.end()
	}
	s.wg.Wait()
	return nil
}

// version is what app.version tells.
func (s *Server) version() any {
	return struct {
		Name     string `json:"name"`
		Version  string `json:"version"`
		Protocol int    `json:"protocol"`
	}{"deskvnc", s.config.Version, control.Protocol}
}
