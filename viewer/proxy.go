package viewer

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// The kinds of proxy.
const (
	ProxySOCKS5 = "socks5"
	ProxyHTTP   = "http"
)

// A Proxy is a way to machines, as it is written. It holds no password.
type Proxy struct {
	Kind    string // [ProxySOCKS5] or [ProxyHTTP]
	Address string // host:port
	User    string // who logs in there; empty for nobody, or not known
}

// maxProxyUser is what a SOCKS5 proxy takes (RFC 1929 2).
const maxProxyUser = 255

// ParseProxy reads socks5://user@host:port or http://user@host:port; without a
// port it is the usual one. Names of machines are looked up by the proxy. A
// password is refused: it would be kept where text is kept.
func ParseProxy(text string) (Proxy, error) {
	bad := func(format string, args ...any) (Proxy, error) {
		return Proxy{}, &Error{Op: "proxy", Kind: Invalid, Err: fmt.Errorf(format, args...)}
	}
	// The text itself is not repeated: it may hold a password.
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Hostname() == "" {
		return bad("a proxy is written as socks5://host:port or http://host:port")
	}
	p := Proxy{User: u.User.Username()}
	port := u.Port()
	switch strings.ToLower(u.Scheme) {
	case ProxySOCKS5, "socks5h":
		p.Kind = ProxySOCKS5
		if port == "" {
			port = "1080"
		}
	case ProxyHTTP:
		p.Kind = ProxyHTTP
		if port == "" {
			port = "8080"
		}
	default:
		return bad("%.40q is not a kind of proxy that is known: use socks5 or http", u.Scheme)
	}
	switch _, has := u.User.Password(); {
	case has:
		return bad("leave the password out of the proxy's address; it is asked for when it is needed")
	case u.Path != "" && u.Path != "/", u.RawQuery != "", u.Fragment != "":
		return bad("a proxy's address ends with its port")
	case len(p.User) > maxProxyUser:
		return bad("the user name for the proxy is longer than %d bytes", maxProxyUser)
	case strings.ContainsFunc(p.User, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return bad("the user name for the proxy contains a control character")
	}
	host := Normalize(u.Hostname())
	if err := checkHost(host); err != nil {
		return bad("the proxy: %s", Reason(err))
	}
	if n := len(strings.TrimLeft(port, "0")); n == 0 || n > 5 || n == 5 && port > "65535" {
		return bad("port %.10s of the proxy cannot be connected to: use a number from 1 to 65535", port)
	}
	p.Address = net.JoinHostPort(host, port)
	return p, nil
}

// String is the proxy as ParseProxy reads it.
func (p Proxy) String() string {
	if p.Kind == "" {
		return ""
	}
	u := url.URL{Scheme: p.Kind, Host: p.Address}
	if host, port, err := net.SplitHostPort(p.Address); err == nil {
		if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() {
			// A zone's % is written as %25 in a URL (RFC 6874).
			u.Host = "[" + strings.Replace(host, "%", "%25", 1) + "]:" + port
		}
	}
	if p.User != "" {
		u.User = url.User(p.User)
	}
	text := u.Scheme + "://"
	if u.User != nil {
		text += u.User.String() + "@"
	}
	return text + u.Host
}

// maxRepeater bounds what a repeater is told, with the zero after it.
const maxRepeater = 250

// ParseRepeater reads how a machine is known at a VNC repeater: the number
// under which it waits there, as digits or ID:digits, or host:port behind the
// repeater. It returns the form that a repeater is told.
func ParseRepeater(id string) (string, error) {
	name := strings.TrimSpace(id)
	digits := strings.TrimPrefix(name, "ID:")
	switch {
	case digits != "" && strings.Trim(digits, "0123456789") == "":
		name = "ID:" + digits
	case strings.HasPrefix(name, "ID:"), !strings.Contains(name, ":"):
		return "", &Error{Op: "repeater", Kind: Invalid, Err: fmt.Errorf("%.40q is neither a number at a repeater nor host:port behind it", id)}
	}
	if len(name) >= maxRepeater || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", &Error{Op: "repeater", Kind: Invalid, Err: errors.New("the name at the repeater is too long or has characters that none can have")}
	}
	return name, nil
}
