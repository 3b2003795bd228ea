package auth

import (
	"encoding/binary"

	"deskvnc/viewer/conn"
)

// take returns a copy of the next n bytes. Callers bound n.
func take(c *conn.Conn, n int) ([]byte, error) {
	b, err := c.Peek(n)
	if err != nil {
		return nil, err
	}
	return append([]byte(nil), b...), c.Discard(n)
}

func takeU8(c *conn.Conn) (uint8, error) {
	b, err := take(c, 1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func takeU32(c *conn.Conn) (uint32, error) {
	b, err := take(c, 4)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(b), nil
}

// takeTypes reads a list of security types as it stands at the beginning of
// the handshake and inside of some types (RFC 6143 7.1.2). An empty one has a
// reason behind it, which is left to be read.
func takeTypes(c *conn.Conn) ([]uint8, error) {
	n, err := takeU8(c)
	if err != nil {
		return nil, err
	}
	return take(c, int(n))
}

func write(c *conn.Conn, b ...byte) error {
	_, err := c.Write(b)
	return err
}
