package tunnel

import (
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"deskvnc/viewer"
)

// greetTime bounds how long a program may take to say where it wants to go.
const greetTime = 30 * time.Second

// The words of SOCKS5 (RFC 1928).
const (
	socks5       = 5
	noLogin      = 0
	noneFits     = 0xff
	connect      = 1
	addressIPv4  = 1
	addressName  = 3
	addressIPv6  = 4
	granted      = 0
	failed       = 1
	notAllowed   = 2
	noHost       = 4
	noCommand    = 7
	noSuchFormat = 8
)

var errSOCKS = &viewer.Error{Op: "tunnel", Kind: viewer.Malformed, Err: errors.New("a program that connected does not speak SOCKS5 without a login: set it to SOCKS5")}

// greet reads where a program wants to go.
func greet(c net.Conn) (string, error) {
	c.SetDeadline(time.Now().Add(greetTime))
	defer c.SetDeadline(time.Time{})
	var head [2]byte
	if _, err := io.ReadFull(c, head[:]); err != nil || head[0] != socks5 {
		return "", errSOCKS
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(c, methods); err != nil {
		return "", errSOCKS
	}
	chosen := byte(noneFits)
	for _, m := range methods {
		if m == noLogin {
			chosen = noLogin
		}
	}
	if _, err := c.Write([]byte{socks5, chosen}); err != nil || chosen == noneFits {
		return "", errSOCKS
	}
	var ask [4]byte
	if _, err := io.ReadFull(c, ask[:]); err != nil || ask[0] != socks5 {
		return "", errSOCKS
	}
	n := 0
	switch ask[3] {
	case addressIPv4:
		n = net.IPv4len
	case addressIPv6:
		n = net.IPv6len
	case addressName:
		var b [1]byte
		if _, err := io.ReadFull(c, b[:]); err != nil {
			return "", errSOCKS
		}
		n = int(b[0])
	}
	to := make([]byte, n+2)
	if _, err := io.ReadFull(c, to); err != nil {
		return "", errSOCKS
	}
	switch {
	case ask[1] != connect:
		reply(c, noCommand)
		return "", &viewer.Error{Op: "tunnel", Kind: viewer.Unsupported, Err: errors.New("a program asked the SOCKS tunnel for something other than a connection")}
	case n == 0:
		reply(c, noSuchFormat)
		return "", errSOCKS
	}
	host := string(to[:n])
	if ask[3] != addressName {
		host = net.IP(to[:n]).String()
	}
	return net.JoinHostPort(host, strconv.Itoa(int(to[n])<<8|int(to[n+1]))), nil
}

// answer tells a program what came of it.
func answer(c net.Conn, err error) error {
	code := byte(granted)
	switch {
	case err == nil:
	case viewer.KindOf(err) == viewer.Unsupported:
		code = notAllowed
	case viewer.KindOf(err) == viewer.Unreachable:
		code = noHost
	default:
		code = failed
	}
	return reply(c, code)
}

func reply(c net.Conn, code byte) error {
	_, err := c.Write([]byte{socks5, code, 0, addressIPv4, 0, 0, 0, 0, 0, 0})
	return err
}
