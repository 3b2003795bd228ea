package fence

import (
	"slices"
	"sync"
	"testing"
)

// loop stands for Fyne's goroutine: the test runs what was posted.
type loop struct {
	mu    sync.Mutex
	calls []func()
}

func (l *loop) do(fn func()) {
	l.mu.Lock()
	l.calls = append(l.calls, fn)
	l.mu.Unlock()
}

func (l *loop) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls)
}

func (l *loop) run() {
	l.mu.Lock()
	calls := l.calls
	l.calls = nil
	l.mu.Unlock()
	for _, fn := range calls {
		fn()
	}
}

func TestOnePostWaits(t *testing.T) {
	l := &loop{}
	f := On(l.do)
	ran := map[string]int{}
	a := f.Target(func() { ran["a"]++ })
	b := f.Target(func() { ran["b"]++ })
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { a.Post(); b.Post() })
	}
	wg.Wait()
	if n := l.waiting(); n != 1 {
		t.Fatalf("%d calls wait for the loop, want 1", n)
	}
	l.run()
	if ran["a"] != 1 || ran["b"] != 1 {
		t.Errorf("ran %v, want each once", ran)
	}
	a.Post()
	l.run()
	if ran["a"] != 2 {
		t.Errorf("a ran %d times, want 2: a target can be posted again", ran["a"])
	}
}

func TestOrderAndPostsFromInside(t *testing.T) {
	l := &loop{}
	f := On(l.do)
	var got []int
	f.Go(func() { got = append(got, 1) })
	f.Go(func() {
		got = append(got, 2)
		f.Go(func() { got = append(got, 4) })
	})
	f.Go(func() { got = append(got, 3) })
	l.run()
	if l.waiting() != 1 {
		t.Fatalf("%d calls wait, want 1", l.waiting())
	}
	l.run()
	if want := []int{1, 2, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("ran %v, want %v", got, want)
	}
}

func TestNothingAfterClose(t *testing.T) {
	l := &loop{}
	f := On(l.do)
	ran := 0
	a := f.Target(func() { ran++ })
	f.Go(func() { ran++ })
	f.Go(func() { f.Close() })
	f.Go(func() { ran += 100 })
	a.Post()
	l.run()
	if ran != 1 {
		t.Errorf("ran %d, want 1: what waited behind Close must not run", ran)
	}
	a.Post()
	if f.Go(func() { ran += 100 }) || l.waiting() != 0 || !f.Closed() {
		t.Errorf("a closed fence took a function")
	}
}
