package viewertest

import (
	"context"
	"image"
	"image/color"
	"net"
	"slices"
	"testing"

	"deskvnc/viewer"
)

var (
	red   = color.RGBA{0xe0, 0x10, 0x20, 0xff}
	green = color.RGBA{0x10, 0xc0, 0x30, 0xff}
	blue  = color.RGBA{0x20, 0x30, 0xd0, 0xff}
)

func testOpen(t *testing.T, s Suite) {
	l := Open(t, s.Driver, s.Machine(t).Target(t), s.Ask)
	order := []viewer.Phase{viewer.Resolving, viewer.Connecting, viewer.Authenticating, viewer.Negotiating, viewer.Connected}
	at := -1
	for _, e := range l.Events() {
		if p, ok := e.(viewer.Progress); ok {
			i := slices.Index(order, p.Phase)
			// A login tells its method anew when it knows more of it.
			if i < at || i == at && p.Phase != viewer.Authenticating {
				t.Errorf("phase %s comes after %s", p.Phase, order[max(at, 0)])
			}
			at = i
		}
	}
	if at != len(order)-1 {
		t.Errorf("the last phase is not %s", viewer.Connected)
	}
	if err := l.Err(); err != nil {
		t.Errorf("a live session has the error %v", err)
	}
	if _, ok := l.Session.(viewer.Desktop); !ok {
		return
	}
	w, h := l.Frame.Size()
	sized := l.Event(t, "the size", func(e viewer.Event) bool { _, ok := e.(viewer.Resized); return ok }).(viewer.Resized)
	if sized.Width != w || sized.Height != h || w == 0 || h == 0 {
		t.Errorf("the event says %d x %d, the frame is %d x %d", sized.Width, sized.Height, w, h)
	}
}

func testPicture(t *testing.T, s Suite) {
	p := s.Machine(t)
	l := Open(t, s.Driver, p.Target(t), s.Ask)
	if _, ok := l.Session.(viewer.Desktop); !ok {
		t.Skip("no picture")
	}
	l.Look(t)
	p.Paint(t, image.Rect(0, 0, 200, 150), red)
	p.Paint(t, image.Rect(20, 30, 50, 60), green)
	l.Until(t, "the painted rectangles", func() bool { return l.At(19, 30) == red && l.At(20, 30) == green })
	for _, c := range []struct {
		x, y int
		want color.RGBA
	}{{0, 0, red}, {49, 59, green}, {50, 59, red}, {49, 60, red}, {199, 149, red}} {
		if got := l.At(c.x, c.y); got != c.want {
			t.Errorf("pixel %d,%d: got %v, want %v", c.x, c.y, got, c.want)
		}
	}
	before := l.Frame.Updates()
	l.Session.(viewer.Desktop).Refresh()
	l.Until(t, "a refreshed picture", func() bool { return l.Frame.Updates() > before })
	if got := l.At(20, 30); got != green {
		t.Errorf("after a refresh: got %v, want %v", got, green)
	}
}

// testNoDemand uses an input that the machine has seen as the sign that it had
// time to send pixels too.
func testNoDemand(t *testing.T, s Suite) {
	p := s.Machine(t)
	l := Open(t, s.Driver, p.Target(t), s.Ask)
	d, ok := l.Session.(viewer.Desktop)
	if !ok {
		t.Skip("no picture")
	}
	seen := 0
	roundTrip := func() {
		l.Post(t, key('x', true), key('x', false))
		seen += 2
		p.Seen(t, seen)
	}
	p.Paint(t, image.Rect(0, 0, 100, 100), red)
	roundTrip()
	if n := l.Frame.Updates(); n != 0 {
		t.Errorf("got %d updates although nobody looks", n)
	}
	l.Look(t)
	l.Until(t, "what was painted before", func() bool { return l.At(5, 5) == red })
	d.Demand(false)
	before := l.Frame.Updates()
	for range 5 {
		p.Paint(t, image.Rect(0, 0, 100, 100), green)
		roundTrip()
		p.Paint(t, image.Rect(0, 0, 100, 100), blue)
		roundTrip()
	}
	if n := l.Frame.Updates() - before; n > 1 {
		t.Errorf("got %d updates after nobody looked any more; only the one asked for before may come", n)
	}
	d.Demand(true)
	l.Until(t, "the picture as it is now", func() bool { return l.At(5, 5) == blue })
}

func testResize(t *testing.T, s Suite) {
	p := s.Machine(t)
	l := Open(t, s.Driver, p.Target(t), s.Ask)
	r, ok := l.Session.(viewer.Resizer)
	if !ok {
		t.Skip("the driver does not resize")
	}
	l.Look(t)
	if err := r.Resize(context.Background(), 333, 222); err != nil {
		if viewer.KindOf(err) == viewer.Unsupported {
			t.Skipf("this machine does not resize: %v", err)
		}
		t.Fatal(err)
	}
	l.Event(t, "the new size", func(e viewer.Event) bool {
		sized, ok := e.(viewer.Resized)
		return ok && sized.Width == 333 && sized.Height == 222
	})
	l.Until(t, "the whole new picture", func() bool {
		w, h := l.Frame.Size()
		return w == 333 && h == 222 && l.Frame.Whole(image.Rectangle{})
	})
	p.Paint(t, image.Rect(320, 210, 333, 222), green)
	l.Until(t, "the new corner", func() bool { return l.At(332, 221) == green })
}

func testClipboard(t *testing.T, s Suite) {
	p := s.Machine(t)
	c, ok := p.(Clipper)
	l := Open(t, s.Driver, p.Target(t), s.Ask)
	b, able := l.Session.(viewer.Clipboard)
	if !ok || !able {
		t.Skip("no clipboard")
	}
	lost, err := b.SetClipboard(context.Background(), "café\r\nzwei")
	if err != nil || lost != 0 {
		t.Fatalf("got %d lost, %v", lost, err)
	}
	c.Clip(t, "café\nzwei")
}

func testUnreachable(t *testing.T, s Suite) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	_, err = TryOpen(t, s.Driver, viewer.Target{Address: "127.0.0.1", Port: port}, s.Ask, nil)
	if got := viewer.KindOf(err); err == nil || got != viewer.Unreachable {
		t.Errorf("got %q: %v, want %q", got, err, viewer.Unreachable)
	}
}
