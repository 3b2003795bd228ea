package sample

import (
	"encoding/binary"
	"slices"
	"testing"
)

// TestFormsAreShortest: the tile forms that ZRLE has are all used, each where
// it is the shortest.
func TestFormsAreShortest(t *testing.T) {
	noise := uint32(1)
	next := func() uint32 { noise = noise*1664525 + 1013904223; return noise >> 8 }
	for _, tt := range []struct {
		name string
		at   func(i int) uint32
		want func(form byte) bool
	}{
		{"one colour", func(int) uint32 { return 5 }, func(f byte) bool { return f == 1 }},
		{"two colours", func(i int) uint32 { return next() & 1 }, func(f byte) bool { return f == 2 }},
		{"sixteen", func(i int) uint32 { return next() & 15 }, func(f byte) bool { return f == 16 }},
		{"noise", func(i int) uint32 { return next() }, func(f byte) bool { return f == 0 }},
		{"long runs of many colours", func(i int) uint32 { return uint32(i/20) * 77 }, func(f byte) bool { return f == 128 }},
		{"long runs of few colours", func(i int) uint32 { return uint32(i / 20 % 50) }, func(f byte) bool { return f == 128+50 }},
		{"one run over 255 and one pixel", func(i int) uint32 { return uint32(i / 4095) }, func(f byte) bool { return f == 128 || f == 130 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pix := make([]uint32, tileSide*tileSide)
			for i := range pix {
				pix[i] = tt.at(i)
			}
			var z zrle
			z.tile(nativeFormat, pix, tileSide)
			if !tt.want(z.tiles[0]) {
				t.Errorf("got form %d", z.tiles[0])
			}
			if got := unzrle(t, z.tiles, tileSide, tileSide); !slices.Equal(got, pix) {
				t.Error("does not come back as it was")
			}
		})
	}
}

// unzrle reads one tile of the native format (RFC 6143 7.7.6).
func unzrle(t *testing.T, b []byte, w, h int) (out []uint32) {
	col := func() uint32 {
		v := binary.LittleEndian.Uint32(append(append([]byte(nil), b[:3]...), 0))
		b = b[3:]
		return v
	}
	length := func() int {
		n := 1
		for b[0] == 255 {
			n += 255
			b = b[1:]
		}
		n += int(b[0])
		b = b[1:]
		return n
	}
	form := b[0]
	b = b[1:]
	var pal []uint32
	if form != 0 && form != 128 {
		for range form & 127 {
			pal = append(pal, col())
		}
	}
	switch {
	case form == 0:
		for range w * h {
			out = append(out, col())
		}
	case form == 1:
		for range w * h {
			out = append(out, pal[0])
		}
	case form < 128:
		for range h {
			n := 0
			for x := range w {
				per := 8 / depth(len(pal))
				i := b[x/per] >> (8 - depth(len(pal))*(x%per+1)) & (1<<depth(len(pal)) - 1)
				out = append(out, pal[i])
				n = x/per + 1
			}
			b = b[n:]
		}
	default:
		for len(out) < w*h {
			var c uint32
			n := 1
			if form == 128 {
				c = col()
				n = length()
			} else {
				i := b[0]
				b = b[1:]
				c = pal[i&127]
				if i&128 != 0 {
					n = length()
				}
			}
			for range n {
				out = append(out, c)
			}
		}
	}
	if len(b) != 0 {
		t.Errorf("%d bytes left", len(b))
	}
	return out
}
