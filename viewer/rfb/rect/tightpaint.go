package rect

import (
	"encoding/binary"
	"math/bits"

	"deskvnc/viewer/frame"
)

// badIndex marks places of the palette that have no colour.
const badIndex = 1 << 63

// A tightPainter draws what is behind the filters of Tight.
type tightPainter struct {
	c       *Canvas     // for its order
	palette [256]uint64 // colours, or badIndex
	colours int         // how many of palette are colours
	tile    tilePainter
}

// paint draws a band of a rectangle. Its first one brings the palette.
func (d *tightPainter) paint(px frame.Pixels, j *job, head, src []byte) error {
	at := j.y*px.Stride + j.x*bpp
	pix := px.Pix[at:]
	if len(head) > 0 {
		d.setPalette(head)
	}
	switch j.op {
	case filterCopy:
		d.copy(pix, px.Stride, j.w, j.h, src)
	case filterMono:
		d.tile.mono(pix, px.Stride, j.w, j.h, src)
	case filterPalette:
		return d.indexes(pix, px.Stride, j.w, j.h, src)
	case filterGradient:
		d.gradient(px.Pix, at, px.Stride, j.w, j.h, !j.first, src)
	case filterFill:
		d.tile.fill.set(uint32(j.a))
		d.tile.fill.rect(pix, px.Stride, j.w*bpp, j.h)
	}
	return nil
}

// setPalette takes colours as they are on the wire.
func (d *tightPainter) setPalette(b []byte) {
	n := len(b) / tpixel
	if n <= 2 {
		d.tile.palette[0], d.tile.palette[1] = d.pixel(b), d.pixel(b[(n-1)*tpixel:])
		return
	}
	for i := range d.palette[:n] {
		d.palette[i] = uint64(d.pixel(b[i*tpixel:]))
	}
	for i := n; i < d.colours; i++ {
		d.palette[i] = badIndex
	}
	d.colours = n
}

// pixel reads a Tight pixel as one of the frame.
func (d *tightPainter) pixel(b []byte) uint32 {
	o := d.c.Order
	return uint32(b[0])<<(o.R*8&31) | uint32(b[1])<<(o.G*8&31) | uint32(b[2])<<(o.B*8&31)
}

// copy draws pixels as they are.
func (d *tightPainter) copy(pix []byte, stride, w, h int, src []byte) {
	switch d.c.Order {
	case frame.Order{R: 0, G: 1, B: 2}:
		d.tile.raw(pix, stride, w, h, src)
		return
	case frame.BGRX:
		for y := range h {
			row := pix[y*stride:][:w*bpp]
			b := src[y*w*tpixel:][:w*tpixel+2] // the last load reads up to two bytes more
			for len(row) >= 8 && len(b) >= 8 {
				// Two pixels: the reversed bytes are ..B1G1R1B0G0R0.
				v := bits.ReverseBytes64(binary.LittleEndian.Uint64(b))
				binary.LittleEndian.PutUint64(row, v>>40|v<<16&^0xffffffff)
				row, b = row[8:], b[6:]
			}
			if len(row) >= 4 && len(b) >= 3 {
				binary.LittleEndian.PutUint32(row, uint32(b[2])|uint32(b[1])<<8|uint32(b[0])<<16)
			}
		}
		return
	}
	for y := range h {
		row := pix[y*stride:][:w*bpp]
		b := src[y*w*tpixel:][:w*tpixel]
		for ; len(row) >= bpp; row, b = row[bpp:], b[tpixel:] {
			binary.LittleEndian.PutUint32(row, d.pixel(b))
		}
	}
}

// indexes draws a byte a pixel out of the palette.
func (d *tightPainter) indexes(pix []byte, stride, w, h int, src []byte) error {
	p := &d.palette
	var all uint64
	for y := range h {
		row := pix[y*stride:][:w*bpp]
		b := src[y*w:][:w]
		for len(b) >= 4 && len(row) >= 16 {
			v0, v1, v2, v3 := p[b[0]], p[b[1]], p[b[2]], p[b[3]]
			all |= v0 | v1 | v2 | v3
			binary.LittleEndian.PutUint64(row, v0|v1<<32)
			binary.LittleEndian.PutUint64(row[8:], v2|v3<<32)
			row, b = row[16:], b[4:]
		}
		for len(b) > 0 && len(row) >= 4 {
			v := p[b[0]]
			all |= v
			binary.LittleEndian.PutUint32(row, uint32(v))
			row, b = row[4:], b[1:]
		}
	}
	if all&badIndex != 0 {
		return malformed("rfb.Tight", "an index beyond a palette of %d colours", d.colours)
	}
	return nil
}

// gradient draws differences from what the neighbours above, to the left and
// above left make likely. The first row is at byte at of pix; above tells that
// the row before it belongs to the rectangle.
func (d *tightPainter) gradient(pix []byte, at, stride, w, h int, above bool, src []byte) {
	o := d.c.Order
	at0, at1, at2 := int(o.R&3), int(o.G&3), int(o.B&3)
	for range h {
		row := pix[at : at+w*bpp]
		if above {
			up := pix[at-stride : at-stride+w*bpp]
			var left, corner [tpixel]int
			for i := 0; i < len(row); i += bpp {
				p, u, b := row[i:i+bpp:i+bpp], up[i:i+bpp:i+bpp], src[:tpixel]
				src = src[tpixel:]
				left[0], corner[0] = predicted(b[0], left[0], int(u[at0]), corner[0])
				left[1], corner[1] = predicted(b[1], left[1], int(u[at1]), corner[1])
				left[2], corner[2] = predicted(b[2], left[2], int(u[at2]), corner[2])
				p[at0], p[at1], p[at2] = byte(left[0]), byte(left[1]), byte(left[2])
			}
		} else {
			// All above is black: what is likely is what is to the left.
			var left [tpixel]byte
			for i := 0; i < len(row); i += bpp {
				p, b := row[i:i+bpp:i+bpp], src[:tpixel]
				src = src[tpixel:]
				left[0], left[1], left[2] = left[0]+b[0], left[1]+b[1], left[2]+b[2]
				p[at0], p[at1], p[at2] = left[0], left[1], left[2]
			}
		}
		at += stride
		above = true
	}
}

// predicted returns the sample that differs by diff from what is likely, and
// the one above as the next corner.
func predicted(diff byte, left, up, corner int) (sample, next int) {
	return (min(max(left+up-corner, 0), 255) + int(diff)) & 255, up
}
