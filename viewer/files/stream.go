package files

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"deskvnc/viewer"
)

// firstOwnID is the first id of our own requests. Those of pkg/sftp count up
// from one and would need 2^31 requests to meet it.
const firstOwnID = 1 << 31

// A stream is the bytes of one SFTP session. pkg/sftp reads and writes it as
// its own; requests of ours are put between its packets, and their replies are
// taken out before it sees them.
type stream struct {
	r io.Reader
	w io.WriteCloser
	// hangUp ends what the stream runs on; it may be called twice.
	hangUp func()

	// The read side, owned by pkg/sftp's one receive loop.
	head   [9]byte // length, type, id of the packet being passed on
	headAt int     // bytes of head passed on; 9: all
	left   int     // bytes of the body still to pass on
	opened bool    // the version packet has been seen

	writing sync.Mutex // held from the first byte of a packet to its last
	wleft   int        // bytes of pkg/sftp's packet still to come; its holder's

	mu      sync.Mutex // guards below
	next    uint32
	waiting map[uint32]chan<- reply
	err     error // why the stream ended
	done    chan struct{}
}

// A reply is the answer to one own request.
type reply struct {
	typ  byte
	body []byte // after the id
}

func newStream(r io.Reader, w io.WriteCloser, hangUp func()) *stream {
	return &stream{r: r, w: w, hangUp: hangUp, headAt: 9, next: firstOwnID, waiting: map[uint32]chan<- reply{}, done: make(chan struct{})}
}

// Read gives pkg/sftp the packets that are not ours.
func (s *stream) Read(p []byte) (int, error) {
	for s.headAt == 9 && s.left == 0 {
		if err := s.header(); err != nil {
			s.fail(err)
			return 0, err
		}
	}
	if s.headAt < 9 {
		n := copy(p, s.head[s.headAt:])
		s.headAt += n
		return n, nil
	}
	n, err := s.r.Read(p[:min(len(p), s.left)])
	s.left -= n
	if err != nil {
		s.fail(err)
	}
	return n, err
}

// header reads the next packet's head, and the whole packet when it is ours.
func (s *stream) header() error {
	var head [9]byte
	if _, err := io.ReadFull(s.r, head[:4]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:4])
	if n > maxPacket && !s.opened {
		return s.chatter(head[:4])
	}
	if n > maxPacket || n < 5 {
		return &viewer.Error{Op: "files", Kind: viewer.Malformed, Err: fmt.Errorf("the machine sent a packet of %d bytes; 5 to %d make sense", n, maxPacket)}
	}
	if _, err := io.ReadFull(s.r, head[4:]); err != nil {
		return err
	}
	typ, id, left := head[4], binary.BigEndian.Uint32(head[5:]), int(n)-5
	switch {
	case typ == typeVersion && !s.opened:
		s.opened = true
	case typ == typeData && left <= 4:
		// pkg/sftp would ask for the same bytes for ever.
		return &viewer.Error{Op: "files", Kind: viewer.Malformed, Err: errors.New("the machine answered a read with no bytes and no end")}
	case id >= firstOwnID && typ != typeVersion:
		body := make([]byte, left)
		if _, err := io.ReadFull(s.r, body); err != nil {
			return err
		}
		return s.deliver(id, reply{typ, body})
	}
	s.head, s.headAt, s.left = head, 0, left
	return nil
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

func (s *stream) deliver(id uint32, r reply) error {
	s.mu.Lock()
	to, ok := s.waiting[id]
	delete(s.waiting, id)
	s.mu.Unlock()
	if !ok {
		return &viewer.Error{Op: "files", Kind: viewer.Malformed, Err: errors.New("the machine answered a question that was not asked")}
	}
	to <- r
	return nil
}

// Write takes pkg/sftp's packets, which come in one or two pieces.
func (s *stream) Write(p []byte) (int, error) {
	if s.wleft == 0 {
		s.writing.Lock()
		if len(p) < 4 {
			s.writing.Unlock()
			return 0, errCut
		}
		s.wleft = 4 + int(binary.BigEndian.Uint32(p))
	}
	n, err := s.w.Write(p)
	s.wleft -= n
	if err != nil || s.wleft <= 0 {
		s.wleft = 0
		s.writing.Unlock()
	}
	if err != nil {
		s.fail(err) // half a packet may be out
	}
	return n, err
}

// Close ends the stream.
func (s *stream) Close() error {
	s.fail(io.ErrClosedPipe)
	return nil
}

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
	answer := make(chan reply, 1)
	s.mu.Lock()
	id := s.next
	if s.next++; s.next == 0 {
		s.next = firstOwnID
	}
	over := s.err != nil
	if !over {
		s.waiting[id] = answer
	}
	s.mu.Unlock()
	if over {
		return answer
	}
	b := make(packet, 0, 9+len(body)).uint32(uint32(5 + len(body)))
	b = append(append(b, typ).uint32(id), body...)
	// In a goroutine of its own: the write waits while the machine takes no
	// bytes, and the caller must be able to leave. It ends with the stream.
	go func() {
		s.writing.Lock()
		_, err := s.w.Write(b)
		s.writing.Unlock()
		if err != nil {
			s.fail(err)
		}
	}()
	return answer
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
	case cause == nil || errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrClosedPipe):
		return &viewer.Error{Op: "files", Kind: viewer.Closed, Err: errors.New("the file connection ended")}
	}
	return &viewer.Error{Op: "files", Kind: viewer.Closed, Err: fmt.Errorf("the file connection ended: %w", cause)}
}
