package socket

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
)

// Auto is the address that picks the system's best: the unix socket in the
// runtime folder, or TCP where there is none.
const Auto = "auto"

// windowName is the name of the window's own control socket.
const windowName = "control"

// Named is the address of a socket of this user's that programs find by its
// name: NAME.sock in the runtime folder, or, where the user of a peer is not
// known, a TCP port of this machine that a file beside the keys tells. A name
// is small letters and dashes.
func Named(name string) (Address, error) { return namedAddress(name) }

// An Address is where a control socket is, as a person writes it.
type Address struct {
	Path  string // of a unix socket; empty for TCP
	Host  string // empty for a unix socket
	Port  int    // 0: any free port, to listen only
	named string // TCP on a port that the port file of that name tells
}

// String is the address in words.
func (a Address) String() string {
	switch {
	case a.Path != "":
		return a.Path
	case a.named == windowName:
		return Auto
	case a.named != "":
		return a.named
	}
	return net.JoinHostPort(a.Host, strconv.Itoa(a.Port))
}

// Loopback reports whether the address can only be on this machine.
func (a Address) Loopback() bool {
	if a.Path != "" || a.named != "" || strings.EqualFold(a.Host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(a.Host)
	return err == nil && ip.Unmap().IsLoopback()
}

// Parse reads PORT, HOST:PORT, the path of a unix socket, or "auto". Port 0 is
// refused unless listening.
func Parse(text string, listening bool) (Address, error) {
	s := strings.TrimSpace(text)
	switch {
	case s == "":
		return Address{}, errors.New("an address is needed: a port such as 7990, the path of a socket, or auto")
	case strings.HasPrefix(s, "-"):
		return Address{}, fmt.Errorf("an address is needed before %s: a port such as 7990, the path of a socket, or auto", s)
	case s == Auto:
		return Named(windowName)
	case strings.ContainsRune(s, filepath.Separator) || strings.ContainsRune(s, '/'):
		return pathAddress(s)
	}
	host, digits := "127.0.0.1", s
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		var err error
		if host, digits, err = net.SplitHostPort(s); err != nil || host == "" {
			return Address{}, fmt.Errorf("%q is not an address: use a port such as 7990, HOST:PORT, the path of a socket, or auto", text)
		}
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	switch {
	case err != nil:
		return Address{}, fmt.Errorf("%q is not a port: use a number from 1 to 65535, the path of a socket, or auto", digits)
	case port == 0 && !listening:
		return Address{}, errors.New("port 0 cannot be connected to; give the port that the window shows")
	}
	a := Address{Host: host, Port: int(port)}
	if listening && !a.Loopback() {
		return Address{}, fmt.Errorf("%s is not on this machine; the control socket listens on 127.0.0.1 only", host)
	}
	return a, nil
}

// maxSocketPath is the longest path that every system's sockaddr_un holds.
const maxSocketPath = 103

func pathAddress(path string) (Address, error) {
	if len(path) > maxSocketPath {
		return Address{}, fmt.Errorf("the path of the socket has %d bytes and may have %d: set XDG_RUNTIME_DIR to a shorter folder", len(path), maxSocketPath)
	}
	return Address{Path: path}, nil
}
