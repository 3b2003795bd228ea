package rfbtest

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// A Conn is the server's side of a connection.
type Conn struct {
	net.Conn
	r *bufio.Reader
	// MoreButtons says that a PointerEvent with bit 7 set has another byte.
	MoreButtons bool
}

// Send writes the parts, one after the other, as one piece.
func (c *Conn) Send(parts ...[]byte) error {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	_, err := c.Write(b)
	return err
}

// Expect reads n bytes.
func (c *Conn) Expect(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(c.r, b)
	return b, err
}

// ExpectBytes reads as many bytes as want has and compares.
func (c *Conn) ExpectBytes(want []byte) error {
	got, err := c.Expect(len(want))
	if err != nil {
		return err
	}
	if string(got) != string(want) {
		return fmt.Errorf("the client sent %q, want %q", got, want)
	}
	return nil
}

// Some reads what the client has sent, at least one byte.
func (c *Conn) Some() ([]byte, error) {
	if _, err := c.r.Peek(1); err != nil {
		return nil, err
	}
	return c.Expect(c.r.Buffered())
}

// Drain reads and drops what the client sends until it closes.
func (c *Conn) Drain() error {
	_, _ = io.Copy(io.Discard, c.r) // how it ends does not matter
	return nil
}

// Hello performs the handshake of version 3.8 without a password.
func (c *Conn) Hello(i Init) error {
	if err := c.Send([]byte("RFB 003.008\n")); err != nil {
		return err
	}
	if err := c.ExpectBytes([]byte("RFB 003.008\n")); err != nil {
		return err
	}
	if err := c.Send([]byte{1, 1}); err != nil { // one type: None
		return err
	}
	if err := c.ExpectBytes([]byte{1}); err != nil {
		return err
	}
	if err := c.Send(make([]byte, 4)); err != nil { // success
		return err
	}
	if _, err := c.Expect(1); err != nil { // ClientInit
		return err
	}
	return c.Send(i.Bytes())
}

// An Init is a ServerInit message. The zero Format is that of [BGRX].
type Init struct {
	Width, Height int
	Format        []byte // 16 bytes
	Name          string
}

// BGRX is the pixel format that most servers have: 32 bits, depth 24,
// little-endian, red at bit 16, green at 8, blue at 0.
var BGRX = []byte{32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0}

// Bytes is the message.
func (i Init) Bytes() []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(i.Width))
	b = binary.BigEndian.AppendUint16(b, uint16(i.Height))
	if i.Format == nil {
		b = append(b, BGRX...)
	} else {
		b = append(b, i.Format...)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(i.Name)))
	return append(b, i.Name...)
}

// The client messages by their numbers.
const (
	SetPixelFormat    = 0
	SetEncodings      = 2
	UpdateRequest     = 3
	KeyEvent          = 4
	PointerEvent      = 5
	ClientCutText     = 6
	ContinuousUpdates = 150
	Fence             = 248
	SetDesktopSize    = 251
	QEMU              = 255
)

// A Message is one client message.
type Message struct {
	Type uint8
	Body []byte // what follows the type
}

// Next reads the next client message. It refuses what no client may send.
func (c *Conn) Next() (Message, error) {
	t, err := c.r.ReadByte()
	if err != nil {
		return Message{}, err
	}
	m := Message{Type: t}
	fixed := map[uint8]int{SetPixelFormat: 19, SetEncodings: 3, UpdateRequest: 9, KeyEvent: 7, PointerEvent: 5, ClientCutText: 7, SetDesktopSize: 7,
		ContinuousUpdates: 9, Fence: 8, QEMU: 11}
	n, ok := fixed[t]
	if !ok {
		return m, fmt.Errorf("the client sent an unknown message %d", t)
	}
	if m.Body, err = c.Expect(n); err != nil {
		return m, err
	}
	more := 0
	switch t {
	case SetEncodings:
		more = 4 * int(binary.BigEndian.Uint16(m.Body[1:]))
	case ClientCutText:
		n := int32(binary.BigEndian.Uint32(m.Body[3:]))
		more = int(max(n, -n)) // below zero: extended
	case Fence:
		more = int(m.Body[7])
	case PointerEvent:
		if c.MoreButtons && m.Body[0]&0x80 != 0 {
			more = 1
		}
	case SetDesktopSize:
		more = 16 * int(m.Body[5])
	}
	rest, err := c.Expect(more)
	m.Body = append(m.Body, rest...)
	return m, err
}

// Until reads client messages up to the next of the type.
func (c *Conn) Until(t uint8) (Message, error) {
	for {
		m, err := c.Next()
		if err != nil || m.Type == t {
			return m, err
		}
	}
}

// Encodings are those of a SetEncodings message.
func (m Message) Encodings() []int32 {
	var list []int32
	for b := m.Body[3:]; len(b) >= 4; b = b[4:] {
		list = append(list, int32(binary.BigEndian.Uint32(b)))
	}
	return list
}

// Incremental reports whether an UpdateRequest asks for changes only.
func (m Message) Incremental() bool { return m.Body[0] != 0 }

// String describes a message for a test's output; inputs as "key down 0x61",
// "pointer 1 at 10,20".
func (m Message) String() string {
	switch m.Type {
	case KeyEvent:
		way := "up"
		if m.Body[0] == 1 {
			way = "down"
		}
		return fmt.Sprintf("key %s %#x", way, binary.BigEndian.Uint32(m.Body[3:]))
	case PointerEvent:
		if len(m.Body) > 5 {
			return fmt.Sprintf("pointer %d and %d at %d,%d", m.Body[0], m.Body[5], binary.BigEndian.Uint16(m.Body[1:]), binary.BigEndian.Uint16(m.Body[3:]))
		}
		return fmt.Sprintf("pointer %d at %d,%d", m.Body[0], binary.BigEndian.Uint16(m.Body[1:]), binary.BigEndian.Uint16(m.Body[3:]))
	case UpdateRequest:
		return fmt.Sprintf("request incremental=%v", m.Incremental())
	case QEMU:
		way := "up"
		if m.Body[2] == 1 {
			way = "down"
		}
		return fmt.Sprintf("scan %s %#x %#x", way, binary.BigEndian.Uint32(m.Body[3:]), binary.BigEndian.Uint32(m.Body[7:]))
	case ContinuousUpdates:
		return fmt.Sprintf("continuous %d %d x %d", m.Body[0], binary.BigEndian.Uint16(m.Body[5:]), binary.BigEndian.Uint16(m.Body[7:]))
	case ClientCutText:
		return fmt.Sprintf("text %q", m.Body[7:])
	}
	return fmt.Sprintf("message %d %x", m.Type, m.Body)
}
