package rfb

import (
	"encoding/binary"
	"fmt"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
)

// The server messages by their numbers (RFC 6143 7.6).
const (
	msgFramebufferUpdate   = 0
	msgSetColourMapEntries = 1
	msgBell                = 2
	msgServerCutText       = 3
)

// maxTextBytes bounds one clipboard text, either way; a machine may claim
// 4 GiB.
const maxTextBytes = 16 << 20

// A message makes a reader one of go-vnc's server messages. The readers keep
// no state of their own, so one object serves all messages of a type.
type message struct {
	number uint8
	read   func() error
	fail   func(error) error
}

var _ vnc.ServerMessage = (*message)(nil)

// Type is the message's number.
func (m *message) Type() uint8 { return m.number }

// Read reads the rest of one message.
func (m *message) Read(*vnc.ClientConn, io.Reader) (vnc.ServerMessage, error) {
	if err := m.read(); err != nil {
		return nil, m.fail(err)
	}
	return m, nil
}

// readColourMap reads and drops the colours of a map: the format that is asked
// for has none (7.6.2).
func readColourMap(c *conn.Conn) error {
	b, err := c.Peek(5) // padding, first colour, number of colours
	if err != nil {
		return err
	}
	return c.Discard(5 + 6*int(binary.BigEndian.Uint16(b[3:])))
}

// readCutText reads the text of ServerCutText (7.6.4).
func readCutText(c *conn.Conn) (string, error) {
	b, err := c.Peek(7) // padding, length
	if err != nil {
		return "", err
	}
	n := binary.BigEndian.Uint32(b[3:])
	if err := c.Discard(7); err != nil {
		return "", err
	}
	if n > maxTextBytes {
		return "", &viewer.Error{Op: "rfb.CutText", Kind: viewer.Limit,
			Err: fmt.Errorf("a clipboard text of %d bytes is more than the %d that are taken", n, maxTextBytes)}
	}
	// Grown as bytes arrive: a claim alone allocates nothing.
	var text []byte
	for left := int(n); left > 0; {
		b, err := c.Some(left)
		if err != nil {
			return "", err
		}
		text = append(text, b...)
		left -= len(b)
		if err := c.Discard(len(b)); err != nil {
			return "", err
		}
	}
	return fromLatin1(text), nil
}
