package files

import "sync"

// A tidy counts what is cleaned up behind the callers' backs. Unlike a
// WaitGroup it may be waited for while more is added.
type tidy struct {
	mu   sync.Mutex // guards below
	n    int
	none chan struct{} // closed when n falls to zero; nil: nobody waits
}

// Go runs what in a goroutine of its own.
func (t *tidy) Go(what func()) {
	t.mu.Lock()
	t.n++
	t.mu.Unlock()
	go func() {
		defer t.end()
		what()
	}()
}

func (t *tidy) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 && t.none != nil {
		close(t.none)
		t.none = nil
	}
}

// Wait returns when nothing is left.
func (t *tidy) Wait() {
	t.mu.Lock()
	if t.n == 0 {
		t.mu.Unlock()
		return
	}
	if t.none == nil {
		t.none = make(chan struct{})
	}
	none := t.none
	t.mu.Unlock()
	<-none
}
