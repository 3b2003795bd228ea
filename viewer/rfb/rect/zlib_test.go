package rect

import (
	"testing"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

func TestZlib(t *testing.T) {
	testDrawings(t, TypeZlib, []drawing{
		{"four pixels", vnc.Rectangle{X: 1, Y: 1, Width: 2, Height: 2}, sized(newPacker().pack(red + green + blue + white)),
			"...../.RG../.BW../...../"},
		{"without area", vnc.Rectangle{X: 5, Y: 1, Width: 0, Height: 2}, sized(""), "...../...../...../...../"},
	})
	r := vnc.Rectangle{Width: 64, Height: 64}
	testFaults(t, TypeZlib, []fault{
		{"out of the screen", vnc.Rectangle{X: 97, Y: 97, Width: 4, Height: 3}, sized(""), viewer.Malformed, "out of the screen"},
		{"bomb", r, sized(zeros()[:0x4000]), viewer.Limit, "more than the rectangle can need"},
		{"claims 4 GiB", r, "\xff\xff\xff\xff", viewer.Limit, "more than the rectangle can need"},
		{"too little", r, sized(newPacker().pack(rep(red, 4095))), viewer.Malformed, "ends too early"},
		{"no zlib stream", r, sized("rest"), viewer.Malformed, "zlib"},
	})
}

// One stream for all rectangles, also for those of more than the inflater
// holds at once.
func TestZlibIsOneStream(t *testing.T) {
	r := newRand()
	p := newPacker()
	wire := ""
	var pictures []rgb
	for _, size := range [][2]int{{30, 20}, {300, 250}, {1, 1}, {300, 250}} {
		m := randomPicture(r, size[0], size[1], 900)
		pictures = append(pictures, m)
		wire += sized(p.pack(m.bgrx()))
	}
	for _, chunk := range []int{999, 1 << 20} {
		c := canvas(t, 310, 260, []byte(wire), chunk)
		d := NewZlib(c)
		for _, m := range pictures {
			if _, err := d.Read(nil, &vnc.Rectangle{X: 7, Y: 8, Width: uint16(m.w), Height: uint16(m.h)}, c.Conn); err != nil {
				t.Fatal(err)
			}
			m.shows(t, c, 7, 8, 0)
		}
	}
}

// A rectangle of one row that is more than the inflater holds at once.
func TestZlibWide(t *testing.T) {
	m := randomPicture(newRand(), 65535, 1, 300)
	c := canvas(t, 65535, 1, []byte(sized(newPacker().pack(m.bgrx()))), 1<<20)
	if _, err := NewZlib(c).Read(nil, &vnc.Rectangle{Width: 65535, Height: 1}, c.Conn); err != nil {
		t.Fatal(err)
	}
	m.shows(t, c, 0, 0, 0)
}

func TestZlibHex(t *testing.T) {
	raw := red + green + blue + white
	coloured := white + "\x02" + red + "\x00\x31" + blue + "\x40\x03" // at 0,0: 4 x 2, and at 4,0: 1 x 4
	testDrawings(t, TypeZlibHex, []drawing{
		{"raw as in Hextile", vnc.Rectangle{X: 3, Y: 2, Width: 2, Height: 2}, "\x01" + raw, "...../...../...RG/...BW/"},
		{"background as in Hextile", vnc.Rectangle{Width: 5, Height: 2}, "\x02" + green, "GGGGG/GGGGG/...../...../"},
		{"foreground as in Hextile", vnc.Rectangle{Width: 5, Height: 4}, "\x0e" + white + red + "\x02\x00\x10\x43\x00",
			"RRWWW/WWWWW/WWWWW/WWWWR/"},
		{"coloured as in Hextile", vnc.Rectangle{Width: 5, Height: 4}, "\x1a" + coloured, "RRRRB/RRRRB/WWWWB/WWWWB/"},
		{"raw, compressed", vnc.Rectangle{X: 3, Y: 2, Width: 2, Height: 2}, "\x20" + sized(newPacker().pack(raw))[2:], "...../...../...RG/...BW/"},
		{"coloured, compressed", vnc.Rectangle{Width: 5, Height: 4}, "\x5a" + sized(newPacker().pack(coloured))[2:], "RRRRB/RRRRB/WWWWB/WWWWB/"},
		{"without area", vnc.Rectangle{X: 5, Y: 4}, "", "...../...../...../...../"},
	})
	r := vnc.Rectangle{Width: 16, Height: 16}
	bomb := sized(zeros()[:0x1000])[2:]
	testFaults(t, TypeZlibHex, []fault{
		{"out of the screen", vnc.Rectangle{X: 97, Y: 97, Width: 4, Height: 3}, "", viewer.Malformed, "out of the screen"},
		{"out of its tile", r, "\x08\x01\xff\xff", viewer.Malformed, "16 x 16 at 15,15"},
		{"out of its tile, compressed", r, "\x48" + sized(newPacker().pack("\x01\xff\xff"))[2:], viewer.Malformed, "16 x 16 at 15,15"},
		{"a bomb of pixels", r, "\x20" + bomb, viewer.Limit, "more than the rectangle can need"},
		{"a bomb of rectangles", r, "\x42" + bomb, viewer.Limit, "more than the rectangle can need"},
		{"too few pixels", r, "\x20" + sized(newPacker().pack("1234"))[2:], viewer.Malformed, "ends too early"},
		{"fewer rectangles than announced", r, "\x48" + sized(newPacker().pack("\x02\x00\x00"))[2:], viewer.Malformed, "ends too early"},
		{"no zlib stream", r, "\x40\x00\x04rest", viewer.Malformed, "zlib"},
	})
}

// Raw tiles and others go on in two streams, from tile to tile; colours are
// kept between tiles, compressed or not.
func TestZlibHexStreams(t *testing.T) {
	m := randomPicture(newRand(), 48, 32, 5000)
	pixels, others := newPacker(), newPacker()
	tile := func(x, y int) string { // the raw pixels of a tile of m
		part := rgb{16, 16, nil}
		for i := range 16 {
			part.pix = append(part.pix, m.pix[((y+i)*m.w+x)*3:][:48]...)
		}
		return part.bgrx()
	}
	colour := func(x, y int, s string) { // paints a tile of m
		for i := range 256 {
			copy(m.pix[((y+i/16)*m.w+x+i%16)*3:], s)
		}
	}
	two := sized
	wire := "\x20" + two(pixels.pack(tile(0, 0)))[2:]
	wire += "\x42" + two(others.pack(green))[2:] // background green
	colour(16, 0, tGreen)
	wire += "\x20" + two(pixels.pack(tile(32, 0)))[2:]
	wire += "\x00" // the same background again
	colour(0, 16, tGreen)
	wire += "\x4c" + two(others.pack(red + "\x01\x00\xff"))[2:] // all red
	colour(16, 16, tRed)
	wire += "\x01" + tile(32, 16)
	for _, chunk := range []int{1, 1 << 20} {
		c := painted(t, frame.BGRX, TypeZlibHex, 2, 3, 48, 32, chunk, wire)
		m.shows(t, c, 2, 3, 0)
	}
}

func FuzzZlib(f *testing.F) {
	f.Add(uint8(1), uint8(0), uint8(2), uint8(2), []byte(sized(newPacker().pack(red+green+blue+white))))
	fuzzRect(f, TypeZlib, nil)
}

func FuzzZlibHex(f *testing.F) {
	f.Add(uint8(0), uint8(0), uint8(5), uint8(4), []byte("\x1a"+white+"\x03"+red+"\x00\x31"+green+"\x12\x11"+blue+"\x40\x03"))
	f.Add(uint8(0), uint8(0), uint8(2), uint8(2), []byte("\x20"+sized(newPacker().pack(red + green + blue + white))[2:]))
	f.Add(uint8(0), uint8(0), uint8(20), uint8(2), []byte("\x42"+sized(newPacker().pack(red))[2:]+"\x0c"+blue+"\x01\x00\x00"))
	fuzzRect(f, TypeZlibHex, nil)
}
