package rfb

import "time"

// Silence is how long a machine may say nothing before it is asked whether it
// is there. It has twice as long for an answer. A dead link of this computer is
// noticed by the system; this is for one further on, behind a proxy, a repeater
// or a tunnel, and for a machine that hangs.
const Silence = 15 * time.Second

// fenceAlive begins what the fence of the question carries.
const fenceAlive = 'l'

// watch ends the session of a machine that does not answer any more. Only the
// time counts in which this program could have heard it: not while it was
// stopped, while the reader has other work, or while the question waits behind
// what is still being sent.
func (s *Session) watch(silence time.Duration) {
	every := silence / 4
	tick := time.NewTicker(every)
	defer tick.Stop()
	var asked time.Time // zero: not since it was heard
	heard, at, last, before := s.conn.Received(), time.Now(), time.Now(), s.conn.Sent()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
		}
		now, n, sent := time.Now(), s.conn.Received(), s.conn.Sent()
		stood := now.Sub(last) > 2*every
		moved := sent != before
		last, before = now, sent
		switch {
		case n != heard || stood || !s.conn.Waits():
			heard, at, asked = n, now, time.Time{}
		case asked.IsZero() && now.Sub(at) >= silence:
			if s.askWhetherAlive() {
				asked = now
			}
		case !asked.IsZero() && moved && s.out.asksYet():
			asked = now
		case !asked.IsZero() && now.Sub(asked) >= 2*silence:
			if s.conn.SetReadDeadline(now) != nil { // a tunnel may know none
				s.conn.Close()
			}
			return
		}
	}
}

// askWhetherAlive sends what the machine has to answer: a fence, which changes
// nothing, or else a request for all of one pixel. It reports whether there was
// something to send.
func (s *Session) askWhetherAlive() (sent bool) {
	s.out.update(func() {
		switch {
		case s.out.requests.fence:
			s.out.fences = appendFence(s.out.fences, fenceRequest, fencePayload(fenceAlive, 0))
		case s.out.wires.holds(): // the machine is being brought to rest: that asks, too
			return
		case s.out.size[0] > 0 && s.out.size[1] > 0:
			s.out.fences = appendAreaRequest(s.out.fences, firstPixel())
		default:
			return
		}
		sent = true
	})
	return sent
}

// asksYet reports whether a question waits to be sent.
func (o *outbox) asksYet() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.fences) > 0
}
