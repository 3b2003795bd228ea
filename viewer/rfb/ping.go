package rfb

import (
	"errors"
	"time"

	"deskvnc/viewer"
)

const (
	// pingEvery is the time from one fence of our own to the next, while there is
	// something to see.
	pingEvery = 2 * time.Second
	// silentFor is how long a machine behind a tunnel or proxy may say nothing
	// before it is asked for a fence, and answerWithin the time for the answer.
	silentFor    = 20 * time.Second
	answerWithin = 25 * time.Second
)

// errLost is a connection whose far side answers no longer.
var errLost = &viewer.Error{Op: "rfb.Fence", Kind: viewer.Timeout,
	Err: errors.New("the machine no longer answers: the connection was lost")}

// A ping measures the way to the machine and back by fences, guarded by the
// outbox. Behind a tunnel or a proxy, where the system does not notice that the
// far side has gone, it does that too: also while nobody looks.
type ping struct {
	wanted bool
	count  uint64
	sent   time.Time
	away   bool          // one is on its way
	trip   time.Duration // that the last one took
	known  bool

	received func() uint64 // bytes of the machine so far, where its silence is to be noticed; set once
	before   uint64        // of them, those at the time of
	heard    time.Time     // the last ones
	lost     bool          // the machine answers no longer
}

// takePing appends a fence that is due; or tells in how long to look again.
func (o *outbox) takePing(b []byte, now time.Time) ([]byte, time.Duration) {
	p := &o.ping
	if !o.requests.fence {
		return b, 0
	}
	var wait time.Duration
	if p.received != nil {
		if n := p.received(); n != p.before || p.heard.IsZero() {
			p.before, p.heard = n, now
		}
		silent := now.Sub(p.heard)
		wait = max(silentFor-silent, answerWithin-now.Sub(p.sent), time.Second)
		switch {
		case p.away && silent >= answerWithin && now.Sub(p.sent) >= answerWithin:
			p.lost = true
		case silent >= silentFor:
			p.wanted = true
		}
	}
	if !p.wanted || p.away || now.Sub(p.sent) < pingEvery {
		return b, wait
	}
	p.wanted, p.away, p.sent = false, true, now
	p.count++
	if wait > 0 {
		wait = answerWithin
	}
	return appendFence(b, fenceRequest, fencePayload(fencePing, p.count)), wait
}

func (p *ping) returned(number uint64, now time.Time) {
	if p.away && number == p.count {
		p.away, p.known, p.trip = false, true, now.Sub(p.sent)
	}
}

// isLost reports whether the machine answers no longer.
func (o *outbox) isLost() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ping.lost
}
