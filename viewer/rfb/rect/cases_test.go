package rect

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

// Tight pixels: red, green, blue.
const (
	tRed   = "\xff\x00\x00"
	tGreen = "\x00\xff\x00"
	tBlue  = "\x00\x00\xff"
)

// A drawing is a rectangle on a picture of 5 x 4 and what it must look like.
type drawing struct {
	name string
	r    vnc.Rectangle
	wire string
	want string
}

// testDrawings draws each in an encoding, from pieces and from a whole.
func testDrawings(t *testing.T, encoding int32, list []drawing) {
	t.Helper()
	for _, c := range list {
		for _, chunk := range []int{1, 1 << 20} {
			t.Run(fmt.Sprintf("%s, %d at once", c.name, chunk), func(t *testing.T) {
				cv := canvas(t, 5, 4, []byte(c.wire), chunk)
				r := c.r
				if _, err := decoder(cv, encoding).Read(nil, &r, cv.Conn); err != nil {
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

// A fault is a rectangle on a picture of 100 x 100 that must be refused.
type fault struct {
	name string
	r    vnc.Rectangle
	wire string
	kind viewer.Kind
	text string
}

func testFaults(t *testing.T, encoding int32, list []fault) {
	t.Helper()
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			cv := canvas(t, 100, 100, []byte(c.wire), 1<<20)
			r := c.r
			_, err := decoder(cv, encoding).Read(nil, &r, cv.Conn)
			if got := viewer.KindOf(err); err == nil || got != c.kind || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %q: %v, want %q with %q", got, err, c.kind, c.text)
			}
			if outside := strings.Trim(outsideOf(cv, r), "."); outside != "" {
				t.Errorf("pixels outside of the rectangle were touched: %s", outside)
			}
		})
	}
}

// A packer compresses the segments of one zlib stream, flushed as servers do.
type packer struct {
	b bytes.Buffer
	w *zlib.Writer
}

func newPacker() *packer {
	p := &packer{}
	p.w = zlib.NewWriter(&p.b)
	return p
}

func (p *packer) pack(s string) string {
	p.b.Reset()
	_, _ = p.w.Write([]byte(s)) // a buffer takes everything
	_ = p.w.Flush()
	return p.b.String()
}

// zeros is a deflate bomb: 32 MiB of zeros.
func zeros() string { return newPacker().pack(strings.Repeat("\x00", 32<<20)) }

// sized puts a length of four bytes before s.
func sized(s string) string { return string(binary.BigEndian.AppendUint32(nil, uint32(len(s)))) + s }

// compact puts a Tight length before s.
func compact(s string) string {
	n := len(s)
	switch {
	case n < 1<<7:
		return string([]byte{byte(n)}) + s
	case n < 1<<14:
		return string([]byte{byte(n) | 0x80, byte(n >> 7)}) + s
	}
	return string([]byte{byte(n) | 0x80, byte(n>>7) | 0x80, byte(n >> 14)}) + s
}

// An rgb is a picture to encode, three bytes a pixel.
type rgb struct {
	w, h int
	pix  []byte
}

// newRand is a source of numbers that are the same each time.
func newRand() *rand.Rand { return rand.New(rand.NewPCG(11, 12)) }

// randomPicture has about that many colours, in runs.
func randomPicture(r *rand.Rand, w, h, colours int) rgb {
	palette := make([][3]byte, colours)
	for i := range palette {
		palette[i] = [3]byte{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())}
	}
	m := rgb{w, h, nil}
	for len(m.pix) < w*h*3 {
		c := palette[r.IntN(colours)]
		for range 1 + r.IntN(4) {
			m.pix = append(m.pix, c[:]...)
		}
	}
	m.pix = m.pix[:w*h*3]
	return m
}

// indexed is the picture's palette, and the place in it of every pixel.
func (m rgb) indexed() (palette string, index []byte) {
	seen := map[string]byte{}
	for i := 0; i < len(m.pix); i += 3 {
		c := string(m.pix[i : i+3])
		if _, ok := seen[c]; !ok {
			seen[c] = byte(len(seen))
			palette += c
		}
		index = append(index, seen[c])
	}
	return palette, index
}

// bgrx are the picture's pixels as Raw has them.
func (m rgb) bgrx() string {
	var b []byte
	for i := 0; i < len(m.pix); i += 3 {
		b = append(b, m.pix[i+2], m.pix[i+1], m.pix[i], 0xaa)
	}
	return string(b)
}

// shows checks that the frame has the picture at x, y, in any order.
func (m rgb) shows(t *testing.T, c *Canvas, x, y, tolerance int) {
	t.Helper()
	px := c.Frame.Lock()
	defer c.Frame.Unlock()
	o := c.Order
	for i := range m.w * m.h {
		at := px.Pix[(y+i/m.w)*px.Stride+(x+i%m.w)*bpp:]
		got, want := [3]byte{at[o.R], at[o.G], at[o.B]}, [3]byte(m.pix[i*3:])
		for j := range got {
			if d := int(got[j]) - int(want[j]); d > tolerance || -d > tolerance {
				t.Fatalf("pixel %d,%d is %v, want %v", i%m.w, i/m.w, got, want)
			}
		}
	}
}

// orders are all orders that a frame may have.
var orders = []frame.Order{
	{R: 2, G: 1, B: 0}, {R: 0, G: 1, B: 2}, {R: 1, G: 2, B: 0}, {R: 1, G: 0, B: 2}, {R: 0, G: 2, B: 1}, {R: 2, G: 0, B: 1},
}

// painted reads one rectangle of an encoding on a canvas of an order.
func painted(t *testing.T, o frame.Order, encoding int32, x, y, w, h, chunk int, wire string) *Canvas {
	t.Helper()
	c := canvas(t, x+w+3, y+h+2, []byte(wire), chunk)
	c.Order = o
	r := vnc.Rectangle{X: uint16(x), Y: uint16(y), Width: uint16(w), Height: uint16(h)}
	if _, err := decoder(c, encoding).Read(nil, &r, c.Conn); err != nil {
		t.Fatalf("%d x %d: %v", w, h, err)
	}
	return c
}
