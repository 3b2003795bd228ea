package native

import (
	"encoding/binary"
	"fmt"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb/rect"
)

// rre is encoding 2 (RFC 6143 7.7.3), and 4, CoRRE, whose places and sizes are
// of one byte.
type rre struct {
	c      *rect.Canvas
	f      *Format
	number int32
	entry  int // bytes that a place and size take
}

func (d *rre) Type() int32 { return d.number }

// Read draws one rectangle.
func (d *rre) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := check(d.c, r); err != nil {
		return nil, err
	}
	size := d.f.Bytes()
	b, err := d.c.Conn.Peek(4 + size)
	if err != nil {
		return nil, err
	}
	n, background := int64(binary.BigEndian.Uint32(b)), d.f.Colour(b[4:])
	if err := d.c.Conn.Discard(4 + size); err != nil {
		return nil, err
	}
	x, y, w, h := int(r.X), int(r.Y), int(r.Width), int(r.Height)
	if n > int64(w)*int64(h) {
		return nil, &viewer.Error{Op: "rfb.RRE", Kind: viewer.Limit, Err: fmt.Errorf("%d rectangles on one of %d x %d pixels", n, w, h)}
	}
	if w == 0 || h == 0 {
		return d, nil
	}
	paint(d.c.Frame, x, y, w, h, background)
	for range n {
		if b, err = d.c.Conn.Peek(size + d.entry); err != nil {
			return nil, err
		}
		colour := d.f.Colour(b)
		var sx, sy, sw, sh int
		if b = b[size:]; d.entry == 8 {
			sx, sy = int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:]))
			sw, sh = int(binary.BigEndian.Uint16(b[4:])), int(binary.BigEndian.Uint16(b[6:]))
		} else {
			sx, sy, sw, sh = int(b[0]), int(b[1]), int(b[2]), int(b[3])
		}
		if sx+sw > w || sy+sh > h {
			return nil, malformed("a rectangle of %d x %d at %d,%d reaches out of the one of %d x %d that it is on", sw, sh, sx, sy, w, h)
		}
		if sw > 0 && sh > 0 {
			paint(d.c.Frame, x+sx, y+sy, sw, sh, colour)
		}
		if err := d.c.Conn.Discard(size + d.entry); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// paint draws an area of one colour.
func paint(f *frame.Frame, x, y, w, h int, colour uint32) {
	px := f.Lock()
	for i := range h {
		row := px.Pix[(y+i)*px.Stride+x*bpp:][:w*bpp]
		for ; len(row) >= bpp; row = row[bpp:] {
			binary.LittleEndian.PutUint32(row, colour)
		}
	}
	f.Touch(x, y, w, h, frame.Painted)
	f.Unlock()
}
