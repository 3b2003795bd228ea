package viewertest

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/grid"
)

func key(sym uint32, down bool) viewer.Key { return viewer.Key{Sym: sym, Down: down} }

func at(x, y int, held viewer.Buttons) viewer.Pointer {
	return viewer.Pointer{X: x, Y: y, Buttons: held}
}

func compare(t testing.TB, got, want []Seen) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// inputs opens a session that takes input, with its pointer at 5,5.
func inputs(t *testing.T, s Suite) (Peer, *Live) {
	t.Helper()
	p := s.Machine(t)
	l := Open(t, s.Driver, p.Target(t), s.Ask)
	if _, ok := l.Session.(viewer.Inputter); !ok {
		t.Skip("no input")
	}
	l.Post(t, at(5, 5, 0))
	return p, l
}

func testInputs(t *testing.T, s Suite) {
	p, l := inputs(t, s)
	l.Post(t,
		key('a', true), key('a', false),
		key(0xff0d, true), key(0xff0d, false), // Return
		at(10, 20, 0), at(10, 20, viewer.Left), at(10, 20, 0),
		at(30, 40, viewer.Right), at(50, 60, viewer.Right), at(50, 60, 0),
		viewer.Pointer{X: 70, Y: 80, WheelY: 2}, viewer.Pointer{X: 70, Y: 80, WheelY: -1},
		key('b', true), key('b', false),
	)
	want := []Seen{
		{Down: true, Sym: 'a'}, {Sym: 'a'},
		{Down: true, Sym: 0xff0d}, {Sym: 0xff0d},
		{Down: true, Button: 1, X: 10, Y: 20}, {Button: 1, X: 10, Y: 20},
		{Down: true, Button: 3, X: 30, Y: 40}, {Button: 3, X: 50, Y: 60},
		{Down: true, Button: 5, X: 70, Y: 80}, {Button: 5, X: 70, Y: 80},
		{Down: true, Button: 5, X: 70, Y: 80}, {Button: 5, X: 70, Y: 80},
		{Down: true, Button: 4, X: 70, Y: 80}, {Button: 4, X: 70, Y: 80},
		{Down: true, Sym: 'b'}, {Sym: 'b'},
	}
	compare(t, p.Seen(t, len(want)), want)
}

func testManyClicks(t *testing.T, s Suite) {
	p, l := inputs(t, s)
	i := l.Session.(viewer.Inputter)
	var want []Seen
	for n := range 300 {
		x := 10 + n%50
		for {
			err := i.Post(at(x, 20, viewer.Left), at(x, 20, 0))
			if err == nil {
				break
			}
			if viewer.KindOf(err) != viewer.Busy {
				t.Fatal(err)
			}
			l.Flush(t)
		}
		want = append(want, Seen{Down: true, Button: 1, X: x, Y: 20}, Seen{Button: 1, X: x, Y: 20})
	}
	l.Flush(t)
	if n := i.Queued(); n != 0 {
		t.Errorf("%d inputs are queued after a flush", n)
	}
	compare(t, p.Seen(t, len(want)), want)
}

func testReleaseAll(t *testing.T, s Suite) {
	p, l := inputs(t, s)
	r, ok := l.Session.(viewer.Releaser)
	if !ok {
		t.Skip("the driver does not release")
	}
	l.Post(t, key(0xffe3, true), key('q', true), at(15, 25, viewer.Left)) // Control_L
	if err := r.ReleaseAll(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := p.Seen(t, 6)
	want := []Seen{
		{Down: true, Sym: 0xffe3}, {Down: true, Sym: 'q'}, {Down: true, Button: 1, X: 15, Y: 25},
		{Button: 1, X: 15, Y: 25}, {Sym: 'q'}, {Sym: 0xffe3},
	}
	compare(t, got, want)
}

// testBusy fills the queue of a session whose writes are held up.
func testBusy(t *testing.T, s Suite) {
	p := s.Machine(t)
	var g Gate
	l, err := TryOpen(t, s.Driver, p.Target(t), s.Ask, g.Dial)
	if err != nil {
		t.Fatal(err)
	}
	i, ok := l.Session.(viewer.Inputter)
	if !ok {
		t.Skip("no input")
	}
	l.Post(t, at(5, 5, 0), key('h', true))
	g.Shut()
	for n := range viewer.InputQueue / 2 {
		if err := i.Post(key('a', true), key('a', false)); err != nil {
			// A release takes no place, so that all of these fit.
			g.Open()
			t.Fatalf("pair %d: %v", n, err)
		}
	}
	var full error
	for range viewer.InputQueue {
		if full = i.Post(key('b', true), at(9, 9, 0)); full != nil {
			break
		}
	}
	if viewer.KindOf(full) != viewer.Busy {
		t.Errorf("a full queue: got %v, want the kind %q", full, viewer.Busy)
	}
	queued := i.Queued()
	if err := i.Post(key('b', true), key('b', false)); viewer.KindOf(err) == viewer.Busy && i.Queued() != queued {
		t.Errorf("a part of a refused post was queued")
	}
	if err := i.Post(key('h', false)); err != nil {
		t.Errorf("the release of a held key into a full queue: %v", err)
	}
	g.Open()
	l.Flush(t)
	seen := p.Seen(t, 2+viewer.InputQueue)
	if !slices.Contains(seen, Seen{Sym: 'h'}) {
		// The last ones may still be on their way.
		seen = p.Seen(t, len(seen)+1)
	}
	if !slices.Contains(seen, Seen{Sym: 'h'}) {
		t.Errorf("the release did not arrive: %d seen", len(seen))
	}
}

// testMoves posts more moves than there are places, with clicks between them.
func testMoves(t *testing.T, s Suite) {
	p := s.Machine(t)
	var g Gate
	l, err := TryOpen(t, s.Driver, p.Target(t), s.Ask, g.Dial)
	if err != nil {
		t.Fatal(err)
	}
	i, ok := l.Session.(viewer.Inputter)
	if !ok {
		t.Skip("no input")
	}
	l.Post(t, at(5, 5, 0))
	g.Shut()
	var want []Seen
	for click := range 5 {
		for n := range 2 * viewer.InputQueue {
			if err := i.Post(at(n%100, click, 0)); err != nil {
				g.Open()
				t.Fatalf("a move: %v", err)
			}
		}
		x := 10 * click
		if err := i.Post(at(x, 50, viewer.Left), at(x+1, 51, viewer.Left), at(x+2, 52, viewer.Left), at(x+2, 52, 0)); err != nil {
			g.Open()
			t.Fatal(err)
		}
		want = append(want, Seen{Down: true, Button: 1, X: x, Y: 50}, Seen{Button: 1, X: x + 2, Y: 52})
	}
	if n := i.Queued(); n > 64 {
		t.Errorf("%d inputs are queued; moves were not shed", n)
	}
	g.Open()
	l.Flush(t)
	compare(t, p.Seen(t, len(want)), want)
}

func testClose(t *testing.T, s Suite) {
	p, l := inputs(t, s)
	l.Post(t, key('w', true), at(12, 13, viewer.Middle))
	p.Seen(t, 2)
	if err := l.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	select {
	case <-l.Done():
	default:
		t.Error("close returned before the end")
	}
	if err := l.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
	if err := l.Err(); err != nil {
		t.Errorf("a closed session has the error %v", err)
	}
	if err := l.Session.(viewer.Inputter).Post(key('w', true)); err == nil {
		t.Error("a closed session takes input")
	}
	compare(t, p.Seen(t, 4)[2:], []Seen{{Button: 2, X: 12, Y: 13}, {Sym: 'w'}})
}

func testKill(t *testing.T, s Suite) {
	p, l := inputs(t, s)
	if _, ok := l.Session.(viewer.Desktop); ok {
		l.Look(t)
	}
	p.Kill(t)
	l.Wait(t)
	if got := viewer.KindOf(l.Err()); l.Err() == nil || got != viewer.Closed {
		t.Errorf("got %q: %v, want %q", got, l.Err(), viewer.Closed)
	}
	if err := l.Session.(viewer.Inputter).Flush(context.Background()); err != nil && viewer.KindOf(err) != viewer.Closed {
		t.Errorf("flush after the end: %v", err)
	}
}

// testCancel opens a session on a connection that never answers.
func testCancel(t *testing.T, s Suite) {
	ctx, cancel := context.WithCancel(context.Background())
	ours, theirs := net.Pipe()
	defer theirs.Close()
	ended := make(chan error, 1)
	dialled := make(chan struct{})
	go func() {
		_, err := s.Driver.Open(ctx, viewer.Target{Address: "127.0.0.1", Port: 1}, viewer.Env{
			Frame: frame.New(), Grid: grid.New(grid.Options{Cols: 80, Rows: 24}), Emit: func(viewer.Event) {},
			Ask: viewer.AskFunc(func(ctx context.Context, _ viewer.Question) (viewer.Answer, error) {
				<-ctx.Done()
				return viewer.Answer{}, ctx.Err()
			}),
			Dial: func(context.Context, string, string) (net.Conn, error) { close(dialled); return ours, nil },
		})
		ended <- err
	}()
	<-dialled
	cancel()
	select {
	case err := <-ended:
		if got := viewer.KindOf(err); err == nil || got != viewer.Cancelled {
			t.Errorf("got %q: %v, want %q", got, err, viewer.Cancelled)
		}
	case <-time.After(Patience):
		t.Error("open does not return")
	}
}
