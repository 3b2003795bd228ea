package sample

import (
	"math"
)

// sky is the wallpaper's colours from the top down.
var sky = [...]struct {
	at      float64
	r, g, b float64
}{
	{0.00, 0x1b, 0x26, 0x4a},
	{0.45, 0x4f, 0x5a, 0x93},
	{0.72, 0xc0, 0x8b, 0xa5},
	{0.88, 0xf2, 0xb8, 0x8f},
	{1.00, 0xf7, 0xd3, 0xa6},
}

// hills stand before the sky, the farthest first: their colour, and the waves
// that make their outline, in parts of the height and turns over the width.
var hills = [...]struct {
	col   uint32
	base  float64
	waves [2]struct{ tall, turns, shift float64 }
}{
	{0x6d6795, 0.74, [2]struct{ tall, turns, shift float64 }{{0.055, 1.3, 0.10}, {0.018, 4.1, 0.30}}},
	{0x484a7a, 0.82, [2]struct{ tall, turns, shift float64 }{{0.060, 0.9, 0.55}, {0.014, 3.3, 0.00}}},
	{0x2a2f57, 0.91, [2]struct{ tall, turns, shift float64 }{{0.045, 1.6, 0.80}, {0.010, 5.2, 0.45}}},
}

// wallpaper draws what is behind everything.
func (s *scene) wallpaper(c *canvas) {
	h := float64(s.lay.h)
	for y := c.clip.Min.Y; y < c.clip.Max.Y; y++ {
		fill(c.span(y, c.clip.Min.X, c.clip.Max.X), skyAt(float64(y)/h))
	}
	for i, hill := range hills {
		peak := int(h*(hill.base-hill.waves[0].tall-hill.waves[1].tall)) - 1
		if c.clip.Max.Y <= peak {
			continue
		}
		for x := c.clip.Min.X; x < c.clip.Max.X; x++ {
			c.below(x, s.outline(i, x), hill.col)
		}
	}
}

func skyAt(at float64) uint32 {
	for i := 1; ; i++ {
		a, b := sky[i-1], sky[i]
		if at > b.at && i < len(sky)-1 {
			continue
		}
		f := (at - a.at) / (b.at - a.at)
		mix := func(p, q float64) uint32 { return uint32(p + (q-p)*f + 0.5) }
		return mix(a.r, b.r)<<16 | mix(a.g, b.g)<<8 | mix(a.b, b.b)
	}
}

// outline is where hill i begins at column x.
func (s *scene) outline(i, x int) float64 {
	u, v := float64(x)/float64(s.lay.w), hills[i].base
	for _, w := range hills[i].waves {
		v -= w.tall * math.Sin(2*math.Pi*(w.turns*u+w.shift))
	}
	return v * float64(s.lay.h)
}

// below paints column x from top down, its first pixel by the part covered.
func (c *canvas) below(x int, top float64, col uint32) {
	y := int(top)
	if y >= c.clip.Max.Y {
		return
	}
	if y >= c.clip.Min.Y {
		blend(&c.span(y, x, x+1)[0], col, uint32((1-(top-float64(y)))*256))
	}
	for y = max(y+1, c.clip.Min.Y); y < c.clip.Max.Y; y++ {
		c.span(y, x, x+1)[0] = col
	}
}
