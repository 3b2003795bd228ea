package rect

import (
	"encoding/binary"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer/frame"
)

// The bits of a Hextile tile's mask (RFC 6143 7.7.4).
const (
	hexRaw        = 1
	hexBackground = 2
	hexForeground = 4
	hexSubrects   = 8
	hexColoured   = 16
)

// hexTile is the side of a tile.
const hexTile = 16

// Hextile is encoding 5: tiles of 16 x 16, each raw or a background with
// rectangles on it (RFC 6143 7.7.4).
type Hextile struct {
	c *Canvas

	// The rest is the rectangle being drawn.
	px                     frame.Pixels
	buf                    []byte // what has arrived
	at                     int    // how much of buf is used
	background, foreground colour
}

// NewHextile returns the decoder for c.
func NewHextile(c *Canvas) *Hextile { return &Hextile{c: c} }

// Type returns 5.
func (*Hextile) Type() int32 { return TypeHextile }

// Read draws one rectangle. The frame stays locked as long as tiles have
// arrived already; it is unlocked for each wait.
func (d *Hextile) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := d.c.check(r); err != nil {
		return nil, err
	}
	w, h := int(r.Width), int(r.Height)
	if w == 0 || h == 0 {
		return d, nil
	}
	d.background.set(0)
	d.foreground.set(0)
	d.px = d.c.Frame.Lock()
	d.buf, d.at = d.c.Conn.Buffered(), 0
	err := d.tiles(int(r.X), int(r.Y), w, h)
	if err == nil {
		d.c.Frame.Touch(int(r.X), int(r.Y), w, h, frame.Painted)
	}
	d.c.Frame.Unlock()
	d.px, d.buf = frame.Pixels{}, nil
	if err != nil {
		return nil, err
	}
	return d, d.c.Conn.Discard(d.at)
}

// need makes n bytes from d.at on available. The frame is unlocked while they
// are waited for; only the reading goroutine changes its size.
func (d *Hextile) need(n int) error {
	if len(d.buf)-d.at >= n {
		return nil
	}
	d.c.Frame.Unlock()
	err := d.c.Conn.Discard(d.at)
	if err == nil {
		_, err = d.c.Conn.Peek(n)
	}
	d.px = d.c.Frame.Lock()
	d.buf, d.at = d.c.Conn.Buffered(), 0
	return err
}

func (d *Hextile) tiles(x, y, w, h int) error {
	for ty := 0; ty < h; ty += hexTile {
		th := min(hexTile, h-ty)
		for tx := 0; tx < w; tx += hexTile {
			if err := d.tile((y+ty)*d.px.Stride+(x+tx)*bpp, min(hexTile, w-tx), th); err != nil {
				return err
			}
		}
	}
	return nil
}

// tile draws one tile of w times h pixels, of which the first is at off.
func (d *Hextile) tile(off, w, h int) error {
	if len(d.buf) == d.at {
		if err := d.need(1); err != nil {
			return err
		}
	}
	mask := d.buf[d.at]
	if mask&hexRaw != 0 {
		return d.raw(off, w, h)
	}
	head := 1
	if mask&hexBackground != 0 {
		head += bpp
	}
	if mask&hexForeground != 0 {
		head += bpp
	}
	if mask&hexSubrects != 0 {
		head++
	}
	if len(d.buf)-d.at < head {
		if err := d.need(head); err != nil {
			return err
		}
	}
	b := d.buf[d.at+1 : d.at+head]
	d.at += head
	if mask&hexBackground != 0 {
		d.background.set(binary.LittleEndian.Uint32(b))
		b = b[bpp:]
	}
	if mask&hexForeground != 0 {
		d.foreground.set(binary.LittleEndian.Uint32(b))
		b = b[bpp:]
	}
	d.fill(off, w, h)
	if mask&hexSubrects == 0 {
		return nil
	}
	if mask&hexColoured != 0 {
		return d.subrects(off, w, h, int(b[0]), bpp+2)
	}
	return d.subrects(off, w, h, int(b[0]), 2)
}

// raw copies a tile of pixels.
func (d *Hextile) raw(off, w, h int) error {
	row := w * bpp
	if err := d.need(1 + row*h); err != nil {
		return err
	}
	src := d.buf[d.at+1:]
	d.at += 1 + row*h
	for y := range h {
		copy(d.px.Pix[off+y*d.px.Stride:][:row], src[y*row:])
	}
	return nil
}

// fill paints the background.
func (d *Hextile) fill(off, w, h int) {
	pix, stride := d.px.Pix[off:], d.px.Stride
	if w == hexTile {
		last := (h - 1) * stride
		pix = pix[:last+hexTile*bpp]
		for i := 0; i <= last; i += stride {
			*(*[hexTile * bpp]byte)(pix[i:]) = d.background
		}
		return
	}
	for y := range h {
		d.background.row(pix[y*stride:][:w*bpp])
	}
}

// subrects draws n rectangles of size bytes each on a tile.
func (d *Hextile) subrects(off, w, h, n, size int) error {
	if len(d.buf)-d.at < n*size {
		if err := d.need(n * size); err != nil {
			return err
		}
	}
	list := d.buf[d.at : d.at+n*size]
	d.at += n * size
	stride := d.px.Stride
	tile := d.px.Pix[off : off+(h-1)*stride+w*bpp]
	two := binary.LittleEndian.Uint64(d.foreground[:]) // two pixels
	for ; len(list) >= size; list = list[size:] {
		if size > 2 {
			v := binary.LittleEndian.Uint32(list)
			two = uint64(v) | uint64(v)<<32
		}
		pos, dim := list[size-2], list[size-1]
		sx, sy := int(pos>>4), int(pos&15)
		sw, sh := int(dim>>4)+1, int(dim&15)+1
		if sx+sw > w || sy+sh > h {
			return malformed("rfb.Hextile", "a rectangle of %d x %d at %d,%d reaches out of its tile of %d x %d", sw, sh, sx, sy, w, h)
		}
		o := sy*stride + sx*bpp
		// One check for the whole rectangle; the stores below stay inside.
		paintSubrect(tile[o:o+(sh-1)*stride+sw*bpp], stride, sw*bpp, two)
	}
	return nil
}
