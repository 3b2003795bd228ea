package frame

import (
	"image"
	"math/bits"
)

// coverage remembers, a bit a pixel, what has been painted, so that two
// partial updates of the same spot count as one whole. It is dropped when
// nothing is left to paint.
type coverage struct {
	w, h int
	row  int // words a row
	bits []uint64
	left int64 // pixels not painted
}

// newCoverage returns an empty coverage, or nil when there is nothing to cover.
func newCoverage(w, h int) *coverage {
	if w == 0 || h == 0 {
		return nil
	}
	row := (w + 63) / 64
	return &coverage{w: w, h: h, row: row, bits: make([]uint64, row*h), left: int64(w) * int64(h)}
}

// paint marks a rectangle inside the picture and reports whether all is
// painted now.
func (c *coverage) paint(x, y, w, h int) bool {
	first, last := x/64, (x+w-1)/64
	head := ^uint64(0) << (x % 64)
	tail := ^uint64(0) >> (63 - (x+w-1)%64)
	for r := y; r < y+h; r++ {
		words := c.bits[r*c.row : (r+1)*c.row]
		for i := first; i <= last; i++ {
			m := ^uint64(0)
			if i == first {
				m &= head
			}
			if i == last {
				m &= tail
			}
			c.left -= int64(bits.OnesCount64(m &^ words[i]))
			words[i] |= m
		}
	}
	return c.left == 0
}

// whole reports whether every pixel of r, which lies inside, is painted.
func (c *coverage) whole(r image.Rectangle) bool {
	if r.Empty() {
		return true
	}
	first, last := r.Min.X/64, (r.Max.X-1)/64
	head := ^uint64(0) << (r.Min.X % 64)
	tail := ^uint64(0) >> (63 - (r.Max.X-1)%64)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		words := c.bits[y*c.row : (y+1)*c.row]
		for i := first; i <= last; i++ {
			m := ^uint64(0)
			if i == first {
				m &= head
			}
			if i == last {
				m &= tail
			}
			if words[i]&m != m {
				return false
			}
		}
	}
	return true
}

// missing is the bounding box of what is not painted of r, which lies inside.
func (c *coverage) missing(r image.Rectangle) (box image.Rectangle) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		words := c.bits[y*c.row : (y+1)*c.row]
		first, last := -1, -1
		for x := r.Min.X; x < r.Max.X; {
			word, bit := x/64, x%64
			holes := ^words[word] &^ (1<<bit - 1)
			if end := r.Max.X - word*64; end < 64 {
				holes &= 1<<end - 1
			}
			if holes != 0 {
				if first < 0 {
					first = word*64 + bits.TrailingZeros64(holes)
				}
				last = word*64 + 63 - bits.LeadingZeros64(holes)
			}
			x = (word + 1) * 64
		}
		if first >= 0 {
			box = box.Union(image.Rect(first, y, last+1, y+1))
		}
	}
	return box
}
