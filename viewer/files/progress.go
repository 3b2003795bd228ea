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

// A meter counts a transfer. Its p is owned by the transfer's goroutine, but for
// the meter of a folder, whose files have meters of their own below it: they
// reach it through its lock.
type meter struct {
	tell func(Progress) // nil: nobody listens
	gate *Gate
	up   *meter // of the folder; nil at the top

	mu    sync.Mutex // guards below, at the top; held while tell runs
	p     Progress
	told  time.Time
	since int64 // bytes since told
}

func newMeter(o Options) *meter {
	return &meter{tell: o.Progress, gate: o.Gate, told: time.Now(), p: Progress{Total: -1, FilesTotal: 1, Left: -1}}
}

// below makes the meter of one file of a folder.
func (m *meter) below(size int64) *meter {
	return &meter{gate: m.gate, up: m, p: Progress{Total: max(size, 0)}}
}

// move counts bytes, within the total, and gives how many counted: a file may
// have grown since it was planned.
func (m *meter) move(n int64) int64 {
	old := m.p.Done
	m.p.Done += n
	if m.p.Total >= 0 && m.p.Done > m.p.Total {
		m.p.Done = m.p.Total
	}
	return m.p.Done - old
}

// add counts bytes moved now.
func (m *meter) add(n int) {
	if m.up != nil {
		m.up.mu.Lock()
		defer m.up.mu.Unlock()
		m.up.p.File = m.p.File
		m.up.count(m.move(int64(n)), int64(n))
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count(int64(n), int64(n))
}

// count adds to what is done and to what was moved lately; the lock is held.
func (m *meter) count(done, moved int64) {
	m.move(done)
	m.since += moved
	if now := time.Now(); now.Sub(m.told) >= progressEvery {
		m.reportLocked(now)
	}
}

// jump counts bytes that need no moving.
func (m *meter) jump(n int64) {
	if m.up != nil {
		m.up.mu.Lock()
		defer m.up.mu.Unlock()
		m.up.move(m.move(n))
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.move(n)
}

// fileDone counts a file of a folder.
func (m *meter) fileDone(ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ok {
		m.p.Files++
	}
}

// report works out the rate and tells.
func (m *meter) report(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reportLocked(now)
}

func (m *meter) reportLocked(now time.Time) {
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

// say tells; the lock is held.
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
	top := m
	if m.up != nil {
		top = m.up
	}
	top.pause(true)
	err := m.gate.pass(ctx)
	top.pause(false)
	return err
}

// pause tells that the gate was shut, or is open again.
func (m *meter) pause(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.p.Paused == on {
		return // another file of the folder has told it
	}
	m.p.Paused, m.p.Rate, m.p.Left = on, 0, -1
	m.told, m.since = time.Now(), 0
	m.say()
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
