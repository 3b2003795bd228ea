package conn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"deskvnc/viewer"
)

// The kinds of proxy.
const (
	SOCKS5 = "socks5"
	HTTP   = "http"
)

// A Proxy is a way to machines. User and Password are sent to it when it asks
// for them (SOCKS5) or at once (HTTP), unencrypted.
type Proxy struct {
	Kind     string // [SOCKS5] or [HTTP]
	Address  string // host:port
	User     string
	Password viewer.Secret
}

// ParseProxy reads socks5://user@host:port or http://user@host:port. Names of
// machines are looked up by the proxy. A password is refused: it would be kept
// where text is kept.
func ParseProxy(text string) (Proxy, error) {
	bad := func(format string, args ...any) (Proxy, error) {
		return Proxy{}, &viewer.Error{Op: "proxy", Kind: viewer.Invalid, Err: fmt.Errorf(format, args...)}
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Hostname() == "" {
		return bad("a proxy is written as socks5://host:port or http://host:port")
	}
	p := Proxy{User: u.User.Username()}
	port := u.Port()
	switch strings.ToLower(u.Scheme) {
	case SOCKS5, "socks5h":
		p.Kind = SOCKS5
		if port == "" {
			port = "1080"
		}
	case HTTP:
		p.Kind = HTTP
		if port == "" {
			port = "8080"
		}
	default:
		return bad("%q is not a kind of proxy that is known: use socks5 or http", u.Scheme)
	}
	switch _, has := u.User.Password(); {
	case has:
		return bad("leave the password out of the proxy's address")
	case u.Path != "" && u.Path != "/", u.RawQuery != "", u.Fragment != "":
		return bad("a proxy's address ends with its port")
	case len(p.User) > 255:
		return bad("the user name for the proxy is longer than 255 bytes")
	}
	p.Address = net.JoinHostPort(u.Hostname(), port)
	return p, nil
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

// refused is the error of a proxy that says no.
func (p Proxy) refused(format string, args ...any) error {
	return &viewer.Error{Op: "proxy", Kind: viewer.Unreachable, Err: fmt.Errorf("the proxy %s "+format, append([]any{p.Address}, args...)...)}
}
