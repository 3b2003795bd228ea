package files

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"deskvnc/viewer"
)

// A transfer is one Get, Put, Fetch or Store while it runs, owned by its
// goroutine.
type transfer struct {
	fs  *FS
	o   Options
	m   *meter
	mem *memory
	res Result
}

func (f *FS) transfer(o Options) *transfer {
	t := &transfer{fs: f, o: o, m: newMeter(o), mem: o.memory}
	if t.mem == nil {
		t.mem = &memory{}
	}
	return t
}

// finish reports once more and gives the result.
func (t *transfer) finish(err error) (Result, error) {
	t.m.report(time.Now())
	return t.res, err
}

// A memory is what the attempts of one transfer share: what a person answered,
// and which files are done. A transfer that is tried again after a lost link
// neither asks nor moves them again.
type memory struct {
	asking sync.Mutex // held while a person is asked

	mu     sync.Mutex // guards below
	all    Action
	chosen map[string]chosen // by the target's path
	done   map[string]bool   // by the target's path
}

type chosen struct {
	do     Action
	target string // the path to use, which KeepBoth changes
}

func (m *memory) recall(target string) (chosen, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.chosen[target]
	return c, ok
}

func (m *memory) keep(target string, c chosen) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.chosen == nil {
		m.chosen = map[string]chosen{}
	}
	m.chosen[target] = c
}

func (m *memory) finished(target string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done == nil {
		m.done = map[string]bool{}
	}
	m.done[target] = true
}

func (m *memory) isDone(target string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.done[target]
}

// decide finds out what to do about a file that is there. next gives the n-th
// other path and whether it is free.
func (t *transfer) decide(ctx context.Context, op, target string, c Conflict, next func(n int) (string, bool, error)) (chosen, error) {
	if known, ok := t.mem.recall(target); ok {
		return known, nil
	}
	t.mem.asking.Lock()
	defer t.mem.asking.Unlock()
	t.mem.mu.Lock()
	do := t.mem.all
	t.mem.mu.Unlock()
	if do == Refuse && t.o.Exists != nil {
		c.Path = Shown(target)
		answer, err := t.o.Exists(ctx, c)
		if err != nil {
			return chosen{}, failed(op, target, err)
		}
		if do = answer.Do; answer.All {
			t.mem.mu.Lock()
			t.mem.all = do
			t.mem.mu.Unlock()
		}
	}
	got := chosen{do, target}
	switch do {
	case Skip, Replace:
	case KeepBoth:
		free := false
		for n := 2; !free; n++ {
			if n > 10_000 {
				return chosen{}, fault(op, target, viewer.Exists, errors.New("every other name is taken too"))
			}
			var err error
			if got.target, free, err = next(n); err != nil {
				return chosen{}, err
			}
		}
	default:
		return chosen{}, fault(op, target, viewer.Exists, errors.New("the name is taken"))
	}
	t.mem.keep(target, got)
	return got, nil
}

// resumable reports whether err leaves an unfinished copy that can be
// continued.
func (t *transfer) resumable(err error) bool {
	switch viewer.KindOf(err) {
	case viewer.Closed, viewer.Timeout:
		return true
	case viewer.Cancelled:
		return t.o.KeepPart
	}
	return false
}

// stops reports whether err ends a whole folder, not one file of it.
func stops(err error) bool {
	switch viewer.KindOf(err) {
	case viewer.Closed, viewer.Timeout, viewer.Cancelled, viewer.Full, viewer.Malformed:
		return true
	}
	return false
}

// miss counts a file of a folder that could not be copied.
func (t *transfer) miss(path string, err error) {
	t.res.FailedCount++
	if len(t.res.Failed) < maxNotes {
		t.res.Failed = append(t.res.Failed, Failure{Shown(path), err})
	}
}

// missed is the error of a folder of which some files could not be copied.
func (t *transfer) missed(op, path string) error {
	if t.res.FailedCount == 0 {
		return nil
	}
	first := t.res.Failed[0].Err
	return fault(op, path, viewer.KindOf(first), fmt.Errorf("%d of its files could not be copied; the first: %s", t.res.FailedCount, viewer.Reason(first)))
}

// newBits are the permission bits of a new file, by the rule of the package.
func newBits(mode uint32, known bool) uint32 {
	if !known {
		return 0o644
	}
	return mode&0o755 | 0o600
}
