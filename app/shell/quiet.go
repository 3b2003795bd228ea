package shell

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// quietAfter is how long no call must have run before a holder counts as
// quiet.
const quietAfter = 5 * time.Second

// GiveBack returns the memory that calls have left behind to the system: a
// picture takes several times its own size while it is made. It takes two
// collections, since what lies in pools outlives the first.
func GiveBack() {
	runtime.GC()
	debug.FreeOSMemory()
}

// A quiet tells once when calls have come to an end and none has followed for a
// while. It is safe for concurrent use.
type quiet struct {
	tell func() // set before use

	mu      sync.Mutex // guards below; not held while tell runs
	running int
	stopped bool
	timer   *time.Timer
	telling sync.WaitGroup
}

func (q *quiet) begin() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running++
	if q.timer != nil {
		q.timer.Stop()
	}
}

func (q *quiet) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	switch {
	case q.running > 0 || q.stopped:
	case q.timer == nil:
		q.timer = time.AfterFunc(quietAfter, q.due)
	default:
		q.timer.Reset(quietAfter)
	}
}

// due is called by the timer.
func (q *quiet) due() {
	q.mu.Lock()
	if q.running > 0 || q.stopped { // a call was faster
		q.mu.Unlock()
		return
	}
	q.telling.Add(1)
	q.mu.Unlock()
	defer q.telling.Done()
	q.tell()
}

// stop ends the telling, and waits for one that is under way.
func (q *quiet) stop() {
	q.mu.Lock()
	q.stopped = true
	if q.timer != nil {
		q.timer.Stop()
	}
	q.mu.Unlock()
	q.telling.Wait()
}
