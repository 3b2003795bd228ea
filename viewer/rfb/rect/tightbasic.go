package rect

import (
	"encoding/binary"
	"math/bits"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb/inflate"
)

// basic draws a rectangle of pixels behind a filter, compressed in the stream
// z; without a stream it is not compressed.
func (d *Tight) basic(r *vnc.Rectangle, z *inflate.Reader, given bool) error {
	d.filter = filterCopy
	if given {
		id, err := d.byte()
		if err != nil {
			return err
		}
		if d.filter = int(id); id > filterGradient {
			return malformed("rfb.Tight", "unknown filter %d", id)
		}
	}
	w, h := int(r.Width), int(r.Height)
	row := w * tpixel
	if d.filter == filterPalette {
		if err := d.readPalette(); err != nil {
			return err
		}
		row = w
		if d.colours <= 2 {
			d.filter = filterMono
			row = (w + 7) / 8
		}
	}
	if err := d.begin(z, row*h); err != nil {
		return err
	}
	if w > 0 && h > 0 {
		if err := d.bands(int(r.X), int(r.Y), w, h, row); err != nil {
			return err
		}
	}
	return d.seg.end()
}

// readPalette reads the number of colours less one, and the colours.
func (d *Tight) readPalette() error {
	v, err := d.byte()
	if err != nil {
		return err
	}
	n := int(v) + 1
	b, err := d.c.Conn.Peek(n * tpixel)
	if err != nil {
		return err
	}
	for i := range d.palette[:n] {
		d.palette[i] = uint64(d.pixel(b[i*tpixel:]))
	}
	for i := n; i < d.colours; i++ {
		d.palette[i] = badIndex
	}
	d.colours = n
	if n <= 2 {
		d.tile.palette[0], d.tile.palette[1] = uint32(d.palette[0]), uint32(d.palette[n-1])
	}
	return d.c.Conn.Discard(n * tpixel)
}

// begin starts on the data of a rectangle, size bytes behind its filter.
func (d *Tight) begin(z *inflate.Reader, size int) error {
	if size < tightMinimum {
		d.seg.plain()
		return nil
	}
	n, err := d.length()
	if err != nil {
		return err
	}
	if z != nil {
		return d.seg.begin(z, n, int64(size))
	}
	d.seg.plain()
	if n != size {
		return malformed("rfb.Tight", "%d bytes of plain data for a rectangle of %d", n, size)
	}
	return nil
}

// bands draws as many rows at once as the inflater can hold. The frame is
// locked while drawing only.
func (d *Tight) bands(x, y, w, h, row int) error {
	most := inflate.MaxNeed / row
	for done := 0; done < h; {
		n := min(h-done, most)
		src, err := d.seg.need(n * row)
		if err != nil {
			return err
		}
		px := d.c.Frame.Lock()
		at := (y+done)*px.Stride + x*bpp
		switch d.filter {
		case filterCopy:
			d.copy(px.Pix[at:], px.Stride, w, n, src)
		case filterMono:
			d.tile.mono(px.Pix[at:], px.Stride, w, n, src)
		case filterPalette:
			err = d.indexes(px.Pix[at:], px.Stride, w, n, src)
		case filterGradient:
			d.gradient(px.Pix, at, px.Stride, w, n, done > 0, src)
		}
		if done += n; done == h && err == nil {
			d.c.Frame.Touch(x, y, w, h, frame.Painted)
		}
		d.c.Frame.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// copy draws pixels as they are.
func (d *Tight) copy(pix []byte, stride, w, h int, src []byte) {
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
func (d *Tight) indexes(pix []byte, stride, w, h int, src []byte) error {
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
func (d *Tight) gradient(pix []byte, at, stride, w, h int, above bool, src []byte) {
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
