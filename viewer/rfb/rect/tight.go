package rect

import (
	"io"

	vnc "github.com/mitchellh/go-vnc"

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
	filterFill     = 4 // not on the wire: one colour
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
	c   *Canvas
	z   [4]inflate.Reader
	seg Segment

	palette [256 * tpixel]byte // of the rectangle that is read
	colours int                // how many of palette are

	painter tightPainter
	jpeg    picturePainter
	png     picturePainter
}

// NewTight returns the decoder for c, with new zlib streams.
func NewTight(c *Canvas) *Tight {
	d := &Tight{c: c, seg: NewSegment("rfb.Tight", c), painter: tightPainter{c: c},
		jpeg: picturePainter{c: c, op: "rfb.Tight", p: &jpegDecoder{}},
		png:  picturePainter{c: c, op: "rfb.Tight", p: &pngDecoder{}}}
	for i := range d.painter.palette {
		d.painter.palette[i] = badIndex
	}
	return d
}

func (*Tight) queued() {}

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

// fill draws a rectangle of one colour.
func (d *Tight) fill(r *vnc.Rectangle) error {
	b, err := d.c.Conn.Peek(tpixel)
	if err != nil {
		return err
	}
	j := job{p: &d.painter, op: filterFill, x: int(r.X), y: int(r.Y), w: int(r.Width), h: int(r.Height), a: int(d.painter.pixel(b))}
	if err := d.c.Conn.Discard(tpixel); err != nil {
		return err
	}
	if j.w == 0 || j.h == 0 {
		return nil
	}
	return d.c.put(&j, nil, nil)
}

// picture draws a rectangle that is a JPEG or a PNG.
func (d *Tight) picture(r *vnc.Rectangle, p *picturePainter) error {
	n, err := d.length()
	if err != nil {
		return err
	}
	src, err := d.c.Conn.Peek(n)
	if err != nil {
		return err
	}
	j, err := p.job(r)
	if err != nil {
		return err
	}
	if j.w > 0 && j.h > 0 {
		if err := d.c.put(&j, nil, src); err != nil {
			return err
		}
	}
	return d.c.Conn.Discard(n)
}
