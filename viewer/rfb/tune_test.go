package rfb_test

import (
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rect"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

// tunable are the real machines: one that takes fences, one that does not and
// has JPEG, and one that has neither fences nor continuous updates of its own.
var tunable = []struct {
	name  string
	start func(testing.TB) *xServer
}{
	{"TigerVNC", func(t testing.TB) *xServer { return startTiger(t, "-SecurityTypes", "None") }},
	{"x11vnc", startX11VNC},
	{"TightVNC", startTight},
}

func tune(t testing.TB, l *viewertest.Live, p viewer.Picture) {
	t.Helper()
	tuner := l.Session.(viewer.Tuner)
	if err := tuner.Tune(p); err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
	if got := tuner.Tuned(); got != p {
		t.Fatalf("tuned is %+v, want %+v", got, p)
	}
}

// near is the largest difference of a sample from img, and how many samples
// differ by more than some.
func near(l *viewertest.Live, img *image.RGBA, some int) (most, many int) {
	v, ok := l.Frame.Snapshot(image.Rectangle{}, nil)
	if !ok || v.Image.Rect != img.Rect {
		return 256, len(img.Pix)
	}
	for i, p := range v.Image.Pix {
		d := int(p) - int(img.Pix[i])
		if d = max(d, -d); d > some {
			many++
		}
		most = max(most, d)
	}
	return most, many
}

// After each change the picture is the machine's own again: exact where nothing
// may be lost, close where JPEG was asked for, and of fewer colours where they
// were (C062, C064).
func TestTuneRealMachines(t *testing.T) {
	for _, m := range tunable {
		t.Run(m.name, func(t *testing.T) {
			s := m.start(t)
			l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
			l.Look(t)
			want := gradient(t, s, 7)
			l.Until(t, "the picture", func() bool { return same(l, want) })
			for _, c := range []struct {
				picture viewer.Picture
				some    int // by which samples may differ
			}{
				{viewer.Picture{Quality: viewer.QualityBest}, 24},
				{viewer.Picture{Quality: viewer.QualityLossless}, 0},
				{viewer.Picture{Quality: viewer.QualityLossless, Colors: viewer.ColorsHigh}, 9},
				{viewer.Picture{Quality: viewer.QualityLossless, Colors: viewer.ColorsLow}, 86},
				{viewer.Picture{Quality: viewer.QualityLossless, Encodings: "hextile,copyrect"}, 0},
				{viewer.Picture{Quality: viewer.QualityLossless, Encodings: "zrle", Colors: viewer.ColorsHigh}, 9},
				{viewer.Picture{Quality: viewer.QualityLossless, Encodings: "zrle"}, 0},
				{viewer.Picture{Quality: viewer.QualityLossless, Encodings: "tight", Colors: viewer.ColorsLow}, 86},
				{viewer.Picture{Quality: viewer.QualityLossless, Encodings: "tight"}, 0},
				{viewer.Picture{Quality: viewer.QualityLossless, Encodings: "rre,zlib", Colors: viewer.ColorsHigh}, 9},
				{viewer.Picture{Quality: viewer.QualityFast}, 64},
				{viewer.Picture{Colors: viewer.ColorsServer, Quality: viewer.QualityLossless}, 0},
				{viewer.Picture{}, 0},
			} {
				tune(t, l, c.picture)
				mark := color.RGBA{uint8(len(c.picture.Encodings)) * 8, 0, 0xff, 0xff}
				s.fill(t, image.Rect(600, 440, 640, 480), mark)
				want := s.picture(t)
				l.Until(t, fmt.Sprintf("the picture of %+v", c.picture), func() bool {
					most, _ := near(l, want, c.some)
					return most <= c.some && (c.some == 0 || c.picture.Colors == "" || most > 0)
				})
			}
		})
	}
}

// 200 changes at random, while the picture moves, leave it right.
func TestTuneStorm(t *testing.T) {
	for _, m := range tunable[:2] {
		t.Run(m.name, func(t *testing.T) {
			s := m.start(t)
			l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
			l.Look(t)
			r := rand.New(rand.NewPCG(4, 2))
			encodings := []string{"", "tight", "zrle", "hextile", "zlib,zrle", "rre,tight", "raw", "trle,zrle", "zywrle,zrle", "corre"}
			for i := range 200 {
				p := viewer.Picture{
					Quality:   viewer.Qualities[r.IntN(len(viewer.Qualities))],
					Colors:    viewer.AllColors[r.IntN(len(viewer.AllColors))],
					Encodings: encodings[r.IntN(len(encodings))],
				}
				tune(t, l, p)
				for range 1 + r.IntN(4) {
					x, y := r.IntN(560), r.IntN(400)
					s.fill(t, image.Rect(x, y, x+80, y+80), color.RGBA{uint8(i), uint8(r.Uint32()), uint8(r.Uint32()), 0xff})
				}
				if i%20 == 19 && p.Quality != viewer.QualityGrey { // grey is far from any colour
					want := s.picture(t)
					some := 0
					if p.Quality != viewer.QualityAuto && p.Quality != viewer.QualityLossless || p.Colors != viewer.ColorsFull {
						some = 128
					}
					l.Until(t, fmt.Sprintf("the picture after change %d, %+v", i, p), func() bool {
						_, many := near(l, want, some)
						return many <= len(want.Pix)/100 && (some > 0 || many == 0)
					})
				}
			}
			scribble(t, s, 99)
			tune(t, l, viewer.Picture{Quality: viewer.QualityLossless})
			want := s.picture(t)
			l.Until(t, "the machine's own picture", func() bool { return same(l, want) })
			if err := l.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A word that is not known changes nothing, and the error has those that are.
func TestTuneRefuses(t *testing.T) {
	l := machine(t, rfbtest.Update(fill(0, 0, 100, 100, red)), live)
	l.Until(t, "the picture", func() bool { return l.At(0, 0) == red })
	tuner := l.Session.(viewer.Tuner)
	tune(t, l, viewer.Picture{Quality: viewer.QualityBalanced})
	for _, c := range []struct {
		p    viewer.Picture
		want string
	}{
		{viewer.Picture{Quality: "superb"}, "lossless"},
		{viewer.Picture{Colors: "pink"}, "server"},
		{viewer.Picture{Encodings: "tight, cinepak"}, "zrle"},
		{viewer.Picture{Encodings: "zywrle, jpeg", Quality: viewer.QualityLossless}, "lossless"},
	} {
		err := tuner.Tune(c.p)
		if viewer.KindOf(err) != viewer.Invalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q of kind %q", c.p, err, c.want, viewer.Invalid)
		}
		if got := tuner.Tuned(); got.Quality != viewer.QualityBalanced {
			t.Errorf("%+v: tuned is %+v now", c.p, got)
		}
		target := viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: 1, Picture: c.p}
		if _, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), target, nil, nil); viewer.KindOf(err) != viewer.Invalid {
			t.Errorf("%+v: opening got %v", c.p, err)
		}
	}
}

// Each quality is told as its encodings and levels; nothing that loses is in a
// lossless list.
func TestQualityIsTold(t *testing.T) {
	for _, c := range []struct {
		p       viewer.Picture
		has     []int32
		without []int32
	}{
		{viewer.Picture{}, []int32{rect.TypeTight, rect.TypeZRLE}, []int32{rect.TypeZYWRLE, rect.TypeJPEG, -24}},
		{viewer.Picture{Quality: viewer.QualityLossless}, []int32{rect.TypeTight}, []int32{rect.TypeZYWRLE, rect.TypeJPEG, -23, -24, -26, -30}},
		{viewer.Picture{Quality: viewer.QualityLossless, Encodings: "zywrle,zrle"}, []int32{rect.TypeZRLE}, []int32{rect.TypeZYWRLE, rect.TypeTight, rect.TypeRaw}},
		{viewer.Picture{Quality: viewer.QualityBest}, []int32{rect.TypeTight, -23, -255}, nil},
		{viewer.Picture{Quality: viewer.QualityBalanced}, []int32{-26, -254}, nil},
		{viewer.Picture{Quality: viewer.QualityFast}, []int32{-30, -250}, nil},
		{viewer.Picture{Quality: viewer.QualityGrey}, []int32{-452, -765}, nil},
		{viewer.Picture{Encodings: "Hextile, raw"}, []int32{rect.TypeHextile, rect.TypeRaw}, []int32{rect.TypeTight, rect.TypeZRLE, rect.TypeCopyRect}},
		{viewer.Picture{Encodings: "tightpng", Colors: viewer.ColorsLow}, []int32{rect.TypeZRLE}, []int32{rect.TypeTightPNG, rect.TypeTRLE}},
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
		target := s.Target()
		target.Picture = c.p
		viewertest.Open(t, rfb.New(rfb.Options{}), target, nil)
		got := <-asked
		for _, n := range c.has {
			if !slices.Contains(got, n) {
				t.Errorf("%+v: %d is not asked for: %v", c.p, n, got)
			}
		}
		for _, n := range c.without {
			if slices.Contains(got, n) {
				t.Errorf("%+v: %d is asked for: %v", c.p, n, got)
			}
		}
	}
}

// A machine that knows of it sends shades of grey, and one that has no JPEG is
// said to, and sends few colours.
func TestGrey(t *testing.T) {
	grey := viewer.Picture{Quality: viewer.QualityGrey}
	for _, m := range tunable[:2] {
		t.Run(m.name, func(t *testing.T) {
			s := m.start(t)
			target := s.target()
			target.Picture = grey
			l := viewertest.Open(t, rfb.New(rfb.Options{}), target, nil)
			l.Look(t)
			// Machines send the colours after all once a picture stands still.
			seen := false
			grey := func() bool {
				p := l.At(200, 150)
				seen = seen || p.R == p.G && p.G == p.B && p.R > 0 && p.R != 200
				return seen
			}
			for end := time.Now().Add(viewertest.Patience); !seen && time.Now().Before(end); {
				before := l.At(200, 150)
				gradient(t, s, rand.IntN(50))
				l.Until(t, "another picture", func() bool { return grey() || l.At(200, 150) != before })
				for range 20 {
					grey()
				}
			}
			if !seen {
				t.Error("no picture was grey")
			}
		})
	}
	t.Run("without JPEG", func(t *testing.T) {
		told := make(chan struct{})
		s := serve(t, func(c *rfbtest.Conn) error {
			if err := c.Hello(smallInit); err != nil {
				return err
			}
			return say(whole, rfbtest.Update(fill(0, 0, 100, 100, red)),
				// Brought to rest by a pixel, then by another.
				pixel(0, 0), rfbtest.Update(fill(0, 0, 100, 100, green)),
				pixel(99, 99), rfbtest.Update(fill(99, 99, 1, 1, red)),
				func(c *rfbtest.Conn) error {
					for {
						m, err := c.Next()
						if err != nil {
							return err
						}
						if m.Type == rfbtest.UpdateRequest {
							return fmt.Errorf("an update is asked for before the format is told: %v", m)
						}
						if m.Type == rfbtest.SetPixelFormat {
							if m.Body[3] != 8 {
								return fmt.Errorf("the format has %d bits", m.Body[3])
							}
							close(told)
							break
						}
					}
					if _, err := c.Until(rfbtest.UpdateRequest); err != nil {
						return err
					}
					return c.Send(rfbtest.Update(rfbtest.Rect(0, 0, 2, 1, rect.TypeRaw, 7, 7<<3)))
				}, live)(c)
		})
		target := s.Target()
		target.Picture = grey
		l := viewertest.Open(t, rfb.New(rfb.Options{}), target, nil)
		l.Session.(viewer.Desktop).Demand(true)
		<-told
		l.Until(t, "red and green of eight bits", func() bool { return l.At(0, 0) == red && l.At(1, 0) == green })
		l.Event(t, "a notice", func(e viewer.Event) bool {
			n, ok := e.(viewer.Notice)
			return ok && strings.Contains(n.Text, "shades of grey")
		})
	})
}

// pixel is a step that waits for the request of one pixel and of nothing else
// that is whole.
func pixel(x, y int) func(*rfbtest.Conn) error {
	want := []byte{0, 0, byte(x), 0, byte(y), 0, 1, 0, 1}
	return func(c *rfbtest.Conn) error {
		for {
			m, err := c.Until(rfbtest.UpdateRequest)
			if err != nil {
				return err
			}
			if !m.Incremental() {
				if !slices.Equal(m.Body, want) {
					return fmt.Errorf("%v is asked for, want %v", m.Body, want)
				}
				return nil
			}
		}
	}
}

// What was measured is there once something was, with the machine's own
// figures: the way is measured with fences only.
func TestFigures(t *testing.T) {
	for _, m := range tunable[:2] {
		t.Run(m.name, func(t *testing.T) {
			s := m.start(t)
			l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
			measured := l.Session.(viewer.Measured)
			if f, ok := measured.Figures(); ok {
				t.Errorf("before anything came: %+v", f)
			}
			tune(t, l, viewer.Picture{Quality: viewer.QualityBalanced})
			l.Look(t)
			gradient(t, s, 5)
			fences := m.name == "TigerVNC"
			for i := 0; ; i++ {
				mark := color.RGBA{uint8(i), 5, 6, 0xff}
				s.fill(t, image.Rect(600, 440, 640, 480), mark)
				l.Until(t, "the mark", func() bool { _, many := near(l, s.picture(t), 64); return many < 1000 })
				f, ok := measured.Figures()
				if !ok || f.FPS <= 0 || f.Throughput <= 0 || f.Decode <= 0 || f.Duty <= 0 || f.Duty > 1 || f.Encoding != rect.TypeTight || f.JPEGQuality != 6 {
					t.Fatalf("got %+v, %v", f, ok)
				}
				if f.RoundTripKnown && !fences {
					t.Fatalf("got %+v of a machine without fences", f)
				}
				if f.RoundTripKnown == fences {
					break
				}
			}
		})
	}
}
