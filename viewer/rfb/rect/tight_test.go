package rect

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

func TestTight(t *testing.T) {
	testDrawings(t, TypeTight, []drawing{
		{"one colour", vnc.Rectangle{X: 1, Y: 1, Width: 3, Height: 2}, "\x80" + tRed, "...../.RRR./.RRR./...../"},
		{"one colour without area", vnc.Rectangle{X: 5, Y: 4}, "\x80" + tRed, "...../...../...../...../"},
		{"three pixels, too few to compress", vnc.Rectangle{X: 2, Width: 3, Height: 1}, "\x00" + tRed + tGreen + tBlue,
			"..RGB/...../...../...../"},
		{"a filter that is named", vnc.Rectangle{X: 2, Width: 3, Height: 1}, "\x40\x00" + tRed + tGreen + tBlue,
			"..RGB/...../...../...../"},
		{"four pixels, compressed in stream 2", vnc.Rectangle{Y: 1, Width: 2, Height: 2},
			"\x20" + compact(newPacker().pack(tRed+tGreen+tBlue+tRed)),
			"...../RG.../BR.../...../"},
		{"two colours", vnc.Rectangle{Width: 5, Height: 2},
			"\x50\x01\x01" + tRed + tBlue + // stream 1, filter palette of two
				"\xa8\x50", // a bit a pixel, each row from a byte of its own
			"BRBRB/RBRBR/...../...../"},
		{"a palette of one colour", vnc.Rectangle{Width: 5, Height: 1}, "\x40\x01\x00" + tRed + "\x00", "RRRRR/...../...../...../"},
		{"three colours", vnc.Rectangle{Width: 5, Height: 1}, "\x60\x01\x02" + tRed + tBlue + tGreen + "\x00\x01\x02\x00\x02",
			"RBGRG/...../...../...../"},
		{"three colours, compressed", vnc.Rectangle{Width: 5, Height: 3},
			"\x60\x01\x02" + tRed + tBlue + tGreen + compact(newPacker().pack("\x00\x01\x02\x00\x02"+"\x01\x01\x01\x01\x01"+"\x02\x02\x02\x02\x00")),
			"RBGRG/BBBBB/GGGGR/...../"},
		{"gradient of differences that wrap", vnc.Rectangle{Width: 3, Height: 1},
			"\x70\x02" + tRed + "\x01\xff\x00" + "\x00\x01\xff", // to 0,255,0 and to 0,0,255
			"RGB../...../...../...../"},
		{"plain data, as at compression level 0", vnc.Rectangle{Y: 1, Width: 2, Height: 2}, "\xa0\x0c" + tRed + tGreen + tBlue + tRed,
			"...../RG.../BR.../...../"},
		{"plain data behind a palette", vnc.Rectangle{Width: 5, Height: 3},
			"\xe0\x01\x02" + tRed + tBlue + tGreen + "\x0f" + "\x00\x01\x02\x00\x02" + "\x01\x01\x01\x01\x01" + "\x02\x02\x02\x02\x00",
			"RBGRG/BBBBB/GGGGR/...../"},
		{"no pixels", vnc.Rectangle{X: 5, Y: 1, Width: 0, Height: 2}, "\x00", "...../...../...../...../"},
	})
}

func TestTightFaults(t *testing.T) {
	bomb := zeros()[:0x3000]
	big := vnc.Rectangle{Width: 64, Height: 64}
	testFaults(t, TypeTight, []fault{
		{"out of the screen", vnc.Rectangle{X: 97, Y: 97, Width: 4, Height: 3}, "\x80" + tRed, viewer.Malformed, "out of the screen"},
		{"unknown control", big, "\xb3", viewer.Malformed, "0xb3"},
		{"another one", big, "\xf0", viewer.Malformed, "0xf0"},
		{"unknown filter", big, "\x40\x03", viewer.Malformed, "filter 3"},
		{"index beyond the palette", vnc.Rectangle{Width: 3, Height: 1}, "\x40\x01\x02" + rep(tRed, 3) + "\x00\x01\x03", viewer.Malformed, "palette of 3"},
		{"index beyond the palette, in a group of four", vnc.Rectangle{Width: 4, Height: 1}, "\x40\x01\x02" + rep(tRed, 3) + "\x00\xff\x01\x00", viewer.Malformed, "palette of 3"},
		{"bomb", big, "\x00" + compact(bomb), viewer.Limit, "more than the rectangle can need"},
		{"bomb behind a palette", big, "\x40\x01\x05" + rep(tRed, 6) + compact(bomb), viewer.Limit, "more than the rectangle can need"},
		{"more data than pixels", vnc.Rectangle{Width: 2, Height: 2}, "\x00" + compact(newPacker().pack(rep(tRed, 5))), viewer.Limit, "more than the rectangle can need"},
		{"less data than pixels", vnc.Rectangle{Width: 2, Height: 3}, "\x00" + compact(newPacker().pack(rep(tRed, 5))), viewer.Malformed, "ends too early"},
		{"no data", big, "\x00\x00", viewer.Malformed, "ends too early"},
		{"no zlib stream", big, "\x00\x04rest", viewer.Malformed, "zlib"},
		{"plain data of another length", vnc.Rectangle{Width: 2, Height: 2}, "\xa0\x0d" + rep(tRed, 5), viewer.Malformed, "13 bytes of plain data"},
		{"a JPEG that is none", big, "\x90\x04rest", viewer.Malformed, "no JPEG"},
		{"an empty JPEG", big, "\x90\x00", viewer.Malformed, "no JPEG"},
		{"a JPEG of 65535 x 65535", big, "\x90" + compact("\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03\x01\x11\x00\x02\x11\x01\x03\x11\x01"), viewer.Malformed, "65535 x 65535"},
		{"a JPEG in four colours", big, "\x90" + compact("\xff\xd8\xff\xc0\x00\x14\x08\x00\x40\x00\x40\x04"), viewer.Malformed, "4 colour components"},
		{"a JPEG without an end", big, "\x90" + compact("\xff\xd8\xff\xe0\xff\xff"), viewer.Malformed, "no frame header"},
		{"a PNG", big, "\x9a\x04rest", viewer.Malformed, "no JPEG"},
	})
}

// A tightServer encodes rectangles, each filter in a stream of its own.
type tightServer struct {
	streams [4]*packer
	fresh   [4]bool // the client has not got the reset bit yet
}

func newTightServer() *tightServer {
	s := &tightServer{}
	for i := range s.streams {
		s.streams[i] = newPacker()
	}
	return s
}

// reset starts a stream anew and has the next rectangle tell it, whichever
// stream it uses.
func (s *tightServer) reset(i int) { s.streams[i], s.fresh[i] = newPacker(), true }

func (s *tightServer) rect(stream int, filter, data string) string {
	control := byte(stream)<<4 | 0x40
	for i := range s.fresh {
		if s.fresh[i] {
			control |= 1 << i
			s.fresh[i] = false
		}
	}
	if len(data) < 12 {
		return string([]byte{control}) + filter + data
	}
	return string([]byte{control}) + filter + compact(s.streams[stream].pack(data))
}

// encode gives one rectangle in a filter, or "" when it has too many colours.
func (s *tightServer) encode(m rgb, filter int) string {
	switch filter {
	case filterGradient:
		return s.rect(3, "\x02", m.gradient())
	case filterPalette:
		palette, index := m.indexed()
		n := len(palette) / 3
		if n > 256 {
			return ""
		}
		head := string([]byte{1, byte(n - 1)}) + palette
		if n > 2 {
			return s.rect(2, head, string(index))
		}
		var b []byte
		for y := range m.h {
			for x := range m.w {
				if x%8 == 0 {
					b = append(b, 0)
				}
				b[len(b)-1] |= index[y*m.w+x] << (7 - x%8)
			}
		}
		return s.rect(1, head, string(b))
	}
	return s.rect(0, "\x00", string(m.pix))
}

// gradient are the differences from what the neighbours make likely: left plus
// above less above left, from 0 to 255, where what is outside is 0.
func (m rgb) gradient() string {
	at := func(x, y, c int) int {
		if x < 0 || y < 0 {
			return 0
		}
		return int(m.pix[(y*m.w+x)*3+c])
	}
	var b []byte
	for y := range m.h {
		for x := range m.w {
			for c := range 3 {
				likely := at(x-1, y, c) + at(x, y-1, c) - at(x-1, y-1, c)
				b = append(b, byte(at(x, y, c)-min(max(likely, 0), 255)))
			}
		}
	}
	return string(b)
}

// Pictures of all widths and sorts come out as they were, in every order of
// bytes, in streams that go on from rectangle to rectangle and are reset.
func TestTightIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, o := range orders {
		t.Run(fmt.Sprint(o), func(t *testing.T) {
			s := newTightServer()
			var wire bytes.Buffer
			var rects []vnc.Rectangle
			var pictures []rgb
			add := func(w, h, colours, filter int) {
				m := randomPicture(r, w, h, colours)
				b := s.encode(m, filter)
				if b == "" {
					return
				}
				wire.WriteString(b)
				x, y := r.IntN(320-w), r.IntN(240-h)
				rects = append(rects, vnc.Rectangle{X: uint16(x), Y: uint16(y), Width: uint16(w), Height: uint16(h)})
				pictures = append(pictures, m)
			}
			for w := 1; w <= 36; w++ {
				for _, h := range []int{1, 2, 17} {
					for _, colours := range []int{1, 2, 3, 200, 5000} {
						for filter := range 3 {
							add(w, h, colours, filter)
						}
						if r.IntN(10) == 0 {
							s.reset(r.IntN(4))
						}
					}
				}
			}
			// More than the inflater holds at once.
			for filter := range 3 {
				add(310, 235, 5000, filter)
				add(310, 235, 100, filter)
			}
			c := canvas(t, 320, 240, wire.Bytes(), 1000)
			c.Order = o
			d := NewTight(c)
			for i := range rects {
				if _, err := d.Read(nil, &rects[i], c.Conn); err != nil {
					t.Fatalf("rectangle %d: %v", i, err)
				}
				pictures[i].shows(t, c, int(rects[i].X), int(rects[i].Y), 0)
			}
		})
	}
}

// The edges of the gradient filter.
func TestTightGradientSizes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, size := range [][2]int{{1, 1}, {1, 9}, {9, 1}, {17, 5}, {2, 2}} {
		m := randomPicture(r, size[0], size[1], 1000)
		c := painted(t, frame.BGRX, TypeTight, 4, 3, m.w, m.h, 1, newTightServer().encode(m, filterGradient))
		m.shows(t, c, 4, 3, 0)
	}
}

// A rectangle wider than encoders of old made them, and the widest there is.
func TestTightWide(t *testing.T) {
	c := canvas(t, 3840, 12, []byte("\x80"+tRed), 1<<20)
	if _, err := NewTight(c).Read(nil, &vnc.Rectangle{Width: 3840, Height: 10}, c.Conn); err != nil {
		t.Fatal(err)
	}
	if got := picture(c); strings.Count(got, "R") != 38400 {
		t.Errorf("%d pixels are red, want 38400", strings.Count(got, "R"))
	}
	m := randomPicture(rand.New(rand.NewPCG(5, 6)), 65535, 3, 300)
	for filter := range 3 {
		wire := newTightServer().encode(m, filter)
		if wire == "" {
			continue
		}
		c := canvas(t, 65535, 3, []byte(wire), 1<<20)
		if _, err := NewTight(c).Read(nil, &vnc.Rectangle{Width: 65535, Height: 3}, c.Conn); err != nil {
			t.Fatal(err)
		}
		m.shows(t, c, 0, 0, 0)
	}
}

// A long run of rectangles allocates nothing.
func TestTightAllocatesNothing(t *testing.T) {
	s := newTightServer()
	r := rand.New(rand.NewPCG(7, 8))
	var wire bytes.Buffer
	for range 300 {
		wire.WriteString(s.encode(randomPicture(r, 40, 30, 50), filterPalette))
		wire.WriteString(s.encode(randomPicture(r, 40, 30, 2), filterPalette))
		wire.WriteString(s.encode(randomPicture(r, 40, 30, 900), filterCopy))
	}
	c := canvas(t, 40, 30, wire.Bytes(), 1<<20)
	d := NewTight(c)
	rect := vnc.Rectangle{Width: 40, Height: 30}
	next := func() {
		for range 3 {
			if _, err := d.Read(nil, &rect, c.Conn); err != nil {
				t.Fatal(err)
			}
		}
	}
	next()
	if n := testing.AllocsPerRun(200, next); n != 0 {
		t.Errorf("%v allocations for three rectangles", n)
	}
}

func FuzzTight(f *testing.F) {
	r := rand.New(rand.NewPCG(9, 9))
	for filter := range 3 {
		s := newTightServer()
		f.Add(uint8(1), uint8(2), uint8(30), uint8(20), []byte(s.encode(randomPicture(r, 30, 20, 9), filter)))
		f.Add(uint8(1), uint8(2), uint8(3), uint8(1), []byte(s.encode(randomPicture(r, 3, 1, 2), filter)))
	}
	f.Add(uint8(0), uint8(0), uint8(9), uint8(9), []byte("\x80"+tRed))
	f.Add(uint8(0), uint8(0), uint8(2), uint8(2), []byte("\xa0\x0c"+rep(tRed, 4)))
	f.Add(uint8(0), uint8(0), uint8(61), uint8(37), []byte("\x90"+compact(jpegFile(f, "420.jpg"))))
	fuzzRect(f, TypeTight, nil)
}

// FuzzTightData gives what is behind a filter; it is compressed here.
func FuzzTightData(f *testing.F) {
	f.Add(uint8(0), uint8(0), uint8(20), uint8(9), []byte("\x02"+rep(tRed, 180)))
	f.Add(uint8(0), uint8(0), uint8(20), uint8(9), []byte("\x00"+rep(tRed, 180)))
	f.Add(uint8(0), uint8(0), uint8(20), uint8(9), []byte("\x01\x01"+tRed+tBlue+rep("\xaa", 27)))
	f.Add(uint8(0), uint8(0), uint8(20), uint8(9), []byte("\x01\x02"+tRed+tBlue+tGreen+rep("\x00\x02", 90)))
	fuzzRect(f, TypeTight, func(b []byte) []byte {
		head := 1
		if len(b) > 1 && b[0] == filterPalette {
			head = min(2+3*(int(b[1])+1), len(b))
		}
		if len(b) < head {
			return nil
		}
		return []byte("\x40" + string(b[:head]) + compact(newPacker().pack(string(b[head:]))))
	})
}
