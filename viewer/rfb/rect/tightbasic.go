package rect

import (
	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer/rfb/inflate"
)

// basic draws a rectangle of pixels behind a filter, compressed in the stream
// z; without a stream it is not compressed.
func (d *Tight) basic(r *vnc.Rectangle, z *inflate.Reader, given bool) error {
	filter := filterCopy
	if given {
		id, err := d.byte()
		if err != nil {
			return err
		}
		if filter = int(id); id > filterGradient {
			return malformed("rfb.Tight", "unknown filter %d", id)
		}
	}
	w, h := int(r.Width), int(r.Height)
	row := w * tpixel
	d.colours = 0
	if filter == filterPalette {
		if err := d.readPalette(); err != nil {
			return err
		}
		row = w
		if d.colours <= 2 {
			filter = filterMono
			row = (w + 7) / 8
		}
	}
	if err := d.begin(z, row*h); err != nil {
		return err
	}
	if w > 0 && h > 0 {
		if err := d.bands(r, filter, row); err != nil {
			return err
		}
	}
	return d.seg.End()
}

// readPalette reads the number of colours less one, and the colours.
func (d *Tight) readPalette() error {
	v, err := d.byte()
	if err != nil {
		return err
	}
	d.colours = int(v) + 1
	b, err := d.c.Conn.Peek(d.colours * tpixel)
	if err != nil {
		return err
	}
	return d.c.Conn.Discard(copy(d.palette[:], b))
}

// begin starts on the data of a rectangle, size bytes behind its filter.
func (d *Tight) begin(z *inflate.Reader, size int) error {
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
		return malformed("rfb.Tight", "%d bytes of plain data for a rectangle of %d", n, size)
	}
	return nil
}

// bands gives the painter as many rows at once as the inflater can hold, and
// with the first of them the palette.
func (d *Tight) bands(r *vnc.Rectangle, filter, row int) error {
	palette := d.palette[:d.colours*tpixel]
	most := inflate.MaxNeed / row
	for done, h := 0, int(r.Height); done < h; {
		n := min(h-done, most)
		src, err := d.seg.Need(n * row)
		if err != nil {
			return err
		}
		j := job{p: &d.painter, op: uint8(filter), x: int(r.X), y: int(r.Y) + done, w: int(r.Width), h: n, first: done == 0}
		if err := d.c.put(&j, palette, src); err != nil {
			return err
		}
		done += n
		palette = nil
	}
	return nil
}
