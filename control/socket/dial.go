package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

// dialTimeout bounds the wait for one address; everything is on this machine.
const dialTimeout = 800 * time.Millisecond

// Unreachable says that nobody answers at an address, so that nothing can have
// been sent.
type Unreachable struct {
	Address Address
	Err     error
}

// Error names the address and how to get a window there.
func (u *Unreachable) Error() string {
	how := strconv.Itoa(u.Address.Port)
	if u.Address.Path != "" || u.Address.named != "" {
		how = Auto
	}
	return fmt.Sprintf("no DeskVNC window answers at %s (%s); start one with: deskvnc --control %s", u.Address, brief(u.Err), how)
}

// Unwrap is the dialler's error.
func (u *Unreachable) Unwrap() error { return u.Err }

// brief is the cause without the addresses that the error repeats.
func brief(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such socket"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer"
	}
	return err.Error()
}

// Dial connects to a control socket. key is what the window wants to be given,
// read anew each time; it is empty for a unix socket, and whenever the other
// end is not on this machine.
func Dial(ctx context.Context, a Address) (c net.Conn, key string, err error) {
	if a.Path != "" {
		c, err := dial(ctx, "unix", a.Path)
		if err != nil {
			return nil, "", &Unreachable{a, err}
		}
		if !ours(c) {
			_ = c.Close()
			return nil, "", fmt.Errorf("the socket %s belongs to another user; nothing was sent", a.Path)
		}
		return c, "", nil
	}
	if a.named != "" {
		port, err := namedPort(a.named)
		if err != nil {
			return nil, "", &Unreachable{a, err}
		}
		a.Host, a.Port = "127.0.0.1", port
	}
	if c, err = dialTCP(ctx, a); err != nil {
		return nil, "", err
	}
	if !a.Loopback() || !loopbackPeer(c) {
		return c, "", nil
	}
	if key, err = lookUpKey(a.Port); err != nil {
		_ = c.Close()
		return nil, "", err
	}
	return c, key, nil
}

// dialTCP tries every address of the host, each for its own time.
func dialTCP(ctx context.Context, a Address) (net.Conn, error) {
	hosts := []string{a.Host}
	if _, err := netip.ParseAddr(a.Host); err != nil {
		look, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		if hosts, err = net.DefaultResolver.LookupHost(look, a.Host); err != nil {
			return nil, &Unreachable{a, err}
		}
	}
	var first error
	for _, h := range hosts {
		c, err := dial(ctx, "tcp", net.JoinHostPort(h, strconv.Itoa(a.Port)))
		if err == nil {
			return c, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, &Unreachable{a, first}
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	return d.DialContext(ctx, network, address)
}

// loopbackPeer reports whether the other end really is on this machine: a name
// may resolve to anything.
func loopbackPeer(c net.Conn) bool {
	t, ok := c.RemoteAddr().(*net.TCPAddr)
	return ok && t.IP.IsLoopback()
}
