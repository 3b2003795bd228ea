package rfb_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rect"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

// squeezer is a zlib stream that is flushed after each piece.
type squeezer struct {
	out bytes.Buffer
	z   *zlib.Writer
}

func newSqueezer() *squeezer {
	s := &squeezer{}
	s.z = zlib.NewWriter(&s.out)
	return s
}

// piece is b, compressed.
func (s *squeezer) piece(b []byte) []byte {
	s.out.Reset()
	_, _ = s.z.Write(b) // a buffer takes everything
	_ = s.z.Flush()
	return bytes.Clone(s.out.Bytes())
}

// counted is b behind its length.
func counted(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// tightLength is a length as Tight has it.
func tightLength(n int) []byte {
	switch {
	case n < 1<<7:
		return []byte{byte(n)}
	case n < 1<<14:
		return []byte{byte(n) | 0x80, byte(n >> 7)}
	}
	return []byte{byte(n) | 0x80, byte(n>>7) | 0x80, byte(n >> 14)}
}

// asked sends pieces after the first request for pixels, and then reads until
// the client goes.
func asked(w, h int, pieces ...[]byte) func(*rfbtest.Conn) error {
	return func(c *rfbtest.Conn) error {
		if err := c.Hello(rfbtest.Init{Width: w, Height: h}); err != nil {
			return err
		}
		if _, err := c.Until(rfbtest.UpdateRequest); err != nil {
			return err
		}
		_ = c.Send(pieces...) // the client may end before all of it
		return c.Drain()
	}
}

// mixed draws rectangles of encodings that are queued and of others, one over
// the other, and keeps the picture that they have to make.
type mixed struct {
	r        *rand.Rand
	w, h     int
	want     *image.RGBA
	zrle     *squeezer
	zlib     *squeezer
	tight    *squeezer
	rects    [][]byte
	encoding map[string]int
}

func (m *mixed) colour() color.RGBA {
	return color.RGBA{uint8(m.r.Uint32()), uint8(m.r.Uint32()), uint8(m.r.Uint32()), 0xff}
}

// add makes one rectangle.
func (m *mixed) add() {
	x, y := m.r.IntN(m.w-1), m.r.IntN(m.h-1)
	w, h := 1+m.r.IntN(min(m.w-x, 90)), 1+m.r.IntN(min(m.h-y, 90))
	if m.r.IntN(12) == 0 { // large ones are drawn in pieces
		x, y, w, h = 0, 0, m.w, m.h
	}
	c := m.colour()
	bgr := []byte{c.B, c.G, c.R}
	put := func(name string, encoding int32, body ...byte) {
		m.encoding[name]++
		m.rects = append(m.rects, rfbtest.Rect(x, y, w, h, encoding, body...))
	}
	noise := func(size int) []byte { // and draws it
		b := make([]byte, 0, w*h*size)
		for j := range h {
			for i := range w {
				c := m.colour()
				m.want.SetRGBA(x+i, y+j, c)
				if size == 4 {
					b = append(b, c.B, c.G, c.R, 0)
				} else {
					b = append(b, c.R, c.G, c.B)
				}
			}
		}
		return b
	}
	fill := func() {
		for j := range h {
			for i := range w {
				m.want.SetRGBA(x+i, y+j, c)
			}
		}
	}
	switch m.r.IntN(9) {
	case 0:
		put("tight fill", 7, 0x80, c.R, c.G, c.B)
		fill()
	case 1:
		put("raw", 0, noise(4)...)
	case 2:
		fx, fy := m.r.IntN(m.w-w+1), m.r.IntN(m.h-h+1)
		from := image.NewRGBA(image.Rect(0, 0, w, h))
		for j := range h {
			for i := range w {
				from.SetRGBA(i, j, m.want.RGBAAt(fx+i, fy+j))
			}
		}
		for j := range h {
			for i := range w {
				m.want.SetRGBA(x+i, y+j, from.RGBAAt(i, j))
			}
		}
		put("copyrect", 1, binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, uint16(fx)), uint16(fy))...)
	case 3:
		tiles := ((w + 15) / 16) * ((h + 15) / 16)
		put("hextile", 5, append(append([]byte{2}, append(bgr, 0)...), make([]byte, tiles-1)...)...)
		fill()
	case 4:
		tiles := ((w + 63) / 64) * ((h + 63) / 64)
		put("zrle", 16, counted(m.zrle.piece(bytes.Repeat(append([]byte{1}, bgr...), tiles)))...)
		fill()
	case 5:
		put("zlib", 6, counted(m.zlib.piece(noise(4)))...)
	case 6:
		put("rre", 2, append([]byte{0, 0, 0, 0}, append(bgr, 0)...)...)
		fill()
	case 7: // ZRLE in raw tiles, of which large rectangles are cut in pieces
		var b []byte
		for ty := 0; ty < h; ty += 64 {
			for tx := 0; tx < w; tx += 64 {
				b = append(b, 0)
				for j := ty; j < min(h, ty+64); j++ {
					for i := tx; i < min(w, tx+64); i++ {
						c := m.colour()
						m.want.SetRGBA(x+i, y+j, c)
						b = append(b, c.B, c.G, c.R)
					}
				}
			}
		}
		put("zrle raw", 16, counted(m.zrle.piece(b))...)
	case 8:
		b := noise(3)
		if len(b) < 12 {
			put("tight", 7, append([]byte{0}, b...)...)
			return
		}
		z := m.tight.piece(b)
		put("tight", 7, append(append([]byte{0}, tightLength(len(z))...), z...)...)
	}
}

// Rectangles of all sorts are drawn in the order in which they come, whether
// they are queued or not, with a second processor and without one.
func TestQueueKeepsTheOrder(t *testing.T) {
	for _, processors := range []int{1, 4} {
		t.Run(fmt.Sprintf("%d processors", processors), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			const w, h = 400, 300
			m := &mixed{r: rand.New(rand.NewPCG(7, uint64(processors))), w: w, h: h, want: image.NewRGBA(image.Rect(0, 0, w, h)),
				zrle: newSqueezer(), zlib: newSqueezer(), tight: newSqueezer(), encoding: map[string]int{}}
			black := make([]byte, w*h*4)
			for i := 3; i < len(m.want.Pix); i += 4 {
				m.want.Pix[i] = 0xff
			}
			pieces := [][]byte{rfbtest.Update(rfbtest.Rect(0, 0, w, h, 0, black...))}
			for range 60 {
				m.rects = nil
				for range 1 + m.r.IntN(20) {
					m.add()
				}
				pieces = append(pieces, rfbtest.Update(m.rects...))
			}
			if len(m.encoding) != 9 {
				t.Fatalf("not all encodings are there: %v", m.encoding)
			}
			s := serve(t, asked(w, h, append(pieces, []byte{2})...))
			l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
			l.Session.(viewer.Desktop).Demand(true)
			l.Event(t, "the bell", func(e viewer.Event) bool { _, ok := e.(viewer.Bell); return ok })
			l.Until(t, "all updates", func() bool { return l.Frame.Updates() == uint64(len(pieces)) || l.Err() != nil })
			if l.Err() != nil {
				t.Fatal(l.Err())
			}
			if !same(l, m.want) {
				t.Error("the pictures differ")
			}
		})
	}
}

// A fault in what a rectangle inflates to ends the session with its own words,
// even if the machine sends nothing more.
func TestFaultWhileDrawing(t *testing.T) {
	z := newSqueezer()
	bad := rfbtest.Rect(0, 0, 64, 64, 16, counted(z.piece(append([]byte{30}, make([]byte, 300)...)))...)
	fills := bytes.Repeat(rfbtest.Rect(0, 0, 50, 50, 7, 0x80, 1, 2, 3), 3000)
	for name, wire := range map[string][]byte{
		"and nothing more":        rfbtest.Update(bad),
		"and half a rectangle":    append([]byte{0, 0, 0, 2}, append(bytes.Clone(bad), rfbtest.Rect(0, 0, 9, 9, 0)...)...),
		"and thousands more":      append([]byte{0, 0, 0xff, 0xff}, append(bytes.Clone(bad), fills...)...),
		"behind thousands":        append([]byte{0, 0, 0xff, 0xff}, append(bytes.Clone(fills), bad...)...),
		"before one of its own":   append([]byte{0, 0, 0, 2}, append(bytes.Clone(bad), rfbtest.Rect(0, 0, 201, 9, 0)...)...),
		"before an unknown thing": append(rfbtest.Update(bad), 77),
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, asked(200, 200, wire))
			l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
			l.Session.(viewer.Desktop).Demand(true)
			l.Wait(t)
			if err := l.Err(); viewer.KindOf(err) != viewer.Malformed || !strings.Contains(err.Error(), "tile type 30") {
				t.Errorf("got %v, want the tile's type", err)
			}
		})
	}
}

// halves are rectangles of 200 x 200 that have begun, by encoding.
var halves = map[int32]string{
	rect.TypeRaw:      "1234567890",
	rect.TypeCopyRect: "\x00\x01",
	rect.TypeRRE:      "\x00\x00\x00\x09bgrxbgrx\x00\x00\x00\x00\x00\x01\x00\x01bgr",
	rect.TypeCoRRE:    "\x00\x00\x00\x09bgrxbgrx\x00\x00\x01\x01bgr",
	rect.TypeHextile:  "\x02bgrx\x00\x00\x00\x08\x09\x00\x00",
	rect.TypeZlib:     "\x00\x00\x03\xe8\x78\x9c\x00\xe8\x03\x17\xfcabcdef",
	rect.TypeTight:    "\x00\xff\xff\x00\x78\x9c\x00\xe8\x03\x17\xfcabcdef",
	rect.TypeZlibHex:  "\x20\x03\xe8\x78\x9c\x00\xe8\x03\x17\xfcabcdef",
	rect.TypeTRLE:     "\x01bgr\x01bgr\x00bgrbgr",
	rect.TypeZRLE:     "\x00\x00\x03\xe8\x78\x9c\x00\xe8\x03\x17\xfc\x00abcdef",
	rect.TypeZYWRLE:   "\x00\x00\x03\xe8\x78\x9c\x00\xe8\x03\x17\xfc\x00abcdef",
	rect.TypeJPEG:     "\xff\xd8\xff\xe0\x00\x90abcdef",
	rect.TypeTightPNG: "\xa0\xff\xff\x00\x89PNG\x0d\x0a",
	-239:              "a shape",
	-307:              "\x00\x00\x00\x40a name",
}

// A session that is closed in the middle of a rectangle ends at once, whatever
// the encoding, while the machine is silent or sends a byte now and then, and
// while there is much to draw.
func TestCloseInARectangle(t *testing.T) {
	const w, h = 200, 200
	// Large ones first, which take their time to draw.
	fills := bytes.Repeat(rfbtest.Rect(0, 0, w, h, 7, 0x80, 1, 2, 3), 300)
	for encoding, begun := range halves {
		for _, way := range []string{"silent", "slow", "busy"} {
			t.Run(fmt.Sprintf("encoding %d, %s", encoding, way), func(t *testing.T) {
				wire := []byte{0, 0, 0xff, 0xff}
				if way == "busy" {
					wire = append(wire, fills...)
				}
				wire = append(wire, rfbtest.Rect(0, 0, w, h, encoding, []byte(begun)...)...)
				sent := make(chan struct{})
				s := serve(t, func(c *rfbtest.Conn) error {
					if err := c.Hello(rfbtest.Init{Width: w, Height: h}); err != nil {
						return err
					}
					if _, err := c.Until(rfbtest.UpdateRequest); err != nil {
						return err
					}
					if err := c.Send(wire); err != nil {
						return err
					}
					close(sent)
					if way == "slow" {
						done := make(chan struct{})
						go func() {
							defer close(done)
							_ = c.Drain()
						}()
						tick := time.NewTicker(time.Millisecond) // the machine's own pace
						defer tick.Stop()
						for range tick.C {
							if c.Send([]byte{0}) != nil {
								break
							}
						}
						<-done
						return nil
					}
					return c.Drain()
				})
				l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
				l.Session.(viewer.Desktop).Demand(true)
				<-sent
				if err := l.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
				l.Wait(t)
			})
		}
	}
}

// One update may not go on without end.
func TestUpdateWithoutEnd(t *testing.T) {
	for name, c := range map[string]struct {
		side int
		wire []byte
	}{
		"that paints": {1000, append([]byte{0, 0, 0xff, 0xff}, bytes.Repeat(rfbtest.Rect(0, 0, 1000, 1000, 7, 0x80, 1, 2, 3), 200)...)},
		"that brings": {100, append([]byte{0, 0, 0xff, 0xff}, bytes.Repeat(rfbtest.Rect(0, 0, 100, 100, 0, make([]byte, 40000)...), 1000)...)},
		"of shapes":   {100, append([]byte{0, 0, 0xff, 0xff}, bytes.Repeat(rfbtest.Rect(0, 0, 200, 200, -239, make([]byte, 200*200*4+200*25)...), 500)...)},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, asked(c.side, c.side, c.wire))
			l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
			l.Session.(viewer.Desktop).Demand(true)
			l.Wait(t)
			if err := l.Err(); viewer.KindOf(err) != viewer.Limit || !strings.Contains(err.Error(), "64 times the screen and 64 MiB") {
				t.Errorf("got %v, want the bound", err)
			}
		})
	}
}

// While nothing can be drawn, no more than what may wait is asked for.
func TestNeverAsksFasterThanItDraws(t *testing.T) {
	requests, keys := make(chan struct{}, 1000), make(chan struct{}, 1000)
	const w, h = 300, 300
	s := serve(t, func(c *rfbtest.Conn) error {
		if err := c.Hello(rfbtest.Init{Width: w, Height: h}); err != nil {
			return err
		}
		for {
			m, err := c.Next()
			if err != nil {
				return nil // the client has gone
			}
			switch m.Type {
			case rfbtest.UpdateRequest:
				requests <- struct{}{}
				if err := c.Send(rfbtest.Update(rfbtest.Rect(0, 0, w, h, 7, 0x80, 1, 2, 3))); err != nil {
					return nil
				}
			case rfbtest.KeyEvent:
				keys <- struct{}{}
			}
		}
	})
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
	l.Session.(viewer.Desktop).Demand(true)
	l.Until(t, "the first update", func() bool { return l.Frame.Updates() > 0 })
	l.Frame.Lock()
	for len(requests) > 0 {
		<-requests
	}
	for range 100 {
		l.Post(t, press(viewer.Key{Sym: 'a'})...)
		l.Flush(t)
		<-keys
		<-keys
	}
	if n := len(requests); n > 4 {
		t.Errorf("%d updates were asked for while none could be drawn", n)
	}
	l.Frame.Unlock()
	n := l.Frame.Updates()
	l.Until(t, "more updates", func() bool { return l.Frame.Updates() > n+5 })
}
