package rfb_test

import (
	"fmt"
	"image"
	"image/color"
	"testing"

	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rect"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

// exactEncodings are those without losses that each real machine has, beside
// pictureEncodings.
var exactEncodings = []struct {
	machine string
	start   func(testing.TB) *xServer
	numbers []int32
}{
	{"TigerVNC", func(t testing.TB) *xServer { return startTiger(t, "-SecurityTypes", "None") },
		[]int32{rect.TypeRRE, rect.TypeTight}},
	{"TightVNC", startTight,
		[]int32{rect.TypeRRE, rect.TypeCoRRE, rect.TypeZlib, rect.TypeTight}},
	{"x11vnc", startX11VNC,
		[]int32{rect.TypeRRE, rect.TypeCoRRE, rect.TypeHextile, rect.TypeZlib, rect.TypeZRLE, rect.TypeTight}},
}

// used fails the test unless the machine has sent rectangles of an encoding.
func used(t *testing.T, l *viewertest.Live, encoding int32) {
	t.Helper()
	if seen := l.Session.(*rfb.Session).Stats().Encodings; seen[encoding] == 0 {
		t.Errorf("the machine sent no rectangle of encoding %d, but %v", encoding, seen)
	}
}

func TestEncodingsAreExact(t *testing.T) {
	for _, m := range exactEncodings {
		t.Run(m.machine, func(t *testing.T) {
			s := m.start(t)
			for _, n := range m.numbers {
				for _, compression := range []int{0, 1, 9} {
					t.Run(fmt.Sprintf("encoding %d, compression %d", n, compression), func(t *testing.T) {
						l := viewertest.Open(t, rfb.New(rfb.Options{Encodings: []int32{n, rect.TypeCopyRect}, Compression: compression}), s.target(), nil)
						draw(t, s, l)
						used(t, l, n)
					})
				}
			}
		})
	}
}

// Compression level 0, which is never asked for, has libvncserver send Tight
// that is not compressed, and others stored blocks (C054).
func TestCompressionLevel0(t *testing.T) {
	const level0 = -256
	for _, m := range exactEncodings {
		t.Run(m.machine, func(t *testing.T) {
			s := m.start(t)
			for _, n := range []int32{rect.TypeTight, rect.TypeZRLE, rect.TypeZlib} {
				t.Run(fmt.Sprint(n), func(t *testing.T) {
					draw(t, s, viewertest.Open(t, rfb.New(rfb.Options{Encodings: []int32{n, rect.TypeCopyRect, level0}}), s.target(), nil))
				})
			}
		})
	}
}

// gradient draws what JPEG is made for.
func gradient(t testing.TB, s *xServer, seed int) *image.RGBA {
	t.Helper()
	s.fill(t, image.Rect(0, 0, 640, 480), color.RGBA{200, 200, 200, 0xff})
	const w, h = 300, 200
	pix := make([]byte, 0, w*h*4)
	for y := range h {
		for x := range w {
			pix = append(pix, byte(x*200/w+seed), byte(y*150/h+40), byte((x+y)*250/(w+h)), 0)
		}
	}
	for y := 0; y < h; y += 50 { // a request has a size that servers agree on
		s.put(t, 40, 30+y, w, 50, pix[y*w*4:(y+50)*w*4])
	}
	return s.picture(t)
}

// apart is the largest difference of a sample between the frame and img.
func apart(l *viewertest.Live, img *image.RGBA) int {
	v, ok := l.Frame.Snapshot(image.Rectangle{}, nil)
	if !ok || v.Image.Rect != img.Rect {
		return 256
	}
	most := 0
	for i, p := range v.Image.Pix {
		d := int(p) - int(img.Pix[i])
		most = max(most, d, -d)
	}
	return most
}

// With a quality, a smooth picture comes close to what it was, from every
// machine that has JPEG or wavelets.
func TestLossyEncodings(t *testing.T) {
	for _, m := range []struct {
		machine   string
		start     func(testing.TB) *xServer
		encoding  int32
		quality   int
		tolerance int
	}{
		{"TigerVNC", exactEncodings[0].start, rect.TypeTight, 9, 4},
		{"TigerVNC", exactEncodings[0].start, rect.TypeTight, 5, 16},
		{"TightVNC", startTight, rect.TypeTight, 9, 16},
		{"x11vnc", startX11VNC, rect.TypeTight, 9, 8},
		{"x11vnc", startX11VNC, rect.TypeZYWRLE, 9, 24},
		{"x11vnc", startX11VNC, rect.TypeZYWRLE, 5, 48},
		{"x11vnc", startX11VNC, rect.TypeZYWRLE, 1, 64},
	} {
		t.Run(fmt.Sprintf("%s, encoding %d, quality %d", m.machine, m.encoding, m.quality), func(t *testing.T) {
			s := m.start(t)
			l := viewertest.Open(t, rfb.New(rfb.Options{Encodings: []int32{m.encoding, rect.TypeCopyRect}, Quality: m.quality}), s.target(), nil)
			l.Look(t)
			for seed := range 3 {
				want := gradient(t, s, seed*20)
				last := 0
				defer func() { t.Logf("apart by up to %d", last) }()
				l.Until(t, fmt.Sprintf("a picture within %d of the machine's own", m.tolerance), func() bool {
					last = apart(l, want)
					return last <= m.tolerance
				})
			}
			used(t, l, m.encoding)
			if same(l, gradient(t, s, 40)) {
				t.Error("the picture has no losses: the quality was not heard")
			}
		})
	}
}

// The highest quality and compression are the numbers that say so.
func TestLevels(t *testing.T) {
	for _, c := range []struct {
		o    rfb.Options
		want string // after the encodings of the picture
	}{
		{rfb.Options{}, "[]"},
		{rfb.Options{Quality: 9, Compression: 9}, "[-23 -247]"},
		{rfb.Options{Quality: 1, Compression: 1}, "[-31 -255]"},
		{rfb.Options{Quality: 100, Compression: 100}, "[-23 -247]"},
		{rfb.Options{Quality: -1, Compression: -1}, "[]"},
	} {
		asked := make(chan []int32, 1)
		s := serve(t, func(c *rfbtest.Conn) error {
			if err := c.Hello(smallInit); err != nil {
				return err
			}
			m, err := c.Until(rfbtest.SetEncodings)
			if err != nil {
				return err
			}
			asked <- m.Encodings()
			return c.Drain()
		})
		viewertest.Open(t, rfb.New(c.o), s.Target(), nil)
		levels, lossy := []int32{}, false
		for _, n := range <-asked {
			if n >= -256 && n <= -247 || n >= -32 && n <= -23 {
				levels = append(levels, n)
			}
			lossy = lossy || n == rect.TypeJPEG || n == rect.TypeZYWRLE
		}
		if got := fmt.Sprint(levels); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.o, got, c.want)
		}
		if lossy != (c.o.Quality > 0) {
			t.Errorf("%+v: encodings that lose something are asked for: %v", c.o, lossy)
		}
	}
}
