package conn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"deskvnc/viewer"
)

// DialTimeout bounds the making of one connection, name look-up included.
const DialTimeout = 10 * time.Second

// A dead link is given up within a minute, also when nothing is sent: after
// keepIdle of silence the system asks keepCount times, keepEvery apart. What
// was sent and stays unacknowledged for unackedTimeout ends it too.
const (
	keepIdle       = 15 * time.Second
	keepEvery      = 10 * time.Second
	keepCount      = 3
	unackedTimeout = 45 * time.Second
)

// A DialFunc makes a connection; [net.Dialer.DialContext] is one.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Dial connects to address, through dial when it is not nil, and sets the
// connection up: small writes go out at once, a dead link is noticed. An
// address that begins with a slash is a socket of this computer, any other is
// host:port, reached by TCP. Errors are [viewer.Error]s with a Kind.
func Dial(ctx context.Context, address string, dial DialFunc) (*Conn, error) {
	if dial == nil {
		var d net.Dialer
		dial = d.DialContext
	}
	dctx, cancel := context.WithTimeout(ctx, DialTimeout)
	defer cancel()
	network := "tcp"
	if isSocket(address) {
		network = "unix"
	}
	inner, err := dial(dctx, network, address)
	if err != nil {
		return nil, dialError(ctx, address, err)
	}
	raw := inner
	if u, ok := inner.(interface{ NetConn() net.Conn }); ok { // of a machine that has called
		raw = u.NetConn()
	}
	if t, ok := raw.(*net.TCPConn); ok {
		// An option that the system refuses only costs comfort.
		_ = t.SetNoDelay(true)
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: keepIdle, Interval: keepEvery, Count: keepCount})
		setUnackedTimeout(t, unackedTimeout)
	}
	return New(inner), nil
}

func isSocket(address string) bool { return strings.HasPrefix(address, "/") }

// dialError gives the cause in words a person can act on.
func dialError(ctx context.Context, address string, err error) error {
	var own *viewer.Error
	if errors.As(err, &own) {
		return err
	}
	e := &viewer.Error{Op: "connect", Kind: viewer.Unreachable}
	var dns *net.DNSError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		e.Kind, e.Err = viewer.Cancelled, context.Canceled
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Err = fmt.Errorf("no machine is called %s: check the name", dns.Name)
	case errors.As(err, &dns):
		e.Err = fmt.Errorf("the name %s could not be looked up: %w", dns.Name, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT):
		e.Kind, e.Err = viewer.Timeout, fmt.Errorf("%s does not answer: check that the machine is on and its port is not blocked", address)
	case isSocket(address) && errors.Is(err, syscall.ENOENT):
		e.Err = fmt.Errorf("there is no socket %s: check that the machine runs", address)
	case isSocket(address) && errors.Is(err, syscall.ECONNREFUSED):
		e.Err = fmt.Errorf("nothing listens on the socket %s", address)
	case isSocket(address) && errors.Is(err, syscall.EACCES):
		e.Err = fmt.Errorf("this user may not use the socket %s", address)
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Err = fmt.Errorf("%s refused the connection: nothing listens on that port", address)
	default:
		e.Err = fmt.Errorf("no connection to %s: %w", address, err)
	}
	return e
}
