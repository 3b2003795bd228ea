package auth

import (
	"encoding/binary"
	"fmt"
	"strings"

	"deskvnc/viewer/conn"
	"deskvnc/viewer/trust"
)

// maxCapabilities bounds a list of capabilities in the login.
const maxCapabilities = 256

// A capability is a thing that a server of the Tight type can do. All of it
// has to match (community RFB document, "Tight Security Type").
type capability struct {
	code      uint32
	signature string // vendor and name
}

const capabilityBytes = 16

func (k capability) String() string {
	clean := func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}
	return fmt.Sprintf("%s (%d)", strings.Map(clean, k.signature), k.code)
}

var (
	tightNoTunnel = capability{0, "TGHTNOTUNNEL"}
	tightNone     = capability{1, "STDVNOAUTH__"}
	tightVNC      = capability{2, "STDVVNCAUTH_"}
	tightVeNCrypt = capability{19, "VENCVENCRYPT"}
	tightUnix     = capability{129, "TGHTULGNAUTH"}
)

// takeCapabilities reads a counted list.
func takeCapabilities(c *conn.Conn) ([]capability, error) {
	n, err := takeU32(c)
	if err != nil {
		return nil, err
	}
	if n > maxCapabilities {
		return nil, tooLong("the machine lists %d capabilities; at most %d are read", n, maxCapabilities)
	}
	b, err := take(c, int(n)*capabilityBytes)
	if err != nil {
		return nil, err
	}
	var list []capability
	for ; len(b) > 0; b = b[capabilityBytes:] {
		list = append(list, capability{binary.BigEndian.Uint32(b), string(b[4:capabilityBytes])})
	}
	return list, nil
}

// tight is security type 16 of TightVNC: a list of tunnels, a list of logins,
// and after ServerInit a list of abilities.
type tight struct {
	l *Login
	// none says that the login was without a password.
	none bool
}

func (*tight) Type() uint8 { return TypeTight }

func (t *tight) Login(c *conn.Conn) error {
	tunnels, err := takeCapabilities(c)
	if err != nil {
		return err
	}
	if len(tunnels) > 0 {
		if !has(tunnels, tightNoTunnel) {
			return unsupported("the machine wants a tunnel of its own kind, which this viewer cannot do: it offers %s", list(tunnels))
		}
		if err := write(c, 0, 0, 0, 0); err != nil {
			return err
		}
	}
	logins, err := takeCapabilities(c)
	if err != nil {
		return err
	}
	if len(logins) == 0 {
		return t.login(c, tightNone)
	}
	order := []capability{tightVeNCrypt, tightNone, tightVNC, tightUnix}
	if t.l.Target.User != "" {
		order = []capability{tightVeNCrypt, tightNone, tightUnix, tightVNC}
	}
	for _, k := range order {
		if has(logins, k) {
			if _, err := c.Write(binary.BigEndian.AppendUint32(nil, k.code)); err != nil {
				return err
			}
			return t.login(c, k)
		}
	}
	return unsupported("of the Tight type the machine offers only logins that this viewer cannot do: %s", list(logins))
}

// login logs in by one of the logins of the Tight type.
func (t *tight) login(c *conn.Conn, k capability) error {
	if k == tightVeNCrypt {
		return veNCrypt{t.l}.Login(c)
	}
	if err := t.l.Judge(trust.Key{}); err != nil {
		return err
	}
	switch k {
	case tightVNC:
		t.l.Chosen("Tight, VNC password")
		return t.l.vnc().Login(c)
	case tightUnix:
		t.l.Chosen("Tight, Unix login")
		if err := t.l.Consent("the user name and the password"); err != nil {
			return err
		}
		return t.l.sendPlain(c)
	}
	t.none = true
	return nil
}

func has(l []capability, k capability) bool {
	for _, o := range l {
		if o == k {
			return true
		}
	}
	return false
}

func list(l []capability) string {
	names := make([]string, len(l))
	for i, k := range l {
		names[i] = k.String()
	}
	return strings.Join(names, ", ")
}

// DiscardAbilities reads what a server of the Tight type sends behind its
// ServerInit: three lists of what it can do, none of which matters to a viewer
// that asks for encodings anyway. They are at most 3 MiB, and are not kept.
func DiscardAbilities(c *conn.Conn) error {
	b, err := take(c, 8)
	if err != nil {
		return err
	}
	n := 0
	for i := range 3 {
		n += int(binary.BigEndian.Uint16(b[2*i:]))
	}
	return c.Discard(n * capabilityBytes)
}
