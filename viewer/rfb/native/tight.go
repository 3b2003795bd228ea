package native

import (
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer/rfb/inflate"
	"deskvnc/viewer/rfb/rect"
)

// The upper half of a Tight rectangle's control byte.
const (
	tightFilterGiven = 4
	tightFill        = 8
	tightJPEG        = 9
	tightPlain       = 10
)

// The filters of a basic rectangle.
const (
	filterCopy     = 0
	filterPalette  = 1
	filterGradient = 2
)

// tightMinimum is the size from which data is compressed.
const tightMinimum = 12

// tight is encoding 7. Its JPEGs have colours of their own: package rect draws
// them.
type tight struct {
	c    *rect.Canvas
	f    *Format
	z    *[4]inflate.Reader
	seg  rect.Segment
	jpeg *rect.Tight
	t    tile
	size int  // of a pixel
	rgb  bool // it is written as red, green, blue

	palette [256]uint32
	colours int
}

func newTight(c *rect.Canvas, f *Format, z *[4]inflate.Reader) *tight {
	size, rgb := f.tight()
	return &tight{c: c, f: f, z: z, seg: rect.NewSegment("rfb.Tight", c), jpeg: rect.NewTight(c), size: size, rgb: rgb}
}

func (*tight) Type() int32 { return rect.TypeTight }

// Read draws one rectangle.
func (d *tight) Read(conn *vnc.ClientConn, r *vnc.Rectangle, src io.Reader) (vnc.Encoding, error) {
	if err := check(d.c, r); err != nil {
		return nil, err
	}
	b, err := d.c.Conn.Peek(1)
	if err != nil {
		return nil, err
	}
	control := b[0]
	for i := range d.z {
		if control&(1<<i) != 0 {
			d.z[i].Reset()
		}
	}
	kind := int(control >> 4)
	if kind == tightJPEG {
		_, err := d.jpeg.Read(conn, r, src)
		return d, err
	}
	if err := d.c.Conn.Discard(1); err != nil {
		return nil, err
	}
	switch {
	case kind < tightFill:
		err = d.basic(r, &d.z[kind&3], kind&tightFilterGiven != 0)
	case kind == tightFill:
		err = d.fill(r)
	case kind|tightFilterGiven == tightPlain|tightFilterGiven:
		err = d.basic(r, nil, kind&tightFilterGiven != 0)
	default:
		err = malformed("unknown compression control 0x%02x", control)
	}
	return d, err
}

func (d *tight) byte() (int, error) {
	b, err := d.c.Conn.Peek(1)
	if err != nil {
		return 0, err
	}
	v := int(b[0])
	return v, d.c.Conn.Discard(1)
}

// length reads a length of one to three bytes, seven bits in each of the
// first two and eight in the third.
func (d *tight) length() (int, error) {
	n := 0
	for i := range 3 {
		b, err := d.byte()
		switch {
		case err != nil:
			return 0, err
		case i == 2:
			return n | b<<14, nil
		}
		n |= b & 0x7f << (7 * i)
		if b&0x80 == 0 {
			break
		}
	}
	return n, nil
}

// colour is the pixel at the start of b.
func (d *tight) colour(b []byte) uint32 {
	if d.rgb {
		return d.f.pack(uint32(b[0]), uint32(b[1]), uint32(b[2]))
	}
	return d.f.Colour(b)
}

func (d *tight) fill(r *vnc.Rectangle) error {
	b, err := d.c.Conn.Peek(d.size)
	if err != nil {
		return err
	}
	colour := d.colour(b)
	if err := d.c.Conn.Discard(d.size); err != nil {
		return err
	}
	if r.Width > 0 && r.Height > 0 {
		paint(d.c.Frame, int(r.X), int(r.Y), int(r.Width), int(r.Height), colour)
	}
	return nil
}

// basic draws pixels behind a filter, compressed in z or as they are.
func (d *tight) basic(r *vnc.Rectangle, z *inflate.Reader, given bool) error {
	filter, err := filterCopy, error(nil)
	if given {
		if filter, err = d.byte(); err != nil {
			return err
		}
	}
	w, h := int(r.Width), int(r.Height)
	wide := w * d.size
	switch filter {
	case filterCopy, filterGradient:
	case filterPalette:
		if err := d.readPalette(); err != nil {
			return err
		}
		if wide = w; d.colours <= 2 {
			wide = (w + 7) / 8
		}
	default:
		return malformed("unknown filter %d", filter)
	}
	if filter == filterGradient && !d.rgb && (!d.f.TrueColour || d.f.Bits < 16 || d.f.Alpha) {
		return malformed("a gradient in a pixel format that has none")
	}
	if err := d.begin(z, wide*h); err != nil {
		return err
	}
	if w > 0 {
		if err := d.rows(r, filter); err != nil {
			return err
		}
	}
	return d.seg.End()
}

// readPalette reads the number of colours less one, and the colours.
func (d *tight) readPalette() error {
	n, err := d.byte()
	if err != nil {
		return err
	}
	d.colours = n + 1
	b, err := d.c.Conn.Peek(d.colours * d.size)
	if err != nil {
		return err
	}
	for i := range d.palette[:d.colours] {
		d.palette[i] = d.colour(b[i*d.size:])
	}
	return d.c.Conn.Discard(d.colours * d.size)
}

// begin starts on the data of a rectangle, size bytes behind its filter.
func (d *tight) begin(z *inflate.Reader, size int) error {
	if size < tightMinimum {
		d.seg.Plain()
		return nil
	}
	n, err := d.length()
	if err != nil {
		return err
	}
	if z != nil {
		return d.seg.Begin(z, int64(n), int64(size))
	}
	d.seg.Plain()
	if n != size {
		return malformed("%d bytes of plain data for a rectangle of %d", n, size)
	}
	return nil
}

func (d *tight) rows(r *vnc.Rectangle, filter int) error {
	w := int(r.Width)
	d.t.shape(w, 1)
	var above [][3]uint32 // of a gradient: the row above, in samples
	if filter == filterGradient {
		above = make([][3]uint32, w+1)
	}
	for y := range int(r.Height) {
		var err error
		switch {
		case filter == filterCopy:
			err = row(&d.seg, &d.t, d.size, d.colour)
		case filter == filterGradient:
			err = d.gradient(above)
		case d.colours <= 2:
			err = d.mono()
		default:
			err = d.indexes()
		}
		if err != nil {
			return err
		}
		d.t.draw(d.c.Frame, int(r.X), int(r.Y)+y)
	}
	return nil
}

// mono reads a row of one bit a pixel, the top bit of a byte first.
func (d *tight) mono() error {
	b, err := d.seg.Need((d.t.w + 7) / 8)
	if err != nil {
		return err
	}
	for x := range d.t.pix {
		index := int(b[x/8] >> (7 - x%8) & 1)
		d.t.pix[x] = d.palette[min(index, d.colours-1)]
	}
	return nil
}

// indexes reads a row of a byte a pixel.
func (d *tight) indexes() error {
	b, err := d.seg.Need(d.t.w)
	if err != nil {
		return err
	}
	for x, index := range b {
		if int(index) >= d.colours {
			return malformed("index %d into a palette of %d colours", index, d.colours)
		}
		d.t.pix[x] = d.palette[index]
	}
	return nil
}

// gradient reads a row of differences from what the neighbours above, to the
// left and above left make likely. above is that of the row before, one place
// to the right, and becomes this one's.
func (d *tight) gradient(above [][3]uint32) error {
	b, err := d.seg.Need(d.t.w * d.size)
	if err != nil {
		return err
	}
	most, shift := d.f.Max, d.f.Shift
	if d.rgb {
		most, shift = [3]uint16{255, 255, 255}, [3]uint8{0, 8, 16}
	}
	var left, corner [3]uint32
	for x := range d.t.w {
		var v uint32
		if p := b[x*d.size:]; d.rgb {
			v = uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16
		} else {
			v = d.f.value(p)
		}
		up := above[x+1]
		var value uint32
		for i := range 3 {
			m := int64(most[i])
			likely := min(max(int64(left[i])+int64(up[i])-int64(corner[i]), 0), m)
			left[i] = (v>>shift[i] + uint32(likely)) & uint32(mask(most[i]))
			value |= left[i] << shift[i]
		}
		corner, above[x+1] = up, left
		if d.rgb {
			d.t.pix[x] = d.f.pack(value&0xff, value>>8&0xff, value>>16)
		} else {
			d.t.pix[x] = d.f.of(value)
		}
	}
	return nil
}
