package sample

import (
	"context"
	"fmt"
	"image"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb"
)

// A watcher is one of our own viewers at a sample desktop.
type watcher struct {
	t       *testing.T
	d       *desktop
	session viewer.Session
	frame   *frame.Frame
	reader  *frame.Reader

	mu     sync.Mutex // guards below
	events []viewer.Event
	kick   chan struct{} // one place: there is a new event
}

// watch opens a session to the first desktop by an encoding.
func watch(t *testing.T, m *Machines, encodings []int32, answer viewer.Answer) *watcher {
	t.Helper()
	w := &watcher{t: t, d: m.desktops[0], frame: frame.New(), kick: make(chan struct{}, 1)}
	w.reader = w.frame.Reader()
	s, err := rfb.New(rfb.Options{Encodings: encodings}).Open(t.Context(), m.Targets()[0], viewer.Env{
		Frame: w.frame,
		Ask: viewer.AskFunc(func(context.Context, viewer.Question) (viewer.Answer, error) {
			return answer, nil
		}),
		Emit: func(e viewer.Event) {
			w.mu.Lock()
			w.events = append(w.events, e)
			w.mu.Unlock()
			select {
			case w.kick <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	w.session = s
	s.(viewer.Desktop).Demand(true)
	return w
}

// sees waits until the session's picture is the desktop's.
func (w *watcher) sees() {
	w.t.Helper()
	guard := time.After(hang)
	for {
		width, height := w.frame.Size()
		got := fmt.Sprintf("picture %d %d %08x", width, height, w.frame.Checksum())
		want := sum(w.d, 32)
		if got == want {
			return
		}
		select {
		case <-w.reader.Wake():
		case <-w.session.Done():
			w.t.Fatalf("the session ended: %v", w.session.Err())
		case <-guard:
			w.t.Fatalf("got %s, want %s", got, want)
		}
	}
}

// event waits for one that fits, and forgets those before it.
func (w *watcher) event(what string, fits func(viewer.Event) bool) {
	w.t.Helper()
	guard := time.After(hang)
	for {
		w.mu.Lock()
		for len(w.events) > 0 {
			e := w.events[0]
			w.events = w.events[1:]
			if fits(e) {
				w.mu.Unlock()
				return
			}
		}
		w.mu.Unlock()
		select {
		case <-w.kick:
		case <-guard:
			w.t.Fatalf("no %s", what)
		}
	}
}

// post sends inputs and waits until the desktop has acted on them all: it
// rings when it gets there.
func (w *watcher) post(in ...viewer.Input) {
	w.t.Helper()
	in = append(in, viewer.Key{Sym: keyF9, Down: true}, viewer.Key{Sym: keyF9})
	if err := w.session.(viewer.Inputter).Post(in...); err != nil {
		w.t.Fatal(err)
	}
	w.event("bell", func(e viewer.Event) bool { _, is := e.(viewer.Bell); return is })
}

func typed(text string) (in []viewer.Input) {
	for _, r := range text {
		in = append(in, viewer.Key{Sym: uint32(r), Rune: r, Down: true}, viewer.Key{Sym: uint32(r), Rune: r})
	}
	return in
}

func clicked(at image.Point) []viewer.Input {
	return []viewer.Input{viewer.Pointer{X: at.X, Y: at.Y, Buttons: viewer.Left}, viewer.Pointer{X: at.X, Y: at.Y}}
}

// TestDriver has our own viewer use the desktop, in each encoding, and compares
// its picture after each step.
func TestDriver(t *testing.T) {
	for name, encodings := range map[string][]int32{
		"as it comes":         nil,
		"raw":                 {encRaw},
		"raw, copyrect":       {encRaw, encCopyRect},
		"hextile, copyrect":   {encHextile, encCopyRect},
		"zrle":                {encZRLE},
		"zrle, copyrect, raw": {encZRLE, encCopyRect, encRaw},
	} {
		t.Run(name, func(t *testing.T) {
			const width, height = 1111, 777
			m := start(t, Options{Width: width, Height: height})
			w := watch(t, m, encodings, viewer.Answer{})
			w.event("name", func(e viewer.Event) bool { n, is := e.(viewer.Named); return is && n.Name == "sample" })
			w.event("cursor", func(e viewer.Event) bool {
				c, is := e.(viewer.Cursor)
				return is && c.Image.Bounds().Size() == image.Pt(11, 17) && c.Hot == image.Point{}
			})
			w.sees()
			w.post(clicked(centre(PadRect(width, height)))...)
			w.sees()
			w.post(typed("Hello, sample")...)
			w.sees()
			list := centre(ListRect(width, height))
			w.post(clicked(list)...)
			for range 4 {
				w.post(viewer.Pointer{X: list.X, Y: list.Y, WheelY: 3}, viewer.Pointer{X: list.X, Y: list.Y, WheelY: -1})
				w.sees()
			}
			if _, err := w.session.(viewer.Clipboard).SetClipboard(t.Context(), "from this side"); err != nil {
				t.Fatal(err)
			}
			w.post()
			w.sees()
			w.post(clicked(centre(FieldRect(width, height)))...)
			control := viewer.Key{Sym: keyControlL, Down: true}
			if err := w.session.(viewer.Inputter).Post(control, viewer.Key{Sym: 'c', Down: true}, viewer.Key{Sym: 'c'}, viewer.Key{Sym: keyControlL}); err != nil {
				t.Fatal(err)
			}
			w.event("clipboard", func(e viewer.Event) bool { c, is := e.(viewer.CutText); return is && c.Text == "Hello, sample" })
			if err := w.session.(viewer.Resizer).Resize(t.Context(), 640, 480); err != nil {
				t.Fatal(err)
			}
			w.event("size", func(e viewer.Event) bool {
				r, is := e.(viewer.Resized)
				return is && r.Width == 640 && r.Height == 480
			})
			w.sees()
			w.post(clicked(centre(PadRect(640, 480)))...)
			w.sees()
			if err := w.session.(viewer.Resizer).Resize(t.Context(), 100, 100); err != nil {
				t.Fatal(err)
			}
			w.event("refusal", func(e viewer.Event) bool { r, is := e.(viewer.Refusal); return is && strings.TrimSpace(r.Text) != "" })
		})
	}
}

// TestDriverPassword: a right answer opens it, a wrong one is refused.
func TestDriverPassword(t *testing.T) {
	m := start(t, Options{Width: 320, Height: 200, Password: viewer.SecretString("sesame")})
	w := watch(t, m, nil, viewer.Answer{Secret: viewer.SecretString("sesame")})
	w.sees()
	_, err := rfb.New(rfb.Options{}).Open(t.Context(), m.Targets()[0], viewer.Env{
		Frame: frame.New(), Emit: func(viewer.Event) {},
		Ask: viewer.AskFunc(func(_ context.Context, q viewer.Question) (viewer.Answer, error) {
			if q.Attempt > 1 {
				return viewer.Answer{}, &viewer.Error{Kind: viewer.Credentials}
			}
			return viewer.Answer{Secret: viewer.SecretString("guess")}, nil
		}),
	})
	if k := viewer.KindOf(err); k != viewer.Denied && k != viewer.Credentials {
		t.Errorf("got %v", err)
	}
}

// TestTwoViewers: each has its own damage; both see the same in the end.
func TestTwoViewers(t *testing.T) {
	m := start(t, Options{Width: 800, Height: 600})
	a := watch(t, m, []int32{encZRLE, encCopyRect}, viewer.Answer{})
	b := watch(t, m, []int32{encHextile}, viewer.Answer{})
	a.sees()
	b.sees()
	list := centre(ListRect(800, 600))
	var wg sync.WaitGroup
	for _, w := range []*watcher{a, b} {
		wg.Go(func() {
			for i := range 60 {
				w.post(viewer.Pointer{X: list.X, Y: list.Y, WheelY: i%5 - 1})
				w.post(clicked(centre(PadRect(800, 600)))...)
				w.post(typed("x")...)
			}
		})
	}
	wg.Wait()
	// One rings for the other, so that a click may still be on its way. Each
	// changes the picture.
	clicks := func() int {
		d := m.desktops[0]
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.scene.clicks
	}
	for guard := time.After(hang); clicks() < 120; {
		select {
		case <-a.reader.Wake():
		case <-guard:
			t.Fatalf("got %d clicks, want 120", clicks())
		}
	}
	a.sees()
	b.sees()
	if n := clicks(); n != 120 {
		t.Errorf("got %d clicks, want 120", n)
	}
}
