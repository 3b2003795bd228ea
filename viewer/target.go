package viewer

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// A Protocol is how a machine is reached.
type Protocol string

// The protocols.
const (
	VNC Protocol = "vnc"
	RDP Protocol = "rdp"
	SSH Protocol = "ssh"
)

// Protocols are all of them, in the order they are shown.
var Protocols = []Protocol{VNC, RDP, SSH}

// DefaultPort is the protocol's registered TCP port, or 0.
func (p Protocol) DefaultPort() int {
	switch p {
	case VNC:
		return 5900
	case RDP:
		return 3389
	case SSH:
		return 22
	}
	return 0
}

// A Target is a machine to connect to.
type Target struct {
	Protocol Protocol
	Address  string // normalised by [Normalize]
	Port     int
	User     string
	HostID   string // the saved host it comes from, or empty
	Name     string // what to call it; empty: the address
	// Exclusive asks the machine to throw out its other viewers.
	Exclusive bool
	// RequireEncryption refuses logins after which the session is not
	// encrypted.
	RequireEncryption bool
	// Keys says how keys are sent; the zero value decides by the machine.
	Keys KeyMode
	// Picture says how the picture is asked for.
	Picture Picture
	// RepeaterID is the number under which a machine waits at a VNC repeater,
	// when the address is a repeater's; or host:port of the machine behind it.
	RepeaterID string
	// Proxy is the way to the machine: socks5://host:port or
	// http://host:port; empty for none. It holds no password. With machines on
	// the way it leads to the first of them.
	Proxy string
	// SSH holds the settings of logins over SSH; nil: the usual ones.
	SSH *SSHSettings
}

// A KeyMode says how keys are sent to a machine that takes both symbols and
// scan codes.
type KeyMode string

// The ways to send keys.
const (
	// KeysAuto: by symbol, so that the characters are those of the local
	// keyboard; by position to emulators, which have keys and no layout.
	KeysAuto KeyMode = ""
	// KeysBySymbol always matches the local layout.
	KeysBySymbol KeyMode = "symbol"
	// KeysByPosition sends the position of a key, where it is known: the
	// characters are those of the machine's layout.
	KeysByPosition KeyMode = "position"
)

// Label is what to call the target: its name, or its address.
func (t Target) Label() string {
	if t.Name != "" {
		return t.Name
	}
	return t.HostPort()
}

// Socket reports whether the target is a socket of this computer: an address
// that begins with a slash, without a port.
func (t Target) Socket() bool { return strings.HasPrefix(t.Address, "/") }

// HostPort is the address to dial, with IPv6 in brackets; of a socket of this
// computer its path.
func (t Target) HostPort() string {
	if t.Socket() {
		return t.Address
	}
	return net.JoinHostPort(t.Address, strconv.Itoa(t.Port))
}

// Normalize gives an address the one form in which machines are compared:
// spaces trimmed, ASCII lower case, trailing dots stripped, brackets taken off,
// IP addresses in canonical form with their zone kept.
func Normalize(address string) string {
	a := strings.TrimSpace(address)
	if strings.HasPrefix(a, "/") {
		return a // the path of a socket
	}
	if strings.HasPrefix(a, "[") && strings.HasSuffix(a, "]") {
		a = a[1 : len(a)-1]
	}
	host, zone, zoned := strings.Cut(a, "%")
	if !zoned {
		host = strings.TrimRight(host, ".")
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if zone != "" { // an interface's name keeps its case
			zone = "%" + zone
		}
		return ip.Unmap().String() + zone
	}
	b := []byte(a)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return strings.TrimRight(string(b), ".")
}

// maxDisplay is the largest number after one colon that is read as a VNC
// display rather than as a port.
const maxDisplay = 99

// ParseTarget reads what a person types into the connect bar:
//
//	host            the protocol's usual port
//	host:1          VNC display 1, port 5901
//	host:5901       port 5901
//	host::5901      port 5901
//	[::1]:5901      an IPv6 address and a port or display
//	fe80::1%eth0    an IPv6 address alone
//	vnc://user@host:port
//	unix:/run/vm.sock  a socket of this computer, VNC only
//
// protocol is the one meant when text does not say. A password in a URL is
// refused: it would be kept where text is kept.
func ParseTarget(text string, protocol Protocol) (Target, error) {
	s := strings.TrimSpace(text)
	t := Target{Protocol: protocol}
	if s == "" {
		return t, badTarget("type the address of a machine, for example lab01 or 10.0.0.5:1")
	}
	if path, ok := strings.CutPrefix(s, "unix:"); ok && protocol == VNC {
		if err := checkSocket(path); err != nil {
			return t, err
		}
		t.Address = path
		return t, nil
	}
	if scheme, rest, ok := strings.Cut(s, "://"); ok {
		if strings.Contains(scheme, "@") { // see splitHostPort
			return t, badTarget(misplacedUser)
		}
		t.Protocol = Protocol(strings.ToLower(scheme))
		if t.Protocol.DefaultPort() == 0 {
			return t, badTarget(fmt.Sprintf("%q is not a protocol this viewer speaks: use vnc, rdp or ssh", scheme))
		}
		rest, _, _ = strings.Cut(rest, "?")
		rest = strings.TrimRight(rest, "/")
		if i := strings.LastIndexByte(rest, '@'); i >= 0 {
			user, err := url.PathUnescape(rest[:i])
			if err != nil {
				return t, badTarget("the user name in the address is not well encoded")
			}
			if strings.Contains(user, ":") {
				return t, badTarget("leave the password out of the address; it is asked for when it is needed")
			}
			t.User, rest = user, rest[i+1:]
		}
		s = rest
	}
	host, port, err := splitHostPort(s, t.Protocol)
	if err != nil {
		return t, err
	}
	t.Address, t.Port = Normalize(host), port
	if err := checkHost(t.Address); err != nil {
		return t, err
	}
	return t, nil
}

// splitHostPort takes host and port of the forms ParseTarget lists.
func splitHostPort(s string, p Protocol) (string, int, error) {
	if strings.Contains(s, "@") {
		// What stands before it may be a password, so nothing of it is said.
		return "", 0, badTarget(misplacedUser)
	}
	host, tail := s, ""
	switch {
	case strings.HasPrefix(s, "["):
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return "", 0, badTarget("the address has a [ without a ]")
		}
		host, tail = s[1:end], s[end+1:]
		if tail != "" && tail[0] != ':' {
			return "", 0, badTarget("after ] only a port may follow, as in [::1]:5901")
		}
	case strings.Count(s, ":") == 1, strings.Count(s, ":") == 2 && strings.Contains(s, "::") && !isIP(s):
		i := strings.IndexByte(s, ':')
		host, tail = s[:i], s[i:]
	}
	if tail == "" {
		return host, p.DefaultPort(), nil
	}
	direct := strings.HasPrefix(tail, "::")
	n, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimPrefix(tail, ":"), ":"), 10, 16)
	if err != nil {
		return "", 0, badTarget(fmt.Sprintf("%q is not a port or a display: use a number from 0 to 65535", strings.TrimLeft(tail, ":")))
	}
	if p == VNC && !direct && n <= maxDisplay {
		n += uint64(VNC.DefaultPort())
	}
	if n == 0 {
		return "", 0, badTarget("port 0 cannot be connected to")
	}
	return host, int(n), nil
}

const misplacedUser = "an address has no @; a user goes before it as in vnc://user@host, and a password is asked for when it is needed"

func isIP(s string) bool {
	s, _, _ = strings.Cut(s, "%")
	_, err := netip.ParseAddr(s)
	return err == nil
}

// checkHost refuses what cannot be an address at all, so that a slip is named
// at once and not after a name look-up.
func checkHost(a string) error {
	if a == "" {
		return badTarget("the address has no host name")
	}
	if len(a) > 255 {
		return badTarget("the host name is longer than 255 characters")
	}
	for _, r := range a {
		if r <= ' ' || r == 0x7f || strings.ContainsRune(`/\@[]"'<>|?*`, r) {
			return badTarget(fmt.Sprintf("a host name cannot contain %q", r))
		}
	}
	if strings.ContainsAny(a, ":%") && !isIP(a) {
		return badTarget(fmt.Sprintf("%q is neither a host name nor an IPv6 address; write a port after an IPv6 address as [::1]:5901", a))
	}
	return nil
}

// maxSocketPath bounds the path of a socket; systems take less than this.
const maxSocketPath = 108

// checkSocket refuses what cannot be the path of a socket.
func checkSocket(path string) error {
	switch {
	case !strings.HasPrefix(path, "/"):
		return badTarget("write the whole path of a socket, as in unix:/run/vm.sock")
	case len(path) >= maxSocketPath:
		return badTarget("the path of the socket is longer than 107 bytes")
	case strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return badTarget("the path of a socket cannot contain control characters")
	}
	return nil
}

func badTarget(text string) error {
	return &Error{Op: "address", Kind: Invalid, Err: errors.New(text)}
}
