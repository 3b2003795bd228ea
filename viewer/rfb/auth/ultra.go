package auth

import (
	"encoding/binary"

	"deskvnc/viewer/conn"
)

// authContinue is UltraVNC's security result that asks for one more login.
const authContinue = 0xFFFFFFFF

// maxRounds bounds how often a server may ask for one more login.
const maxRounds = 6

// ultraVNC is security type 17: the server answers that the login goes on, and
// offers security types once more.
type ultraVNC struct{ l *Login }

func (ultraVNC) Type() uint8 { return TypeUltraVNC }

// Login leaves the last security result to be read.
func (u ultraVNC) Login(c *conn.Conn) error {
	for range maxRounds {
		b, err := c.Peek(4)
		if err != nil {
			return err
		}
		if binary.BigEndian.Uint32(b) != authContinue {
			return nil
		}
		if err := c.Discard(4); err != nil {
			return err
		}
		offered, err := takeTypes(c)
		if err != nil {
			return err
		}
		methods := append([]Method{veNCrypt(u)}, u.l.plain()...)
		m := choose(methods, offered)
		if m == nil {
			return unsupported("UltraVNC offers %s, none of which this viewer can do", Names(offered))
		}
		if err := write(c, m.Type()); err != nil {
			return err
		}
		u.l.Chosen("UltraVNC, " + Name(m.Type()))
		if err := m.Login(c); err != nil {
			return err
		}
	}
	return malformed("the machine asks for a login again and again")
}
