package sample

import "image"

// hexSide is the side of a Hextile tile.
const hexSide = 16

// The bits of a tile's first byte (RFC 6143 7.7.4).
const (
	hexRaw        = 1
	hexBackground = 2
	hexForeground = 4
	hexSubrects   = 8
	hexColoured   = 16
)

// A box is a subrectangle of one colour.
type box struct {
	x, y, w, h uint8
	col        uint32
}

// encodeHextile appends r in Hextile.
func (e *encoder) encodeHextile(u *update, r image.Rectangle) {
	var pix [hexSide * hexSide]uint32
	var boxes [hexSide * hexSide]box
	last, known := uint32(0), false // the background that the client holds
	for y := r.Min.Y; y < r.Max.Y; y += hexSide {
		for x := r.Min.X; x < r.Max.X; x += hexSide {
			w, h := min(hexSide, r.Max.X-x), min(hexSide, r.Max.Y-y)
			t := pix[:w*h]
			u.view.gather(t, x, y, w, h)
			bg := background(t)
			n, one := subrects(t, w, h, bg, boxes[:])
			each := 2
			if !one {
				each += u.format.size
			}
			if n*each+2+2*u.format.size > len(t)*u.format.size {
				u.view.gather(t, x, y, w, h) // subrects has painted over it
				e.buf = append(e.buf, hexRaw)
				e.buf = u.format.pixels(e.buf, t)
				known = false
				continue
			}
			kind := len(e.buf)
			e.buf = append(e.buf, 0)
			if !known || bg != last {
				e.buf[kind] |= hexBackground
				e.buf = u.format.pixel(e.buf, bg)
				last, known = bg, true
			}
			if n == 0 {
				continue
			}
			e.buf[kind] |= hexSubrects
			if one {
				e.buf[kind] |= hexForeground
				e.buf = u.format.pixel(e.buf, boxes[0].col)
			} else {
				e.buf[kind] |= hexColoured
			}
			e.buf = append(e.buf, byte(n))
			for _, b := range boxes[:n] {
				if !one {
					e.buf = u.format.pixel(e.buf, b.col)
				}
				e.buf = append(e.buf, b.x<<4|b.y, (b.w-1)<<4|(b.h-1))
			}
		}
	}
}

// background is the colour that a tile probably has most of: the one that a
// majority vote leaves.
func background(t []uint32) uint32 {
	bg, votes := t[0], 0
	for _, p := range t {
		switch {
		case votes == 0:
			bg, votes = p, 1
		case p == bg:
			votes++
		default:
			votes--
		}
	}
	return bg
}

// subrects covers what is not bg by boxes and reports whether they all have
// one colour. The pixels it has covered become bg. More boxes than a byte can
// count are as good as none: it returns too many for any tile to want them.
func subrects(t []uint32, w, h int, bg uint32, out []box) (n int, one bool) {
	one = true
	for y := range h {
		for x := 0; x < w; x++ {
			col := t[y*w+x]
			if col == bg {
				continue
			}
			if n == 255 {
				return 1 << 20, false
			}
			bw := 1
			for x+bw < w && t[y*w+x+bw] == col {
				bw++
			}
			bh := 1
		down:
			for y+bh < h {
				for _, p := range t[(y+bh)*w+x : (y+bh)*w+x+bw] {
					if p != col {
						break down
					}
				}
				bh++
			}
			for dy := range bh {
				fill(t[(y+dy)*w+x:(y+dy)*w+x+bw], bg)
			}
			out[n] = box{uint8(x), uint8(y), uint8(bw), uint8(bh), col}
			one = one && col == out[0].col
			n++
			x += bw - 1
		}
	}
	return n, one
}
