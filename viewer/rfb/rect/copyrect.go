package rect

import (
	"encoding/binary"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer/frame"
)

// CopyRect is encoding 1: pixels that are in the picture already (RFC 6143
// 7.7.2).
type CopyRect struct{ c *Canvas }

// NewCopyRect returns the decoder for c.
func NewCopyRect(c *Canvas) *CopyRect { return &CopyRect{c: c} }

// Type returns 1.
func (*CopyRect) Type() int32 { return TypeCopyRect }

// Read moves one rectangle.
func (d *CopyRect) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := d.c.check(r); err != nil {
		return nil, err
	}
	b, err := d.c.Conn.Peek(4)
	if err != nil {
		return nil, err
	}
	fromX, fromY := int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:]))
	if err := d.c.Conn.Discard(4); err != nil {
		return nil, err
	}
	w, h := int(r.Width), int(r.Height)
	if w == 0 || h == 0 {
		return d, nil
	}
	if fromX+w > d.c.Width || fromY+h > d.c.Height {
		return nil, malformed("rfb.CopyRect", "a rectangle of %d x %d is to be copied from %d,%d, outside of the screen of %d x %d",
			w, h, fromX, fromY, d.c.Width, d.c.Height)
	}
	return d, d.c.put(&job{p: copyPainter{}, x: int(r.X), y: int(r.Y), w: w, h: h, source: frame.Copied, a: fromX, b: fromY}, nil, nil)
}

func (*CopyRect) queued() {}

// copyPainter moves what is at a, b.
type copyPainter struct{}

func (copyPainter) paint(px frame.Pixels, j *job, _, _ []byte) error {
	n := j.w * bpp
	// Rows that are read later must not be overwritten before: the order of
	// rows goes by the direction; within a row copy sees to it.
	first, step := 0, 1
	if j.b < j.y {
		first, step = j.h-1, -1
	}
	for i := first; i >= 0 && i < j.h; i += step {
		dst := (j.y+i)*px.Stride + j.x*bpp
		src := (j.b+i)*px.Stride + j.a*bpp
		copy(px.Pix[dst:dst+n], px.Pix[src:src+n])
	}
	return nil
}
