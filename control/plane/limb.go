package plane

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"deskvnc/control/wheel"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// A limb is a session as agents address it, with its wheel. It outlives the
// session: when the same machine is opened again in the same slot, the limb
// goes on with its counters and revocations.
type limb struct {
	plane *Plane
	id    string
	key   string // the machine; see control.MachineKey

	notifying sync.Mutex // one call of the watchers at a time, the newest state last; above mu
	told      WheelState // what they were told last; guarded by notifying

	mu       sync.Mutex      // guards below; never held across I/O
	session  *engine.Session // nil when it has ended
	wheel    *wheel.Wheel
	intents  uint64          // the last id given
	acts     map[string]*act // running, by attachment id
	seats    map[*seat]struct{}
	turn     uint64 // of the wheel, when moved last looked
	panes    []*Pane
	watchers []*wheelWatcher
	changed  chan struct{} // closed and made anew when the wheel changes
	working  bool          // the worker goroutine runs
	pending  []pending     // a person's input that waits for the worker
	cleared  uint64        // releases that threw unwritten input away
	discard  bool          // the next release is to throw it away at once
	openedBy string        // the attachment that opened the session
	viewOnly bool
}

type wheelWatcher struct{ fn func(WheelState) }

// A pending input waits for the worker, in the order it came.
type pending struct {
	pane *Pane
	in   viewer.Input
}

func newLimb(p *Plane, id, key string) *limb {
	return &limb{
		plane: p, id: id, key: key, wheel: wheel.New(wheel.Defaults()), changed: make(chan struct{}),
		acts: map[string]*act{}, seats: map[*seat]struct{}{},
	}
}

// begin gives the limb its session.
func (l *limb) begin(s *engine.Session) {
	if l.live() == s {
		return
	}
	v, ok := l.plane.hosts.(ViewOnlySource)
	viewOnly := ok && v.ViewOnly(s.Target()) // a library may take its time
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != s {
		l.session, l.openedBy, l.viewOnly = s, "", viewOnly
	}
}

// live is the limb's session, or nil.
func (l *limb) live() *engine.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

// end takes an ended session off the limb. What ran on it is settled.
func (l *limb) end(s *engine.Session) {
	l.lock()
	if l.session != s {
		l.unlock()
		return
	}
	l.session, l.pending, l.openedBy = nil, nil, ""
	for _, a := range l.acts {
		a.stop(errSessionEnded)
	}
	seats := make([]*seat, 0, len(l.seats))
	for st := range l.seats {
		seats = append(seats, st)
	}
	clear(l.seats)
	for _, n := range l.panes {
		n.forget()
	}
	l.wheel.Gone()
	l.unlock()
	for _, st := range seats {
		st.drop()
	}
}

// tick applies passing time and returns the wheel's next deadline. Only the
// ticker calls it.
func (l *limb) tick(now time.Time) (next time.Time, ok bool) {
	l.mu.Lock()
	l.wheel.Tick(now)
	moved := l.moved()
	next, ok = l.wheel.Next()
	l.mu.Unlock()
	if moved {
		l.notify()
	}
	return next, ok
}

// lock locks the limb and applies the time that has passed, which it returns.
// Every look at the wheel stands between lock and unlock.
func (l *limb) lock() time.Time {
	now := l.plane.now()
	l.mu.Lock()
	l.wheel.Tick(now)
	return now
}

// unlock does what a change of the wheel asks for, and unlocks.
func (l *limb) unlock() {
	moved := l.moved()
	next, ok := l.wheel.Next()
	l.mu.Unlock()
	if ok {
		l.plane.wakeTicker(next)
	}
	if moved {
		l.notify()
	}
}

// steer changes the wheel. fn runs under the limb's lock.
func (l *limb) steer(fn func(w *wheel.Wheel, now time.Time)) {
	now := l.lock()
	defer l.unlock()
	fn(l.wheel, now)
}

// moved settles what ran under a lease that ended, starts the release that is
// owed, and wakes whoever waits for the wheel. It reports whether the wheel
// has changed since it was last called. The caller holds mu.
func (l *limb) moved() bool {
	if turn := l.wheel.Turn(); turn != l.turn {
		l.turn = turn
	} else {
		return false
	}
	for _, d := range l.wheel.Departed() {
		if a := l.acts[d.Party.ID]; a != nil {
			a.stop(&leaseLost{d})
		}
		for _, n := range l.panes {
			if n.party.ID == d.Party.ID {
				n.forget()
			}
		}
		l.pending = slices.DeleteFunc(l.pending, func(p pending) bool { return p.pane.party.ID == d.Party.ID })
	}
	l.work()
	close(l.changed)
	l.changed = make(chan struct{})
	return true
}

// work starts the worker when there is something for it. The caller holds mu.
func (l *limb) work() {
	if !l.working && (l.wheel.Owes() || len(l.pending) > 0) {
		l.working = true
		l.plane.work.Go(l.worker)
	}
}

// flushGrace is how long an input that was on its way when the wheel changed
// hands may take to be written, so that an interrupted act knows exactly what
// went. Only a machine that takes no input at all makes use of it.
const flushGrace = 50 * time.Millisecond

// retryRelease is the pause before a release that failed is tried again, and
// the longest that a person's waiting input waits for room at a time.
const retryRelease = 100 * time.Millisecond

// worker writes the releases that are owed and then a person's waiting input,
// until neither is left.
func (l *limb) worker() {
	for {
		l.mu.Lock()
		s := l.session
		debt, owed := l.wheel.Debt()
		switch {
		case owed:
			l.mu.Unlock()
			l.letGo(s)
			l.lock()
			l.wheel.Pay(debt)
			l.unlock()
		case len(l.pending) > 0:
			full := l.deliverPending(s)
			l.mu.Unlock()
			if full {
				// Room, or a while without any: a release that is owed
				// meanwhile must not wait for a machine that takes nothing.
				ctx, cancel := context.WithTimeout(l.plane.ctx, retryRelease)
				s.Flush(ctx)
				cancel()
			}
		default:
			l.working = false
			l.mu.Unlock()
			return
		}
	}
}

// letGo releases everything on the wire: buttons, then keys. It returns when
// that is written, or when there is no connection left that could hold
// anything down.
func (l *limb) letGo(s *engine.Session) {
	l.mu.Lock()
	thrown := l.discard
	l.discard = false
	l.mu.Unlock()
	for s != nil {
		if !thrown {
			ctx, cancel := context.WithTimeout(l.plane.ctx, flushGrace)
			thrown = s.Flush(ctx) != nil
			cancel()
		}
		if thrown {
			l.mu.Lock()
			l.cleared++
			l.mu.Unlock()
		}
		err := s.ReleaseAll(l.plane.ctx)
		switch viewer.KindOf(err) {
		case "", viewer.Closed, viewer.Unsupported, viewer.Cancelled:
			return // written, or nothing is held on a connection that is gone
		}
		select {
		case <-l.plane.ctx.Done():
			return
		case <-s.Done():
			return
		case <-time.After(retryRelease):
		}
	}
}

// deliverPending posts what waits, in order. It reports whether the session's
// queue is full. The caller holds mu.
func (l *limb) deliverPending(s *engine.Session) (full bool) {
	for len(l.pending) > 0 {
		if s == nil || l.plane.ctx.Err() != nil {
			l.pending = nil
			return false
		}
		p := l.pending[0]
		switch err := s.Post(p.in); viewer.KindOf(err) {
		case "":
			l.pending = l.pending[1:]
			l.wheel.Dispatched(l.plane.now(), p.pane.party.ID, p.pane.holding())
		case viewer.Busy:
			return true
		default: // the connection is gone, and with it what it held
			l.pending = nil
			return false
		}
	}
	l.pending = nil
	return false
}

// holds reports whether a party has the wheel.
func (l *limb) holds(id string) bool {
	l.lock()
	defer l.unlock()
	p, ok := l.wheel.Holder()
	return ok && p.ID == id
}

// await waits until ok, which is called under the limb's lock, is true, and
// reports whether it became so before ctx ended.
func (l *limb) await(ctx context.Context, ok func(w *wheel.Wheel) bool) bool {
	for {
		l.lock()
		done, changed := ok(l.wheel), l.changed
		l.unlock()
		if done {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// Holders, as [WheelState] names them.
const (
	HolderNone  = "none"
	HolderHuman = "human"
	HolderAgent = "agent"
)

// A WheelState is the wheel as a person is shown it.
type WheelState struct {
	Holder string // HolderNone, HolderHuman or HolderAgent
	Label  string // the holder's
	Reason string // what an agent said it is doing
	Since  time.Time
	// Revoked are the labels of the agents from whom the wheel was taken and
	// to whom it was not handed back.
	Revoked []string
}

func (w WheelState) equal(o WheelState) bool {
	return w.Holder == o.Holder && w.Label == o.Label && w.Reason == o.Reason && w.Since.Equal(o.Since) && slices.Equal(w.Revoked, o.Revoked)
}

// wheelState is the wheel as it is now. The caller holds mu.
func (l *limb) wheelState() WheelState {
	v := l.wheel.View(wheel.Party{})
	st := WheelState{Holder: HolderNone}
	if v.Holder != nil {
		st.Holder, st.Label, st.Reason, st.Since = HolderAgent, v.Holder.Label, v.Reason, v.Since
		if v.Holder.Kind.Person() {
			st.Holder = HolderHuman
		}
	}
	for _, p := range l.wheel.Revoked() {
		st.Revoked = append(st.Revoked, p.Label)
	}
	return st
}

// notify tells the watchers when who drives has changed.
func (l *limb) notify() {
	l.notifying.Lock()
	defer l.notifying.Unlock()
	l.mu.Lock()
	st, watchers := l.wheelState(), l.watchers
	l.mu.Unlock()
	if st.equal(l.told) {
		return
	}
	l.told = st
	for _, w := range watchers {
		w.fn(st)
	}
	l.plane.changed()
}

// watch calls fn whenever who drives changes, until cancel is called.
func (l *limb) watch(fn func(WheelState)) (cancel func()) {
	w := &wheelWatcher{fn}
	l.mu.Lock()
	l.watchers = append(slices.Clone(l.watchers), w)
	l.mu.Unlock()
	return func() {
		l.mu.Lock()
		l.watchers = slices.DeleteFunc(slices.Clone(l.watchers), func(o *wheelWatcher) bool { return o == w })
		l.mu.Unlock()
	}
}

// Errors that stop an act from outside.
var (
	errSessionEnded = errors.New("the session has ended")
	errClosing      = errors.New("the limb was closed")
)

// leaseLost is the error of an act whose lease went away under it.
type leaseLost struct{ d wheel.Departure }

func (e *leaseLost) Error() string { return "the wheel was lost: " + string(e.d.Cause) }
