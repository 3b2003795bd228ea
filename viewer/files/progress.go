package files

import (
	"context"
	"sync"
	"time"
)

// Progress is how far a transfer is.
type Progress struct {
	File  string // the file being moved, for a person
	Done  int64  // bytes, those of earlier attempts too
	Total int64  // bytes; -1 unknown
	// Files and FilesTotal count the files of a folder; 1 for a single file.
	Files, FilesTotal int
	Rate              float64       // bytes a second, of late
	Left              time.Duration // -1 unknown
	Paused            bool
}

// Percent is 0 to 100 and never falls within one transfer; 0 while the total is
// unknown.
func (p Progress) Percent() float64 {
	switch {
	case p.Total > 0:
		return min(100, 100*float64(p.Done)/float64(p.Total))
	case p.FilesTotal > 0 && p.Total == 0:
		return min(100, 100*float64(p.Files)/float64(p.FilesTotal))
	}
	return 0
}

// progressEvery is the shortest time between two reports.
const progressEvery = 100 * time.Millisecond

// A meter counts a transfer. It is owned by the transfer's goroutine.
type meter struct {
	tell func(Progress) // nil: nobody listens
	gate *Gate
	p    Progress

	told  time.Time
	since int64 // bytes since told
}

func newMeter(o Options) *meter {
	return &meter{tell: o.Progress, gate: o.Gate, told: time.Now(), p: Progress{Total: -1, FilesTotal: 1, Left: -1}}
}

// add counts bytes moved now.
func (m *meter) add(n int) {
	m.p.Done += int64(n)
	m.since += int64(n)
	if m.p.Total >= 0 && m.p.Done > m.p.Total {
		m.p.Done = m.p.Total // a file that grew
	}
	if now := time.Now(); now.Sub(m.told) >= progressEvery {
		m.report(now)
	}
}

// jump counts bytes that need no moving.
func (m *meter) jump(n int64) {
	m.p.Done += n
	if m.p.Total >= 0 && m.p.Done > m.p.Total {
		m.p.Done = m.p.Total
	}
}

// report works out the rate and tells.
func (m *meter) report(now time.Time) {
	if dt := now.Sub(m.told).Seconds(); dt > 0 {
		rate := float64(m.since) / dt
		if m.p.Rate == 0 {
			m.p.Rate = rate
		}
		m.p.Rate += (rate - m.p.Rate) * min(1, dt) // settles within about a second
	}
	m.told, m.since = now, 0
	m.p.Left = -1
	if m.p.Total >= 0 && m.p.Rate >= 1 {
		m.p.Left = time.Duration(float64(m.p.Total-m.p.Done) / m.p.Rate * float64(time.Second)).Round(time.Second)
	}
	m.say()
}

func (m *meter) say() {
	if m.tell != nil {
		m.tell(m.p)
	}
}

// hold waits while the gate is shut.
func (m *meter) hold(ctx context.Context) error {
	if !m.gate.Shut() {
		return ctx.Err()
	}
	m.p.Paused, m.p.Rate, m.p.Left = true, 0, -1
	m.say()
	err := m.gate.pass(ctx)
	m.p.Paused, m.told, m.since = false, time.Now(), 0
	m.say()
	return err
}

// A Gate pauses transfers: while it is shut they ask for nothing more. The zero
// Gate is open.
type Gate struct {
	mu   sync.Mutex
	open chan struct{} // closed when it opens; nil while it is open
}

// Pause shuts the gate.
func (g *Gate) Pause() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = make(chan struct{})
	}
}

// Resume opens the gate.
func (g *Gate) Resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open != nil {
		close(g.open)
		g.open = nil
	}
}

// Shut reports whether the gate is shut. A nil Gate is open.
func (g *Gate) Shut() bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open != nil
}

// pass waits until the gate is open.
func (g *Gate) pass(ctx context.Context) error {
	if g == nil {
		return ctx.Err()
	}
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	if open == nil {
		return ctx.Err()
	}
	select {
	case <-open:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
