package anontls

import (
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// closeTimeout bounds the farewell.
const closeTimeout = time.Second

// A Conn is an encrypted connection. One goroutine may read while another
// writes; Close and the deadlines are for any goroutine.
type Conn struct {
	net.Conn
	suite suite // set once

	in       half // owned by the reader, as are the following
	raw      [headerBytes + maxRecord]byte
	rest     []byte // decrypted and not read yet
	warnings int
	err      error

	writing sync.Mutex // guards below; held across writes
	out     half
	buf     []byte
}

// Client speaks the handshake over inner, and returns the connection to use
// from then on. Deadlines are inner's.
func Client(inner net.Conn) (*Conn, error) { return client(inner, true) }

func client(inner net.Conn, extended bool) (*Conn, error) {
	c := &Conn{Conn: inner}
	h := &handshake{c: c, extended: extended}
	if err := h.run(); err != nil {
		if _, theirs := err.(Alert); !theirs {
			c.alert(alertProtocolError)
		}
		return nil, err
	}
	c.suite = h.suite
	return c, nil
}

// Cipher is the name of the cipher suite in use.
func (c *Conn) Cipher() string { return c.suite.name }

// Read reads decrypted bytes.
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(c.rest) == 0 {
		if c.err != nil {
			return 0, c.err
		}
		c.err = c.fill()
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// fill reads one record after the handshake.
func (c *Conn) fill() error {
	typ, content, err := c.readRecord()
	if err != nil {
		return err
	}
	switch typ {
	case typeData:
		c.rest = content
		c.warnings = 0
		return nil
	case typeAlert:
		err = readAlert(content)
	case typeHandshake:
		// A request to renegotiate may be ignored (RFC 5246 7.4.1.1).
		if len(content) != 4 || [4]byte(content) != [4]byte{} {
			c.alert(alertUnexpected)
			return malformed("handshake after the handshake")
		}
	default:
		return malformed("record")
	}
	if c.warnings++; err == nil && c.warnings > maxWarnings {
		return recordError("tls: too many warnings")
	}
	return err
}

// Write encrypts and sends p.
func (c *Conn) Write(p []byte) (int, error) {
	if err := c.writeRecords(typeData, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// batch is how many records are sent in one write.
const batch = 4

// writeRecords sends content in as many records as it needs. A write that has
// failed cannot be repeated: the connection is over.
func (c *Conn) writeRecords(typ byte, content []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.writeLocked(typ, content)
}

func (c *Conn) writeLocked(typ byte, content []byte) error {
	for len(content) > 0 {
		c.buf = c.buf[:0]
		for i := 0; i < batch && len(content) > 0; i++ {
			n := min(len(content), maxPlain)
			c.buf = c.out.seal(c.buf, typ, content[:n])
			content = content[n:]
		}
		if n, err := c.Conn.Write(c.buf); err != nil {
			return err
		} else if n < len(c.buf) {
			return fmt.Errorf("tls: %w", io.ErrShortWrite)
		}
	}
	return nil
}

// alert tells the server why the connection ends, if that takes no waiting.
func (c *Conn) alert(a Alert) {
	if !c.writing.TryLock() {
		return
	}
	defer c.writing.Unlock()
	level := byte(alertLevelFatal)
	if a == alertCloseNotify {
		level = alertLevelWarning
	}
	_ = c.Conn.SetWriteDeadline(time.Now().Add(closeTimeout)) // a farewell may fail
	_ = c.writeLocked(typeAlert, []byte{level, byte(a)})
}

// Close says goodbye when that takes no waiting, and closes the connection.
func (c *Conn) Close() error {
	c.alert(alertCloseNotify)
	return c.Conn.Close()
}
