package files

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"deskvnc/viewer"
)

// A stream is the packets of one SFTP session: requests out, each reply to the
// one that waits for it.
type stream struct {
	r io.Reader
	w io.WriteCloser
	// hangUp ends what the stream runs on; it may be called twice.
	hangUp func()
	ext    map[string]string // the server's extensions; set by start

	writing sync.Mutex // held while a packet is written

	mu      sync.Mutex // guards below
	next    uint32
	waiting map[uint32]*waiter
	err     error         // why the stream ended
	done    chan struct{} // closed when it has
	over    chan struct{} // closed when the receive loop has returned
}

// A reply is the answer to one request.
type reply struct {
	typ  byte
	body []byte // after the id; of data that had a place, the data alone
}

// A waiter waits for one reply. into, when not nil, is where data goes, so that
// it is copied once. The reply is handed over when it has come and the request
// has been written, in either order: then the request's bytes are free again.
type waiter struct {
	to     chan reply
	into   []byte
	r      reply
	halves atomic.Int32
}

// half counts one of the two; the second hands over.
func (w *waiter) half() {
	if w.halves.Add(1) == 2 {
		w.to <- w.r
	}
}

func newStream(r io.Reader, w io.WriteCloser, hangUp func()) *stream {
	return &stream{
		r: r, w: w, hangUp: hangUp, ext: map[string]string{},
		waiting: map[uint32]*waiter{}, done: make(chan struct{}), over: make(chan struct{}),
	}
}

// maxExtensions bounds what a server may say about itself.
const maxExtensions = 256

// start exchanges versions (section 4) and begins to receive. After an error
// the stream has ended.
func (s *stream) start() error {
	err := s.versions()
	if err != nil {
		s.fail(err)
		close(s.over)
		return err
	}
	go s.receive()
	return nil
}

func (s *stream) versions() error {
	if _, err := s.w.Write(packet(nil).uint32(5).add(typeInit).uint32(version)); err != nil {
		return err
	}
	var head [5]byte
	if _, err := io.ReadFull(s.r, head[:4]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:4])
	if n > maxPacket {
		return s.chatter(head[:4])
	}
	if n < 5 {
		return malformed("the machine began with a packet of %d bytes", n)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(s.r, body); err != nil {
		return err
	}
	in := parser{b: body[1:]}
	if v := in.uint32(); body[0] != typeVersion || v != version {
		return &viewer.Error{Op: "files", Kind: viewer.Unsupported, Err: fmt.Errorf("the machine speaks version %d of SFTP; only version %d is understood", v, version)}
	}
	for len(in.b) > 0 && len(s.ext) < maxExtensions {
		name, data := string(in.bytes()), string(in.bytes())
		if in.err != nil {
			break // what came before it is good
		}
		s.ext[name] = data
	}
	return nil
}

// can reports whether the server has an extension.
func (s *stream) can(extension string) bool {
	_, ok := s.ext[extension]
	return ok
}

func malformed(format string, args ...any) error {
	return &viewer.Error{Op: "files", Kind: viewer.Malformed, Err: fmt.Errorf(format, args...)}
}

// chatter explains a stream that begins with text: a shell start file that
// prints something.
func (s *stream) chatter(begin []byte) error {
	text := append([]byte(nil), begin...)
	more := make([]byte, 200)
	n, _ := s.r.Read(more)
	return &viewer.Error{Op: "files", Kind: viewer.Unsupported, Err: fmt.Errorf(
		"the machine printed %q where file transfer should begin; a start file of its shell prints text to sessions without a terminal",
		Shown(string(append(text, more[:n]...))))}
}

// receive hands out replies until the stream ends.
func (s *stream) receive() {
	defer close(s.over)
	var err error
	for err == nil {
		err = s.step()
	}
	s.fail(err)
}

// step takes one packet.
func (s *stream) step() error {
	var head [9]byte // length, type, id
	if _, err := io.ReadFull(s.r, head[:]); err != nil {
		return err
	}
	n, typ, id := binary.BigEndian.Uint32(head[:]), head[4], binary.BigEndian.Uint32(head[5:])
	if n < 5 || n > maxPacket {
		return malformed("the machine sent a packet of %d bytes; 5 to %d make sense", n, maxPacket)
	}
	s.mu.Lock()
	to := s.waiting[id]
	delete(s.waiting, id)
	s.mu.Unlock()
	if to == nil {
		return malformed("the machine answered a question that was not asked")
	}
	left := int(n) - 5
	body := to.into
	if typ == typeData && body != nil {
		var count [4]byte
		if left < 4 {
			return malformed("the machine answered a read with a packet that is cut short")
		}
		if _, err := io.ReadFull(s.r, count[:]); err != nil {
			return err
		}
		got := binary.BigEndian.Uint32(count[:])
		if int64(got) > int64(left-4) || int64(got) > int64(len(body)) || got == 0 {
			return malformed("the machine answered a request for %d bytes with %d", len(body), got)
		}
		if _, err := io.ReadFull(s.r, body[:got]); err != nil {
			return err
		}
		body, left = body[:got], left-4-int(got)
		if _, err := io.CopyN(io.Discard, s.r, int64(left)); err != nil {
			return err
		}
	} else {
		body = make([]byte, left)
		if _, err := io.ReadFull(s.r, body); err != nil {
			return err
		}
	}
	to.r = reply{typ, body}
	to.half()
	return nil
}

// Close ends the stream.
func (s *stream) Close() { s.fail(io.ErrClosedPipe) }

// fail ends the stream for everybody: those who wait see err.
func (s *stream) fail(err error) {
	s.mu.Lock()
	first := s.err == nil
	if first {
		s.err = err
		close(s.done)
	}
	s.mu.Unlock()
	if first {
		s.hangUp()
	}
}

// ended tells why the stream ended.
func (s *stream) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// ask sends a request. The reply comes on the channel, which has room for it;
// it never comes when the stream ends first.
func (s *stream) ask(typ byte, body packet) <-chan reply {
	b := make(packet, head, head+len(body))
	return s.send(typ, append(b, body...), nil)
}

// head is the room that a request needs before its body: length, type and id.
const head = 9

// send sends a request whose body stands behind room for its head, and which
// the stream owns until the reply is there. Data goes to into when it is not nil.
func (s *stream) send(typ byte, b packet, into []byte) <-chan reply {
	w := &waiter{to: make(chan reply, 1), into: into}
	s.mu.Lock()
	if s.err != nil {
		s.mu.Unlock()
		return w.to
	}
	s.next++
	id := s.next
	s.waiting[id] = w
	s.mu.Unlock()
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	b[4] = typ
	binary.BigEndian.PutUint32(b[5:], id)
	// In a goroutine of its own: the write waits while the machine takes no
	// bytes, and the caller must be able to leave. It ends with the stream.
	go s.write(b, w)
	return w.to
}

func (s *stream) write(b []byte, w *waiter) {
	s.writing.Lock()
	_, err := s.w.Write(b)
	s.writing.Unlock()
	if err != nil {
		s.fail(err)
		return
	}
	w.half()
}

// call asks and waits for the answer. late, when not nil, is given an answer
// that came after ctx ended.
func (s *stream) call(ctx context.Context, typ byte, body packet, late func(reply)) (reply, error) {
	answer := s.ask(typ, body)
	return s.wait(ctx, answer, late)
}

func (s *stream) wait(ctx context.Context, answer <-chan reply, late func(reply)) (reply, error) {
	select {
	case r := <-answer:
		return r, nil
	case <-s.done:
		select {
		case r := <-answer: // it came before the end
			return r, nil
		default:
		}
		return reply{}, lost(s.ended())
	case <-ctx.Done():
		if late != nil {
			go func() {
				select {
				case r := <-answer:
					late(r)
				case <-s.done:
				}
			}()
		}
		return reply{}, ctx.Err()
	}
}

// lost makes the error of a stream that ended.
func lost(cause error) error {
	var known *viewer.Error
	switch {
	case errors.As(cause, &known):
		return known
	case cause == nil || errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF) || errors.Is(cause, io.ErrClosedPipe):
		return &viewer.Error{Op: "files", Kind: viewer.Closed, Err: errors.New("the file connection ended")}
	}
	return &viewer.Error{Op: "files", Kind: viewer.Closed, Err: fmt.Errorf("the file connection ended: %w", cause)}
}
