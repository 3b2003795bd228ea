package x11

import (
	"testing"
	"time"

	"deskvnc/app/ui/keyboard"
	"deskvnc/app/ui/x11/xlab"
)

// While the keyboard goes back and forth under somebody's typing, each key
// comes once: past the toolkit, or to it, with the helper's word on it. xev is
// the toolkit here. The release comes the way the press did.
func TestNoKeyIsLostAtAGrab(t *testing.T) {
	display := xlab.Start(t)
	xlab.Layout(t, display, "-layout", "us")
	win, out := xlab.StartXev(t, display, "-event", "keyboard")
	const rounds, taps = 100, 5
	type event struct {
		code int
		down bool
	}
	past := make(chan event, 2*rounds*taps+2)
	h := dial(t, display, win, Events{
		Key: func(code int, _ keyboard.Stroke, down bool) { past <- event{code, down} },
	})
	d, typing := xlab.NewDriver(t, display), xlab.NewDriver(t, display)
	d.Focus(win)
	d.Pause, typing.Pause = 0, 0
	codes := []int{aKey, qKey, eKey, 27, 28}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range rounds {
			for _, c := range codes {
				typing.Tap(c)
			}
		}
	}()
	for typed := false; !typed; {
		if !h.Grab(true) {
			t.Error("the keyboard could not be grabbed")
		}
		h.Grab(false)
		select {
		case <-done:
			typed = true
		default:
		}
	}
	if _, err := h.state(); err != nil { // the X server has taken the end of the grab
		t.Fatal(err)
	}
	d.Tap(escKey) // the last, after the last end of a grab
	presses := presses(out.Wait(t, "the last key", func(l []string) bool {
		p := presses(l)
		return len(p) > 0 && p[len(p)-1] == "9:ff1b"
	}))
	limit := time.After(xlab.Hang)
	var strokes int
	for strokes == 0 { // until the helper has seen the last key too
		h.mu.Lock()
		if n := len(h.strokes); n > 0 && h.strokes[n-1].code == escKey {
			strokes = n
		}
		arrived := h.arrived
		h.mu.Unlock()
		if strokes != 0 {
			break
		}
		select {
		case <-arrived:
		case <-limit:
			t.Fatal("the helper has not seen the last key")
		}
	}
	down := map[int]bool{}
	var grabbed int
	for range len(past) {
		ev := <-past
		switch {
		case ev.down && down[ev.code]:
			t.Errorf("key %d came down twice without its release", ev.code)
		case ev.down:
			grabbed++
		}
		down[ev.code] = ev.down
	}
	for code, on := range down {
		if on {
			t.Errorf("the release of key %d did not come", code)
		}
	}
	if strokes != len(presses) {
		t.Errorf("the toolkit got %d presses, and the helper has its word on %d", len(presses), strokes)
	}
	if all := grabbed + len(presses); all != rounds*taps+1 {
		t.Errorf("of %d presses, %d came by the grab and %d to the toolkit", rounds*taps+1, grabbed, len(presses))
	}
	if grabbed == 0 || len(presses) < 2 {
		t.Errorf("nothing was tried: %d presses by the grab, %d to the toolkit", grabbed, len(presses))
	}
}
