package viewertest

import (
	"context"
	"image"
	"image/color"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/grid"
)

// Patience is how long the suite waits for what must come. It guards against
// hangs; nothing is measured.
const Patience = 30 * time.Second

// Live is a session that is being tried, with what it has reported.
type Live struct {
	viewer.Session
	Frame *frame.Frame
	Grid  *grid.Terminal // of terminals

	reader *frame.Reader
	mu     sync.Mutex // guards below
	events []viewer.Event
	wake   chan struct{} // closed and renewed with each event
}

// Open opens a session on a target, and closes it with the test.
func Open(t testing.TB, d viewer.Driver, target viewer.Target, ask viewer.Asker) *Live {
	t.Helper()
	l, err := TryOpen(t, d, target, ask, nil)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return l
}

// TryOpen is Open for a session that may fail. dial may be nil.
func TryOpen(t testing.TB, d viewer.Driver, target viewer.Target, ask viewer.Asker,
	dial func(context.Context, string, string) (net.Conn, error)) (*Live, error) {
	t.Helper()
	if ask == nil {
		ask = viewer.AskFunc(func(_ context.Context, q viewer.Question) (viewer.Answer, error) {
			t.Errorf("asked for %s", q.Kind)
			return viewer.Answer{}, &viewer.Error{Op: "ask", Kind: viewer.Cancelled}
		})
	}
	l := &Live{Frame: frame.New(), Grid: grid.New(grid.Options{Cols: 80, Rows: 24}), wake: make(chan struct{})}
	l.reader = l.Frame.Reader()
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	s, err := d.Open(ctx, target, viewer.Env{Frame: l.Frame, Grid: l.Grid, Ask: ask, Emit: l.emit, Dial: dial})
	if err != nil {
		return l, err
	}
	l.Session = s
	t.Cleanup(func() {
		s.Close()
		// The session says that all it started has stopped; the runtime takes
		// a moment to see the last one leave.
		for end := time.Now().Add(Patience); runtime.NumGoroutine() > before; runtime.Gosched() {
			if time.Now().After(end) {
				t.Errorf("%d goroutines are left, %d were there before", runtime.NumGoroutine(), before)
				return
			}
		}
	})
	return l, nil
}

func (l *Live) emit(e viewer.Event) {
	l.mu.Lock()
	l.events = append(l.events, e)
	close(l.wake)
	l.wake = make(chan struct{})
	l.mu.Unlock()
}

// Events returns what was reported so far.
func (l *Live) Events() []viewer.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]viewer.Event(nil), l.events...)
}

// Event waits until an event satisfies ok.
func (l *Live) Event(t testing.TB, what string, ok func(viewer.Event) bool) viewer.Event {
	t.Helper()
	guard := time.After(Patience)
	for {
		l.mu.Lock()
		events, wake := l.events, l.wake
		l.mu.Unlock()
		for _, e := range events {
			if ok(e) {
				return e
			}
		}
		select {
		case <-wake:
		case <-guard:
			t.Fatalf("no event: %s; got %v", what, events)
		}
	}
}

// Until waits until the picture satisfies ok.
func (l *Live) Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	guard := time.After(Patience)
	for !ok() {
		select {
		case <-l.reader.Wake():
		case <-l.Done():
			if !ok() {
				t.Fatalf("the session ended before %s: %v", what, l.Err())
			}
		case <-guard:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// At is the colour of a pixel.
func (l *Live) At(x, y int) color.RGBA {
	v, ok := l.Frame.Snapshot(image.Rect(x, y, x+1, y+1), nil)
	if !ok {
		return color.RGBA{}
	}
	return v.Image.RGBAAt(0, 0)
}

// Look asks for the picture and waits until all of it is there.
func (l *Live) Look(t testing.TB) {
	t.Helper()
	l.Session.(viewer.Desktop).Demand(true)
	l.Until(t, "the whole picture", func() bool { return l.Frame.Whole(image.Rectangle{}) })
}

// Post queues inputs and waits until they are written.
func (l *Live) Post(t testing.TB, in ...viewer.Input) {
	t.Helper()
	i := l.Session.(viewer.Inputter)
	if err := i.Post(in...); err != nil {
		t.Fatalf("post: %v", err)
	}
	l.Flush(t)
}

// Flush waits until everything is written.
func (l *Live) Flush(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := l.Session.(viewer.Inputter).Flush(ctx); err != nil {
		t.Fatalf("flush: %v", err)
	}
}

// Wait waits for the session's end.
func (l *Live) Wait(t testing.TB) {
	t.Helper()
	select {
	case <-l.Done():
	case <-time.After(Patience):
		t.Fatal("the session does not end")
	}
}

// A Gate is a connection whose writes can be held up, as by a network that
// stalls.
type Gate struct {
	net.Conn
	mu sync.Mutex // held while the gate is shut
}

// Dial dials through the gate, which is open at first.
func (g *Gate) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
	g.Conn = c
	return g, err
}

// Write waits while the gate is shut.
func (g *Gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Conn.Write(p)
}

// Shut holds up writes from now on.
func (g *Gate) Shut() { g.mu.Lock() }

// Open lets them through again.
func (g *Gate) Open() { g.mu.Unlock() }
