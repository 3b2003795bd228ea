package wheel

import (
	"slices"
	"time"
)

// A View is the wheel as one party sees it.
type View struct {
	Phase  Phase
	Holder *Party // nil for nobody
	Reason string // the holder's own words
	Since  time.Time
	// Lease is the asking party's lease, 0 when it does not hold the wheel.
	Lease uint64
	// QueueDepth is how many wait; Position is the asking party's place from
	// 1, or 0.
	QueueDepth, Position int
	// Revoked says that a person took the wheel from the asking party and has
	// not handed it back.
	Revoked bool
	// HumanTookOver says that a person drives, or that the asking party is
	// revoked: it is to stop.
	HumanTookOver bool
}

// View returns the wheel as a party sees it.
func (w *Wheel) View(p Party) View {
	v := View{Phase: w.Phase(), QueueDepth: len(w.queue), Position: w.position(p.ID), Revoked: p.Kind == Agent && w.isRevoked(p)}
	if h := w.holder; h != nil {
		v.Holder, v.Reason, v.Since = w.who(), h.reason, h.since
		if h.party.ID == p.ID {
			v.Lease = h.lease
		} else {
			v.HumanTookOver = h.party.Kind.Person()
		}
	}
	v.HumanTookOver = v.HumanTookOver || v.Revoked
	return v
}

// Phase is where the wheel stands.
func (w *Wheel) Phase() Phase {
	switch h := w.holder; {
	case h == nil:
		return Unheld
	case w.Owes():
		return HandingOver
	case w.preempt != nil:
		return PreemptPending
	case !h.gone.IsZero():
		return HeldGrace
	}
	return Held
}

// Holder is who has the wheel, also while it is being handed over.
func (w *Wheel) Holder() (p Party, ok bool) {
	if w.holder == nil {
		return Party{}, false
	}
	return w.holder.party, true
}

func (w *Wheel) who() *Party {
	if w.holder == nil {
		return nil
	}
	p := w.holder.party
	return &p
}

// Revoked are the agents from whom the wheel was taken and who have not got
// it handed back, in the order they lost it.
func (w *Wheel) Revoked() []Party { return slices.Clone(w.revoked) }

// Turn is a number that moves with every change of who holds the wheel, waits
// for it, is revoked, or is owed.
func (w *Wheel) Turn() uint64 { return w.turn }

// Departed returns the holders that lost the wheel since it was last asked.
func (w *Wheel) Departed() []Departure {
	left := w.left
	w.left = nil
	return left
}

// position is a party's place in the queue, from 1; 0 when it does not wait.
func (w *Wheel) position(id string) int {
	return 1 + slices.IndexFunc(w.queue, func(q waiter) bool { return q.party.ID == id })
}
