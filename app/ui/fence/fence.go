// Package fence is the one way from other goroutines to the goroutine that
// owns the widgets. It is the only caller of fyne.Do: however much happens,
// at most one call of it is waiting, and nothing gets through once the fence
// has been closed.
package fence

import (
	"sync"

	"fyne.io/fyne/v2"
)

// A Fence passes functions to the goroutine of the widgets, in order.
type Fence struct {
	do func(func())

	mu     sync.Mutex // guards below
	queue  []func()
	posted bool // a call of drain is on its way
	closed bool
}

// New returns a fence in front of Fyne's goroutine.
func New() *Fence { return On(fyne.Do) }

// On returns a fence whose functions are run by do, which must not run them
// on the caller's stack.
func On(do func(func())) *Fence { return &Fence{do: do} }

// A Target is one function that may be asked for from anywhere; it waits in
// the queue at most once.
type Target struct {
	f       *Fence
	run     func()
	waiting bool // guarded by f.mu
}

// Target makes a target of run.
func (f *Fence) Target(run func()) *Target { return &Target{f: f, run: run} }

// Post has the target run, unless it is waiting to run already.
func (t *Target) Post() {
	t.f.mu.Lock()
	if t.waiting || t.f.closed {
		t.f.mu.Unlock()
		return
	}
	t.waiting = true
	t.f.push(func() {
		t.f.mu.Lock()
		t.waiting = false
		t.f.mu.Unlock()
		t.run()
	})
}

// Go has fn run once. It reports false when the fence is closed: fn will not
// run.
func (f *Fence) Go(fn func()) bool {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return false
	}
	f.push(fn)
	return true
}

// push queues fn and unlocks mu.
func (f *Fence) push(fn func()) {
	f.queue = append(f.queue, fn)
	post := !f.posted
	f.posted = true
	f.mu.Unlock()
	if post {
		f.do(f.drain)
	}
}

// drain runs what has been queued until now, on the goroutine of the widgets.
func (f *Fence) drain() {
	f.mu.Lock()
	queue := f.queue
	f.queue, f.posted = nil, false
	f.mu.Unlock()
	for _, fn := range queue {
		f.mu.Lock()
		closed := f.closed
		f.mu.Unlock()
		if closed {
			return
		}
		fn()
	}
}

// Close lets nothing through any more. Called on the goroutine of the widgets,
// nothing of this fence runs after it has returned.
func (f *Fence) Close() {
	f.mu.Lock()
	f.closed = true
	f.queue = nil
	f.mu.Unlock()
}

// Closed reports whether the fence has been closed.
func (f *Fence) Closed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}
