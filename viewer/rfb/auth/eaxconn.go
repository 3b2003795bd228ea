package auth

import (
	"encoding/binary"
	"io"
	"net"
	"sync"

	"deskvnc/viewer/conn"
)

const (
	eaxLengthBytes = 2
	// maxEAXMessage is the most that the length of a message can say.
	maxEAXMessage = 1<<16 - 1
	// eaxChunk is the size of the messages that are sent: what servers buffer.
	eaxChunk = 8192
	// maxEAXEmpty is how many messages without a content may follow each other.
	maxEAXEmpty = 16
)

// An eaxHalf is one direction of the messages of the RSA-AES types: a length,
// which is authenticated too, the sealed content and its tag. The nonce counts
// messages, little endian.
type eaxHalf struct {
	eax   *eax
	nonce [eaxBlock]byte
}

func newEAXHalf(key []byte) (*eaxHalf, error) {
	e, err := newEAX(key)
	return &eaxHalf{eax: e}, err
}

// count moves on to the next message.
func (h *eaxHalf) count() {
	for i := range h.nonce {
		h.nonce[i]++
		if h.nonce[i] != 0 {
			return
		}
	}
}

// seal appends a message with text, at most maxEAXMessage bytes.
func (h *eaxHalf) seal(dst, text []byte) []byte {
	var length [eaxLengthBytes]byte
	binary.BigEndian.PutUint16(length[:], uint16(len(text)))
	dst = h.eax.seal(append(dst, length[:]...), h.nonce[:], length[:], text)
	h.count()
	return dst
}

// open decrypts the sealed content of a message in place.
func (h *eaxHalf) open(length, sealed []byte) ([]byte, error) {
	text, err := h.eax.open(h.nonce[:], length, sealed)
	h.count()
	return text, err
}

// send writes one message of the login.
func (h *eaxHalf) send(c *conn.Conn, text []byte) error {
	_, err := c.Write(h.seal(nil, text))
	return err
}

// receive reads one message of the login, which has to have n bytes.
func (h *eaxHalf) receive(c *conn.Conn, n int) ([]byte, error) {
	length, err := take(c, eaxLengthBytes)
	if err != nil {
		return nil, err
	}
	if got := int(binary.BigEndian.Uint16(length)); got != n {
		return nil, malformed("the machine sent a message of %d bytes where %d belong", got, n)
	}
	sealed, err := take(c, n+eaxBlock)
	if err != nil {
		return nil, err
	}
	text, err := h.open(length, sealed)
	if err != nil {
		return nil, malformed("the machine's part of the login: %w", err)
	}
	return text, nil
}

// An eaxConn is a connection that is encrypted after an RSA-AES login. One
// goroutine may read while another writes.
type eaxConn struct {
	net.Conn

	in   *eaxHalf // owned by the reader, as are the following
	raw  [eaxLengthBytes + maxEAXMessage + eaxBlock]byte
	rest []byte // decrypted and not read yet
	err  error

	writing sync.Mutex // guards below; held across writes
	out     *eaxHalf
	buf     []byte
}

// Read reads decrypted bytes.
func (c *eaxConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for range maxEAXEmpty {
		if len(c.rest) > 0 || c.err != nil {
			break
		}
		c.err = c.fill()
	}
	switch {
	case len(c.rest) > 0:
		n := copy(p, c.rest)
		c.rest = c.rest[n:]
		return n, nil
	case c.err == nil:
		c.err = malformed("the machine sends messages without a content")
	}
	return 0, c.err
}

// fill reads one message.
func (c *eaxConn) fill() error {
	length := c.raw[:eaxLengthBytes]
	if _, err := io.ReadFull(c.Conn, length); err != nil {
		return err
	}
	sealed := c.raw[eaxLengthBytes : eaxLengthBytes+int(binary.BigEndian.Uint16(length))+eaxBlock]
	if _, err := io.ReadFull(c.Conn, sealed); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	text, err := c.in.open(length, sealed)
	if err != nil {
		return malformed("the encrypted connection: %w", err)
	}
	c.rest = text
	return nil
}

// Write encrypts and sends p. A write that has failed cannot be repeated: the
// connection is over.
func (c *eaxConn) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	done := 0
	for done < len(p) {
		n := min(len(p)-done, eaxChunk)
		c.buf = c.out.seal(c.buf[:0], p[done:done+n])
		if _, err := c.Conn.Write(c.buf); err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}
