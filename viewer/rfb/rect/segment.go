package rect

import (
	"errors"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb/inflate"
)

// segmentPiece is how much compressed data is fed at once.
const segmentPiece = 128 << 10

// A Segment is the data of one rectangle, on its way from the connection
// through a zlib stream, or as it is. Decoders of every pixel format read by it.
type Segment struct {
	op string // for errors
	c  *Canvas
	z  *inflate.Reader // nil for data that is not compressed

	left  int // compressed bytes not fed yet
	piece int // bytes that are fed, or returned as they are, and not discarded
	taken int // inflated bytes that the last Need returned
}

// NewSegment returns a segment of what c receives; op is for its errors.
func NewSegment(op string, c *Canvas) Segment { return Segment{op: op, c: c} }

// Plain starts a segment that is not compressed.
func (s *Segment) Plain() { s.z, s.left, s.piece, s.taken = nil, 0, 0, 0 }

// Begin starts a segment of n compressed bytes, which may inflate to limit.
func (s *Segment) Begin(z *inflate.Reader, n, limit int64) error {
	if n > deflateBound(limit) {
		return s.kind(inflate.ErrTooLong)
	}
	s.z, s.left, s.piece, s.taken = z, int(n), 0, 0
	z.Begin(limit)
	return s.feed()
}

// feed gives the inflater the next piece. The one before has been used up.
func (s *Segment) feed() error {
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

// Need returns the next n bytes, at most [inflate.MaxNeed]; they are valid
// until the next call and have [inflate.Slack] readable bytes behind them. It
// may wait for the network.
func (s *Segment) Need(n int) ([]byte, error) {
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
			return nil, malformed(s.op, "the compressed data of a rectangle ends too early")
		}
		if err := s.feed(); err != nil {
			return nil, err
		}
	}
}

// End takes the rest of the data, so that the stream stands at the next
// segment.
func (s *Segment) End() error {
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
func (s *Segment) kind(err error) error {
	var corrupt inflate.CorruptError
	switch {
	case errors.Is(err, inflate.ErrTooLong):
		return &viewer.Error{Op: s.op, Kind: viewer.Limit, Err: err}
	case errors.As(err, &corrupt), errors.Is(err, inflate.ErrEnded):
		return &viewer.Error{Op: s.op, Kind: viewer.Malformed, Err: err}
	}
	return err
}

// deflateBound bounds the compressed size of n bytes: deflate adds little to
// what it cannot compress, and a flush a few bytes.
func deflateBound(n int64) int64 { return n + n/8 + 1024 }
