package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"os"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/look"
	"deskvnc/control/grant"
	"deskvnc/control/plane"
	"deskvnc/viewer"
	"deskvnc/viewer/drivers"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/sample"
)

// hang bounds every wait of the tests.
const hang = 30 * time.Second

// A lab is a window with the real engine, plane and VNC driver behind it, and
// sample machines to connect to. The test is the goroutine of the widgets:
// what is posted to it runs in until.
type lab struct {
	t      *testing.T
	w      *Window
	win    fyne.Window
	engine *engine.Engine
	plane  *plane.Plane
	posts  chan func()
	quits  int
}

// poster queues what goes to the widgets.
type poster struct {
	mu    sync.Mutex
	queue []func()
	ready chan struct{}
}

func newLab(t *testing.T, o sample.Options, change ...func(*Config)) *lab {
	t.Helper()
	l := &lab{t: t, posts: make(chan func())}
	a := test.NewTempApp(t)
	a.Settings().SetTheme(look.Theme{})
	l.win = test.NewTempWindow(t, nil)
	machines, err := sample.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { machines.Close() })

	p := &poster{ready: make(chan struct{}, 1)}
	gate := fence.On(func(fn func()) {
		p.mu.Lock()
		p.queue = append(p.queue, fn)
		p.mu.Unlock()
		select {
		case p.ready <- struct{}{}:
		default:
		}
	})
	ended := make(chan struct{})
	var pump sync.WaitGroup
	pump.Go(func() {
		for {
			p.mu.Lock()
			var next func()
			if len(p.queue) > 0 {
				next, p.queue = p.queue[0], p.queue[1:]
			}
			p.mu.Unlock()
			if next == nil {
				select {
				case <-p.ready:
				case <-ended:
					return
				}
				continue
			}
			select {
			case l.posts <- next:
			case <-ended:
				return
			}
		}
	})
	t.Cleanup(func() { close(ended); pump.Wait() })

	var window *Window
	l.engine = engine.New(engine.Config{Drivers: drivers.Registry(), Asker: func(s *engine.Session) viewer.Asker { return window.Asker(s) }})
	t.Cleanup(l.engine.Close)
	targets := machines.Targets()
	l.plane = plane.New(plane.Config{Engine: l.engine, Hosts: hosts(targets), Version: "test"})
	t.Cleanup(l.plane.Close)
	c := Config{App: a, Window: l.win, Fence: gate, Engine: l.engine, Plane: l.plane, Samples: targets, Version: "test", Quit: func() { l.quits++ }}
	for _, fn := range change {
		fn(&c)
	}
	window, err = New(c)
	if err != nil {
		t.Fatal(err)
	}
	l.w = window
	t.Cleanup(window.Close)
	l.win.Resize(fyne.NewSize(1000, 700))
	return l
}

type hosts []viewer.Target

func (h hosts) Hosts() []viewer.Target { return h }

// until runs what is posted until ok is true.
func (l *lab) until(what string, ok func() bool) {
	l.t.Helper()
	limit := time.NewTimer(hang)
	defer limit.Stop()
	look := time.NewTicker(10 * time.Millisecond) // not everything is posted here
	defer look.Stop()
	for !ok() {
		select {
		case fn := <-l.posts:
			fn()
		case <-look.C:
		case <-limit.C:
			l.t.Fatalf("waited too long for %s; the window shows\n%s", what, l.describe())
		}
	}
}

// describe is what the window shows, for a test that waits too long.
func (l *lab) describe() string {
	text := l.win.Title() + "\n" + l.w.status.text.Value()
	if t := l.w.selected; t != nil {
		text += fmt.Sprintf("\n%+v", t.session.State())
	}
	return text
}

// open opens a sample machine and waits until its picture is there.
func (l *lab) open(i int) *tab {
	l.t.Helper()
	l.w.start.open(l.w.config.Samples[i])
	t := l.w.selected
	if t == nil {
		l.t.Fatal("no session was opened")
	}
	l.until("the picture of "+t.title(), func() bool {
		return t.session.State().Phase == viewer.Connected && t.session.Frame().Whole(image.Rectangle{}) && t.pane.Place().Remote.X > 0
	})
	return t
}

// at is the point of the canvas that shows a remote pixel.
func (l *lab) at(t *tab, p image.Point) fyne.Position {
	place := t.pane.Place()
	origin := fyne.CurrentApp().Driver().AbsolutePositionForObject(t.pane.Object())
	return origin.Add(fyne.NewPos(
		float32(place.Rect.Min.X)+(float32(p.X)+0.5)*float32(place.Rect.Dx())/float32(place.Remote.X),
		float32(place.Rect.Min.Y)+(float32(p.Y)+0.5)*float32(place.Rect.Dy())/float32(place.Remote.Y),
	))
}

// mouseable is what takes the mouse in a pane.
type mouseable interface {
	fyne.CanvasObject
	desktop.Mouseable
	desktop.Hoverable
	desktop.Keyable
	fyne.Scrollable
}

func surfaceOf(t *tab) mouseable {
	return t.pane.Object().(*fyne.Container).Objects[0].(mouseable)
}

// click clicks on a remote pixel with a button.
func (l *lab) click(t *tab, p image.Point, b desktop.MouseButton) {
	l.t.Helper()
	ev := &desktop.MouseEvent{Button: b}
	ev.AbsolutePosition = l.at(t, p)
	s := surfaceOf(t)
	s.MouseMoved(ev)
	s.MouseDown(ev)
	s.MouseUp(ev)
}

// pixel is a pixel of the session's frame.
func pixel(t *tab, p image.Point) [3]uint8 {
	v, ok := t.session.Frame().Snapshot(image.Rectangle{Min: p, Max: p.Add(image.Pt(1, 1))}, nil)
	if !ok {
		return [3]uint8{}
	}
	return [3]uint8(v.Image.Pix[:3])
}

// agent attaches an agent that may do what the key file allows.
func (l *lab) agent(name string) *plane.Attachment {
	l.t.Helper()
	a, err := l.plane.Attach(name, grant.Default())
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(a.Close)
	return a
}

// call runs a tool for an agent while the window goes on, and returns its
// structured result.
func (l *lab) call(a *plane.Attachment, tool string, args map[string]any) map[string]any {
	l.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		l.t.Fatal(err)
	}
	done := make(chan []byte, 1)
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	go func() { done <- a.Call(ctx, tool, raw) }()
	var out []byte
	limit := time.NewTimer(hang)
	defer limit.Stop()
	for out == nil {
		select {
		case out = <-done:
		case fn := <-l.posts:
			fn()
		case <-limit.C:
			l.t.Fatalf("waited too long for %s", tool)
		}
	}
	var r struct {
		IsError           bool           `json:"isError"`
		StructuredContent map[string]any `json:"structuredContent"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		l.t.Fatalf("%s: %v in %s", tool, err, out)
	}
	if r.IsError {
		l.t.Logf("%s refused: %s", tool, out)
	}
	return r.StructuredContent
}

func TestMain(m *testing.M) {
	os.Setenv("LC_ALL", "en_US.UTF-8") // the toolkit complains about C
	os.Exit(m.Run())
}
