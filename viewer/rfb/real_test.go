package rfb_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rect"
	"deskvnc/viewer/viewertest"
)

var pictureEncodings = []struct {
	name   string
	number int32
}{{"raw", rect.TypeRaw}, {"hextile", rect.TypeHextile}, {"zrle", rect.TypeZRLE}, {"tight", rect.TypeTight}}

// scribble draws what each kind of tile is made for: areas of one colour, of
// two, of a few, runs, noise, and moved rectangles.
func scribble(t testing.TB, s *xServer, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	colour := func() color.RGBA { return color.RGBA{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), 0xff} }
	for range 40 {
		x, y := r.IntN(600), r.IntN(440)
		s.fill(t, image.Rect(x, y, x+1+r.IntN(200), y+1+r.IntN(150)).Intersect(image.Rect(0, 0, 640, 480)), colour())
	}
	for _, colours := range []int{2, 3, 4, 9, 16, 40, 1 << 24} {
		palette := make([]color.RGBA, min(colours, 300))
		for i := range palette {
			palette[i] = colour()
		}
		w, h := 70+r.IntN(60), 65+r.IntN(60)
		long := r.IntN(2) * 20 // runs, or single pixels
		pix := make([]byte, 0, w*h*4)
		for len(pix) < w*h*4 {
			c := palette[r.IntN(len(palette))]
			if colours > 300 {
				c = colour()
			}
			for range 1 + r.IntN(1+long) {
				pix = append(pix, c.B, c.G, c.R, 0)
			}
		}
		s.put(t, r.IntN(640-w), r.IntN(480-h), w, h, pix[:w*h*4])
	}
	for range 10 {
		x, y := r.IntN(300), r.IntN(200)
		s.move(t, image.Rect(x, y, x+200, y+150), image.Pt(x+r.IntN(100), y+r.IntN(100)))
	}
}

// same reports whether the frame shows img.
func same(l *viewertest.Live, img *image.RGBA) bool {
	v, ok := l.Frame.Snapshot(image.Rectangle{}, nil)
	return ok && v.Image.Rect == img.Rect && bytes.Equal(v.Image.Pix, img.Pix)
}

// draw scribbles a few times and waits for the same picture here each time.
func draw(t *testing.T, s *xServer, l *viewertest.Live) {
	t.Helper()
	l.Look(t)
	for seed := range uint64(4) {
		scribble(t, s, seed)
		want := s.picture(t)
		l.Until(t, "the machine's own picture", func() bool { return same(l, want) })
	}
}

func TestTigerVNCPictureIsExact(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None")
	for _, e := range pictureEncodings {
		t.Run(e.name, func(t *testing.T) {
			d := rfb.New(rfb.Options{Encodings: []int32{e.number, rect.TypeCopyRect}})
			draw(t, s, viewertest.Open(t, d, s.target(), nil))
		})
	}
}

// TestTigerVNCChoppedStream has the server's bytes come one at a time, and in
// large lumps.
func TestTigerVNCChoppedStream(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None", "-geometry", "200x150")
	for _, e := range pictureEncodings {
		for _, size := range []int{1, 64 << 10} {
			t.Run(fmt.Sprintf("%s in pieces of %d", e.name, size), func(t *testing.T) {
				d := rfb.New(rfb.Options{Encodings: []int32{e.number, rect.TypeCopyRect}})
				l, err := viewertest.TryOpen(t, d, s.target(), nil, func(ctx context.Context, network, address string) (net.Conn, error) {
					var nd net.Dialer
					c, err := nd.DialContext(ctx, network, address)
					return &chopped{Conn: c, size: size}, err
				})
				if err != nil {
					t.Fatal(err)
				}
				l.Look(t)
				r := rand.New(rand.NewPCG(7, 7))
				for range 20 {
					x, y := r.IntN(180), r.IntN(130)
					s.fill(t, image.Rect(x, y, x+20, y+20), color.RGBA{uint8(r.Uint32()), 9, 99, 0xff})
				}
				want := s.picture(t)
				l.Until(t, "the machine's own picture", func() bool { return same(l, want) })
			})
		}
	}
}

// chopped reads pieces of one size only, the last one excepted.
type chopped struct {
	net.Conn
	size int
	rest []byte
	err  error
}

func (c *chopped) Read(p []byte) (int, error) {
	if c.size == 1 {
		return c.Conn.Read(p[:1])
	}
	b := make([]byte, c.size)
	if len(c.rest) == 0 && c.err == nil {
		var n int
		n, c.err = c.Conn.Read(b)
		c.rest = append(c.rest, b[:n]...)
	}
	for len(c.rest) < c.size && c.err == nil {
		// More has to come within a moment, or this is the end of a lump.
		_ = c.Conn.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
		n, _ := c.Conn.Read(b)
		_ = c.Conn.SetReadDeadline(time.Time{})
		c.rest = append(c.rest, b[:n]...)
		if n == 0 {
			break
		}
	}
	if len(c.rest) == 0 && c.err != nil {
		return 0, c.err
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func TestTigerVNCResizedFromItsSide(t *testing.T) {
	xrandr := need(t, "xrandr")
	s := startTiger(t, "-SecurityTypes", "None")
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
	l.Look(t)
	for _, size := range []string{"1280x720", "800x600"} {
		if out, err := exec.Command(xrandr, "-display", s.display, "-s", size).CombinedOutput(); err != nil {
			t.Fatalf("xrandr: %v: %s", err, out)
		}
		l.Event(t, size, func(e viewer.Event) bool {
			r, ok := e.(viewer.Resized)
			return ok && fmt.Sprintf("%dx%d", r.Width, r.Height) == size
		})
		s.fill(t, image.Rect(700, 500, 800, 600), color.RGBA{1, 200, 3, 0xff})
		want := s.picture(t)
		l.Until(t, "the machine's own picture", func() bool { return same(l, want) })
	}
}

// passwordFile writes a VNC password file with tigervnc's own tool.
func passwordFile(t *testing.T, password string) string {
	t.Helper()
	cmd := exec.Command(need(t, "tigervncpasswd"), "-f")
	cmd.Stdin = strings.NewReader(password + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(name, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// answer answers the question for a VNC password.
func answer(t testing.TB, password string) viewer.Asker {
	return viewer.AskFunc(func(_ context.Context, q viewer.Question) (viewer.Answer, error) {
		if q.Kind != viewer.AskVNCPassword {
			t.Errorf("asked for %s", q.Kind)
		}
		return viewer.Answer{Secret: viewer.SecretString(password)}, nil
	})
}

func TestTigerVNCPassword(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "VncAuth", "-PasswordFile", passwordFile(t, "abcdefgh"))
	d := rfb.New(rfb.Options{})
	t.Run("wrong, then right on a new connection", func(t *testing.T) {
		l, err := viewertest.TryOpen(t, d, s.target(), answer(t, "wrong"), nil)
		if viewer.KindOf(err) != viewer.Denied || l.Session != nil {
			t.Fatalf("got %v, want the kind %q", err, viewer.Denied)
		}
		if got := viewer.Reason(err); !strings.Contains(got, "Authentication fail") {
			t.Errorf("got the reason %q, want the server's words", got)
		}
		viewertest.Open(t, d, s.target(), answer(t, "abcdefgh")).Look(t)
	})
	t.Run("only eight bytes count, and this is said", func(t *testing.T) {
		l := viewertest.Open(t, d, s.target(), answer(t, "abcdefghXYZ"))
		l.Event(t, "a notice of the eight bytes", func(e viewer.Event) bool {
			n, ok := e.(viewer.Notice)
			return ok && strings.Contains(n.Text, "8 bytes") && !strings.Contains(n.Text, "XYZ")
		})
		l.Look(t)
	})
	t.Run("too many failures are told in the server's words", func(t *testing.T) {
		var err error
		for range 20 {
			if _, err = viewertest.TryOpen(t, d, s.target(), answer(t, "wrong"), nil); viewer.KindOf(err) != viewer.Denied {
				break
			}
		}
		if got := viewer.Reason(err); !strings.Contains(got, `the machine says: "Too many security failures"`) || viewer.KindOf(err) == viewer.Denied {
			t.Errorf("got %q of kind %q, want the server's words and a kind that keeps the password", got, viewer.KindOf(err))
		}
	})
}

func TestTigerVNCOtherViewersStay(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None")
	d := rfb.New(rfb.Options{})
	first := viewertest.Open(t, d, s.target(), nil)
	first.Look(t)
	second := viewertest.Open(t, d, s.target(), nil)
	second.Look(t)
	s.fill(t, image.Rect(0, 0, 50, 50), color.RGBA{9, 8, 7, 0xff})
	first.Until(t, "a change beside a second viewer", func() bool { return first.At(3, 3) == color.RGBA{9, 8, 7, 0xff} })
	exclusive := s.target()
	exclusive.Exclusive = true
	viewertest.Open(t, d, exclusive, nil).Look(t)
	first.Wait(t)
	second.Wait(t)
}

// startTight starts Xtightvnc.
func startTight(t testing.TB) *xServer {
	t.Helper()
	if _, err := os.Stat("/usr/share/fonts/X11/misc/fonts.dir"); err != nil {
		missing(t, "xfonts-base, without which Xtightvnc does not start,")
	}
	port := freePort(t)
	// It has no -displayfd: look for a free display.
	var display string
	for n := 200 + os.Getpid()%500; ; n++ {
		if _, err := os.Stat(fmt.Sprintf("/tmp/.X11-unix/X%d", n)); err != nil {
			display = ":" + strconv.Itoa(n)
			break
		}
	}
	start(t, exec.Command(need(t, "Xtightvnc"), display, "-rfbport", strconv.Itoa(port), "-localhost", "-geometry", "640x480", "-depth", "24"))
	s := &xServer{display: display, port: port}
	for end := time.Now().Add(viewertest.Patience); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("unix", "/tmp/.X11-unix/X"+display[1:])
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatal("Xtightvnc does not listen")
		}
	}
	s.connect(t)
	return s
}

func TestTightVNC(t *testing.T) {
	s := startTight(t)
	for _, e := range pictureEncodings[:2] { // it knows no ZRLE, and sends Hextile then
		t.Run(e.name, func(t *testing.T) {
			draw(t, s, viewertest.Open(t, rfb.New(rfb.Options{Encodings: []int32{e.number, rect.TypeCopyRect}}), s.target(), nil))
		})
	}
	t.Run("as it comes", func(t *testing.T) {
		l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
		draw(t, s, l)
		if err := l.Session.(viewer.Resizer).Resize(context.Background(), 300, 200); viewer.KindOf(err) != viewer.Unsupported {
			t.Errorf("a machine that cannot be resized: got %v, want the kind %q", err, viewer.Unsupported)
		}
	})
}

// startX11VNC starts x11vnc on an X server of its own.
func startX11VNC(t testing.TB) *xServer { return startX11VNCDepth(t, 24) }

// startX11VNCDepth starts x11vnc on an X server of a depth.
func startX11VNCDepth(t testing.TB, depth int) *xServer {
	t.Helper()
	s := startX(t, "Xvfb", "-screen", "0", fmt.Sprintf("640x480x%d", depth))
	s.port = freePort(t)
	ready, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	cmd := exec.Command(need(t, "x11vnc"), "-display", s.display, "-nopw", "-localhost", "-forever", "-shared",
		"-rfbport", strconv.Itoa(s.port), "-no6", "-noxrecord", "-noshm")
	cmd.Stdout = w // it prints PORT= when it listens
	// Without a window manager it takes the screen for a greeter, and leaves the
	// clipboard alone for 45 seconds.
	cmd.Env = append(os.Environ(), "X11VNC_AVOID_WINDOWS=never")
	start(t, cmd)
	w.Close()
	_ = ready.SetReadDeadline(time.Now().Add(viewertest.Patience))
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		t.Fatalf("x11vnc does not listen: %v", err)
	}
	return s
}

func TestX11VNC(t *testing.T) {
	s := startX11VNC(t)
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
	draw(t, s, l)
	xev := startXev(t, s.display)
	l.Post(t, viewer.Key{Sym: 'k', Down: true}, viewer.Key{Sym: 'k'},
		viewer.Pointer{X: 33, Y: 44, Buttons: viewer.Left}, viewer.Pointer{X: 33, Y: 44})
	want := []viewertest.Seen{{Down: true, Sym: 'k'}, {Sym: 'k'},
		{Down: true, Button: 1, X: 33, Y: 44}, {Button: 1, X: 33, Y: 44}}
	if got := xev.wait(t, 4); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
