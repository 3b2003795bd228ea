package rfb

import "time"

// pingEvery is the time from one fence of our own to the next, while there is
// something to see.
const pingEvery = 2 * time.Second

// A ping measures the way to the machine and back by fences, guarded by the
// outbox.
type ping struct {
	wanted bool
	count  uint64
	sent   time.Time
	away   bool          // one is on its way
	trip   time.Duration // that the last one took
	known  bool
}

// takePing appends a fence that is due.
func (o *outbox) takePing(b []byte, now time.Time) []byte {
	p := &o.ping
	if !o.requests.fence || !p.wanted || p.away || now.Sub(p.sent) < pingEvery {
		return b
	}
	p.wanted, p.away, p.sent = false, true, now
	p.count++
	return appendFence(b, fenceRequest, fencePayload(fencePing, p.count))
}

func (p *ping) returned(number uint64, now time.Time) {
	if p.away && number == p.count {
		p.away, p.known, p.trip = false, true, now.Sub(p.sent)
	}
}
