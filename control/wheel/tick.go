package wheel

import "time"

// Tick applies the time that has passed: it drops waiters that waited too
// long, completes a preemption, ends a grace, ends a hold that expired or went
// idle, and gives a free wheel to the next. Every other method that takes a
// time does this first.
func (w *Wheel) Tick(now time.Time) {
	w.drop(func(q waiter) bool { return now.Sub(q.since) >= w.n.QueueTTL })
	if w.preempt != nil && !now.Before(w.preempt.deadline) {
		by := w.preempt.party
		if w.holder != nil {
			w.depart(Preempted, &by)
		}
		w.succeed(now)
	}
	if h := w.holder; h != nil {
		if cause, end := w.end(h); !end.IsZero() && !now.Before(end) {
			w.depart(cause, nil)
		}
	}
	w.succeed(now)
}

// end is when a hold ends by itself and why; zero for never. A person's hold
// ends soon after the last input, but not while something is held down; an
// agent's has a time to live.
func (w *Wheel) end(h *hold) (Cause, time.Time) {
	var cause Cause
	var end time.Time
	sooner := func(c Cause, t time.Time) {
		if end.IsZero() || t.Before(end) {
			cause, end = c, t
		}
	}
	if !h.gone.IsZero() {
		sooner(GraceElapsed, h.gone.Add(w.n.Grace))
	}
	if h.party.Kind.Person() {
		if !h.holding {
			sooner(Released, later(h.intent, h.renewed).Add(w.n.PersonIdle))
		}
		return cause, end
	}
	sooner(Expired, later(h.intent, h.renewed).Add(w.n.TTL))
	sooner(IdleRevoked, h.intent.Add(w.n.Idle))
	return cause, end
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Next is when Tick will have something to do; ok is false when time alone
// changes nothing.
func (w *Wheel) Next() (at time.Time, ok bool) {
	sooner := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	for _, q := range w.queue {
		sooner(q.since.Add(w.n.QueueTTL))
	}
	if w.preempt != nil {
		sooner(w.preempt.deadline)
	}
	if w.holder != nil {
		if _, end := w.end(w.holder); !end.IsZero() {
			sooner(end)
		}
	}
	return at, ok
}
