package rfb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"deskvnc/viewer"
)

// ListenPort is where viewers usually wait for machines that call them.
const ListenPort = 5500

// A Listener waits for machines that call the viewer. Nobody is let in by it
// alone: a caller logs in like any machine when its session is opened.
type Listener struct{ l net.Listener }

// Listen waits for machines at address, host:port.
func Listen(ctx context.Context, address string) (*Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, &viewer.Error{Op: "rfb.Listen", Kind: viewer.Unreachable, Err: fmt.Errorf("cannot wait for machines at %s: %w", address, err)}
	}
	return &Listener{l: l}, nil
}

// Addr is where the listener waits.
func (l *Listener) Addr() net.Addr { return l.l.Addr() }

// Close ends the waiting. Calls that were accepted go on.
func (l *Listener) Close() error { return l.l.Close() }

// Accept waits for the next call. It ends with ctx, or with Close.
func (l *Listener) Accept(ctx context.Context) (*Call, error) {
	stop := context.AfterFunc(ctx, func() { l.l.Close() })
	defer stop()
	c, err := l.l.Accept()
	switch {
	case err == nil:
		return &Call{conn: c}, nil
	case ctx.Err() != nil:
		return nil, &viewer.Error{Op: "rfb.Listen", Kind: viewer.Cancelled, Err: ctx.Err()}
	case errors.Is(err, net.ErrClosed):
		return nil, &viewer.Error{Op: "rfb.Listen", Kind: viewer.Closed, Err: errors.New("no longer waiting for machines")}
	}
	return nil, &viewer.Error{Op: "rfb.Listen", Kind: viewer.Closed, Err: err}
}

// A Call is the connection of a machine that has called. Open its session with
// its Target, and with its Dial as that of the Env.
type Call struct {
	mu   sync.Mutex // guards below
	conn net.Conn   // nil once it was taken
}

// Target is the machine that has called. Its port is [ListenPort]: that of a
// call is another each time.
func (c *Call) Target() viewer.Target {
	t := viewer.Target{Protocol: viewer.VNC, Port: ListenPort}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		if host, _, err := net.SplitHostPort(c.conn.RemoteAddr().String()); err == nil {
			t.Address = viewer.Normalize(host)
		}
	}
	return t
}

// Dial gives the connection, once: a machine that has gone calls again by
// itself.
func (c *Call) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	taken := c.conn
	if taken == nil {
		return nil, &viewer.Error{Op: "connect", Kind: viewer.Invalid, Err: errors.New("the machine has called by itself: wait until it calls again")}
	}
	c.conn = nil
	return taken, nil
}

// Close hangs up, unless the connection was taken.
func (c *Call) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return nil
	}
	err := c.conn.Close()
	c.conn = nil
	return err
}
