package sample

import (
	"encoding/binary"
	"image"

	"github.com/klauspost/compress/flate"
)

// maxPalette is the most colours that a ZRLE tile names (RFC 6143 7.7.6).
const maxPalette = 127

// A stream is the one zlib stream of a connection. Each rectangle is
// compressed by itself: beside a stream that remembers what it has sent, that was
// measured to be as fast and two in a hundred larger, and it saves nearly a
// megabyte for each viewer that only waits.
type stream struct{ begun bool }

// zlibHeader begins a zlib stream: deflate, 32 KiB window, fastest.
var zlibHeader = []byte{0x78, 0x01}

// A sliceWriter appends to a slice.
type sliceWriter []byte

func (w *sliceWriter) Write(b []byte) (int, error) {
	*w = append(*w, b...)
	return len(b), nil
}

// A zrle is a rectangle on its way to ZRLE.
type zrle struct {
	tiles []byte // before compression
	pal   palette
}

// encodeZRLE appends r in ZRLE.
func (e *encoder) encodeZRLE(s *stream, u *update, r image.Rectangle) error {
	z := &e.zrle
	z.tiles = z.tiles[:0]
	pix := e.scratch(tileSide * tileSide)
	for y := r.Min.Y; y < r.Max.Y; y += tileSide {
		for x := r.Min.X; x < r.Max.X; x += tileSide {
			w, h := min(tileSide, r.Max.X-x), min(tileSide, r.Max.Y-y)
			u.view.gather(pix, x, y, w, h)
			z.tile(u.format, pix[:w*h], w)
		}
	}
	at := len(e.buf) // of the length
	out := sliceWriter(append(e.buf, 0, 0, 0, 0))
	if !s.begun {
		out, s.begun = append(out, zlibHeader...), true
	}
	err := flate.StatelessDeflate(&out, z.tiles, false, nil)
	e.buf = out
	binary.BigEndian.PutUint32(e.buf[at:], uint32(len(e.buf)-at-4))
	return err
}

// A palette numbers the colours of a tile.
type palette struct {
	cols  [maxPalette]uint32
	n     int
	slots [256]uint8 // index+1 by hash; 0: free
}

func (p *palette) reset() {
	p.n = 0
	clear(p.slots[:])
}

// index gives a colour's number, a new one if need be; false: it is one
// colour too many.
func (p *palette) index(col uint32) (uint8, bool) {
	for h := uint8(col * 0x9e3779b1 >> 24); ; h++ {
		s := p.slots[h]
		if s == 0 {
			if p.n == maxPalette {
				return 0, false
			}
			p.cols[p.n] = col
			p.n++
			p.slots[h] = uint8(p.n)
			return uint8(p.n - 1), true
		}
		if p.cols[s-1] == col {
			return s - 1, true
		}
	}
}

// tile appends one tile in the form that comes out shortest.
func (z *zrle) tile(f *pixelFormat, pix []uint32, w int) {
	z.pal.reset()
	runs, single, long := 0, 0, 0 // runs; those of one pixel; bytes of lengths
	few := true
	for i := 0; i < len(pix); {
		col := pix[i]
		j := i + 1
		for j < len(pix) && pix[j] == col {
			j++
		}
		runs++
		if j-i == 1 {
			single++
		}
		long += (j-i-1)/255 + 1
		if few {
			_, few = z.pal.index(col)
		}
		i = j
	}
	if runs == 1 {
		z.tiles = f.short(append(z.tiles, 1), pix[0])
		return
	}
	n, h := z.pal.n, len(pix)/w
	best, form := len(pix)*f.compact, 0
	if b := runs*f.compact + long; b < best {
		best, form = b, 128
	}
	if few {
		if b := n*f.compact + runs + long - single; b < best {
			best, form = b, 128+n
		}
		if n <= 16 {
			if b := n*f.compact + (w*depth(n)+7)/8*h; b < best {
				form = n
			}
		}
	}
	z.tiles = append(z.tiles, byte(form))
	switch {
	case form == 0:
		for _, p := range pix {
			z.tiles = f.short(z.tiles, p)
		}
		return
	case form == 128:
		z.runs(pix, func(col uint32, _ int) { z.tiles = f.short(z.tiles, col) }, false)
		return
	}
	for _, col := range z.pal.cols[:n] {
		z.tiles = f.short(z.tiles, col)
	}
	if form > 128 {
		z.runs(pix, func(col uint32, n int) {
			i, _ := z.pal.index(col)
			if n > 1 {
				i |= 128
			}
			z.tiles = append(z.tiles, i)
		}, true)
		return
	}
	z.packed(pix, w, depth(n))
}

// depth is the bits of an index into a packed palette of n colours.
func depth(n int) int {
	switch {
	case n <= 2:
		return 1
	case n <= 4:
		return 2
	}
	return 4
}

// runs appends runs: what start appends, and the length, which is left out
// for single pixels when bare is true.
func (z *zrle) runs(pix []uint32, start func(col uint32, n int), bare bool) {
	for i := 0; i < len(pix); {
		j := i + 1
		for j < len(pix) && pix[j] == pix[i] {
			j++
		}
		n := j - i
		start(pix[i], n)
		i = j
		if bare && n == 1 {
			continue
		}
		for n--; n >= 255; n -= 255 {
			z.tiles = append(z.tiles, 255)
		}
		z.tiles = append(z.tiles, byte(n))
	}
}

// packed appends indexes of a few bits, each row on a whole byte.
func (z *zrle) packed(pix []uint32, w, bits int) {
	for ; len(pix) > 0; pix = pix[w:] {
		acc, free := byte(0), 8
		for _, col := range pix[:w] {
			i, _ := z.pal.index(col)
			free -= bits
			acc |= i << free
			if free == 0 {
				z.tiles = append(z.tiles, acc)
				acc, free = 0, 8
			}
		}
		if free < 8 {
			z.tiles = append(z.tiles, acc)
		}
	}
}
