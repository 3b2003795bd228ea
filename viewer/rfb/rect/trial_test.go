package rect

import (
	"testing"
	"time"
)

// A trial draws where it is faster, and tries anew after a while.
func TestTrial(t *testing.T) {
	const work = 1 << 20
	for _, c := range []struct {
		name      string
		home, far time.Duration // a batch
		away      bool          // the verdict
	}{
		{"a free processor", 3 * time.Millisecond, 2 * time.Millisecond, true},
		{"one that is no faster", 3 * time.Millisecond, 3 * time.Millisecond, false},
		{"one that gains too little", 10 * time.Millisecond, 9 * time.Millisecond, false},
		{"a slow one", 3 * time.Millisecond, 8 * time.Millisecond, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tr trial
			now := time.Unix(1000, 0)
			away := 0
			step := func() bool {
				a := tr.full(work, now)
				tr.since = now
				if a {
					away++
					now = now.Add(c.far)
				} else {
					now = now.Add(c.home)
				}
				return a
			}
			for range trialBatches {
				if step() {
					t.Fatal("the first batches were not drawn here")
				}
			}
			for range trialBatches {
				if !step() {
					t.Fatal("the drawer was not tried")
				}
			}
			for i := range trialHome - 1 {
				if got := step(); got != c.away {
					t.Fatalf("batch %d after the trial: drawn away %v, want %v", i, got, c.away)
				}
			}
			before := away
			for range trialAway + 3*trialBatches {
				step()
			}
			if n := away - before; n == 0 || n == trialAway+3*trialBatches {
				t.Errorf("it was not tried anew: %d batches drawn away", n)
			}
		})
	}
}

// Time that was spent on waiting for the network tells nothing.
func TestTrialLeavesWaitsOut(t *testing.T) {
	var tr trial
	now := time.Unix(1000, 0)
	for i := range 10 * trialBatches {
		if tr.full(1<<20, now) {
			t.Fatalf("the drawer is tried at batch %d, after nothing but waits", i)
		}
		tr.since = now
		now = now.Add(time.Second)
		tr.waits()
	}
}
