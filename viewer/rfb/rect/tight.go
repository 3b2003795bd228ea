package rect

import (
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb/inflate"
)

// TypeTight is the registered number of Tight.
const TypeTight = 7

// The upper half of a Tight rectangle's control byte. From 0 to 7 it is a
// basic rectangle: the number of its stream, and whether its filter is named.
const (
	tightFilterGiven = 4
	tightFill        = 8
	tightJPEG        = 9
	// tightPlain is a basic rectangle that is not compressed, as libvncserver
	// sends them at compression level 0; with tightFilterGiven it is 14.
	// TightPNG has the PNG rectangle in its place.
	tightPlain = 10
)

// The filters of a basic rectangle.
const (
	filterCopy     = 0
	filterPalette  = 1
	filterGradient = 2
	filterMono     = 3 // not on the wire: a palette of up to two colours
)

const (
	// tpixel is the size of a Tight pixel: red, green, blue.
	tpixel = 3
	// tightMinimum is the size from which data is compressed.
	tightMinimum = 12
)

// Tight is encoding 7: one colour, a JPEG, or pixels behind a filter in one of
// four zlib streams. The community's RFB document describes it.
type Tight struct {
	c *Canvas
	z [4]inflate.Reader

	// The rest is the rectangle being drawn.
	filter  int
	seg     segment
	palette [256]uint64 // colours, or badIndex
	colours int         // how many of palette are colours
	tile    tilePainter
	jpeg    jpegDecoder
	png     pngDecoder
}

// badIndex marks places of the palette that have no colour.
const badIndex = 1 << 63

// NewTight returns the decoder for c, with new zlib streams.
func NewTight(c *Canvas) *Tight {
	d := &Tight{c: c, seg: segment{op: "rfb.Tight", c: c}}
	for i := range d.palette {
		d.palette[i] = badIndex
	}
	return d
}

// Type returns 7.
func (*Tight) Type() int32 { return TypeTight }

// Read draws one rectangle.
func (d *Tight) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := d.read(r, false); err != nil {
		return nil, err
	}
	return d, nil
}

// read draws a rectangle of Tight, or of TightPNG.
func (d *Tight) read(r *vnc.Rectangle, png bool) error {
	if err := d.c.check(r); err != nil {
		return err
	}
	control, err := d.byte()
	if err != nil {
		return err
	}
	for i := range d.z {
		if control&(1<<i) != 0 {
			d.z[i].Reset()
		}
	}
	kind := int(control >> 4)
	switch {
	case kind < tightFill:
		err = d.basic(r, &d.z[kind&3], kind&tightFilterGiven != 0)
	case kind == tightFill:
		err = d.fill(r)
	case kind == tightJPEG:
		err = d.picture(r, &d.jpeg)
	case png && kind == tightPlain:
		err = d.picture(r, &d.png)
	case !png && kind|tightFilterGiven == tightPlain|tightFilterGiven:
		err = d.basic(r, nil, kind&tightFilterGiven != 0)
	default:
		err = malformed("rfb.Tight", "unknown compression control 0x%02x", control)
	}
	return err
}

// byte reads one byte.
func (d *Tight) byte() (byte, error) {
	b, err := d.c.Conn.Peek(1)
	if err != nil {
		return 0, err
	}
	v := b[0]
	return v, d.c.Conn.Discard(1)
}

// length reads a length of one to three bytes, seven bits in each of the
// first two and eight in the third.
func (d *Tight) length() (int, error) {
	n := 0
	for i := range 3 {
		b, err := d.byte()
		if err != nil {
			return 0, err
		}
		if i == 2 {
			return n | int(b)<<14, nil
		}
		n |= int(b&0x7f) << (7 * i)
		if b&0x80 == 0 {
			break
		}
	}
	return n, nil
}

// pixel reads a Tight pixel as one of the frame.
func (d *Tight) pixel(b []byte) uint32 {
	o := d.c.Order
	return uint32(b[0])<<(o.R*8&31) | uint32(b[1])<<(o.G*8&31) | uint32(b[2])<<(o.B*8&31)
}

// fill draws a rectangle of one colour.
func (d *Tight) fill(r *vnc.Rectangle) error {
	b, err := d.c.Conn.Peek(tpixel)
	if err != nil {
		return err
	}
	d.tile.fill.set(d.pixel(b))
	if err := d.c.Conn.Discard(tpixel); err != nil {
		return err
	}
	x, y, w, h := int(r.X), int(r.Y), int(r.Width), int(r.Height)
	if w == 0 || h == 0 {
		return nil
	}
	px := d.c.Frame.Lock()
	d.tile.fill.rect(px.Pix[y*px.Stride+x*bpp:], px.Stride, w*bpp, h)
	d.c.Frame.Touch(x, y, w, h, frame.Painted)
	d.c.Frame.Unlock()
	return nil
}

// A pictureDecoder draws compressed pictures.
type pictureDecoder interface {
	// prepare does what can be done without the frame: at the least it refuses
	// what is not a picture of w times h pixels.
	prepare(src []byte, w, h int) error
	// draw draws the picture of the last prepare at the start of dst, whose rows
	// are stride bytes apart.
	draw(dst []byte, stride, w, h int, o frame.Order, src []byte) error
}

// picture draws a rectangle that is a JPEG or a PNG.
func (d *Tight) picture(r *vnc.Rectangle, p pictureDecoder) error {
	n, err := d.length()
	if err != nil {
		return err
	}
	src, err := d.c.Conn.Peek(n)
	if err != nil {
		return err
	}
	if err := d.c.picture("rfb.Tight", r, p, src); err != nil {
		return err
	}
	return d.c.Conn.Discard(n)
}

// maxPicturePixels bounds a rectangle that is a JPEG or a PNG: their decoders
// need memory of their own.
const maxPicturePixels = 16 << 20

// picture draws src into a rectangle.
func (c *Canvas) picture(op string, r *vnc.Rectangle, p pictureDecoder, src []byte) error {
	x, y, w, h := int(r.X), int(r.Y), int(r.Width), int(r.Height)
	if w == 0 || h == 0 {
		return nil
	}
	if w*h > maxPicturePixels {
		return &viewer.Error{Op: op, Kind: viewer.Limit, Err: errPictureSize}
	}
	err := p.prepare(src, w, h)
	if err == nil {
		px := c.Frame.Lock()
		err = p.draw(px.Pix[y*px.Stride+x*bpp:], px.Stride, w, h, c.Order, src)
		if err == nil {
			c.Frame.Touch(x, y, w, h, frame.Painted)
		}
		c.Frame.Unlock()
	}
	if err != nil {
		return malformed(op, "a picture of %d x %d: %w", w, h, err)
	}
	return nil
}
