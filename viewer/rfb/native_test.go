package rfb_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image/color"
	"slices"
	"strings"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rect"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

// A wireFormat is a pixel format that a test machine insists on.
type wireFormat struct {
	name        string
	bits, depth int
	big         bool
	max         [3]uint16
	shift       [3]uint8
	mapped      bool
	compact     int // size of a compressed pixel; 0: of a pixel
	high        bool
}

var wireFormats = []wireFormat{
	{name: "8 bits, 3-3-2", bits: 8, depth: 8, max: [3]uint16{7, 7, 3}, shift: [3]uint8{0, 3, 6}},
	{name: "16 bits, 5-6-5", bits: 16, depth: 16, max: [3]uint16{31, 63, 31}, shift: [3]uint8{11, 5, 0}},
	{name: "16 bits, 5-6-5, big-endian", bits: 16, depth: 16, big: true, max: [3]uint16{31, 63, 31}, shift: [3]uint8{11, 5, 0}},
	{name: "24 bits", bits: 24, depth: 24, max: [3]uint16{255, 255, 255}, shift: [3]uint8{16, 8, 0}},
	{name: "32 bits, big-endian", bits: 32, depth: 24, big: true, max: [3]uint16{255, 255, 255}, shift: [3]uint8{16, 8, 0}, compact: 3},
	{name: "32 bits, big-endian, high bytes", bits: 32, depth: 24, big: true, max: [3]uint16{255, 255, 255}, shift: [3]uint8{24, 16, 8}, compact: 3, high: true},
	{name: "32 bits, little-endian, high bytes", bits: 32, depth: 24, max: [3]uint16{255, 255, 255}, shift: [3]uint8{24, 16, 8}, compact: 3, high: true},
	{name: "30 bits, 10-10-10", bits: 32, depth: 30, max: [3]uint16{1023, 1023, 1023}, shift: [3]uint8{20, 10, 0}},
	{name: "8 bits, a colour map", bits: 8, depth: 8, mapped: true},
}

// bytes is the PIXEL_FORMAT.
func (f wireFormat) bytes() []byte {
	flag := func(on bool) byte { return map[bool]byte{true: 1}[on] }
	b := []byte{byte(f.bits), byte(f.depth), flag(f.big), flag(!f.mapped)}
	for _, m := range f.max {
		b = binary.BigEndian.AppendUint16(b, m)
	}
	return append(append(b, f.shift[:]...), 0, 0, 0)
}

// bars are the colours that are shown, of the cube's corners and two greys.
var bars = []color.RGBA{
	{0, 0, 0, 255}, {255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 0, 255}, {0, 255, 255, 255}, {255, 0, 255, 255}, {255, 255, 255, 255},
}

// value is a colour's number in the format.
func (f wireFormat) value(c color.RGBA) uint32 {
	if f.mapped {
		return uint32(10 + slices.Index(bars, c))
	}
	v := uint32(0)
	for i, part := range []uint8{c.R, c.G, c.B} {
		v |= uint32(part) * uint32(f.max[i]) / 255 << f.shift[i]
	}
	return v
}

func (f wireFormat) write(v uint32, size int) []byte {
	b := make([]byte, 4)
	if f.big {
		binary.BigEndian.PutUint32(b, v)
		return b[4-size:]
	}
	binary.LittleEndian.PutUint32(b, v)
	return b[:size]
}

func (f wireFormat) pixel(c color.RGBA) []byte { return f.write(f.value(c), f.bits/8) }

func (f wireFormat) cpixel(c color.RGBA) []byte {
	switch {
	case f.compact == 0:
		return f.pixel(c)
	case f.high:
		return f.write(f.value(c)>>8, 3)
	}
	return f.write(f.value(c), 3)
}

// pictures is the same eight bars of 8 x 20 in each encoding, one below the
// other; the width of all is 64.
func (f wireFormat) pictures() func() []byte {
	var z bytes.Buffer
	w := zlib.NewWriter(&z) // one stream for the connection
	return func() []byte { return f.picture(&z, w) }
}

func (f wireFormat) picture(z *bytes.Buffer, w *zlib.Writer) []byte {
	var raw, hex, plain []byte
	for range 20 {
		for x := range 64 {
			raw = append(raw, f.pixel(bars[x/8])...)
		}
	}
	// Hextile: each tile is a background with its right half on it, as a
	// subrectangle in the foreground, in its own colour, and as pixels.
	tile := func(n, h int) {
		left, right := f.pixel(bars[2*(n%4)]), f.pixel(bars[2*(n%4)+1])
		half := []byte{0x80, 7<<4 | byte(h-1)} // at 8,0, 8 wide
		switch n % 3 {
		case 0:
			hex = append(append(append(append(hex, 2|4|8), left...), right...), 1)
			hex = append(hex, half...)
		case 1:
			hex = append(append(append(hex, 2|8|16), left...), 1)
			hex = append(append(hex, right...), half...)
		default:
			hex = append(hex, 1)
			for range h {
				hex = append(append(hex, bytes.Repeat(left, 8)...), bytes.Repeat(right, 8)...)
			}
		}
	}
	for n := range 4 {
		tile(n, 16)
	}
	for n := range 4 {
		tile(n, 4)
	}
	// ZRLE: one tile each of pixels, of a palette packed, of runs, of runs of a
	// palette, and of one colour.
	rects := [][]byte{rfbtest.Rect(0, 0, 64, 20, rect.TypeRaw, raw...), rfbtest.Rect(0, 20, 64, 20, rect.TypeHextile, hex...)}
	row := func(each func(x int)) {
		for y := range 20 {
			_ = y
			for x := range 8 {
				each(x)
			}
		}
	}
	add := func(y int) {
		_, _ = w.Write(plain)
		_ = w.Flush()
		body := binary.BigEndian.AppendUint32(nil, uint32(z.Len()))
		rects = append(rects, rfbtest.Rect(0, y, 64, 20, rect.TypeZRLE, append(body, z.Bytes()...)...))
		z.Reset()
		plain = nil
	}
	palette := func() {
		for _, c := range bars {
			plain = append(plain, f.cpixel(c)...)
		}
	}
	plain = append(plain, 0)
	row(func(x int) { plain = append(plain, bytes.Repeat(f.cpixel(bars[x]), 8)...) })
	add(40)
	plain = append(plain, 8)
	palette()
	row(func(x int) { plain = append(plain, bytes.Repeat([]byte{byte(x<<4 | x)}, 4)...) })
	add(60)
	plain = append(plain, 128)
	row(func(x int) { plain = append(append(plain, f.cpixel(bars[x])...), 7) })
	add(80)
	plain = append(plain, 128+8)
	palette()
	row(func(x int) { plain = append(plain, byte(x|0x80), 7) })
	add(100)
	plain = append(append(plain, 1), f.cpixel(bars[4])...)
	add(120)
	return rfbtest.Update(rects...)
}

func colourMap(first int, colours ...color.RGBA) []byte {
	b := []byte{1, 0}
	b = binary.BigEndian.AppendUint16(b, uint16(first))
	b = binary.BigEndian.AppendUint16(b, uint16(len(colours)))
	for _, c := range colours {
		b = append(b, c.R, c.R, c.G, c.G, c.B, c.B) // of 16 bits each
	}
	return b
}

// whole waits for a request for the whole picture.
func whole(c *rfbtest.Conn) error {
	for {
		if m, err := c.Until(rfbtest.UpdateRequest); err != nil || !m.Incremental() {
			return err
		}
	}
}

// showBars waits for the bars, which may be of other colours.
func showBars(t *testing.T, l *viewertest.Live, want []color.RGBA) {
	t.Helper()
	l.Until(t, "the last rectangle", func() bool { return l.At(63, 139) == want[4] })
	for y := 0; y < 120; y++ {
		for x := range 64 {
			if got := l.At(x, y); got != want[x/8] {
				t.Fatalf("%d,%d is %v, want %v", x, y, got, want[x/8])
			}
		}
	}
}

// Each pixel format is shown in its true colours when it is kept, in each
// encoding; SetPixelFormat is never sent (C058, C059, C060, C063, C064).
func TestNativeFormats(t *testing.T) {
	for _, f := range wireFormats {
		t.Run(f.name, func(t *testing.T) {
			other := slices.Clone(bars)
			slices.Reverse(other)
			s := serve(t, func(c *rfbtest.Conn) error {
				if err := c.Hello(rfbtest.Init{Width: 64, Height: 140, Format: f.bytes()}); err != nil {
					return err
				}
				for {
					m, err := c.Next()
					switch {
					case err != nil:
						return err
					case m.Type == rfbtest.SetPixelFormat:
						return fmt.Errorf("SetPixelFormat was sent")
					}
					if m.Type == rfbtest.SetEncodings && slices.Contains(m.Encodings(), rect.TypeTRLE) {
						return fmt.Errorf("TRLE is asked for, which is not read in this format")
					}
					if m.Type == rfbtest.UpdateRequest {
						break
					}
				}
				picture := f.pictures()
				if !f.mapped {
					return say(picture(), live)(c)
				}
				// The map comes in two parts, and changes later: all is asked for anew.
				return say(colourMap(10, bars[:3]...), colourMap(13, bars[3:]...), picture(),
					whole, colourMap(10, other...), colourMap(65535, red), whole, picture(), live)(c)
			})
			target := s.Target()
			target.Picture.Colors = viewer.ColorsServer
			l := viewertest.Open(t, rfb.New(rfb.Options{}), target, nil)
			l.Session.(viewer.Desktop).Demand(true)
			if f.mapped {
				l.Until(t, "the new colours", func() bool { return l.At(63, 139) == other[4] })
				bars := other
				showBars(t, l, bars)
				return
			}
			showBars(t, l, bars)
		})
	}
}

// A machine that breaks off at SetPixelFormat, or goes on in its own format,
// leaves an error that names the cause and the way out (C058); and what is
// asked for is a well-formed 32-bit format (C056, C061, C062).
func TestFormatIsNamedAsTheCause(t *testing.T) {
	want := []byte{0, 0, 0, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0}
	for name, answer := range map[string]func(*rfbtest.Conn) error{
		"breaks off": func(*rfbtest.Conn) error { return nil },
		"goes on in its own": func(c *rfbtest.Conn) error {
			if _, err := c.Until(rfbtest.UpdateRequest); err != nil {
				return err
			}
			return say(rfbtest.Update(rfbtest.Rect(0, 0, 2, 2, 0, make([]byte, 8)...), rfbtest.Rect(0, 0, 2, 2, 0, bytes.Repeat([]byte{0xff}, 64)...)), live)(c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(c *rfbtest.Conn) error {
				if err := c.Hello(rfbtest.Init{Width: 64, Height: 64, Format: wireFormats[1].bytes()}); err != nil {
					return err
				}
				m, err := c.Until(rfbtest.SetPixelFormat)
				if err != nil || !bytes.Equal(m.Body, want) {
					return fmt.Errorf("got %v, %v, want %v", m.Body, err, want)
				}
				return answer(c)
			})
			l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
			l.Session.(viewer.Desktop).Demand(true)
			l.Wait(t)
			if err := l.Err(); err == nil || !strings.Contains(err.Error(), "try again with the machine's own format") {
				t.Errorf("got %v", err)
			}
		})
	}
}
