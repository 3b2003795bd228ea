package rect

import (
	"encoding/binary"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb/inflate"
)

// TypeZlib is the registered number of Zlib.
const TypeZlib = 6

// Zlib is encoding 6: the pixels of Raw, in one zlib stream for the whole
// connection. The community's RFB document describes it.
type Zlib struct {
	z   inflate.Reader
	seg Segment
}

// NewZlib returns the decoder for c, with a new zlib stream.
func NewZlib(c *Canvas) *Zlib { return &Zlib{seg: NewSegment("rfb.Zlib", c)} }

// Type returns 6.
func (*Zlib) Type() int32 { return TypeZlib }

// Read draws one rectangle.
func (d *Zlib) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	c := d.seg.c
	if err := c.check(r); err != nil {
		return nil, err
	}
	b, err := c.Conn.Peek(4)
	if err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(b))
	if err := c.Conn.Discard(4); err != nil {
		return nil, err
	}
	row := int(r.Width) * bpp
	left := row * int(r.Height)
	if err := d.seg.Begin(&d.z, n, int64(left)); err != nil {
		return nil, err
	}
	for done := 0; left > 0; {
		// As much at once as the inflater can hold.
		src, err := d.seg.Need(min(left, inflate.MaxNeed))
		if err != nil {
			return nil, err
		}
		left -= len(src)
		j := job{p: plainPainter{}, x: int(r.X), y: int(r.Y), w: int(r.Width), h: int(r.Height), part: left > 0, a: done}
		if err := c.put(&j, nil, src); err != nil {
			return nil, err
		}
		done += len(src)
	}
	if err := d.seg.End(); err != nil {
		return nil, err
	}
	return d, nil
}

func (*Zlib) queued() {}

// plainPainter copies a piece of the pixels of a rectangle, from byte a on.
type plainPainter struct{}

func (plainPainter) paint(px frame.Pixels, j *job, _, src []byte) error {
	row := j.w * bpp
	y, done := j.y+j.a/row, j.a%row // done: bytes of row y drawn
	for len(src) > 0 {
		start := y*px.Stride + j.x*bpp
		k := copy(px.Pix[start+done:start+row], src)
		src = src[k:]
		if done += k; done == row {
			y, done = y+1, 0
		}
	}
	return nil
}
