// Package conn owns the byte stream to a machine: dialling, and a buffered
// [net.Conn] that decoders peek into, whose inside can be replaced (by TLS)
// in mid-stream. It knows no protocol.
package conn

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// BufferSize is the read buffer of a connection. Smaller ones cost system
// calls, larger ones gain nothing.
const BufferSize = 256 << 10

// Slack is the number of readable bytes behind a slice that [Conn.Peek]
// returns, so that decoders may load whole words up to its end. What they
// hold is arbitrary.
const Slack = 32

// MaxPeek bounds one [Conn.Peek]. The buffer grows towards it only as bytes
// really arrive, and shrinks again when they are consumed.
const MaxPeek = 8 << 20

// ErrTooLong says that a Peek asked for more than [MaxPeek].
var ErrTooLong = errors.New("more bytes in one piece than a connection keeps")

// A Conn is a buffered connection. One goroutine reads (Read, Peek, Discard,
// Buffered, Replace) and one writes; Close, the deadlines and the counters may
// be called from anywhere.
type Conn struct {
	buf    []byte        // Slack bytes longer than what is used; owned by the reader
	base   []byte        // the buffer of the usual size
	r, w   int           // buffered bytes are buf[r:w]
	waited time.Duration // for bytes; owned by the reader
	err    error         // the read error, kept; owned by the reader
	wait   func()        // called before the reader waits; owned by the reader
	ready  *ready        // of inner; owned by the reader; nil for none

	waits   atomic.Bool // the reader waits for bytes
	in, out atomic.Uint64
	gone    atomic.Bool // Close was called

	mu     sync.Mutex // guards below; never held across I/O
	inner  net.Conn
	sealed bool // a layer was put around the connection that was dialled
	closed bool

	closing sync.Once
	closeEr error
}

// New returns a buffered connection over inner, which it owns from then on.
func New(inner net.Conn) *Conn {
	b := make([]byte, BufferSize+Slack)
	return &Conn{inner: inner, buf: b, base: b}
}

func (c *Conn) current() net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inner
}

// Peek returns the next n bytes without consuming them, waiting for them if
// need be. The slice is valid until the next Peek, Read or Replace, and has
// [Slack] readable bytes behind its end.
func (c *Conn) Peek(n int) ([]byte, error) {
	if c.w-c.r < n {
		if err := c.fill(n); err != nil {
			return nil, err
		}
	}
	return c.buf[c.r : c.r+n], nil
}

// Buffered returns what has arrived and is not consumed, without waiting. The
// rules of Peek hold for it.
func (c *Conn) Buffered() []byte { return c.buf[c.r:c.w] }

// Some waits until at least one byte is there and returns what has arrived,
// at most limit bytes. The rules of Peek hold for it.
func (c *Conn) Some(limit int) ([]byte, error) {
	if c.r == c.w {
		if err := c.fill(1); err != nil {
			return nil, err
		}
	}
	return c.buf[c.r:min(c.w, c.r+limit)], nil
}

// Discard consumes n bytes, waiting for those that have not arrived. Once the
// connection was closed on this side it fails also for bytes that are here: a
// buffer may hold minutes of work.
func (c *Conn) Discard(n int) error {
	if c.gone.Load() {
		c.err = net.ErrClosed
		return c.err
	}
	for {
		k := min(n, c.w-c.r)
		c.r += k
		n -= k
		if n == 0 {
			break
		}
		if err := c.fill(1); err != nil {
			return err
		}
	}
	if c.r == c.w && len(c.buf) > len(c.base) {
		c.buf, c.r, c.w = c.base, 0, 0
	}
	return nil
}

// OnWait sets what the reader calls before it waits for bytes: work that was
// put off. It must not read. Behind a layer of encryption it is called before
// each read, which may or may not wait.
func (c *Conn) OnWait(f func()) { c.wait, c.ready = f, readyOf(c.current()) }

// Waited is the time that the reader has spent on waiting for bytes. It belongs
// to the reader.
func (c *Conn) Waited() time.Duration { return c.waited }

// fill reads until n bytes are buffered.
func (c *Conn) fill(n int) error {
	if n > MaxPeek {
		return ErrTooLong
	}
	if c.r > 0 {
		copy(c.buf, c.buf[c.r:c.w])
		c.r, c.w = 0, c.w-c.r
	}
	for c.w < n {
		if c.err != nil {
			if c.err == io.EOF && c.w > 0 {
				return io.ErrUnexpectedEOF
			}
			return c.err
		}
		if c.w == len(c.buf)-Slack {
			grown := make([]byte, min(2*c.w, MaxPeek)+Slack)
			copy(grown, c.buf[:c.w])
			c.buf = grown
		}
		k, err := c.arrive(c.buf[c.w : len(c.buf)-Slack])
		c.w += k
		c.in.Add(uint64(k))
		c.err = err
	}
	return nil
}

// arrive reads what there is, or waits for it.
func (c *Conn) arrive(p []byte) (int, error) {
	if c.wait != nil {
		if c.ready != nil {
			if n, ok, err := c.ready.read(p); ok {
				return n, err
			}
		}
		c.wait()
	}
	since := time.Now()
	c.waits.Store(true)
	n, err := c.current().Read(p)
	c.waits.Store(false)
	c.waited += time.Since(since)
	return n, err
}

// Waits reports whether the reader waits for bytes at this moment.
func (c *Conn) Waits() bool { return c.waits.Load() }

// Read fills p with what is buffered, or waits for something.
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := c.Some(len(p))
	if err != nil {
		return 0, err
	}
	n := copy(p, b)
	return n, c.Discard(n)
}

// Err returns the error that ended reading, or nil. Only the reading
// goroutine, or one that knows it has ended, may call it.
func (c *Conn) Err() error { return c.err }

// writePiece is how much is written at once, so that [Conn.Sent] shows how a
// long message goes on.
const writePiece = 64 << 10

// Write sends p.
func (c *Conn) Write(p []byte) (int, error) {
	done := 0
	for {
		n, err := c.current().Write(p[done:min(len(p), done+writePiece)])
		c.out.Add(uint64(n))
		if done += n; err != nil || done >= len(p) {
			return done, err
		}
		if n == 0 {
			return done, io.ErrShortWrite
		}
	}
}

// Received is the number of bytes read from the machine.
func (c *Conn) Received() uint64 { return c.in.Load() }

// Consumed is the number of bytes that were read and consumed. It belongs to
// the reader.
func (c *Conn) Consumed() uint64 { return c.in.Load() - uint64(c.w-c.r) }

// Sent is the number of bytes written to the machine.
func (c *Conn) Sent() uint64 { return c.out.Load() }

// Replace puts a layer around the inner connection, as a TLS handshake does:
// wrap gets a connection that first reads what is buffered here, and returns
// the one to use from now on. Nobody may write meanwhile.
func (c *Conn) Replace(wrap func(net.Conn) (net.Conn, error)) error {
	inner := c.current()
	rest := append([]byte(nil), c.buf[c.r:c.w]...)
	c.buf, c.r, c.w, c.ready = c.base, 0, 0, nil
	outer, err := wrap(&prefixed{Conn: inner, rest: rest})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inner, c.sealed = outer, true
	if c.closed {
		return fmt.Errorf("replacing the connection: %w", net.ErrClosed)
	}
	return nil
}

// Sealed reports whether [Conn.Replace] put a layer around the connection:
// whether what is sent and received is encrypted.
func (c *Conn) Sealed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sealed
}

// prefixed is a connection of which some bytes were read already.
type prefixed struct {
	net.Conn
	rest []byte
}

func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return p.Conn.Read(b)
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// Close closes the connection; reads and writes under way end. Calls after
// the first do nothing and return the same.
func (c *Conn) Close() error {
	c.closing.Do(func() {
		c.gone.Store(true)
		c.mu.Lock()
		c.closed = true
		inner := c.inner
		c.mu.Unlock()
		c.closeEr = inner.Close()
	})
	return c.closeEr
}

// LocalAddr is the inner connection's.
func (c *Conn) LocalAddr() net.Addr { return c.current().LocalAddr() }

// RemoteAddr is the inner connection's.
func (c *Conn) RemoteAddr() net.Addr { return c.current().RemoteAddr() }

// SetDeadline sets both deadlines.
func (c *Conn) SetDeadline(t time.Time) error { return c.current().SetDeadline(t) }

// SetReadDeadline bounds the waiting of reads. A read that ran into it has
// ended reading for good.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.current().SetReadDeadline(t) }

// SetWriteDeadline bounds the waiting of writes.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.current().SetWriteDeadline(t) }
