package rect

import (
	"encoding/binary"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb/inflate"
)

// TypeZlibHex is the registered number of ZlibHex.
const TypeZlibHex = 8

// The bits that ZlibHex adds to the mask of a Hextile tile.
const (
	hexZlibRaw = 32
	hexZlib    = 64
)

// hexTileBytes is the most that a tile that is not raw can have behind its
// mask: two pixels, a count and that many coloured rectangles.
const hexTileBytes = 2*bpp + 1 + 255*(bpp+2)

// ZlibHex is encoding 8: Hextile whose tiles may be compressed, raw ones in
// one zlib stream and all others in a second. The community's RFB document
// describes it.
type ZlibHex struct {
	raw, other inflate.Reader
	seg        Segment

	background, foreground, coloured colour
}

// NewZlibHex returns the decoder for c, with new zlib streams.
func NewZlibHex(c *Canvas) *ZlibHex { return &ZlibHex{seg: NewSegment("rfb.ZlibHex", c)} }

// Type returns 8.
func (*ZlibHex) Type() int32 { return TypeZlibHex }

// Read draws one rectangle. The frame is locked for a tile at a time.
func (d *ZlibHex) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	c := d.seg.c
	if err := c.check(r); err != nil {
		return nil, err
	}
	d.background.set(0)
	d.foreground.set(0)
	x, y, w, h := int(r.X), int(r.Y), int(r.Width), int(r.Height)
	for ty := 0; ty < h; ty += hexTile {
		for tx := 0; tx < w; tx += hexTile {
			if err := d.tile(x+tx, y+ty, min(hexTile, w-tx), min(hexTile, h-ty)); err != nil {
				return nil, err
			}
		}
	}
	if w > 0 && h > 0 {
		c.Frame.Lock()
		c.Frame.Touch(x, y, w, h, frame.Painted)
		c.Frame.Unlock()
	}
	return d, nil
}

// tile reads and draws one tile.
func (d *ZlibHex) tile(x, y, w, h int) error {
	d.seg.Plain()
	b, err := d.seg.Need(1)
	if err != nil {
		return err
	}
	mask := b[0]
	if mask&(hexZlibRaw|hexZlib) != 0 {
		if b, err = d.seg.Need(2); err != nil {
			return err
		}
		n := int(binary.BigEndian.Uint16(b))
		if err := d.seg.End(); err != nil {
			return err
		}
		if mask&hexZlibRaw != 0 {
			err = d.seg.Begin(&d.raw, int64(n), int64(w*h*bpp))
		} else {
			err = d.seg.Begin(&d.other, int64(n), hexTileBytes)
		}
		if err != nil {
			return err
		}
	}
	if mask&(hexZlibRaw|hexRaw) != 0 {
		err = d.pixels(x, y, w, h)
	} else {
		err = d.rectangles(x, y, w, h, mask)
	}
	if err != nil {
		return err
	}
	return d.seg.End()
}

// pixels draws a raw tile.
func (d *ZlibHex) pixels(x, y, w, h int) error {
	row := w * bpp
	src, err := d.seg.Need(row * h)
	if err != nil {
		return err
	}
	px := d.seg.c.Frame.Lock()
	for i := range h {
		copy(px.Pix[(y+i)*px.Stride+x*bpp:][:row], src[i*row:])
	}
	d.seg.c.Frame.Unlock()
	return nil
}

// rectangles draws a background and what is on it.
func (d *ZlibHex) rectangles(x, y, w, h int, mask byte) error {
	head := 0
	for _, bit := range []byte{hexBackground, hexForeground} {
		if mask&bit != 0 {
			head += bpp
		}
	}
	if mask&hexSubrects != 0 {
		head++
	}
	b, err := d.seg.Need(head)
	if err != nil {
		return err
	}
	if mask&hexBackground != 0 {
		d.background.set(binary.LittleEndian.Uint32(b))
		b = b[bpp:]
	}
	if mask&hexForeground != 0 {
		d.foreground.set(binary.LittleEndian.Uint32(b))
		b = b[bpp:]
	}
	var list []byte
	size := 2
	if mask&hexColoured != 0 {
		size += bpp
	}
	if mask&hexSubrects != 0 {
		if list, err = d.seg.Need(int(b[0]) * size); err != nil {
			return err
		}
	}
	px := d.seg.c.Frame.Lock()
	defer d.seg.c.Frame.Unlock()
	pix := px.Pix[y*px.Stride+x*bpp:]
	d.background.rect(pix, px.Stride, w*bpp, h)
	c := &d.foreground
	for ; len(list) >= size; list = list[size:] {
		if mask&hexColoured != 0 {
			c = &d.coloured
			c.set(binary.LittleEndian.Uint32(list))
		}
		pos, dim := list[size-2], list[size-1]
		sx, sy, sw, sh := int(pos>>4), int(pos&15), int(dim>>4)+1, int(dim&15)+1
		if sx+sw > w || sy+sh > h {
			return malformed("rfb.ZlibHex", "a rectangle of %d x %d at %d,%d reaches out of its tile of %d x %d", sw, sh, sx, sy, w, h)
		}
		c.rect(pix[sy*px.Stride+sx*bpp:], px.Stride, sw*bpp, sh)
	}
	return nil
}
