package conn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"deskvnc/viewer"
)

// The kinds of proxy.
const (
	SOCKS5 = viewer.ProxySOCKS5
	HTTP   = viewer.ProxyHTTP
)

// A Proxy is a way to machines. User and Password are sent to it when it asks
// for them, unencrypted.
type Proxy struct {
	Kind     string // [SOCKS5] or [HTTP]
	Address  string // host:port
	User     string
	Password viewer.Secret
}

// ParseProxy reads what [viewer.ParseProxy] does.
func ParseProxy(text string) (Proxy, error) {
	p, err := viewer.ParseProxy(text)
	return Proxy{Kind: p.Kind, Address: p.Address, User: p.User}, err
}

// Through makes connections by way of the proxy, which is reached by dial; nil
// means a plain TCP dial.
func (p Proxy) Through(dial DialFunc) DialFunc {
	if dial == nil {
		var d net.Dialer
		dial = d.DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if network != "tcp" {
			return nil, &viewer.Error{Op: "proxy", Kind: viewer.Invalid, Err: errors.New("a proxy leads to TCP ports only: leave it out for a socket of this computer")}
		}
		c, err := dial(ctx, "tcp", p.Address)
		if err != nil {
			err = dialError(ctx, p.Address, err)
			return nil, &viewer.Error{Op: "proxy", Kind: viewer.KindOf(err), Err: fmt.Errorf("the proxy: %s", viewer.Reason(err))}
		}
		if err := p.ask(ctx, c, address); err != nil {
			c.Close()
			return nil, err
		}
		return c, nil
	}
}

// ask has the proxy connect c to address, within ctx.
func (p Proxy) ask(ctx context.Context, c net.Conn, address string) error {
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	var err error
	if p.Kind == HTTP {
		err = p.connectHTTP(c, address)
	} else {
		err = p.connectSOCKS(c, address)
	}
	if !stop() && err == nil { // the deadline has struck or is about to
		err = ctx.Err()
	}
	var own *viewer.Error
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case errors.Is(ctx.Err(), context.Canceled):
		return &viewer.Error{Op: "proxy", Kind: viewer.Cancelled, Err: context.Canceled}
	case ctx.Err() != nil:
		return &viewer.Error{Op: "proxy", Kind: viewer.Timeout, Err: fmt.Errorf("the proxy %s made no connection to %s in time", p.Address, address)}
	}
	return &viewer.Error{Op: "proxy", Kind: viewer.Unreachable, Err: fmt.Errorf("the proxy %s: %w", p.Address, err)}
}

// denied is the error of a proxy that does not accept the user and password,
// which are not sent again.
func (p Proxy) denied() error {
	return &viewer.Error{Op: "proxy", Kind: viewer.Denied, Err: fmt.Errorf("the proxy %s did not accept the user name and password", p.Address)}
}

// loginWanted is the error of a proxy that wants a login when none is known.
func (p Proxy) loginWanted() error {
	return &viewer.Error{Op: "proxy", Kind: viewer.Credentials,
		Err: fmt.Errorf("the proxy %s wants a login: write the user into its address, as in %s://user@%s, and the password is asked for", p.Address, p.Kind, p.Address)}
}

// refused is the error of a proxy that says no.
func (p Proxy) refused(format string, args ...any) error {
	return &viewer.Error{Op: "proxy", Kind: viewer.Unreachable, Err: fmt.Errorf("the proxy %s "+format, append([]any{p.Address}, args...)...)}
}
