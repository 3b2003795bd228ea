package native

import (
	"encoding/binary"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer/rfb/inflate"
	"deskvnc/viewer/rfb/rect"
)

const (
	zrleTile = 64
	// The types of a tile (RFC 6143 7.7.6).
	tilePaletteMax = 16
	tileRuns       = 128
	tilePaletteRun = 130
)

// zrle is encoding 16 (RFC 6143 7.7.6).
type zrle struct {
	c     *rect.Canvas
	f     *Format
	z     *inflate.Reader
	seg   rect.Segment
	t     tile
	size  int  // of a compressed pixel
	shift uint // of its value
}

func newZRLE(c *rect.Canvas, f *Format, z *inflate.Reader) *zrle {
	size, shift := f.compact()
	return &zrle{c: c, f: f, z: z, seg: rect.NewSegment("rfb.ZRLE", c), size: size, shift: shift}
}

func (*zrle) Type() int32 { return rect.TypeZRLE }

// Read draws one rectangle, tile by tile.
func (d *zrle) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := check(d.c, r); err != nil {
		return nil, err
	}
	b, err := d.c.Conn.Peek(4)
	if err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(b))
	if err := d.c.Conn.Discard(4); err != nil {
		return nil, err
	}
	w, h := int(r.Width), int(r.Height)
	// The most that tiles can need: a type and a palette each, and a pixel and
	// the length of its run for each pixel.
	tiles := int64((w+zrleTile-1)/zrleTile) * int64((h+zrleTile-1)/zrleTile)
	limit := tiles*int64(1+127*d.size) + int64(w)*int64(h)*int64(d.size+1)
	if err := d.seg.Begin(d.z, n, limit); err != nil {
		return nil, err
	}
	for y := 0; y < h; y += zrleTile {
		for x := 0; x < w; x += zrleTile {
			d.t.shape(min(zrleTile, w-x), min(zrleTile, h-y))
			if err := d.tile(); err != nil {
				return nil, err
			}
			d.t.draw(d.c.Frame, int(r.X)+x, int(r.Y)+y)
		}
	}
	return d, d.seg.End()
}

// colour is the compressed pixel at the start of b.
func (d *zrle) colour(b []byte) uint32 {
	if d.size == 3 && d.f.Bits == 32 {
		return d.f.of(d.f.three(b) << d.shift)
	}
	return d.f.Colour(b)
}

func (d *zrle) tile() error {
	b, err := d.seg.Need(1)
	if err != nil {
		return err
	}
	kind := int(b[0])
	switch {
	case kind == 0:
		for row := d.t.pix; len(row) > 0; row = row[d.t.w:] {
			if b, err = d.seg.Need(d.t.w * d.size); err != nil {
				return err
			}
			for x := range d.t.w {
				row[x] = d.colour(b[x*d.size:])
			}
		}
		return nil
	case kind == 1, kind <= tilePaletteMax:
		palette, err := d.palette(kind)
		if err != nil {
			return err
		}
		if kind == 1 {
			d.t.fill(0, 0, d.t.w, d.t.h, palette[0])
			return nil
		}
		return d.packed(palette)
	case kind == tileRuns:
		return d.runs(nil)
	case kind >= tilePaletteRun:
		palette, err := d.palette(kind - tileRuns)
		if err != nil {
			return err
		}
		return d.runs(palette)
	}
	return malformed("unknown tile type %d", kind)
}

func (d *zrle) palette(n int) ([]uint32, error) {
	b, err := d.seg.Need(n * d.size)
	if err != nil {
		return nil, err
	}
	p := make([]uint32, n)
	for i := range p {
		p[i] = d.colour(b[i*d.size:])
	}
	return p, nil
}

// packed reads indexes of 1, 2 or 4 bits.
func (d *zrle) packed(palette []uint32) error {
	bits := 4
	switch n := len(palette); {
	case n == 2:
		bits = 1
	case n <= 4:
		bits = 2
	}
	for row := d.t.pix; len(row) > 0; row = row[d.t.w:] {
		b, err := d.seg.Need((d.t.w*bits + 7) / 8)
		if err != nil {
			return err
		}
		for x := range d.t.w {
			at := x * bits
			index := int(b[at/8]>>(8-bits-at%8)) & (1<<bits - 1)
			if index >= len(palette) {
				return malformed("index %d into a palette of %d colours", index, len(palette))
			}
			row[x] = palette[index]
		}
	}
	return nil
}

// runs reads runs of pixels, or of indexes into a palette.
func (d *zrle) runs(palette []uint32) error {
	for rest := d.t.pix; len(rest) > 0; {
		var colour uint32
		long := true
		if palette == nil {
			b, err := d.seg.Need(d.size)
			if err != nil {
				return err
			}
			colour = d.colour(b)
		} else {
			b, err := d.seg.Need(1)
			if err != nil {
				return err
			}
			long = b[0]&0x80 != 0
			index := int(b[0] & 0x7f)
			if index >= len(palette) {
				return malformed("index %d into a palette of %d colours", index, len(palette))
			}
			colour = palette[index]
		}
		n := 1
		for long {
			b, err := d.seg.Need(1)
			if err != nil {
				return err
			}
			n += int(b[0])
			long = b[0] == 0xff
			if n > len(rest) {
				return malformed("a run of %d pixels where %d are left", n, len(rest))
			}
		}
		for i := range n {
			rest[i] = colour
		}
		rest = rest[n:]
	}
	return nil
}
