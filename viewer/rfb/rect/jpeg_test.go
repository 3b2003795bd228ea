package rect

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"strings"
	"testing"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

// jpegFiles are JPEGs of jpegPicture by libjpeg-turbo's cjpeg, at quality 92,
// and the sum of what its djpeg makes of them.
var jpegFiles = []struct {
	name string
	sum  uint32
}{
	{"444.jpg", 0x0a30ca83},
	{"422.jpg", 0xae148a31},
	{"420.jpg", 0xaf4ab4aa},
	{"440.jpg", 0x842bba75},
	{"411.jpg", 0x4a1d81fb},
	{"grey.jpg", 0xe30dbcdc},
	{"progressive.jpg", 0xaf4ab4aa},
	{"restart.jpg", 0xaf4ab4aa}, // restart markers, own Huffman tables
}

func jpegFile(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/jpeg/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// jpegPicture is what the files show.
func jpegPicture(grey bool) rgb {
	m := rgb{61, 37, nil}
	for y := range m.h {
		for x := range m.w {
			r, g, b := byte(4*x), byte(6*y), byte(255-2*x-3*y)
			if grey {
				r, g, b, _ = greyOf(r, g, b)
			}
			m.pix = append(m.pix, r, g, b)
		}
	}
	return m
}

func greyOf(r, g, b byte) (byte, byte, byte, byte) {
	y, _, _ := color.RGBToYCbCr(r, g, b)
	return y, y, y, 0xff
}

func TestJPEGOfEverySort(t *testing.T) {
	for _, f := range jpegFiles {
		for _, o := range orders {
			file := jpegFile(t, f.name)
			for encoding, wire := range map[int32]string{
				TypeTight: "\x90" + compact(file), TypeTightPNG: "\x90" + compact(file), TypeJPEG: file,
			} {
				c := painted(t, o, encoding, 5, 4, 61, 37, 100, wire)
				// Colours were averaged over up to 4 x 1 or 2 x 2 pixels.
				jpegPicture(strings.HasPrefix(f.name, "grey")).shows(t, c, 5, 4, 12)
				if sum := sumOf(c, 5, 4, 61, 37); exactJPEG && sum != f.sum {
					t.Errorf("%s, encoding %d, order %v: the sum is %08x, want %08x", f.name, encoding, o, sum, f.sum)
				}
				if rest, err := c.Conn.Some(1); err == nil {
					t.Errorf("%s: %d bytes are left", f.name, len(rest))
				}
			}
		}
	}
}

// sumOf is the FNV-1a sum of red, green and blue of a part of the picture.
func sumOf(c *Canvas, x, y, w, h int) uint32 {
	part := frame.New()
	if err := part.Reset(w, h, c.Order); err != nil {
		return 0
	}
	from, to := c.Frame.Lock(), part.Lock()
	for i := range h {
		copy(to.Pix[i*to.Stride:][:w*bpp], from.Pix[(y+i)*from.Stride+x*bpp:])
	}
	part.Unlock()
	c.Frame.Unlock()
	return part.Checksum()
}

// withoutTables takes the segments of some types out of a JPEG.
func withoutTables(file string, types ...byte) string {
	out := file[:2]
	for at := 2; ; {
		marker := file[at+1]
		n := 2 + int(file[at+2])<<8 + int(file[at+3])
		if marker == jpegSOS {
			return out + file[at:]
		}
		if !bytes.Contains(types, []byte{marker}) {
			out += file[at : at+n]
		}
		at += n
	}
}

func TestJPEGTablesAreUsedAgain(t *testing.T) {
	file := jpegFile(t, "420.jpg")
	other := jpegFile(t, "444.jpg")
	wire := file +
		withoutTables(file, jpegDQT, jpegDHT) + withoutTables(file, jpegDQT) + withoutTables(file, jpegDHT) +
		other + withoutTables(other, jpegDQT, jpegDHT)
	c := canvas(t, 61, 37, []byte(wire), 33)
	d := NewJPEG(c)
	for i := range 6 {
		px := c.Frame.Lock()
		clear(px.Pix)
		c.Frame.Unlock()
		if _, err := d.Read(nil, &vnc.Rectangle{Width: 61, Height: 37}, c.Conn); err != nil {
			t.Fatalf("picture %d: %v", i, err)
		}
		jpegPicture(false).shows(t, c, 0, 0, 12)
	}
	if rest, err := c.Conn.Some(1); err == nil {
		t.Errorf("%d bytes are left", len(rest))
	}
}

func TestJPEGFaults(t *testing.T) {
	file := jpegFile(t, "420.jpg")
	r := vnc.Rectangle{X: 3, Y: 3, Width: 61, Height: 37}
	testFaults(t, TypeJPEG, []fault{
		{"no JPEG", r, "\x89PNG\r\n", viewer.Malformed, "no JPEG"},
		{"no marker", r, "\xff\xd8\x00\x00\x00", viewer.Malformed, "no marker"},
		{"a segment of one byte", r, "\xff\xd8\xff\xe0\x00\x01", viewer.Malformed, "segment of 1 bytes"},
		{"another size", vnc.Rectangle{Width: 60, Height: 37}, file, viewer.Malformed, "61 x 37"},
		{"never ends", r, file[:len(file)-2] + strings.Repeat("\x00\x01", maxJPEGBytes/2), viewer.Limit, "more than the 4 MiB"},
		{"tables that were never sent", r, withoutTables(file, jpegDQT, jpegDHT), viewer.Malformed, "a picture of 61 x 37"},
	})
}

func FuzzJPEG(f *testing.F) {
	for _, name := range jpegFiles {
		f.Add(uint8(0), uint8(0), uint8(61), uint8(37), []byte(jpegFile(f, name.name)))
	}
	fuzzRect(f, TypeJPEG, nil)
}

// pngs are one picture in every sort of PNG.
func pngs(t testing.TB, m rgb) map[string]string {
	t.Helper()
	area := image.Rect(0, 0, m.w, m.h)
	palette := color.Palette{}
	colours, index := m.indexed()
	for i := 0; i+3 <= len(colours); i += 3 {
		palette = append(palette, color.NRGBA{colours[i], colours[i+1], colours[i+2], 0xff})
	}
	rgba, nrgba, deep, indexed := image.NewRGBA(area), image.NewNRGBA(area), image.NewNRGBA64(area), image.NewPaletted(area, palette)
	copy(indexed.Pix, index)
	for i := range m.w * m.h {
		c := color.NRGBA{m.pix[i*3], m.pix[i*3+1], m.pix[i*3+2], 0xff}
		rgba.Set(i%m.w, i/m.w, c)
		deep.Set(i%m.w, i/m.w, c)
		c.A = 0x80 // not to be looked at
		nrgba.SetNRGBA(i%m.w, i/m.w, c)
	}
	list := map[string]string{}
	for name, img := range map[string]image.Image{"RGB": rgba, "RGB and alpha": nrgba, "16 bits": deep, "palette": indexed} {
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		list[name] = b.String()
	}
	return list
}

func TestTightPNG(t *testing.T) {
	m := jpegPicture(false)
	m.w, m.h, m.pix = 61, 4, m.pix[:61*4*3] // at most 256 colours
	grey := rgb{3, 1, []byte{0, 0, 0, 9, 9, 9, 255, 255, 255}}
	var b bytes.Buffer
	if err := png.Encode(&b, &image.Gray{Pix: []byte{0, 9, 255}, Stride: 3, Rect: image.Rect(0, 0, 3, 1)}); err != nil {
		t.Fatal(err)
	}
	for _, o := range orders {
		for name, file := range pngs(t, m) {
			c := painted(t, o, TypeTightPNG, 2, 1, m.w, m.h, 50, "\xa0"+compact(file))
			t.Logf("%s, %v", name, o)
			m.shows(t, c, 2, 1, 0)
		}
		grey.shows(t, painted(t, o, TypeTightPNG, 2, 1, 3, 1, 50, "\xa0"+compact(b.String())), 2, 1, 0)
	}
	testDrawings(t, TypeTightPNG, []drawing{
		{"one colour", vnc.Rectangle{X: 1, Y: 1, Width: 3, Height: 2}, "\x80" + tRed, "...../.RRR./.RRR./...../"},
	})
	file := pngs(t, m)["RGB"]
	r := vnc.Rectangle{Width: 61, Height: 4}
	testFaults(t, TypeTightPNG, []fault{
		{"no PNG", r, "\xa0\x04rest", viewer.Malformed, "a picture of 61 x 4"},
		{"another size", vnc.Rectangle{Width: 61, Height: 5}, "\xa0" + compact(file), viewer.Malformed, "61 x 4"},
		{"cut in two", r, "\xa0" + compact(file[:len(file)/2]), viewer.Malformed, "a picture of 61 x 4"},
		{"unknown control", r, "\xe0", viewer.Malformed, "0xe0"},
	})
}

func FuzzTightPNG(f *testing.F) {
	m := randomPicture(newRand(), 9, 7, 4)
	for _, file := range pngs(f, m) {
		f.Add(uint8(0), uint8(0), uint8(9), uint8(7), []byte("\xa0"+compact(file)))
	}
	fuzzRect(f, TypeTightPNG, nil)
}
