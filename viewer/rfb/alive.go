package rfb

import (
	"image"
	"time"
)

// Silence is how long a machine may say nothing before it is asked whether it
// is there. It has twice as long for an answer. A dead link of this computer is
// noticed by the system; this is for one further on, behind a proxy, a repeater
// or a tunnel, and for a machine that hangs.
const Silence = 15 * time.Second

// fenceAlive begins what the fence of the question carries.
const fenceAlive = 'l'

// watch ends the session of a machine that does not answer any more.
func (s *Session) watch(silence time.Duration) {
	every := silence / 4
	tick := time.NewTicker(every)
	defer tick.Stop()
	var asked time.Time // zero: not since it was heard
	heard, at, last := s.conn.Received(), time.Now(), time.Now()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
		}
		now, n := time.Now(), s.conn.Received()
		stood := now.Sub(last) > 8*every // this program did, not the machine
		last = now
		switch {
		case n != heard || stood:
			heard, at, asked = n, now, time.Time{}
		case asked.IsZero() && now.Sub(at) >= silence:
			if s.askWhetherAlive() {
				asked = now
			}
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
		case s.out.size[0] > 0 && s.out.size[1] > 0:
			s.out.fences = appendAreaRequest(s.out.fences, image.Rect(0, 0, 1, 1))
		default:
			return
		}
		sent = true
	})
	return sent
}
