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

// bpp is the size of a pixel in the frame.
const bpp = frame.BytesPerPixel

// Encodings are those that are decoded, best first. CopyRect is the one of
// package rect, since the frame holds colours and not the machine's values; and
// so is JPEG, which has colours of its own.
var Encodings = []int32{
	rect.TypeTight, rect.TypeZRLE, rect.TypeHextile, rect.TypeZlib, rect.TypeCoRRE, rect.TypeRRE,
	rect.TypeCopyRect, rect.TypeRaw, rect.TypeJPEG,
}

// Decoders returns the decoders that draw a format on c, reading on in the
// streams of the connection.
func Decoders(c *rect.Canvas, f *Format, z Streams) []vnc.Encoding {
	return []vnc.Encoding{
		&raw{c, f}, &hextile{c: c, f: f}, newZRLE(c, f, z.ZRLE), newTight(c, f, z.Tight), newZlib(c, f, z.Zlib),
		&rre{c: c, f: f, number: rect.TypeRRE, entry: 8}, &rre{c: c, f: f, number: rect.TypeCoRRE, entry: 4},
	}
}

func check(c *rect.Canvas, r *vnc.Rectangle) error {
	if int(r.X)+int(r.Width) > c.Width || int(r.Y)+int(r.Height) > c.Height {
		return malformed("a rectangle of %d x %d at %d,%d reaches out of the screen of %d x %d",
			r.Width, r.Height, r.X, r.Y, c.Width, c.Height)
	}
	return nil
}

func malformed(format string, args ...any) error {
	return &viewer.Error{Op: "rfb.Rectangle", Kind: viewer.Malformed, Err: fmt.Errorf(format, args...)}
}

// A tile is a part of a rectangle, in colours, before it is drawn.
type tile struct {
	pix  []uint32
	w, h int
}

func (t *tile) shape(w, h int) {
	t.w, t.h = w, h
	if cap(t.pix) < w*h {
		t.pix = make([]uint32, w*h)
	}
	t.pix = t.pix[:w*h]
}

func (t *tile) fill(x, y, w, h int, c uint32) {
	for i := range h {
		row := t.pix[(y+i)*t.w+x:][:w]
		for j := range row {
			row[j] = c
		}
	}
}

// draw puts a tile on the frame.
func (t *tile) draw(f *frame.Frame, x, y int) {
	px := f.Lock()
	for i := range t.h {
		dst := px.Pix[(y+i)*px.Stride+x*bpp:][:t.w*bpp]
		for j, c := range t.pix[i*t.w:][:t.w] {
			binary.LittleEndian.PutUint32(dst[j*bpp:], c)
		}
	}
	f.Touch(x, y, t.w, t.h, frame.Painted)
	f.Unlock()
}

// raw is encoding 0 (RFC 6143 7.7.1).
type raw struct {
	c *rect.Canvas
	f *Format
}

func (*raw) Type() int32 { return rect.TypeRaw }

// Read draws one rectangle, row by row.
func (d *raw) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := check(d.c, r); err != nil {
		return nil, err
	}
	w, size := int(r.Width), d.f.Bytes()
	if w == 0 {
		return d, nil
	}
	var t tile
	t.shape(w, 1)
	for y := range int(r.Height) {
		b, err := d.c.Conn.Peek(w * size)
		if err != nil {
			return nil, err
		}
		for x := range w {
			t.pix[x] = d.f.Colour(b[x*size:])
		}
		t.draw(d.c.Frame, int(r.X), int(r.Y)+y)
		if err := d.c.Conn.Discard(w * size); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// The bits of a Hextile tile's mask (RFC 6143 7.7.4).
const (
	hexRaw        = 1
	hexBackground = 2
	hexForeground = 4
	hexSubrects   = 8
	hexColoured   = 16
	hexTile       = 16
)

// hextile is encoding 5 (RFC 6143 7.7.4).
type hextile struct {
	c *rect.Canvas
	f *Format
	t tile

	background, foreground uint32
}

func (*hextile) Type() int32 { return rect.TypeHextile }

// Read draws one rectangle, tile by tile.
func (d *hextile) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := check(d.c, r); err != nil {
		return nil, err
	}
	d.background, d.foreground = 0, 0
	for y := 0; y < int(r.Height); y += hexTile {
		for x := 0; x < int(r.Width); x += hexTile {
			d.t.shape(min(hexTile, int(r.Width)-x), min(hexTile, int(r.Height)-y))
			if err := d.tile(); err != nil {
				return nil, err
			}
			d.t.draw(d.c.Frame, int(r.X)+x, int(r.Y)+y)
		}
	}
	return d, nil
}

// take returns the next n bytes; they are valid until the next call.
func (d *hextile) take(n int) ([]byte, error) {
	b, err := d.c.Conn.Peek(n)
	if err != nil {
		return nil, err
	}
	return b, d.c.Conn.Discard(n)
}

func (d *hextile) tile() error {
	size := d.f.Bytes()
	b, err := d.take(1)
	if err != nil {
		return err
	}
	mask := b[0]
	if mask&hexRaw != 0 {
		if b, err = d.take(size * len(d.t.pix)); err != nil {
			return err
		}
		for i := range d.t.pix {
			d.t.pix[i] = d.f.Colour(b[i*size:])
		}
		return nil
	}
	for _, c := range []struct {
		bit byte
		to  *uint32
	}{{hexBackground, &d.background}, {hexForeground, &d.foreground}} {
		if mask&c.bit == 0 {
			continue
		}
		if b, err = d.take(size); err != nil {
			return err
		}
		*c.to = d.f.Colour(b)
	}
	d.t.fill(0, 0, d.t.w, d.t.h, d.background)
	if mask&hexSubrects == 0 {
		return nil
	}
	if b, err = d.take(1); err != nil {
		return err
	}
	colour, each := d.foreground, 2
	if mask&hexColoured != 0 {
		each += size
	}
	n := int(b[0])
	if b, err = d.take(n * each); err != nil {
		return err
	}
	for ; len(b) >= each; b = b[each:] {
		if mask&hexColoured != 0 {
			colour = d.f.Colour(b)
		}
		pos, dim := b[each-2], b[each-1]
		x, y, w, h := int(pos>>4), int(pos&15), int(dim>>4)+1, int(dim&15)+1
		if x+w > d.t.w || y+h > d.t.h {
			return malformed("a rectangle of %d x %d at %d,%d reaches out of its tile of %d x %d", w, h, x, y, d.t.w, d.t.h)
		}
		d.t.fill(x, y, w, h, colour)
	}
	return nil
}
