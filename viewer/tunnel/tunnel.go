// Package tunnel forwards ports over an SSH login: from here to the machine's
// network, from the machine to here, and by SOCKS5 to wherever a program says.
//
// It listens on loopback unless told otherwise, and connects to nothing before
// somebody connects to it.
package tunnel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"deskvnc/viewer"
)

const (
	// maxConnections bounds the connections of one tunnel at a time.
	maxConnections = 256
	// dialTime bounds the connection to where a tunnel leads.
	dialTime = 30 * time.Second
	// retryAfter is the pause after a connection that could not be taken, as
	// when the system has no more places.
	retryAfter = 100 * time.Millisecond
)

// A Tunnel is a port that is forwarded over a login. It is safe for concurrent
// use.
type Tunnel struct {
	spec     viewer.Tunnel
	login    viewer.Login
	listener net.Listener

	ctx     context.Context // ends when the tunnel is closed
	cancel  context.CancelFunc
	working sync.WaitGroup

	sent, received, connections atomic.Int64

	mu     sync.Mutex // guards below
	open   map[net.Conn]struct{}
	closed bool
	err    error
}

// Open begins to listen. The tunnel ends with Close, or with the login.
func Open(ctx context.Context, login viewer.Login, spec viewer.Tunnel) (*Tunnel, error) {
	address, err := Check(spec)
	if err != nil {
		return nil, err
	}
	t := &Tunnel{spec: spec, login: login, open: map[net.Conn]struct{}{}}
	if spec.Direction == viewer.TunnelRemote {
		t.listener, err = login.Listen(ctx, "tcp", address)
	} else {
		var lc net.ListenConfig
		if t.listener, err = lc.Listen(ctx, "tcp", address); err != nil {
			err = &viewer.Error{Op: "tunnel", Kind: viewer.Unreachable, Err: fmt.Errorf("this computer cannot listen on %s: %w", address, cause(err))}
		}
	}
	if err != nil {
		return nil, err
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.working.Go(t.accept)
	t.working.Go(func() {
		select {
		case <-login.Done():
			t.shut()
		case <-t.ctx.Done():
		}
	})
	return t, nil
}

// cause is the system's reason without the address, which is told already.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	return err
}

// Check says whether a tunnel is possible, and where it listens.
func Check(spec viewer.Tunnel) (address string, err error) {
	bad := func(format string, args ...any) (string, error) {
		return "", &viewer.Error{Op: "tunnel", Kind: viewer.Invalid, Err: fmt.Errorf(format, args...)}
	}
	address = spec.Listen
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	host, port, err := net.SplitHostPort(address)
	if _, perr := strconv.ParseUint(port, 10, 16); err != nil || perr != nil {
		return bad("a tunnel cannot listen on %q: write a port, or host:port", spec.Listen)
	}
	switch host {
	case "", "localhost":
		host = "127.0.0.1"
	case "*":
		host = "0.0.0.0"
	}
	switch spec.Direction {
	case viewer.TunnelLocal, viewer.TunnelRemote:
		if h, p, err := net.SplitHostPort(spec.To); err != nil || h == "" || p == "" || p == "0" {
			return bad("a tunnel cannot lead to %q: write host:port", spec.To)
		}
	case viewer.TunnelSOCKS:
		if spec.To != "" {
			return bad("a SOCKS tunnel leads to where programs say, not to %q", spec.To)
		}
	default:
		return bad("%q is no direction of a tunnel: use local, remote or socks", spec.Direction)
	}
	return net.JoinHostPort(host, port), nil
}

// State is the tunnel as it is now.
func (t *Tunnel) State() viewer.TunnelState {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := viewer.TunnelState{
		Tunnel: t.spec, Open: len(t.open), Connections: t.connections.Load(), Sent: t.sent.Load(), Received: t.received.Load(), Err: t.err,
	}
	if !t.closed {
		s.Address = t.listener.Addr().String()
	}
	return s
}

// Close ends the tunnel and its connections.
func (t *Tunnel) Close() error {
	t.shut()
	t.working.Wait()
	return nil
}

func (t *Tunnel) shut() {
	t.cancel()
	t.listener.Close()
	t.mu.Lock()
	t.closed = true
	open := make([]net.Conn, 0, len(t.open))
	for c := range t.open {
		open = append(open, c)
	}
	t.mu.Unlock()
	for _, c := range open {
		c.Close()
	}
}

func (t *Tunnel) fail(err error) {
	t.mu.Lock()
	if !t.closed {
		t.err = err
	}
	t.mu.Unlock()
}

func (t *Tunnel) accept() {
	for {
		c, err := t.listener.Accept()
		if err != nil {
			if t.ctx.Err() != nil || errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) {
				t.shut()
				return
			}
			t.fail(&viewer.Error{Op: "tunnel", Kind: viewer.Closed, Err: err})
			select {
			case <-time.After(retryAfter):
			case <-t.ctx.Done():
				return
			}
			continue
		}
		if !t.take(c) {
			c.Close()
			continue
		}
		t.working.Go(func() {
			defer t.leave(c)
			if err := t.serve(c); err != nil {
				t.fail(err)
			}
		})
	}
}

// take notes a connection; false when there are too many, or none are taken
// any more.
func (t *Tunnel) take(c net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed && len(t.open) >= maxConnections {
		t.err = &viewer.Error{Op: "tunnel", Kind: viewer.Limit, Err: fmt.Errorf("%d connections are open in this tunnel already: one more was refused", maxConnections)}
		return false
	}
	if t.closed {
		return false
	}
	t.open[c] = struct{}{}
	t.connections.Add(1)
	return true
}

func (t *Tunnel) leave(c net.Conn) {
	c.Close()
	t.mu.Lock()
	delete(t.open, c)
	t.mu.Unlock()
}

// serve leads one connection on to where it goes.
func (t *Tunnel) serve(c net.Conn) error {
	ctx, cancel := context.WithTimeout(t.ctx, dialTime)
	defer cancel()
	to := t.spec.To
	if t.spec.Direction == viewer.TunnelSOCKS {
		var err error
		if to, err = greet(c); err != nil {
			return err
		}
	}
	var far net.Conn
	var err error
	if t.spec.Direction == viewer.TunnelRemote {
		var d net.Dialer
		if far, err = d.DialContext(ctx, "tcp", to); err != nil {
			err = &viewer.Error{Op: "tunnel", Kind: viewer.Unreachable, Err: fmt.Errorf("this computer cannot connect to %s: %w", to, cause(err))}
		}
	} else {
		far, err = t.login.DialThrough(ctx, "tcp", to)
	}
	if t.spec.Direction == viewer.TunnelSOCKS {
		if rerr := answer(c, err); err == nil && rerr != nil {
			far.Close()
			return nil // the program has gone
		}
	}
	if err != nil {
		return err
	}
	defer context.AfterFunc(t.ctx, func() { far.Close() })()
	t.join(c, far)
	return nil
}

// join moves bytes both ways, until both ends have said all or one has gone.
func (t *Tunnel) join(near, far net.Conn) {
	var ways sync.WaitGroup
	move := func(to, from net.Conn, n *atomic.Int64) {
		_, err := io.Copy(counted{to, n}, from)
		if h, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
			if h.CloseWrite() == nil {
				return
			}
		}
		near.Close()
		far.Close()
	}
	ways.Go(func() { move(far, near, &t.sent) })
	ways.Go(func() { move(near, far, &t.received) })
	ways.Wait()
	near.Close()
	far.Close()
}

// counted counts what is written.
type counted struct {
	io.Writer
	n *atomic.Int64
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n.Add(int64(n))
	return n, err
}
