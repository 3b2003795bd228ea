package conn

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strconv"
)

// The numbers of SOCKS5 (RFC 1928) and of its login (RFC 1929).
const (
	socksVersion  = 5
	socksLogin    = 1 // version of the login
	socksNone     = 0
	socksPassword = 2
	socksNoMethod = 0xff
	socksConnect  = 1
	socksIPv4     = 1
	socksName     = 3
	socksIPv6     = 4
)

// socksReplies are the reasons of a refused connection (RFC 1928 6).
var socksReplies = map[byte]string{
	1: "general failure",
	2: "its rules forbid it",
	3: "the network cannot be reached",
	4: "the machine cannot be reached",
	5: "the machine refused the connection: nothing listens on that port",
	6: "the time to live has run out",
	7: "the proxy makes no connections",
	8: "the proxy does not know this kind of address",
}

// connectSOCKS asks a SOCKS5 proxy for a connection. What it reads is bounded
// by the protocol: no message is longer than 262 bytes.
func (p Proxy) connectSOCKS(c net.Conn, address string) error {
	to, err := socksAddress(address)
	if err != nil {
		return p.refused("cannot be asked for %s: %w", address, err)
	}
	hello := []byte{socksVersion, 1, socksNone}
	if p.User != "" {
		hello = []byte{socksVersion, 2, socksNone, socksPassword}
	}
	if _, err := c.Write(hello); err != nil {
		return err
	}
	var b [4]byte
	if _, err := io.ReadFull(c, b[:2]); err != nil {
		return err
	}
	switch {
	case b[0] != socksVersion:
		return p.refused("does not speak SOCKS5")
	case b[1] == socksPassword && p.User != "":
		if err := p.loginSOCKS(c); err != nil {
			return err
		}
	case b[1] == socksNoMethod, b[1] == socksPassword:
		if p.User == "" {
			return p.loginWanted()
		}
		return p.refused("takes no login by user name and password")
	case b[1] != socksNone:
		return p.refused("wants a login of kind %d, which is not known", b[1])
	}
	if _, err := c.Write(append([]byte{socksVersion, socksConnect, 0}, to...)); err != nil {
		return err
	}
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return err
	}
	switch reason, known := socksReplies[b[1]]; {
	case b[0] != socksVersion:
		return p.refused("answers in another version, %d", b[0])
	case known:
		return p.refused("made no connection to %s: %s", address, reason)
	case b[1] != 0:
		return p.refused("made no connection to %s: reason %d", address, b[1])
	}
	n := 0 // bytes of the address that the proxy uses
	switch b[3] {
	case socksIPv4:
		n = 4
	case socksIPv6:
		n = 16
	case socksName:
		if _, err := io.ReadFull(c, b[:1]); err != nil {
			return err
		}
		n = int(b[0])
	default:
		return p.refused("answers with an address of kind %d", b[3])
	}
	_, err = io.ReadFull(c, make([]byte, n+2))
	return err
}

// loginSOCKS sends user and password.
func (p Proxy) loginSOCKS(c net.Conn) error {
	password := p.Password.Open()
	if len(password) > 255 {
		return p.refused("takes no password of more than 255 bytes")
	}
	b := append([]byte{socksLogin, byte(len(p.User))}, p.User...)
	b = append(append(b, byte(len(password))), password...)
	if _, err := c.Write(b); err != nil {
		return err
	}
	var answer [2]byte
	if _, err := io.ReadFull(c, answer[:]); err != nil {
		return err
	}
	if answer[1] != 0 {
		return p.denied()
	}
	return nil
}

// socksAddress is an address as SOCKS writes it.
func socksAddress(address string) ([]byte, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	var b []byte
	ip, err := netip.ParseAddr(host)
	switch {
	case err == nil && ip.Zone() != "":
		return nil, &net.AddrError{Err: "an address of one network card of this computer", Addr: host}
	case err == nil && ip.Is4():
		b = append([]byte{socksIPv4}, ip.AsSlice()...)
	case err == nil:
		b = append([]byte{socksIPv6}, ip.AsSlice()...)
	case len(host) > 255:
		return nil, &net.AddrError{Err: "a name of more than 255 bytes", Addr: host[:32] + "..."}
	default:
		b = append([]byte{socksName, byte(len(host))}, host...)
	}
	return binary.BigEndian.AppendUint16(b, uint16(n)), nil
}
