package sshdial

import (
	"io"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// pieceBytes is how much of a stream moves at once; a packet of SSH holds as
// much.
const pieceBytes = 32 << 10

// newStream makes a connection of a channel. Its requests are refused, and what
// comes beside the stream is dropped.
func newStream(ch ssh.Channel, requests <-chan *ssh.Request, c *Client, to string) net.Conn {
	go ssh.DiscardRequests(requests)
	go io.Copy(io.Discard, ch.Stderr())
	return newPiped(ch, c.link.LocalAddr(), named(to), c.quit)
}

// named is the far end of a tunnel.
type named string

func (named) Network() string  { return "tcp" }
func (n named) String() string { return string(n) }

// A piped is a stream whose reads and writes can be given deadlines, which
// those of a channel cannot. Two goroutines move the bytes; they end when the
// stream does, or what carries it.
type piped struct {
	in            io.ReadWriteCloser
	local, remote net.Addr
	gone          <-chan struct{} // closed when what carries the stream has ended; may be nil

	reading  sync.Mutex  // held by Read
	pieces   chan []byte // from the reader
	took     chan struct{}
	rest     []byte // of a piece; guarded by reading
	readErr  error  // set before pieces is closed
	writing  sync.Mutex
	outgoing chan []byte
	wrote    chan error
	piece    []byte // the writer's while it writes; guarded by writing
	writeErr error  // of the stream, or a write that was given up; guarded by writing

	readBy, writeBy deadline

	closing sync.Once
	closed  chan struct{}
}

func newPiped(in io.ReadWriteCloser, local, remote net.Addr, gone <-chan struct{}) *piped {
	p := &piped{
		in: in, local: local, remote: remote, gone: gone, pieces: make(chan []byte), took: make(chan struct{}),
		outgoing: make(chan []byte), wrote: make(chan error, 1), closed: make(chan struct{}),
	}
	p.readBy.init()
	p.writeBy.init()
	go p.readLoop()
	go p.writeLoop()
	return p
}

func (p *piped) readLoop() {
	defer close(p.pieces)
	b := make([]byte, pieceBytes)
	for {
		n, err := p.in.Read(b)
		if n > 0 {
			select {
			case p.pieces <- b[:n]:
			case <-p.closed:
				return
			case <-p.gone:
				return
			}
			select {
			case <-p.took:
			case <-p.closed:
				return
			case <-p.gone:
				return
			}
		}
		if err != nil {
			p.readErr = err
			return
		}
	}
}

func (p *piped) writeLoop() {
	for {
		select {
		case b := <-p.outgoing:
			_, err := p.in.Write(b)
			p.wrote <- err
			if err != nil {
				return
			}
		case <-p.closed:
			return
		case <-p.gone:
			return
		}
	}
}

// Read gives what has come, or waits for something until the deadline.
func (p *piped) Read(b []byte) (int, error) {
	p.reading.Lock()
	defer p.reading.Unlock()
	if len(b) == 0 {
		return 0, nil
	}
	if p.readBy.over() {
		return 0, os.ErrDeadlineExceeded
	}
	if len(p.rest) == 0 {
		select {
		case piece, ok := <-p.pieces:
			if !ok {
				if p.readErr == nil {
					return 0, net.ErrClosed
				}
				return 0, p.readErr
			}
			p.rest = piece
		case <-p.closed:
			return 0, net.ErrClosed
		case <-p.gone:
			return 0, errClosed
		case <-p.readBy.wait():
			return 0, os.ErrDeadlineExceeded
		}
	}
	n := copy(b, p.rest)
	if p.rest = p.rest[n:]; len(p.rest) == 0 {
		select {
		case p.took <- struct{}{}:
		case <-p.closed:
		case <-p.gone:
		}
	}
	return n, nil
}

// Write sends b. After a write that was given up at its deadline the stream
// takes no more: nobody knows how much of it went out.
func (p *piped) Write(b []byte) (int, error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	sent := 0
	for sent < len(b) || len(b) == 0 {
		if p.writeErr != nil {
			return sent, p.writeErr
		}
		if p.writeBy.over() {
			return sent, os.ErrDeadlineExceeded
		}
		if len(b) == 0 {
			return 0, nil
		}
		n := min(len(b)-sent, pieceBytes)
		p.piece = append(p.piece[:0], b[sent:sent+n]...)
		select {
		case p.outgoing <- p.piece:
		case <-p.closed:
			return sent, net.ErrClosed
		case <-p.gone:
			return sent, errClosed
		case <-p.writeBy.wait():
			return sent, os.ErrDeadlineExceeded
		}
		select {
		case err := <-p.wrote:
			if err != nil {
				p.writeErr = err
				return sent, err
			}
		case <-p.closed:
			return sent, net.ErrClosed
		case <-p.gone:
			return sent, errClosed
		case <-p.writeBy.wait():
			p.writeErr = os.ErrDeadlineExceeded
			return sent, p.writeErr
		}
		sent += n
	}
	return sent, nil
}

// CloseWrite tells the far end that nothing more comes.
func (p *piped) CloseWrite() error {
	if c, ok := p.in.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return p.Close()
}

// Close ends the stream.
func (p *piped) Close() error {
	var err error
	p.closing.Do(func() {
		close(p.closed)
		err = p.in.Close()
		p.readBy.set(time.Time{})
		p.writeBy.set(time.Time{})
	})
	if err == io.EOF { // the far end was first
		err = nil
	}
	return err
}

func (p *piped) LocalAddr() net.Addr  { return p.local }
func (p *piped) RemoteAddr() net.Addr { return p.remote }

// SetDeadline bounds reads and writes, also those that wait already.
func (p *piped) SetDeadline(t time.Time) error {
	p.readBy.set(t)
	p.writeBy.set(t)
	return nil
}

// SetReadDeadline bounds reads.
func (p *piped) SetReadDeadline(t time.Time) error {
	p.readBy.set(t)
	return nil
}

// SetWriteDeadline bounds writes.
func (p *piped) SetWriteDeadline(t time.Time) error {
	p.writeBy.set(t)
	return nil
}

// A deadline is a channel that closes at its time.
type deadline struct {
	mu    sync.Mutex // guards below
	timer *time.Timer
	done  chan struct{}
}

func (d *deadline) init() { d.done = make(chan struct{}) }

func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && !d.timer.Stop() {
		<-d.done // it is closing the channel
	}
	d.timer = nil
	past := false
	select {
	case <-d.done:
		past = true
	default:
	}
	if t.IsZero() || time.Until(t) > 0 {
		if past {
			d.done = make(chan struct{})
		}
		if !t.IsZero() {
			done := d.done
			d.timer = time.AfterFunc(time.Until(t), func() { close(done) })
		}
		return
	}
	if !past {
		close(d.done)
	}
}

func (d *deadline) wait() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.done
}

func (d *deadline) over() bool {
	select {
	case <-d.wait():
		return true
	default:
		return false
	}
}
