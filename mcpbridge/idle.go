package mcpbridge

import (
	"sync"
	"time"
)

// idleAfter is how long no tool must have run before the server counts as
// idle.
const idleAfter = 5 * time.Second

// An idler tells once when calls have come to an end and none has followed for
// a while. It runs nothing in between. It is safe for concurrent use.
type idler struct {
	tell func() // may be nil

	telling sync.WaitGroup

	mu      sync.Mutex // guards below; not held while tell runs
	running int
	stopped bool
	timer   *time.Timer
}

// begin says that a call runs now.
func (i *idler) begin() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.running++
	if i.timer != nil {
		i.timer.Stop()
	}
}

// end says that a call is over.
func (i *idler) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.running--
	switch {
	case i.running > 0 || i.stopped || i.tell == nil:
	case i.timer == nil:
		i.timer = time.AfterFunc(idleAfter, i.due)
	default:
		i.timer.Reset(idleAfter)
	}
}

// due is called by the timer.
func (i *idler) due() {
	i.mu.Lock()
	if i.running > 0 || i.stopped { // a call was faster
		i.mu.Unlock()
		return
	}
	i.telling.Add(1)
	i.mu.Unlock()
	defer i.telling.Done()
	i.tell()
}

// stop ends the telling, and waits for one that is under way.
func (i *idler) stop() {
	i.mu.Lock()
	i.stopped = true
	if i.timer != nil {
		i.timer.Stop()
	}
	i.mu.Unlock()
	i.telling.Wait()
}
