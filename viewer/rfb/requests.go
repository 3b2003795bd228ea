package rfb

import "time"

// requestEvery and requestBurst bound how often updates are asked for: a
// machine that answers each request at once, with next to nothing, would
// otherwise keep both sides busy. A burst passes undelayed.
const (
	requestEvery = 10 * time.Millisecond
	requestBurst = 10
)

// requests decides when to ask for pixels. One incremental request is in
// flight while somebody looks; a request for the whole picture does not wait
// for it, since a still screen never answers.
type requests struct {
	demand   bool
	inFlight bool
	whole    bool      // the whole picture is wanted
	poke     bool      // one answer is wanted although nobody looks
	free     time.Time // when the allowance is full again
}

// setDemand says whether anybody looks.
func (r *requests) setDemand(on bool) {
	if on && !r.demand {
		r.whole = true
	}
	if !on {
		r.whole = false
	}
	r.demand = on
}

// next reports whether to ask now, for all or for changes; or else in how
// long to look again, 0 for no need.
func (r *requests) next(now time.Time) (ask, incremental bool, wait time.Duration) {
	switch {
	case r.whole:
	case (r.demand || r.poke) && !r.inFlight:
		incremental = true
	default:
		return false, false, 0
	}
	if r.free.Before(now) {
		r.free = now
	}
	if wait := r.free.Sub(now) - (requestBurst-1)*requestEvery; wait > 0 {
		return false, false, wait
	}
	r.free = r.free.Add(requestEvery)
	r.whole, r.poke, r.inFlight = false, false, true
	return true, incremental, 0
}

// answered notes that the machine has begun to answer: the next request may
// go out while the answer is still being drawn.
func (o *outbox) answered() { o.requests.inFlight = false }
