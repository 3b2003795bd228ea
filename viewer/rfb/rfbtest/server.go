// Package rfbtest holds RFB servers for tests, all on loopback: one that runs
// a script, polite or hostile ([Serve]), one that shows a small desktop
// ([Desktop]), and one that replays what a real server sent ([Replay]).
package rfbtest

import (
	"bufio"
	"errors"
	"net"
	"sync"

	"deskvnc/viewer"
)

// A Server runs a script for each connection.
type Server struct {
	listener net.Listener
	scripts  sync.WaitGroup

	mu     sync.Mutex // guards below
	conns  map[net.Conn]struct{}
	closed bool
	err    error // the first error of a script
	count  int
}

// Serve listens on a free port of 127.0.0.1 and runs script for each
// connection, in its own goroutine. The connection is closed when it returns.
func Serve(script func(*Conn) error) (*Server, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{listener: l, conns: map[net.Conn]struct{}{}}
	s.scripts.Add(1)
	go s.accept(script)
	return s, nil
}

func (s *Server) accept(script func(*Conn) error) {
	defer s.scripts.Done()
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			c.Close()
			return
		}
		s.conns[c] = struct{}{}
		s.count++
		s.scripts.Add(1)
		s.mu.Unlock()
		go func() {
			defer s.scripts.Done()
			err := script(&Conn{Conn: c, r: bufio.NewReader(c)})
			c.Close()
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.conns, c)
			if err != nil && s.err == nil && !s.closed {
				s.err = err
			}
		}()
	}
}

// Target is where the server listens.
func (s *Server) Target() viewer.Target {
	a := s.listener.Addr().(*net.TCPAddr)
	return viewer.Target{Protocol: viewer.VNC, Address: a.IP.String(), Port: a.Port}
}

// Connections is the number of connections so far.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Drop breaks all connections off.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
}

// Close ends everything, waits for it, and returns the first error that a
// script returned before.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.listener.Close()
	s.Drop()
	s.scripts.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.err, net.ErrClosed) {
		return nil
	}
	return s.err
}
