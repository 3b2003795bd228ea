package e2e

import (
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// A relay is a way to a machine that counts what comes from it, and can be
// cut.
type relay struct {
	port  int
	bytes atomic.Int64 // from the machine

	mu   sync.Mutex
	open []net.Conn
}

// newRelay makes one to a port of this computer.
func newRelay(t *testing.T, to int) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{port: l.Addr().(*net.TCPAddr).Port}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(to)))
			if err != nil {
				near.Close()
				continue
			}
			r.mu.Lock()
			r.open = append(r.open, near, far)
			r.mu.Unlock()
			work.Go(func() { io.Copy(far, near); far.Close(); near.Close() })
			work.Go(func() { io.Copy(io.MultiWriter(near, counter{&r.bytes}), far); far.Close(); near.Close() })
		}
	})
	t.Cleanup(func() { l.Close(); r.cut(); work.Wait() })
	return r
}

// cut ends every connection through the relay.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.open {
		c.Close()
	}
	r.open = nil
}

// counter counts what is written to it.
type counter struct{ n *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return len(b), nil
}
