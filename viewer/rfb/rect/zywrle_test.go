package rect

import (
	"testing"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
)

// The step is its own inverse, for every pair of numbers that encoders use;
// its kinds once by hand.
func TestUnhaar(t *testing.T) {
	for _, c := range []struct{ low, high, x, y int8 }{
		{10, 6, 10, 4},  // one sign: the larger of the two, and the difference
		{10, 4, 10, 6},  // the same with the other difference
		{6, 10, 10, -4}, // two signs: the sum, and the larger
	} {
		if x, y := unhaar(c.low, c.high); x != c.x || y != c.y {
			t.Errorf("%d, %d: got %d, %d, want %d, %d", c.low, c.high, x, y, c.x, c.y)
		}
	}
	for a := -127; a < 128; a++ {
		for b := -127; b < 128; b++ {
			low, high := unhaar(int8(a), int8(b))
			if x, y := unhaar(low, high); x != int8(a) || y != int8(b) {
				t.Fatalf("%d, %d: got %d, %d back", a, b, x, y)
			}
		}
	}
}

// waveletTile transforms a picture of at most 64 x 64 as an encoder does, and
// gives the pixels of the coefficients.
func waveletTile(m rgb, level int) string {
	group := 1 << level
	fw, fh := m.w/group*group, m.h/group*group
	if fw == 0 || fh == 0 {
		fw, fh = 0, 0
	}
	plane := make([][3]int8, fw*fh) // blue, green, red
	for i := range plane {
		p := m.pix[(i/max(fw, 1)*m.w+i%max(fw, 1))*3:]
		r, g, b := int(p[0]), int(p[1]), int(p[2])
		plane[i] = [3]int8{int8((b - g) >> 1), int8((r+2*g+b)>>2 - 128), int8((r - g) >> 1)}
	}
	pair := func(a, b *[3]int8) {
		for c := range a {
			a[c], b[c] = unhaar(a[c], b[c]) // its own inverse
		}
	}
	for l := range level {
		step := 1 << l
		for y := 0; y < fh; y += step {
			for x := 0; x < fw; x += 2 * step {
				pair(&plane[y*fw+x], &plane[y*fw+x+step])
			}
		}
		for x := 0; x < fw; x += step {
			for y := 0; y < fh; y += 2 * step {
				pair(&plane[y*fw+x], &plane[(y+step)*fw+x])
			}
		}
	}
	var out []byte
	part := func(x0, y0, step int) {
		for y := y0; y < fh; y += step {
			for x := x0; x < fw; x += step {
				c := plane[y*fw+x]
				out = append(out, byte(c[0]), byte(c[1]), byte(c[2]))
			}
		}
	}
	for l := range level {
		part(1<<l, 1<<l, 2<<l)
		part(0, 1<<l, 2<<l)
		part(1<<l, 0, 2<<l)
	}
	part(0, 0, group)
	rest := func(x0, y0, x1, y1 int) {
		for y := y0; y < y1; y++ {
			for x := x0; x < x1; x++ {
				p := m.pix[(y*m.w+x)*3:]
				out = append(out, p[2], p[1], p[0])
			}
		}
	}
	rest(fw, 0, m.w, fh)
	rest(0, fh, fw, m.h)
	rest(fw, fh, m.w, m.h)
	return string(out)
}

// Without the rounding of coefficients, which real encoders do, a picture
// comes back but for the lowest bits of its colours.
func TestZYWRLE(t *testing.T) {
	for quality, level := range map[int]int{0: 1, 9: 1, 6: 1, 5: 2, 3: 2, 2: 3, 1: 3} {
		for _, size := range [][2]int{{1, 1}, {7, 3}, {8, 8}, {61, 37}, {64, 64}, {63, 2}} {
			m := jpegPicture(false)
			if size[0] > m.w || size[1] > m.h {
				m = randomPicture(newRand(), size[0], size[1], 4)
			} else {
				part := rgb{w: size[0], h: size[1]}
				for y := range part.h {
					part.pix = append(part.pix, m.pix[y*m.w*3:][:part.w*3]...)
				}
				m = part
			}
			c := canvas(t, m.w+3, m.h+2, []byte(deflated("\x00\x00"+waveletTile(m, level))), 20)
			c.Quality = quality
			r := vnc.Rectangle{X: 2, Y: 1, Width: uint16(m.w), Height: uint16(m.h)}
			if _, err := decoder(c, TypeZYWRLE).Read(nil, &r, c.Conn); err != nil {
				t.Fatal(err)
			}
			m.shows(t, c, 2, 1, 2)
		}
	}
}

// Tiles that are not raw are those of ZRLE, and the stream is that of ZRLE.
func TestZYWRLESharesZRLE(t *testing.T) {
	testDrawings(t, TypeZYWRLE, []drawing{
		{"one colour", vnc.Rectangle{X: 2, Width: 3, Height: 2}, deflated("\x01" + cRed), "..RRR/..RRR/...../...../"},
		{"coefficients of one colour, too few to transform", vnc.Rectangle{X: 2, Width: 1, Height: 2}, deflated("\x00\x01" + cRed), "..R../..R../...../...../"},
	})
	p := newPacker()
	wire := sized(p.pack("\x01"+cRed)) + sized(p.pack("\x00\x01\x00\x00\x00")) + sized(p.pack("\x01"+cBlue))
	c := canvas(t, 4, 4, []byte(wire), 5)
	z := NewZRLE(c)
	zy := NewZYWRLE(z)
	for _, e := range []vnc.Encoding{z, zy, z} {
		if _, err := e.Read(nil, &vnc.Rectangle{Width: 4, Height: 4}, c.Conn); err != nil {
			t.Fatal(err)
		}
		if e == zy {
			// A luminance of 0 is grey of 128.
			grey := rgb{4, 4, nil}
			for range 16 {
				grey.pix = append(grey.pix, 128, 128, 128)
			}
			grey.shows(t, c, 0, 0, 0)
		}
	}
	if got := picture(c); got != "BBBB/BBBB/BBBB/BBBB/" {
		t.Errorf("got %s, want blue", got)
	}
	testFaults(t, TypeZYWRLE, []fault{
		{"no tile of coefficients", vnc.Rectangle{Width: 9, Height: 9}, deflated("\x00"), viewer.Malformed, "ends too early"},
		{"coefficients of an unknown type", vnc.Rectangle{Width: 9, Height: 9}, deflated("\x00\x11" + rep("x", 300)), viewer.Malformed, "type 17"},
		{"bomb", vnc.Rectangle{Width: 64, Height: 64}, sized(zeros()[:0x4000]), viewer.Limit, "more than the rectangle can need"},
	})
}

func FuzzZYWRLE(f *testing.F) {
	m := randomPicture(newRand(), 20, 9, 300)
	f.Add(uint8(0), uint8(0), uint8(20), uint8(9), []byte("\x00\x00"+waveletTile(m, 1)))
	f.Add(uint8(0), uint8(0), uint8(5), uint8(2), []byte("\x00\x01"+cRed))
	f.Add(uint8(0), uint8(0), uint8(70), uint8(2), []byte("\x00\x82"+cRed+cBlue+"\x00\x81\xff"))
	fuzzRect(f, TypeZYWRLE, func(b []byte) []byte { return []byte(deflated(string(b))) })
}
