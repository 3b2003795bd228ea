package rfb_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"net"
	"os/exec"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/viewertest"
)

// openOver opens a session over a connection that wrap makes of a plain one.
func openOver(t *testing.T, s *xServer, o rfb.Options, wrap func(net.Conn) net.Conn) *viewertest.Live {
	t.Helper()
	l, err := viewertest.TryOpen(t, rfb.New(o), s.target(), nil, func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return wrap(c), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A long text, moves of the pointer, keys and another size at once, over a slow
// connection, arrive whole and in order (C036).
func TestMixedInputOverASlowConnection(t *testing.T) {
	xclip := need(t, "xclip")
	s := startTiger(t, "-SecurityTypes", "None")
	xev := startXev(t, s.display)
	l := openOver(t, s, rfb.Options{}, func(c net.Conn) net.Conn {
		return &thin{&slow{Conn: c, rate: 200 << 10}, 200 * time.Millisecond}
	})
	l.Look(t)
	l.Until(t, "the offer to resize", func() bool {
		return l.Session.(viewer.Signaller).Signals()[viewer.SignalResize].Availability == viewer.Live
	})
	text := long(200<<10, 4)
	setClipboard(t, l, text)
	pasted := make(chan error, 1)
	go func() { // asks for the text while all the rest is under way
		out, err := exec.Command(xclip, "-display", s.display, "-selection", "clipboard", "-o", "-t", "UTF8_STRING").Output()
		if err == nil && string(out) != text {
			err = fmt.Errorf("pasted %d bytes, want %d", len(out), len(text))
		}
		pasted <- err
	}()
	var want []viewertest.Seen
	for i := range 100 {
		sym := uint32('a' + i%26)
		l.Post(t, viewer.Pointer{X: 1 + i, Y: 50}, viewer.Key{Sym: sym, Down: true}, viewer.Key{Sym: sym})
		want = append(want, viewertest.Seen{Down: true, Sym: sym}, viewertest.Seen{Sym: sym})
		if i%25 == 0 {
			if err := l.Session.(viewer.Resizer).Resize(t.Context(), 640+i, 480); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := <-pasted; err != nil {
		t.Error(err)
	}
	if got := xev.wait(t, len(want)); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	l.Until(t, "the last size", func() bool { w, h := l.Frame.Size(); return w == 715 && h == 480 })
	picture := s.picture(t)
	l.Until(t, "the machine's own picture", func() bool { return same(l, picture) })
}

// A key arrives while a large update is still on its way over a slow connection
// (C141).
func TestKeyDuringALargeUpdate(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None")
	xev := startXev(t, s.display)
	l := openOver(t, s, rfb.Options{Encodings: []int32{0}}, func(c net.Conn) net.Conn { return &slow{Conn: c, rate: 300 << 10} })
	l.Look(t)
	r := rand.New(rand.NewPCG(3, 4))
	pix := make([]byte, 600*400*4)
	for i := range pix {
		pix[i] = byte(r.Uint32())
	}
	received := l.Session.(*rfb.Session).Stats().Received
	begun := func() bool { return l.Session.(*rfb.Session).Stats().Received > received+10<<10 }
	for y := 0; y < 400; y += 50 { // an X request has a size
		s.put(t, 0, y, 600, 50, pix[y*2400:(y+50)*2400])
	}
	want := s.picture(t)
	for end := time.Now().Add(viewertest.Patience); !begun(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no update comes")
		}
	}
	l.Post(t, viewer.Key{Sym: 'k', Down: true}, viewer.Key{Sym: 'k'})
	xev.wait(t, 2)
	if same(l, want) {
		t.Error("the key waited for the whole update")
	}
	l.Until(t, "the machine's own picture", func() bool { return same(l, want) })
}

// delayed is a connection with a far end: what is read was sent a while ago.
type delayed struct {
	net.Conn
	pieces chan piece // closed at the end
	gone   chan struct{}
	rest   []byte
}

type piece struct {
	b  []byte
	at time.Time
}

func newDelayed(t *testing.T, c net.Conn, by time.Duration) net.Conn {
	d := &delayed{Conn: c, pieces: make(chan piece, 1000), gone: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(d.pieces)
		for {
			b := make([]byte, 16<<10)
			n, err := c.Read(b)
			if n > 0 {
				select {
				case d.pieces <- piece{b[:n], time.Now().Add(by)}:
				case <-d.gone:
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { close(d.gone); c.Close(); <-ended })
	return d
}

func (d *delayed) Read(p []byte) (int, error) {
	if len(d.rest) == 0 {
		next, ok := <-d.pieces
		if !ok {
			return 0, net.ErrClosed
		}
		<-time.After(time.Until(next.at))
		d.rest = next.b
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// Colours and quality change while updates are on a long way: none of them is
// misread (C055).
func TestTuneOverALongWay(t *testing.T) {
	for _, m := range tunable[:2] {
		t.Run(m.name, func(t *testing.T) {
			s := m.start(t)
			l := openOver(t, s, rfb.Options{}, func(c net.Conn) net.Conn { return newDelayed(t, c, 200*time.Millisecond) })
			l.Look(t)
			r := rand.New(rand.NewPCG(5, 6))
			for i := range 40 {
				tune(t, l, viewer.Picture{
					Quality: viewer.Qualities[r.IntN(len(viewer.Qualities))],
					Colors:  viewer.AllColors[r.IntN(len(viewer.AllColors))],
				})
				for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); { // a moving picture
					x, y := r.IntN(560), r.IntN(400)
					s.fill(t, image.Rect(x, y, x+80, y+80), color.RGBA{uint8(i), uint8(r.Uint32()), uint8(r.Uint32()), 0xff})
				}
			}
			tune(t, l, viewer.Picture{Quality: viewer.QualityLossless})
			scribble(t, s, 7)
			want := s.picture(t)
			l.Until(t, "the machine's own picture", func() bool { return same(l, want) })
			if err := l.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}
