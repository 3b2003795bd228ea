package rfb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
)

// describe writes client messages in words.
func describe(t testing.TB, b []byte) string {
	t.Helper()
	var list []string
	for len(b) > 0 {
		n := 0
		switch b[0] {
		case msgUpdateRequest:
			n = 10
			list = append(list, fmt.Sprintf("request(%d)", b[1]))
		case msgKeyEvent:
			n = 8
			list = append(list, fmt.Sprintf("%c%#x", "-+"[b[1]], binary.BigEndian.Uint32(b[4:])))
		case msgPointerEvent:
			n = 6
			list = append(list, fmt.Sprintf("%d@%d,%d", b[1], binary.BigEndian.Uint16(b[2:]), binary.BigEndian.Uint16(b[4:])))
		case msgClientCutText:
			n = 8 + int(binary.BigEndian.Uint32(b[4:]))
			list = append(list, fmt.Sprintf("text(%s)", b[8:n]))
		default:
			t.Fatalf("unknown message %d", b[0])
		}
		b = b[n:]
	}
	return strings.Join(list, " ")
}

// drain takes and writes everything that is due at a time.
func drain(t testing.TB, o *outbox, now time.Time) string {
	t.Helper()
	var all []byte
	for {
		b, _ := o.take(now)
		if len(b) == 0 {
			return describe(t, all)
		}
		all = append(all, b...)
		o.wrote()
	}
}

func down(sym uint32) viewer.Key { return viewer.Key{Sym: sym, Down: true} }
func up(sym uint32) viewer.Key   { return viewer.Key{Sym: sym} }
func point(x, y int, b viewer.Buttons) viewer.Pointer {
	return viewer.Pointer{X: x, Y: y, Buttons: b}
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestMessages(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []viewer.Input
		want string
	}{
		{"keys", []viewer.Input{down('a'), up('a')}, "+0x61 -0x61"},
		{"a key held repeats", []viewer.Input{down('a'), down('a'), up('a')}, "+0x61 +0x61 -0x61"},
		{"a release repeats the symbol that was pressed",
			[]viewer.Input{viewer.Key{Sym: 'A', Scan: 0x1e, Down: true}, viewer.Key{Sym: 'a', Scan: 0x1e}}, "+0x41 -0x41"},
		{"a key that repeats with another symbol lets go of the first",
			[]viewer.Input{viewer.Key{Sym: 'a', Scan: 0x1e, Down: true}, viewer.Key{Sym: 'A', Scan: 0x1e, Down: true}, viewer.Key{Sym: 'A', Scan: 0x1e}},
			"+0x61 -0x61 +0x41 -0x41"},
		{"a release without the scan code finds its press",
			[]viewer.Input{viewer.Key{Sym: 'a', Scan: 0x1e, Down: true}, up('a'), down('b')}, "+0x61 -0x61 +0x62"},
		{"two keys with one symbol are two", // both Shift keys of some layouts
			[]viewer.Input{viewer.Key{Sym: 0xffe1, Scan: 0x2a, Down: true}, viewer.Key{Sym: 0xffe1, Scan: 0x36, Down: true}, viewer.Key{Sym: 0xffe1, Scan: 0x2a}, viewer.Key{Sym: 0xffe1, Scan: 0x36}},
			"+0xffe1 +0xffe1 -0xffe1 -0xffe1"},
		{"a release of what is not held is sent", []viewer.Input{up(0xffe3)}, "-0xffe3"},
		{"characters without a symbol", []viewer.Input{viewer.Key{Rune: 'é', Down: true}, viewer.Key{Rune: '東', Down: true}}, "+0xe9 +0x1006771"},
		{"buttons", []viewer.Input{point(1, 2, viewer.Left), point(1, 2, viewer.Left|viewer.Right), point(3, 4, 0), point(5, 6, viewer.Middle|viewer.Back)},
			"1@1,2 5@1,2 0@3,4 130@5,6"},
		{"coordinates that do not fit", []viewer.Input{point(-5, 70000, viewer.Left)}, "1@0,65535"},
		{"wheel", []viewer.Input{viewer.Pointer{X: 7, Y: 8, WheelY: 2}, viewer.Pointer{X: 7, Y: 8, WheelY: -1}, viewer.Pointer{X: 9, Y: 8, WheelX: 1}, viewer.Pointer{X: 9, Y: 8, WheelX: -1}},
			"0@7,8 16@7,8 0@7,8 16@7,8 0@7,8 8@7,8 0@7,8 0@9,8 64@9,8 0@9,8 32@9,8 0@9,8"},
		{"wheel with a button held", []viewer.Input{point(7, 8, viewer.Left), viewer.Pointer{X: 7, Y: 8, Buttons: viewer.Left, WheelY: 1}}, "1@7,8 17@7,8 1@7,8"},
		{"moves are shed at the tail", []viewer.Input{point(1, 1, 0), point(2, 2, 0), point(3, 3, 0), down('a'), point(4, 4, 0), point(5, 5, 0)}, "0@3,3 +0x61 0@5,5"},
		{"never the point of a press or a release",
			[]viewer.Input{point(1, 1, 0), point(2, 2, viewer.Left), point(3, 3, viewer.Left), point(4, 4, viewer.Left), point(5, 5, 0), point(6, 6, 0)},
			"0@1,1 1@2,2 1@4,4 0@5,5 0@6,6"},
		{"motions add up, but not across presses",
			[]viewer.Input{point(50, 50, 0), viewer.Motion{DX: 5}, viewer.Motion{DX: 1, DY: -7}, viewer.Motion{DX: 1, Buttons: viewer.Left}, viewer.Motion{DX: 1, Buttons: viewer.Left},
				viewer.Motion{DX: 2, Buttons: viewer.Left}, viewer.Motion{}, viewer.Motion{DX: -200, DY: 500}, viewer.Motion{WheelY: 1}},
			"0@50,50 0@56,43 1@57,43 1@60,43 0@60,43 0@0,99 16@0,99 0@0,99"},
		{"never across the wheel",
			[]viewer.Input{point(1, 1, 0), viewer.Pointer{X: 1, Y: 1, WheelY: 1}, point(2, 2, 0)}, "0@1,1 16@1,1 0@1,1 0@2,2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newOutbox()
			o.resized([2]int{100, 100})
			if err := o.post(c.in); err != nil {
				t.Fatal(err)
			}
			if got := drain(t, o, noon); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestPostRefuses(t *testing.T) {
	o := newOutbox()
	for name, in := range map[string]viewer.Input{
		"a key without a symbol": viewer.Key{Scan: 0x1e, Down: true},
		"a wheel gone mad":       viewer.Pointer{WheelY: -1 << 40},
		"nothing":                nil,
		"a motion gone mad":      viewer.Motion{DX: 1 << 20},
	} {
		if err := o.post([]viewer.Input{down('a'), in}); viewer.KindOf(err) != viewer.Invalid {
			t.Errorf("%s: got %v, want the kind %q", name, err, viewer.Invalid)
		}
	}
	var many []viewer.Input
	for i := range viewer.InputQueue + 1 {
		many = append(many, down(uint32('a'+i)))
	}
	if err := o.post(many); viewer.KindOf(err) != viewer.Invalid {
		t.Errorf("more than fits in one call: got %v, want the kind %q", err, viewer.Invalid)
	}
	if o.inputs() != 0 {
		t.Errorf("%d inputs are queued of posts that were refused", o.inputs())
	}
	if err := o.post(many[:viewer.InputQueue]); err != nil {
		t.Error(err)
	}
	if err := o.post(many[:1]); viewer.KindOf(err) != viewer.Busy {
		t.Errorf("a full queue: got %v, want the kind %q", err, viewer.Busy)
	}
	if err := o.post([]viewer.Input{up('a'), up('b')}); err != nil {
		t.Errorf("releases into a full queue: %v", err)
	}
	if err := o.post([]viewer.Input{up('a')}); viewer.KindOf(err) != viewer.Busy {
		t.Errorf("the release of what is not held: got %v, want the kind %q", err, viewer.Busy)
	}
}

func TestReleaseAllClearsTheQueue(t *testing.T) {
	for _, c := range []struct {
		name         string
		before       []viewer.Input // written
		queued       []viewer.Input // not yet
		want         string
		wantHeldNext bool
	}{
		{"nothing was ever sent", nil, nil, "", false},
		{"nothing is held", []viewer.Input{point(5, 6, 0)}, nil, "0@5,6", false},
		{"buttons before keys, last key first", []viewer.Input{down(0xffe3), down('c'), point(5, 6, viewer.Left)}, nil, "0@5,6 -0x63 -0xffe3", false},
		{"what is queued is dropped, but for releases of buttons",
			[]viewer.Input{down('h'), point(1, 1, viewer.Left)},
			[]viewer.Input{point(2, 2, viewer.Left), down('x'), up('x'), point(9, 9, 0), point(8, 8, viewer.Right), point(7, 7, 0), up('h')},
			"0@9,9 0@9,9 -0x68", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newOutbox()
			if err := o.post(c.before); err != nil {
				t.Fatal(err)
			}
			drain(t, o, noon)
			if err := o.post(c.queued); err != nil {
				t.Fatal(err)
			}
			o.releaseAll()
			if got := drain(t, o, noon.Add(time.Minute)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if o.held.any() || o.inputs() != 0 {
				t.Errorf("something is held or queued afterwards")
			}
			// A click afterwards is a plain one.
			_ = o.post([]viewer.Input{point(3, 3, viewer.Left), point(3, 3, 0)})
			if got := drain(t, o, noon.Add(2*time.Minute)); got != "1@3,3 0@3,3" {
				t.Errorf("a click afterwards: got %s", got)
			}
		})
	}
}

func TestTextKeepsItsPlace(t *testing.T) {
	o := newOutbox()
	_ = o.post([]viewer.Input{down('a')})
	o.setText(appendCutText(nil, []byte("old")), textPlain)
	_ = o.post([]viewer.Input{up('a')})
	o.setText(appendCutText(nil, []byte("new")), textPlain)
	_ = o.post([]viewer.Input{down('v')})
	if got, want := drain(t, o, noon), "+0x61 -0x61 text(new) +0x76"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	o.setText(appendCutText(nil, []byte("kept")), textPlain)
	_ = o.post([]viewer.Input{down('x')})
	o.releaseAll()
	if got, want := drain(t, o, noon), "-0x76 text(kept)"; got != want {
		t.Errorf("after a release: got %s, want %s", got, want)
	}
}

// A mouse that moves a thousand times a second for three seconds: about 125
// moves a second go out, none is late, and the last is the last.
func TestFastMouse(t *testing.T) {
	o := newOutbox()
	var sent []byte
	now := noon
	for ms := range 3000 {
		now = noon.Add(time.Duration(ms) * time.Millisecond)
		if err := o.post([]viewer.Input{point(ms, 1, 0)}); err != nil {
			t.Fatal(err)
		}
		b, wait := o.take(now)
		if len(b) > 0 {
			sent = append(sent, b...)
			o.wrote()
		} else if wait <= 0 || wait > moveEvery {
			t.Fatalf("the next look is in %v", wait)
		}
		if ms == 1500 { // A click goes out at once.
			_ = o.post([]viewer.Input{point(ms, 1, viewer.Left)})
			b, _ := o.take(now)
			if got := describe(t, b); !strings.HasSuffix(got, "1@1500,1") {
				t.Fatalf("a click amid moves: got %q", got)
			}
			o.wrote()
			_ = o.post([]viewer.Input{point(ms, 1, 0)})
		}
	}
	b, _ := o.take(now.Add(moveEvery))
	sent = append(sent, b...)
	o.wrote()
	if n := len(sent) / 6; n < 300 || n > 400 {
		t.Errorf("%d moves in three seconds, want about 375", n)
	}
	if got := describe(t, sent[len(sent)-6:]); got != "0@2999,1" {
		t.Errorf("the last move is %s", got)
	}
}

func TestFlushDoesNotWaitForTheNextMove(t *testing.T) {
	o := newOutbox()
	_ = o.post([]viewer.Input{point(1, 1, 0)})
	drain(t, o, noon)
	_ = o.post([]viewer.Input{point(2, 2, 0)})
	if b, wait := o.take(noon); len(b) != 0 || wait != moveEvery {
		t.Fatalf("got %d bytes, in %v", len(b), wait)
	}
	<-o.kick // it was posted
	done := make(chan error, 1)
	go func() { done <- o.wait(context.Background(), 2) }()
	<-o.kick // it is waited for
	if got := drain(t, o, noon); got != "0@2,2" {
		t.Errorf("got %q", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestWaitEnds(t *testing.T) {
	o := newOutbox()
	_ = o.post([]viewer.Input{down('a')})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := o.wait(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait: got %v", err)
	}
	if len(o.waiters) != 0 {
		t.Errorf("%d waiters are left", len(o.waiters))
	}
	why := errors.New("over")
	done := make(chan error, 1)
	<-o.kick
	go func() { done <- o.wait(context.Background(), 1) }()
	<-o.kick
	o.stop(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
	if err := o.post([]viewer.Input{down('a')}); !errors.Is(err, why) {
		t.Errorf("a post afterwards: got %v, want %v", err, why)
	}
}

func TestRequests(t *testing.T) {
	var r requests
	now := noon
	step := func(want string) {
		t.Helper()
		ask, incremental, wait := r.next(now)
		got := "nothing"
		switch {
		case ask && incremental:
			got = "changes"
		case ask:
			got = "whole"
		case wait > 0:
			got = "later"
		}
		if got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
	step("nothing")
	r.setDemand(true)
	step("whole")
	step("nothing") // in flight
	r.setDemand(true)
	step("nothing") // it was true
	r.inFlight = false
	step("changes")
	r.setDemand(false)
	r.setDemand(true)
	step("whole") // without waiting for the answer to the other
	r.setDemand(false)
	r.inFlight = false
	step("nothing")
	r.poke = true
	step("changes")
	r.inFlight = false
	step("nothing")

	// Who looks now and then gets changes every few seconds, and the whole at
	// once; back to looking, what has changed at once.
	r = requests{}
	r.setSparse(true)
	r.setDemand(true)
	step("whole")
	r.inFlight = false
	step("later")
	now = now.Add(sparseEvery)
	step("changes")
	r.inFlight = false
	step("later")
	r.setSparse(false)
	step("changes")
	step("nothing")

	// A burst, then one every 10 ms.
	r = requests{demand: true}
	for range requestBurst {
		step("changes")
		r.inFlight = false
	}
	step("later")
	now = now.Add(requestEvery)
	step("changes")
	r.inFlight = false
	step("later")
	now = now.Add(time.Hour)
	for range requestBurst {
		step("changes")
		r.inFlight = false
	}
	step("later")
}
