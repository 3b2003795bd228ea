package rect

import "time"

const (
	// trialBatches is how many batches in a row tell how fast it goes.
	trialBatches = 6
	// trialHome and trialAway are how many batches are drawn where it was found
	// best, before it is tried anew.
	trialHome = 96
	trialAway = 256
	// trialGain is how much less time, in hundredths, it has to take away: where
	// two processors share what they have, a gain in time is paid for with
	// more work.
	trialGain = 24
)

// A trial finds out whether a second processor pays. What is drawn there has to
// come out of the caches of the one that has inflated it, and other programs may
// need it. Batches are drawn by the reader first, then by the drawer; unless
// that gains enough, they are drawn by the reader for a while. It belongs
// to the reader.
type trial struct {
	away bool
	done bool // tried: it stays as it is for some time
	left int  // batches until the next step
	home pace
	far  pace

	since time.Time // when the batch was begun; zero after a wait
}

// A pace is the time that so many bytes took, reading and inflating with it.
type pace struct {
	time time.Duration
	work int
	n    int // batches
}

// gains reports whether p is faster than o by [trialGain].
func (p pace) gains(o pace) bool {
	return float64(p.time)*float64(o.work)*100 < float64(o.time)*float64(p.work)*(100-trialGain)
}

// waits notes that the reader is about to wait: the time does not count.
func (t *trial) waits() { t.since = time.Time{} }

// full notes a batch of so much work, and tells where to draw it.
func (t *trial) full(work int, now time.Time) (away bool) {
	if !t.since.IsZero() && !t.done {
		p := &t.home
		if t.away {
			p = &t.far
		}
		p.time += now.Sub(t.since)
		p.work += work
		p.n++
	}
	if t.left--; t.done && t.left <= 0 {
		*t = trial{}
	}
	switch {
	case t.done:
	case !t.away && t.home.n >= trialBatches:
		t.away = true
	case t.away && t.far.n >= trialBatches && t.far.gains(t.home):
		t.done, t.left = true, trialAway
	case t.away && t.far.n >= trialBatches:
		t.away, t.done, t.left = false, true, trialHome
	}
	return t.away
}
