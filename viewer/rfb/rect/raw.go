package rect

import (
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer/frame"
)

// Raw is encoding 0: the pixels, row after row (RFC 6143 7.7.1).
type Raw struct{ c *Canvas }

// NewRaw returns the decoder for c.
func NewRaw(c *Canvas) *Raw { return &Raw{c: c} }

// Type returns 0.
func (*Raw) Type() int32 { return TypeRaw }

// Read draws one rectangle. What has arrived is drawn at once, so that a large
// rectangle needs no buffer of its size.
func (d *Raw) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := d.c.check(r); err != nil {
		return nil, err
	}
	row := int(r.Width) * bpp
	left := row * int(r.Height)
	x, y, done := int(r.X)*bpp, int(r.Y), 0 // done: bytes of row y drawn
	for left > 0 {
		src, err := d.c.Conn.Some(left)
		if err != nil {
			return nil, err
		}
		n := len(src)
		left -= n
		px := d.c.Frame.Lock()
		for len(src) > 0 {
			start := y*px.Stride + x
			k := copy(px.Pix[start+done:start+row], src)
			src = src[k:]
			if done += k; done == row {
				y, done = y+1, 0
			}
		}
		if left == 0 {
			d.c.Frame.Touch(int(r.X), int(r.Y), int(r.Width), int(r.Height), frame.Painted)
		}
		d.c.Frame.Unlock()
		if err := d.c.Conn.Discard(n); err != nil {
			return nil, err
		}
	}
	return d, nil
}
