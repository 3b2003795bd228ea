package rfb

import (
	"image"
	"testing"
	"time"

	"deskvnc/viewer"
)

// The quality falls at once with the speed, and rises slowly, a step at a time.
func TestPaceFollowsTheSpeed(t *testing.T) {
	p := pace{on: true}
	now := noon
	at := func(rate int, want int) {
		t.Helper()
		now = now.Add(100 * time.Millisecond)
		p.sample(uint64(rate/10), 100*time.Millisecond, 0, now)
		if p.step != want {
			t.Fatalf("%d bytes a second: step %d, want %d", rate, p.step, want)
		}
	}
	at(10<<20, 0)
	at(600<<10, 2)
	at(100<<10, 2) // too small to tell
	p.sample(paceSample, time.Second, 0, now)
	if p.step != 5 {
		t.Fatalf("got step %d", p.step)
	}
	ups := 0
	for range 200 {
		before := p.step
		now = now.Add(100 * time.Millisecond)
		p.sample(10<<20, 100*time.Millisecond, 0, now)
		if p.step < before {
			if ups++; before-p.step != 1 {
				t.Fatalf("from %d to %d", before, p.step)
			}
		}
	}
	if p.step != 0 || ups != 5 {
		t.Errorf("step %d after %d rises", p.step, ups)
	}
	// A dip in between starts the count anew.
	p.set(1, now)
	for i := range 40 {
		now = now.Add(100 * time.Millisecond)
		rate := uint64(1 << 20)
		if i%3 == 2 {
			rate = 200 << 10
		}
		p.sample(rate, 100*time.Millisecond, 0, now)
	}
	if p.step != 1 {
		t.Errorf("step %d in spite of dips", p.step)
	}
}

// A picture that stands still is asked for without losses, once.
func TestPaceRefines(t *testing.T) {
	p := pace{on: true}
	now := noon
	p.drawn(image.Rect(0, 0, 100, 100), 10000, now)
	if area, wait := p.due(now.Add(time.Hour), true); !area.Empty() || wait != 0 {
		t.Errorf("a picture without losses: %v, %v", area, wait)
	}
	p.set(3, now)
	p.drawn(image.Rect(10, 10, 20, 20), 100, now)
	p.drawn(image.Rect(30, 10, 40, 20), 100, now)
	if area, wait := p.due(now.Add(paceSettled/2), true); !area.Empty() || wait != paceSettled/2 {
		t.Errorf("too soon: %v, %v", area, wait)
	}
	if area, wait := p.due(now.Add(paceSettled), false); !area.Empty() || wait != 0 {
		t.Errorf("nobody looks: %v, %v", area, wait)
	}
	now = now.Add(paceSettled)
	if area, _ := p.due(now, true); area != image.Rect(10, 10, 40, 20) || p.levels().quality != 0 {
		t.Fatalf("got %v, %+v", area, p)
	}
	p.drawn(image.Rect(0, 0, 5, 5), 25, now) // what was on its way
	if !p.refine {
		t.Fatal("ended before the picture came")
	}
	p.drawn(image.Rect(10, 10, 40, 20), 300, now)
	if p.refine || p.levels().quality != 4 {
		t.Errorf("got %+v", p)
	}
	if area, wait := p.due(now.Add(time.Hour), true); !area.Empty() || wait != 0 {
		t.Errorf("asked for again: %v, %v", area, wait)
	}
	// A machine that does not answer does not keep the better quality for ever.
	p.drawn(image.Rect(0, 0, 9, 9), 81, now)
	now = now.Add(paceSettled)
	p.due(now, true)
	if _, wait := p.due(now, true); wait != paceRefine {
		t.Errorf("got %v", wait)
	}
	if p.due(now.Add(paceRefine), true); p.refine || !p.lossy.Empty() {
		t.Errorf("got %+v", p)
	}
}

// A speed at the bound between two steps does not make the quality flap: each
// rise that does not last makes the next one later.
func TestPaceDoesNotFlap(t *testing.T) {
	p := pace{on: true}
	now := noon
	p.set(2, now)
	changes, last := 0, p.step
	for i := range 6000 { // ten minutes, with a dip every ten seconds
		now = now.Add(100 * time.Millisecond)
		rate := uint64(2 << 20)
		if i%100 > 90 {
			rate = 600 << 10
		}
		p.sample(rate/10, 100*time.Millisecond, 0, now)
		if p.step != last {
			changes, last = changes+1, p.step
		}
	}
	// Without it, each dip would be a fall and a rise.
	if changes > 60 {
		t.Errorf("%d changes in ten minutes", changes)
	}
	// Just over a bound is not enough for a rise.
	p = pace{on: true}
	p.set(2, now)
	for range 200 {
		now = now.Add(100 * time.Millisecond)
		p.sample(1600<<10/10, 100*time.Millisecond, 0, now)
	}
	if p.step != 2 {
		t.Errorf("step %d at little more than its bound", p.step)
	}
}

// What keeps us busy decoding does not get better, and in the end worse.
func TestPaceFollowsTheLoad(t *testing.T) {
	p := pace{on: true}
	now := noon
	p.set(2, now)
	for range 100 {
		now = now.Add(100 * time.Millisecond)
		p.sample(10<<20/10, 100*time.Millisecond, 0.8, now)
	}
	if p.step != 2 {
		t.Errorf("step %d at a load of 0.8, want 2", p.step)
	}
	for range 25 {
		now = now.Add(100 * time.Millisecond)
		p.sample(600<<10/10, 100*time.Millisecond, 1, now)
	}
	if p.step != 3 {
		t.Errorf("step %d at a full load, want 3", p.step)
	}
	for range 200 {
		now = now.Add(100 * time.Millisecond)
		p.sample(10<<20/10, 100*time.Millisecond, 0.2, now)
	}
	if p.step != 0 {
		t.Errorf("step %d after the load has gone", p.step)
	}
}

// From a machine without JPEG a slow connection brings fewer colours, and they
// come back in a picture that stands still.
func TestPaceOfAMachineWithoutJPEG(t *testing.T) {
	p := pace{on: true, bare: true}
	now := noon
	for step, want := range []viewer.Colors{viewer.ColorsFull, viewer.ColorsFull, viewer.ColorsFull, viewer.ColorsHigh, viewer.ColorsLow, viewer.ColorsLow} {
		if p.set(step, now); p.levels().colours != want {
			t.Errorf("step %d has the colours %q, want %q", step, p.levels().colours, want)
		}
	}
	p.drawn(image.Rect(0, 0, 9, 9), 81, now)
	if area, _ := p.due(now.Add(paceSettled), true); area != image.Rect(0, 0, 9, 9) || p.levels().colours != viewer.ColorsFull {
		t.Errorf("asked for %v in %q", area, p.levels().colours)
	}
}
