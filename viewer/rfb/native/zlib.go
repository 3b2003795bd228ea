package native

import (
	"encoding/binary"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer/rfb/inflate"
	"deskvnc/viewer/rfb/rect"
)

// zlib is encoding 6: the pixels of Raw in one zlib stream.
type zlib struct {
	c   *rect.Canvas
	f   *Format
	z   *inflate.Reader
	seg rect.Segment
}

func newZlib(c *rect.Canvas, f *Format, z *inflate.Reader) *zlib {
	return &zlib{c: c, f: f, z: z, seg: rect.NewSegment("rfb.Zlib", c)}
}

func (*zlib) Type() int32 { return rect.TypeZlib }

// Read draws one rectangle, row by row.
func (d *zlib) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := check(d.c, r); err != nil {
		return nil, err
	}
	b, err := d.c.Conn.Peek(4)
	if err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(b))
	if err := d.c.Conn.Discard(4); err != nil {
		return nil, err
	}
	w, h, size := int(r.Width), int(r.Height), d.f.Bytes()
	if err := d.seg.Begin(d.z, n, int64(w)*int64(h)*int64(size)); err != nil {
		return nil, err
	}
	var t tile
	t.shape(w, 1)
	for y := range h {
		if w == 0 {
			break
		}
		if err := row(&d.seg, &t, size, d.f.Colour); err != nil {
			return nil, err
		}
		t.draw(d.c.Frame, int(r.X), int(r.Y)+y)
	}
	return d, d.seg.End()
}

// rowPiece bounds the pixels that are inflated at once.
const rowPiece = 4 << 10

// row reads the pixels of a tile that is one row.
func row(s *rect.Segment, t *tile, size int, colour func([]byte) uint32) error {
	for left := t.pix; len(left) > 0; {
		n := min(len(left), rowPiece)
		b, err := s.Need(n * size)
		if err != nil {
			return err
		}
		for x := range n {
			left[x] = colour(b[x*size:])
		}
		left = left[n:]
	}
	return nil
}
