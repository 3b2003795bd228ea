package engine

import (
	"fmt"
	"math/rand/v2"
	"time"

	"deskvnc/viewer"
)

// The pauses between attempts to reconnect: the first is short, since most
// breaks are; each further one doubles, up to the longest. A fifth either way
// is left to chance, so that many viewers do not come back as one.
const (
	firstPause   = 300 * time.Millisecond
	secondPause  = time.Second
	longestPause = 30 * time.Second
	pauseSpread  = 0.2
)

// A connection that lasts this long counts as one that works.
const worksAfter = 10 * time.Second

// maxShort is how many connections in a row may be ended by the far side
// within [worksAfter] before the session gives up: somebody does not want us.
const maxShort = 3

// A retrier decides whether and when a session connects again by itself.
type retrier struct {
	attempt int // since the last connection that worked
	short   int // connections in a row that ended early
	ever    bool
}

// connected notes how long a connection lasted.
func (r *retrier) connected(lasted time.Duration) {
	r.ever = true
	if lasted >= worksAfter {
		r.attempt, r.short = 0, 0
		return
	}
	r.short++
}

// next returns the pause before the next attempt, and its number. ok is false
// when the session is to stop and say why.
func (r *retrier) next(err error) (pause time.Duration, attempt int, ok bool) {
	if !r.ever || !comesBack(viewer.KindOf(err)) || r.short >= maxShort {
		return 0, 0, false
	}
	r.attempt++
	switch {
	case r.attempt == 1:
		pause = firstPause
	default:
		pause = min(secondPause<<min(r.attempt-2, 8), longestPause)
	}
	spread := 1 + pauseSpread*(2*rand.Float64()-1)
	return time.Duration(float64(pause) * spread), r.attempt, true
}

// comesBack reports whether a failure may pass by itself. A refused password,
// an unanswered question or a machine that speaks nonsense does not.
func comesBack(k viewer.Kind) bool {
	return k == viewer.Closed || k == viewer.Timeout || k == viewer.Unreachable
}

// gaveUp adds to an error that the session no longer tries by itself.
func (r *retrier) gaveUp(err error) error {
	if r.short < maxShort {
		return err
	}
	return &viewer.Error{Op: "reconnect", Kind: viewer.KindOf(err),
		Err: fmt.Errorf("the machine ended %d connections within moments (%s); perhaps another viewer keeps it for itself", r.short, viewer.Reason(err))}
}
