//go:build unix

package sshtest

import (
	"net"
	"sync"
	"testing"

	"deskvnc/viewer"
)

// A Relay stands between a client and a server, and stops passing on what the
// server says after so many bytes of a connection: silently, or by cutting it.
type Relay struct {
	listener net.Listener
	to       string
	serving  sync.WaitGroup

	mu    sync.Mutex // guards below
	after int
	cut   bool
	conns []net.Conn
}

// StartRelay starts a relay to a server, which passes on everything.
func StartRelay(t testing.TB, s *Server) *Relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Relay{listener: l, to: s.Addr(), after: -1}
	r.serving.Go(r.accept)
	t.Cleanup(func() {
		l.Close()
		r.CutAll()
		r.serving.Wait()
	})
	return r
}

// Target is the relay as a machine.
func (r *Relay) Target() viewer.Target {
	at := r.listener.Addr().(*net.TCPAddr)
	return viewer.Target{Protocol: viewer.SSH, Address: at.IP.String(), Port: at.Port}
}

// StopAfter has further connections say no more than n bytes, and then nothing,
// or end. Less than 0 passes on everything.
func (r *Relay) StopAfter(n int, cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.after, r.cut = n, cut
}

// CutAll cuts all connections.
func (r *Relay) CutAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		c.Close()
	}
	r.conns = nil
}

func (r *Relay) accept() {
	for {
		in, err := r.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", r.to)
		if err != nil {
			in.Close()
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, in, out)
		left, cut := r.after, r.cut
		r.mu.Unlock()
		r.serving.Go(func() { pass(out, in, -1, false) })
		r.serving.Go(func() { pass(in, out, left, cut) })
	}
}

// pass moves bytes until left of them have gone; then it cuts, or takes the
// rest and drops it.
func pass(to, from net.Conn, left int, cut bool) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if left >= 0 && n > left {
			n = left
		}
		if _, werr := to.Write(b[:n]); werr != nil {
			err = werr
		}
		if left >= 0 {
			left -= n
		}
		if err != nil || left == 0 && cut {
			to.Close()
			from.Close()
			return
		}
	}
}
