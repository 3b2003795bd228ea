package rect

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb/inflate"
)

// wire is a connection that brings bytes, at most chunk at once, and ends.
type wire struct {
	net.Conn
	b     []byte
	chunk int
}

func (w *wire) Read(p []byte) (int, error) {
	if len(w.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), w.chunk)], w.b)
	w.b = w.b[n:]
	return n, nil
}

// canvas is a w x h picture of grey and a connection that brings b.
func canvas(t testing.TB, w, h int, b []byte, chunk int) *Canvas {
	t.Helper()
	c := &Canvas{Conn: conn.New(&wire{b: b, chunk: chunk}), Frame: frame.New(), Width: w, Height: h, Order: frame.BGRX}
	if err := c.Frame.Reset(w, h, frame.BGRX); err != nil {
		t.Fatal(err)
	}
	px := c.Frame.Lock()
	for i := range px.Pix {
		px.Pix[i] = 0x55
	}
	c.Frame.Unlock()
	return c
}

func decoder(c *Canvas, encoding int32) vnc.Encoding {
	switch encoding { // made alone, which is faster
	case TypeTight:
		return NewTight(c)
	case TypeZRLE:
		return NewZRLE(c)
	case TypeHextile:
		return NewHextile(c)
	}
	for _, e := range All(c) {
		if e.Type() == encoding {
			return e
		}
	}
	return nil
}

// picture writes the frame as a letter a pixel.
func picture(c *Canvas) string {
	letters := map[color.RGBA]byte{
		{0x55, 0x55, 0x55, 0xff}: '.', {0xff, 0, 0, 0xff}: 'R', {0, 0xff, 0, 0xff}: 'G', {0, 0, 0xff, 0xff}: 'B',
		{0xff, 0xff, 0xff, 0xff}: 'W', {0, 0, 0, 0xff}: 'K',
	}
	v, _ := c.Frame.Snapshot(image.Rectangle{}, nil)
	var s strings.Builder
	for y := range v.H {
		for x := range v.W {
			l, ok := letters[v.Image.RGBAAt(x, y)]
			if !ok {
				l = '?'
			}
			s.WriteByte(l)
		}
		s.WriteByte('/')
	}
	return s.String()
}

// Pixels on the wire: blue, green, red, unused; compressed ones without the
// last.
const (
	red   = "\x00\x00\xff\x99"
	green = "\x00\xff\x00\x00"
	blue  = "\xff\x00\x00\x77"
	white = "\xff\xff\xff\xff"
	cRed  = "\x00\x00\xff"
	cBlue = "\xff\x00\x00"
	cGrn  = "\x00\xff\x00"
)

// rep repeats a string.
func rep(s string, n int) string { return strings.Repeat(s, n) }

func TestRectangles(t *testing.T) {
	for _, c := range []struct {
		name     string
		encoding int32
		r        vnc.Rectangle
		wire     string
		want     string // of a picture of 5 x 4
	}{
		{"raw", TypeRaw, vnc.Rectangle{X: 1, Y: 1, Width: 2, Height: 2}, red + green + blue + white,
			"...../.RG../.BW../...../"},
		{"raw without width", TypeRaw, vnc.Rectangle{X: 1, Y: 1, Width: 0, Height: 3}, "", "...../...../...../...../"},
		{"raw without height", TypeRaw, vnc.Rectangle{X: 1, Y: 1, Width: 4, Height: 0}, "", "...../...../...../...../"},
		{"hextile raw", TypeHextile, vnc.Rectangle{X: 3, Y: 2, Width: 2, Height: 2},
			"\x01" + red + green + blue + white,
			"...../...../...RG/...BW/"},
		{"hextile background", TypeHextile, vnc.Rectangle{Width: 5, Height: 2}, "\x02" + green, "GGGGG/GGGGG/...../...../"},
		{"hextile foreground", TypeHextile, vnc.Rectangle{Width: 5, Height: 4},
			"\x0e" + white + red + "\x02" + // background, foreground, two subrectangles
				"\x00\x10" + // at 0,0: 2 x 1
				"\x43\x00", // at 4,3: 1 x 1
			"RRWWW/WWWWW/WWWWW/WWWWR/"},
		{"hextile coloured", TypeHextile, vnc.Rectangle{Width: 5, Height: 4},
			"\x1a" + white + "\x03" +
				red + "\x00\x31" + // at 0,0: 4 x 2
				green + "\x12\x11" + // at 1,2: 2 x 2
				blue + "\x40\x03", // at 4,0: 1 x 4
			"RRRRB/RRRRB/WGGWB/WGGWB/"},
		{"hextile without area", TypeHextile, vnc.Rectangle{X: 5, Y: 4}, "", "...../...../...../...../"},
		{"copyrect without area", TypeCopyRect, vnc.Rectangle{Width: 0, Height: 3}, "\xff\xff\xff\xff", "...../...../...../...../"},
		{"zrle raw", TypeZRLE, vnc.Rectangle{X: 2, Width: 3, Height: 1}, deflated("\x00" + cRed + cGrn + cBlue), "..RGB/...../...../...../"},
		{"zrle solid", TypeZRLE, vnc.Rectangle{X: 2, Width: 3, Height: 2}, deflated("\x01" + cRed), "..RRR/..RRR/...../...../"},
		{"zrle two colours", TypeZRLE, vnc.Rectangle{Width: 5, Height: 2}, deflated("\x02" + cRed + cBlue + "\xa8\x50"),
			"BRBRB/RBRBR/...../...../"},
		{"zrle three colours", TypeZRLE, vnc.Rectangle{Width: 5, Height: 1}, deflated("\x03" + cRed + cBlue + cGrn + "\x18\x80"),
			"RBGRG/...../...../...../"},
		{"zrle five colours", TypeZRLE, vnc.Rectangle{Width: 3, Height: 2}, deflated("\x05" + cRed + cBlue + cGrn + cRed + cBlue + "\x01\x20\x34\x00"),
			"RBG../RBR../...../...../"},
		{"zrle runs", TypeZRLE, vnc.Rectangle{Width: 5, Height: 2}, deflated("\x80" + cRed + "\x05" + cBlue + "\x00" + cGrn + "\x02"),
			"RRRRR/RBGGG/...../...../"},
		{"zrle palette runs", TypeZRLE, vnc.Rectangle{Width: 5, Height: 2}, deflated("\x82" + cRed + cBlue + "\x00\x81\x06\x00\x01"),
			"RBBBB/BBBRB/...../...../"},
		{"zrle with bytes behind its tiles", TypeZRLE, vnc.Rectangle{Width: 5, Height: 1}, deflated("\x01" + cRed + "more"),
			"RRRRR/...../...../...../"},
		{"zrle without area", TypeZRLE, vnc.Rectangle{Width: 0, Height: 1}, deflated(""), "...../...../...../...../"},
	} {
		for _, chunk := range []int{1, 1 << 20} {
			t.Run(fmt.Sprintf("%s, %d at once", c.name, chunk), func(t *testing.T) {
				cv := canvas(t, 5, 4, []byte(c.wire), chunk)
				r := c.r
				if _, err := decoder(cv, c.encoding).Read(nil, &r, cv.Conn); err != nil {
					t.Fatal(err)
				}
				if got := picture(cv); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				if rest, err := cv.Conn.Some(1); err == nil {
					t.Errorf("%d bytes are left", len(rest))
				}
			})
		}
	}
}

// deflated is what follows the head of a ZRLE rectangle: a length and a zlib
// stream, flushed as servers do.
func deflated(s string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(s)) // a buffer takes everything
	_ = w.Flush()
	return string(binary.BigEndian.AppendUint32(nil, uint32(b.Len()))) + b.String()
}

func TestFaults(t *testing.T) {
	var bomb bytes.Buffer
	w := zlib.NewWriter(&bomb)
	for range 8 {
		_, _ = w.Write(make([]byte, 4<<20)) // a buffer takes everything
	}
	_ = w.Flush()
	for _, c := range []struct {
		name     string
		encoding int32
		r        vnc.Rectangle
		wire     string
		kind     viewer.Kind
		text     string
	}{
		{"raw reaches out to the right", TypeRaw, vnc.Rectangle{X: 90, Y: 90, Width: 20, Height: 10}, rep(red, 400), viewer.Malformed, "20 x 10 at 90,90"},
		{"raw is wider than any screen", TypeRaw, vnc.Rectangle{Width: 65535, Height: 65528}, rep(red, 400), viewer.Malformed, "out of the screen"},
		{"raw at the far corner", TypeRaw, vnc.Rectangle{X: 65535, Y: 65535, Width: 65535, Height: 65535}, rep(red, 400), viewer.Malformed, "out of the screen"},
		{"copyrect from outside", TypeCopyRect, vnc.Rectangle{Width: 10, Height: 10}, "\xfd\xe8\xfd\xe8", viewer.Malformed, "from 65000,65000"},
		{"copyrect from over the edge", TypeCopyRect, vnc.Rectangle{Width: 10, Height: 10}, "\x00\x5b\x00\x00", viewer.Malformed, "from 91,0"},
		{"hextile subrectangle out of its tile", TypeHextile, vnc.Rectangle{Width: 16, Height: 16}, "\x08\x01\xff\xff", viewer.Malformed, "16 x 16 at 15,15"},
		{"hextile subrectangle out of a tile at the edge", TypeHextile, vnc.Rectangle{X: 97, Y: 97, Width: 3, Height: 3}, "\x08\x01\x00\xf0", viewer.Malformed, "tile of 3 x 3"},
		{"hextile out of the screen", TypeHextile, vnc.Rectangle{X: 97, Y: 97, Width: 4, Height: 3}, "\x01", viewer.Malformed, "out of the screen"},
		{"zrle out of the screen", TypeZRLE, vnc.Rectangle{Y: 1, Width: 100, Height: 100}, deflated("\x01" + cRed), viewer.Malformed, "out of the screen"},
		{"zrle claims 4 GiB", TypeZRLE, vnc.Rectangle{Width: 64, Height: 64}, "\xff\xff\xff\xff", viewer.Limit, "more than the rectangle can need"},
		{"zrle bomb", TypeZRLE, vnc.Rectangle{Width: 64, Height: 64}, "\x00\x00\x40\x00" + bomb.String()[:0x4000], viewer.Limit, "more than the rectangle can need"},
		{"zrle is no zlib stream", TypeZRLE, vnc.Rectangle{Width: 64, Height: 64}, "\x00\x00\x00\x04rest", viewer.Malformed, "zlib"},
		{"zrle tile type 0x1e", TypeZRLE, vnc.Rectangle{Width: 9, Height: 9}, deflated("\x1e" + rep("x", 300)), viewer.Malformed, "tile type 30"},
		{"zrle tile type 0x81", TypeZRLE, vnc.Rectangle{Width: 9, Height: 9}, deflated("\x81" + rep("x", 300)), viewer.Malformed, "tile type 129"},
		{"zrle index of two bits beyond the palette", TypeZRLE, vnc.Rectangle{Width: 4, Height: 1}, deflated("\x03" + cRed + cRed + cRed + "\x1b"), viewer.Malformed, "index 3 into a palette of 3"},
		{"zrle index of four bits beyond the palette", TypeZRLE, vnc.Rectangle{Width: 3, Height: 1}, deflated("\x05" + rep(cRed, 5) + "\x44\x50"), viewer.Malformed, "index 5 into a palette of 5"},
		{"zrle run with an index beyond the palette", TypeZRLE, vnc.Rectangle{Width: 3, Height: 1}, deflated("\x82" + cRed + cRed + "\x82\x02"), viewer.Malformed, "index 2 into a palette of 2"},
		{"zrle run longer than its tile", TypeZRLE, vnc.Rectangle{Width: 3, Height: 1}, deflated("\x80" + cRed + "\x03"), viewer.Malformed, "a run of 4 pixels where 3 are left"},
		{"zrle run without an end", TypeZRLE, vnc.Rectangle{Width: 64, Height: 64}, deflated("\x80" + cRed + rep("\xff", 200)), viewer.Malformed, "pixels where 4096 are left"},
		{"zrle tile cut in its palette", TypeZRLE, vnc.Rectangle{Width: 3, Height: 1}, deflated("\x10" + cRed), viewer.Malformed, "ends too early"},
		{"zrle tile missing", TypeZRLE, vnc.Rectangle{Width: 65, Height: 1}, deflated("\x01" + cRed), viewer.Malformed, "ends too early"},
		{"zrle tile cut in its pixels", TypeZRLE, vnc.Rectangle{Width: 65, Height: 1}, deflated("\x00" + cRed), viewer.Malformed, "ends too early"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cv := canvas(t, 100, 100, []byte(c.wire), 1<<20)
			r := c.r
			_, err := decoder(cv, c.encoding).Read(nil, &r, cv.Conn)
			if got := viewer.KindOf(err); err == nil || got != c.kind || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %q: %v, want %q with %q", got, err, c.kind, c.text)
			}
			if outside := strings.Trim(outsideOf(cv, r), "."); outside != "" {
				t.Errorf("pixels outside of the rectangle were touched: %s", outside)
			}
		})
	}
}

// outsideOf is the picture without a rectangle.
func outsideOf(c *Canvas, r vnc.Rectangle) string {
	in := image.Rect(int(r.X), int(r.Y), int(r.X)+int(r.Width), int(r.Y)+int(r.Height))
	var s strings.Builder
	rows := strings.Split(strings.TrimSuffix(picture(c), "/"), "/")
	for y, row := range rows {
		for x := range row {
			if !image.Pt(x, y).In(in) {
				s.WriteByte(row[x])
			}
		}
	}
	return s.String()
}

// Twenty overlapping copies in all directions equal the same moves done by
// way of a second picture.
func TestCopyRectOverlaps(t *testing.T) {
	const w, h = 60, 50
	r := rand.New(rand.NewPCG(5, 5))
	noise := make([]byte, w*h*bpp)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	var b []byte
	want := bytes.Clone(noise)
	var rects []vnc.Rectangle
	for i := range 40 {
		dx, dy := []int{-1, 0, 1, -1, 1, -1, 0, 1}[i%8], []int{-1, -1, -1, 0, 0, 1, 1, 1}[i%8]
		x, y := 5+r.IntN(10), 5+r.IntN(10)
		rects = append(rects, vnc.Rectangle{X: uint16(x + dx), Y: uint16(y + dy), Width: 40, Height: 30})
		b = binary.BigEndian.AppendUint16(b, uint16(x))
		b = binary.BigEndian.AppendUint16(b, uint16(y))
		before := bytes.Clone(want)
		for row := range 30 {
			copy(want[((y+dy+row)*w+x+dx)*bpp:][:40*bpp], before[((y+row)*w+x)*bpp:])
		}
	}
	c := canvas(t, w, h, b, 1<<20)
	px := c.Frame.Lock()
	copy(px.Pix, noise)
	c.Frame.Unlock()
	d := NewCopyRect(c)
	for i := range rects {
		if _, err := d.Read(nil, &rects[i], c.Conn); err != nil {
			t.Fatal(err)
		}
	}
	px = c.Frame.Lock()
	defer c.Frame.Unlock()
	if !bytes.Equal(px.Pix, want) {
		t.Error("the pictures differ")
	}
}

// fuzzRect decodes the same bytes whole and in small pieces: both must do the
// same, and neither may touch a pixel outside of the rectangle.
func fuzzRect(f *testing.F, encoding int32, prepare func([]byte) []byte) {
	f.Fuzz(func(t *testing.T, x, y, w, h uint8, b []byte) {
		r := vnc.Rectangle{X: uint16(x), Y: uint16(y), Width: uint16(w), Height: uint16(h)}
		if prepare != nil {
			b = prepare(b)
		}
		var pictures [2][]byte
		var errs [2]error
		for i, chunk := range []int{1 << 20, 7} {
			c := canvas(t, 130, 80, b, chunk)
			r := r
			_, errs[i] = decoder(c, encoding).Read(nil, &r, c.Conn)
			px := c.Frame.Lock()
			pictures[i] = px.Pix
			c.Frame.Unlock()
			for j, v := range px.Pix {
				px, py := j/bpp%c.Width, j/bpp/c.Width
				if v != 0x55 && (px < int(x) || px >= int(x)+int(w) || py < int(y) || py >= int(y)+int(h)) {
					t.Fatalf("pixel %d,%d outside of the rectangle was touched", px, py)
				}
			}
			for j := 3; j < len(px.Pix); j += bpp { // the byte without a meaning
				px.Pix[j] = 0
			}
		}
		same := bytes.Equal(pictures[0], pictures[1])
		if !same && errs[0] == nil || (errs[0] == nil) != (errs[1] == nil) {
			t.Fatalf("whole: %v; in pieces: %v; the pictures are equal: %v", errs[0], errs[1], same)
		}
		for _, err := range errs {
			var own *viewer.Error
			if err != nil && !errors.As(err, &own) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("an error without a kind: %v", err)
			}
		}
	})
}

func FuzzRaw(f *testing.F) {
	f.Add(uint8(1), uint8(1), uint8(2), uint8(2), []byte(red+green+blue+white))
	fuzzRect(f, TypeRaw, nil)
}

func FuzzCopyRect(f *testing.F) {
	f.Add(uint8(1), uint8(1), uint8(2), uint8(2), []byte{0, 0, 0, 9})
	fuzzRect(f, TypeCopyRect, nil)
}

func FuzzHextile(f *testing.F) {
	f.Add(uint8(0), uint8(0), uint8(5), uint8(4), []byte("\x1a"+white+"\x03"+red+"\x00\x31"+green+"\x12\x11"+blue+"\x40\x03"))
	f.Add(uint8(0), uint8(0), uint8(20), uint8(4), []byte("\x0e"+white+red+"\x02\x00\x10\x43\x00\x01"+rep(red, 16)))
	fuzzRect(f, TypeHextile, nil)
}

// FuzzZRLE gives the tiles; they are compressed here.
func FuzzZRLE(f *testing.F) {
	for _, s := range []string{
		"\x00" + cRed + cGrn + cBlue, "\x01" + cRed, "\x02" + cRed + cBlue + "\xa8\x50",
		"\x03" + cRed + cBlue + cGrn + "\x18\x80", "\x05" + rep(cRed, 5) + "\x01\x20\x34\x00",
		"\x80" + cRed + "\x05" + cBlue + "\x00" + cGrn + "\x02", "\x82" + cRed + cBlue + "\x00\x81\x06\x00\x01",
	} {
		f.Add(uint8(0), uint8(0), uint8(5), uint8(2), []byte(s+s))
		f.Add(uint8(3), uint8(0), uint8(120), uint8(70), []byte(rep(s, 4)))
	}
	fuzzRect(f, TypeZRLE, func(b []byte) []byte { return []byte(deflated(string(b))) })
}

// FuzzZRLEStream gives the compressed bytes themselves.
func FuzzZRLEStream(f *testing.F) {
	f.Add(uint8(0), uint8(0), uint8(5), uint8(2), []byte(deflated("\x82"+cRed+cBlue+"\x00\x81\x06\x00\x01")))
	fuzzRect(f, TypeZRLE, nil)
}

// TestZRLEOutputIsNeverTooSmall inflates the longest tiles there are.
func TestZRLEOutputIsNeverTooSmall(t *testing.T) {
	if zrleTileBytes > inflate.MaxNeed {
		t.Fatalf("a tile of %d bytes is more than the inflater gives", zrleTileBytes)
	}
	for _, size := range [][2]int{{1, 1}, {64, 64}, {65, 65}, {300, 200}} {
		w, h := size[0], size[1]
		var tiles strings.Builder
		for y := 0; y < h; y += zrleTile {
			for x := 0; x < w; x += zrleTile {
				n := min(zrleTile, w-x) * min(zrleTile, h-y)
				tiles.WriteString("\xff" + rep(cRed, 127) + rep("\x81\x00", n))
			}
		}
		c := canvas(t, w, h, []byte(deflated(tiles.String())), 1<<20)
		if _, err := NewZRLE(c).Read(nil, &vnc.Rectangle{Width: uint16(w), Height: uint16(h)}, c.Conn); err != nil {
			t.Errorf("%d x %d: %v", w, h, err)
		}
	}
}
