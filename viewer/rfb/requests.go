package rfb

import "time"

// requestEvery and requestBurst bound how often updates are asked for: a
// machine that answers each request at once, with next to nothing, would
// otherwise keep both sides busy. A burst passes undelayed.
const (
	requestEvery = 10 * time.Millisecond
	requestBurst = 10
	// sparseEvery is the least time between two requests for changes where
	// somebody looks now and then only.
	sparseEvery = 5 * time.Second
)

// requests decides when to ask for pixels. One incremental request is in
// flight while somebody looks; a request for the whole picture does not wait
// for it, since a still screen never answers. Of a machine that has offered
// continuous updates, changes are not asked for one by one: they come, at the
// pace of the fences, from when somebody looks until nobody does. Where
// somebody looks now and then only, changes are asked for that seldom.
type requests struct {
	demand   bool
	sparse   bool // who looks does so now and then
	held     bool // nothing may be asked for: the pixel format changes
	later    bool // the whole picture is not asked for yet: it would come in a format that is to change
	looked   bool // somebody has looked in this session
	inFlight bool
	whole    bool      // the whole picture is wanted
	poke     bool      // one answer is wanted although nobody looks
	free     time.Time // when the allowance is full again
	last     time.Time // of the last request for changes

	fence      bool   // the machine knows fences
	offered    bool   // the machine has offered continuous updates
	withdrawn  bool   // and has ended them by itself
	continuous bool   // they are on
	ending     int    // times they were turned off without the answer being here
	area       [2]int // what they are on for
}

// setDemand says whether anybody looks.
func (r *requests) setDemand(on bool) {
	if on && !r.demand {
		r.whole, r.looked = true, true
	}
	if !on {
		r.whole = false
	}
	r.demand = on
}

// setSparse says whether those who look do so now and then only.
func (r *requests) setSparse(on bool) {
	if r.sparse && !on {
		r.last = time.Time{}
	}
	r.sparse = on
}

// endOfContinuous notes an EndOfContinuousUpdates.
func (r *requests) endOfContinuous() {
	switch {
	case !r.offered:
		r.offered = true
	case r.ending > 0:
		r.ending--
	case r.continuous:
		r.continuous, r.withdrawn = false, true
		r.inFlight = false
	}
}

// steer appends the message that turns continuous updates on or off, when one
// is due. size is the screen's.
func (r *requests) steer(b []byte, size [2]int) []byte {
	want := r.demand && !r.sparse && !r.held && r.offered && r.fence && !r.withdrawn
	switch {
	case want && (!r.continuous || r.area != size):
		r.continuous, r.area = true, size
		return appendContinuous(b, true, size[0], size[1])
	case !want && r.continuous:
		r.continuous = false
		r.inFlight = false // what was asked for before has been answered long since
		r.ending++
		return appendContinuous(b, false, size[0], size[1])
	}
	return b
}

// next reports whether to ask now, for all or for changes; or else in how
// long to look again, 0 for no need.
func (r *requests) next(now time.Time) (ask, incremental bool, wait time.Duration) {
	switch {
	case r.held:
		return false, false, 0
	case r.whole && !r.later:
	case (r.demand && !r.continuous || r.poke) && !r.inFlight:
		incremental = true
	default:
		return false, false, 0
	}
	if wait := r.last.Add(sparseEvery).Sub(now); r.sparse && incremental && !r.poke && wait > 0 {
		return false, false, wait
	}
	if r.free.Before(now) {
		r.free = now
	}
	if wait := r.free.Sub(now) - (requestBurst-1)*requestEvery; wait > 0 {
		return false, false, wait
	}
	r.free = r.free.Add(requestEvery)
	r.poke, r.inFlight, r.last = false, true, now
	if !incremental {
		r.whole = false
	}
	return true, incremental, 0
}

// answered notes that the machine has begun to answer: the next request may
// go out while the answer is still being drawn.
func (o *outbox) answered() { o.requests.inFlight = false }
