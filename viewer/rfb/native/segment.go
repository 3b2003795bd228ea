package native

import (
	"errors"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb/inflate"
	"deskvnc/viewer/rfb/rect"
)

// segmentPiece is how much compressed data is fed at once.
const segmentPiece = 64 << 10

// Streams are the zlib streams of a connection. They go on over changes of the
// pixel format, so the decoders of all formats share them.
type Streams struct {
	ZRLE, Zlib *inflate.Reader
	Tight      *[4]inflate.Reader
}

// NewStreams are those of a connection that has begun no stream yet.
func NewStreams() Streams {
	return Streams{ZRLE: &inflate.Reader{}, Zlib: &inflate.Reader{}, Tight: &[4]inflate.Reader{}}
}

// A segment is the data of one rectangle, on its way through a zlib stream or
// as it is.
type segment struct {
	op string // for errors
	c  *rect.Canvas
	z  *inflate.Reader // nil for data that is not compressed

	left  int // compressed bytes not fed yet
	piece int // bytes that are fed, or returned as they are, and not discarded
	taken int // inflated bytes that the last take returned
}

// plain starts a segment that is not compressed.
func (s *segment) plain() { s.z, s.left, s.piece, s.taken = nil, 0, 0, 0 }

// begin starts a segment of n compressed bytes, which may inflate to limit.
func (s *segment) begin(z *inflate.Reader, n, limit int64) error {
	// Deflate adds little to what it cannot compress, and a flush a few bytes.
	if n > limit+limit/8+1024 {
		return s.kind(inflate.ErrTooLong)
	}
	s.z, s.left, s.piece, s.taken = z, int(n), 0, 0
	s.z.Begin(limit)
	return s.feed()
}

// feed gives the inflater the next piece. The one before has been used up.
func (s *segment) feed() error {
	if err := s.c.Conn.Discard(s.piece); err != nil {
		return err
	}
	s.piece = min(s.left, segmentPiece)
	src, err := s.c.Conn.Peek(s.piece)
	if err != nil {
		s.piece = 0
		return err
	}
	s.left -= s.piece
	s.z.Feed(src)
	return nil
}

// take returns the next n bytes, at most [inflate.MaxNeed]; they are valid
// until the next call.
func (s *segment) take(n int) ([]byte, error) {
	if s.z == nil {
		if err := s.c.Conn.Discard(s.piece); err != nil {
			return nil, err
		}
		s.piece = 0
		b, err := s.c.Conn.Peek(n)
		if err == nil {
			s.piece = n
		}
		return b, err
	}
	s.z.Skip(s.taken)
	s.taken = 0
	for {
		out, err := s.z.Need(n)
		if err != nil {
			return nil, s.kind(err)
		}
		if len(out) >= n {
			s.taken = n
			return out[:n], nil
		}
		if s.left == 0 {
			return nil, malformed("the compressed data of a rectangle ends too early")
		}
		if err := s.feed(); err != nil {
			return nil, err
		}
	}
}

// end takes the rest of the data, so that the stream stands at the next
// segment.
func (s *segment) end() error {
	if s.z == nil {
		return s.c.Conn.Discard(s.piece)
	}
	s.z.Skip(s.taken)
	s.taken = 0
	err := s.z.End()
	for err == nil && s.left > 0 {
		if err = s.feed(); err != nil {
			return err
		}
		err = s.z.End()
	}
	if err != nil {
		return s.kind(err)
	}
	return s.c.Conn.Discard(s.piece)
}

// kind gives errors of the inflater their Kind.
func (s *segment) kind(err error) error {
	var corrupt inflate.CorruptError
	switch {
	case errors.Is(err, inflate.ErrTooLong):
		return &viewer.Error{Op: s.op, Kind: viewer.Limit, Err: err}
	case errors.As(err, &corrupt), errors.Is(err, inflate.ErrEnded):
		return &viewer.Error{Op: s.op, Kind: viewer.Malformed, Err: err}
	}
	return err
}
