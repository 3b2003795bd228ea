package conn

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// maxHTTPHead bounds the head of a proxy's answer.
const maxHTTPHead = 16 << 10

// connectHTTP asks an HTTP proxy for a connection (RFC 9110 9.3.6).
func (p Proxy) connectHTTP(c net.Conn, address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Zone() != "" {
		return p.refused("cannot be asked for %s: it is an address of one network card of this computer", address)
	}
	if strings.ContainsAny(address, " \r\n\t") {
		return p.refused("cannot be asked for that address")
	}
	head := "CONNECT " + address + " HTTP/1.1\r\nHost: " + address + "\r\n"
	if p.User != "" {
		login := append([]byte(p.User+":"), p.Password.Open()...)
		head += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString(login) + "\r\n"
	}
	if _, err := c.Write([]byte(head + "\r\n")); err != nil {
		return err
	}
	answer, err := readHead(c)
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(answer, "\n")
	version, rest, _ := strings.Cut(strings.TrimRight(line, "\r"), " ")
	code, _, _ := strings.Cut(rest, " ")
	status, err := strconv.ParseUint(code, 10, 16)
	switch {
	case !strings.HasPrefix(version, "HTTP/1."), err != nil:
		return p.refused("does not speak HTTP")
	case status >= 200 && status < 300:
		return nil
	case status != 407 && status != 401: // some answer a wrong login as a web server does
		return p.refused("made no connection to %s: it answered %d", address, status)
	case p.User == "":
		return p.loginWanted()
	}
	return p.denied()
}

var errHead = errors.New("its answer is too long")

// readHead reads up to the empty line, and no byte of what follows it: the
// machine may have spoken already.
func readHead(c net.Conn) (string, error) {
	var head []byte
	b := make([]byte, 1)
	for len(head) < maxHTTPHead {
		n, err := c.Read(b)
		head = append(head, b[:n]...)
		if bytes.HasSuffix(head, []byte("\r\n\r\n")) || bytes.HasSuffix(head, []byte("\n\n")) {
			return string(head), nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", errHead
}
