package sample

import (
	"image"
	"math"
)

// A canvas is a piece of the desktop while it is drawn: clip says which, in
// pixels of the desktop. Colours are 0xRRGGBB. Everything outside of clip is
// left out.
type canvas struct {
	clip   image.Rectangle
	pix    []uint32 // row after row
	origin image.Point
	stride int
}

// reset makes c a canvas for r, keeping its memory.
func (c *canvas) reset(r image.Rectangle) {
	n := r.Dx() * r.Dy()
	if cap(c.pix) < n {
		c.pix = make([]uint32, n)
	}
	*c = canvas{clip: r, pix: c.pix[:n], origin: r.Min, stride: r.Dx()}
}

// within is c cut down to r.
func (c *canvas) within(r image.Rectangle) canvas {
	in := *c
	in.clip = c.clip.Intersect(r)
	return in
}

// span is the pixels of row y from x0 to x1, which must be inside the clip.
func (c *canvas) span(y, x0, x1 int) []uint32 {
	o := (y-c.origin.Y)*c.stride - c.origin.X
	return c.pix[o+x0 : o+x1]
}

// fill paints r.
func (c *canvas) fill(r image.Rectangle, col uint32) {
	r = r.Intersect(c.clip)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		fill(c.span(y, r.Min.X, r.Max.X), col)
	}
}

// fill sets all of s, doubling what is already set.
func fill(s []uint32, col uint32) {
	if len(s) == 0 {
		return
	}
	s[0] = col
	for n := 1; n < len(s); n *= 2 {
		copy(s[n:], s[:n])
	}
}

// blend mixes col into *p; a is its share, 0 to 256.
func blend(p *uint32, col, a uint32) {
	b := *p
	rb := (b&0xff00ff)*(256-a) + (col&0xff00ff)*a
	g := (b&0x00ff00)*(256-a) + (col&0x00ff00)*a
	*p = rb>>8&0xff00ff | g>>8&0x00ff00
}

// tint mixes col into all of r.
func (c *canvas) tint(r image.Rectangle, col, a uint32) {
	r = r.Intersect(c.clip)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		s := c.span(y, r.Min.X, r.Max.X)
		for i := range s {
			blend(&s[i], col, a)
		}
	}
}

// corners says which corners of a rectangle are round.
type corners uint8

const (
	topCorners    corners = 1
	bottomCorners corners = 2
	allCorners            = topCorners | bottomCorners
)

// round paints r with round corners and smooth edges.
func (c *canvas) round(r image.Rectangle, radius int, which corners, col uint32) {
	radius = min(radius, r.Dx()/2, r.Dy()/2)
	in := r.Intersect(c.clip)
	for y := in.Min.Y; y < in.Max.Y; y++ {
		var dy float64 // how far the row is into a corner, from its centre
		switch {
		case y < r.Min.Y+radius && which&topCorners != 0:
			dy = float64(r.Min.Y+radius) - (float64(y) + 0.5)
		case y >= r.Max.Y-radius && which&bottomCorners != 0:
			dy = float64(y) + 0.5 - float64(r.Max.Y-radius)
		default:
			fill(c.span(y, in.Min.X, in.Max.X), col)
			continue
		}
		l, rr := r.Min.X+radius, r.Max.X-radius
		if a, b := max(in.Min.X, l), min(in.Max.X, rr); a < b {
			fill(c.span(y, a, b), col)
		}
		for x := in.Min.X; x < min(in.Max.X, l); x++ {
			c.corner(x, y, float64(l)-(float64(x)+0.5), dy, float64(radius), col)
		}
		for x := max(in.Min.X, rr); x < in.Max.X; x++ {
			c.corner(x, y, float64(x)+0.5-float64(rr), dy, float64(radius), col)
		}
	}
}

// corner paints one pixel of a round corner, dx, dy from the circle's centre.
func (c *canvas) corner(x, y int, dx, dy, radius float64, col uint32) {
	cover := radius - math.Hypot(dx, dy) + 0.5
	p := &c.span(y, x, x+1)[0]
	switch {
	case cover >= 1:
		*p = col
	case cover > 0:
		blend(p, col, uint32(cover*256))
	}
}

// shadow darkens what is around a card that will be painted at r.
func (c *canvas) shadow(r image.Rectangle, radius int) {
	const drop, strength = 6, 74
	s := r.Add(image.Pt(0, drop))
	in := s.Inset(-shadowSpread).Intersect(c.clip)
	if in.Empty() {
		return
	}
	hidden := r.Inset(radius)
	cx, cy := float64(s.Min.X+s.Max.X)/2, float64(s.Min.Y+s.Max.Y)/2
	hx, hy := float64(s.Dx())/2-float64(radius), float64(s.Dy())/2-float64(radius)
	for y := in.Min.Y; y < in.Max.Y; y++ {
		row := c.span(y, in.Min.X, in.Max.X)
		qy := math.Abs(float64(y)+0.5-cy) - hy
		for x := in.Min.X; x < in.Max.X; x++ {
			if y >= hidden.Min.Y && y < hidden.Max.Y && x >= hidden.Min.X && x < hidden.Max.X {
				x = hidden.Max.X - 1
				continue
			}
			qx := math.Abs(float64(x)+0.5-cx) - hx
			d := math.Hypot(max(qx, 0), max(qy, 0)) + min(max(qx, qy), 0) - float64(radius)
			if d >= shadowSpread {
				continue
			}
			f := 1 - max(d, 0)/shadowSpread
			blend(&row[x-in.Min.X], 0x05060c, uint32(strength*f*f))
		}
	}
}
