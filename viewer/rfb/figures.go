package rfb

import (
	"time"

	"deskvnc/viewer"
)

const (
	// figureUpdates is how many updates are remembered, and figureTime how long.
	figureUpdates = 128
	figureTime    = 4 * time.Second
)

// A figure is what is remembered of an update.
type figure struct {
	at     time.Time // when it was drawn
	took   time.Duration
	decode time.Duration
	bytes  uint64
}

// A meter measures the last updates, guarded by the outbox. It costs nothing
// while none come.
type meter struct {
	ring     [figureUpdates]figure
	count    int           // of updates so far
	busy     time.Duration // of the drawer, until the last update
	encoding int32
}

// update takes note of an update that has been drawn; busy is the time that the
// drawer has drawn in its life.
func (m *meter) update(e drawn, now time.Time, busy time.Duration) {
	decode := e.took - e.waited + busy - m.busy
	m.busy = busy
	if e.pixels == 0 {
		return
	}
	m.ring[m.count%figureUpdates] = figure{at: now, took: e.took, decode: decode, bytes: e.size}
	m.count++
	m.encoding = e.encoding
}

// read sums up the updates of the last moments: when there were none, the last
// one tells how they were, at no frames a second.
func (m *meter) read(now time.Time) (f viewer.Figures, ok bool) {
	if m.count == 0 {
		return f, false
	}
	var n int
	var took, decode time.Duration
	var bytes uint64
	first := now
	for n < min(m.count, figureUpdates) {
		u := &m.ring[(m.count-1-n)%figureUpdates]
		if n > 0 && now.Sub(u.at) > figureTime {
			break
		}
		n++
		took += u.took
		decode += u.decode
		bytes += u.bytes
		first = u.at.Add(-u.took)
	}
	span := max(now.Sub(first), took, time.Millisecond)
	if now.Sub(m.ring[(m.count-1)%figureUpdates].at) <= figureTime {
		f.FPS = float64(n) / max(span, time.Second).Seconds()
		f.Duty = min(float64(took)/float64(span), 1)
		f.Throughput = float64(bytes) / max(span, time.Second).Seconds()
	}
	f.Decode = decode / time.Duration(n)
	f.Encoding = m.encoding
	return f, true
}

// Figures tells what was measured of the last updates. The way to the machine
// and back is measured with fences, where it knows them.
func (s *Session) Figures() (viewer.Figures, bool) {
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	f, ok := s.figures.read(time.Now())
	f.RoundTrip, f.RoundTripKnown = s.out.ping.trip, s.out.ping.known
	if !s.out.pace.bare {
		f.JPEGQuality = uint8(min(s.out.quality, 9))
	}
	return f, ok
}
