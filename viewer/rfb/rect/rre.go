package rect

import (
	"encoding/binary"
	"fmt"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

// TypeRRE is the registered number of RRE.
const TypeRRE = 2

// The sizes of a rectangle on the background: a pixel, and four numbers of two
// bytes or of one.
const (
	rreEntry   = bpp + 8
	correEntry = bpp + 4
)

// RRE is encoding 2: a background and rectangles on it (RFC 6143 7.7.3).
type RRE struct{ rre }

// NewRRE returns the decoder for c.
func NewRRE(c *Canvas) *RRE { return &RRE{rre{c: c, op: "rfb.RRE", entry: rreEntry}} }

// Type returns 2.
func (*RRE) Type() int32 { return TypeRRE }

// Read draws one rectangle.
func (d *RRE) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := d.read(r); err != nil {
		return nil, err
	}
	return d, nil
}

// rre is what RRE and CoRRE share.
type rre struct {
	c     *Canvas
	op    string // for errors
	entry int    // bytes of a rectangle on the background
	fill  colour
}

// read draws one rectangle. There are at most as many on it as it has pixels.
func (d *rre) read(r *vnc.Rectangle) error {
	if err := d.c.check(r); err != nil {
		return err
	}
	b, err := d.c.Conn.Peek(4 + bpp)
	if err != nil {
		return err
	}
	n := int64(binary.BigEndian.Uint32(b))
	d.fill.set(binary.LittleEndian.Uint32(b[4:]))
	if err := d.c.Conn.Discard(4 + bpp); err != nil {
		return err
	}
	x, y, w, h := int(r.X), int(r.Y), int(r.Width), int(r.Height)
	if n > int64(w*h) {
		return &viewer.Error{Op: d.op, Kind: viewer.Limit,
			Err: fmt.Errorf("%d rectangles on one of %d x %d pixels", n, w, h)}
	}
	if w == 0 || h == 0 {
		return nil
	}
	px := d.c.Frame.Lock()
	d.fill.rect(px.Pix[y*px.Stride+x*bpp:], px.Stride, w*bpp, h)
	if n == 0 {
		d.c.Frame.Touch(x, y, w, h, frame.Painted)
	}
	d.c.Frame.Unlock()
	for left := int(n); left > 0; {
		if _, err := d.c.Conn.Peek(d.entry); err != nil {
			return err
		}
		list := d.c.Conn.Buffered()
		k := min(left, len(list)/d.entry)
		left -= k
		px := d.c.Frame.Lock()
		err := d.draw(px.Pix[y*px.Stride+x*bpp:], px.Stride, w, h, list[:k*d.entry])
		if left == 0 && err == nil {
			d.c.Frame.Touch(x, y, w, h, frame.Painted)
		}
		d.c.Frame.Unlock()
		if err != nil {
			return err
		}
		if err := d.c.Conn.Discard(k * d.entry); err != nil {
			return err
		}
	}
	return nil
}

// draw draws a list of rectangles on one of w times h pixels.
func (d *rre) draw(pix []byte, stride, w, h int, list []byte) error {
	for ; len(list) >= d.entry; list = list[d.entry:] {
		var x, y, sw, sh int
		if b := list[bpp:]; d.entry == rreEntry {
			x, y = int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:]))
			sw, sh = int(binary.BigEndian.Uint16(b[4:])), int(binary.BigEndian.Uint16(b[6:]))
		} else {
			x, y, sw, sh = int(b[0]), int(b[1]), int(b[2]), int(b[3])
		}
		if x+sw > w || y+sh > h {
			return malformed(d.op, "a rectangle of %d x %d at %d,%d reaches out of the one of %d x %d that it is on", sw, sh, x, y, w, h)
		}
		if sw == 0 || sh == 0 {
			continue
		}
		d.fill.set(binary.LittleEndian.Uint32(list))
		d.fill.rect(pix[y*stride+x*bpp:], stride, sw*bpp, sh)
	}
	return nil
}
