package wheel

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A Wheel is the lease on one limb: exclusive, one holder or none. It is not
// safe for concurrent use.
type Wheel struct {
	n Numbers

	holder  *hold
	preempt *preemption
	queue   []waiter
	revoked []Party // one for each authority that was thrown off
	backOff time.Time

	lease uint64 // the last one given
	debt  uint64 // releases owed so far
	paid  uint64 // releases written so far; debt > paid: nobody may drive
	// driver is who sent input last, since the last release was written.
	// Empty means that nothing can be held down.
	driver string

	left []Departure
	turn uint64 // see Turn
}

type hold struct {
	party   Party
	lease   uint64
	reason  string
	since   time.Time
	intent  time.Time // last dispatched intent
	renewed time.Time
	gone    time.Time // transport dropped; zero while it is there
	holding bool      // keys or buttons are down
}

type preemption struct {
	party    Party
	reason   string
	deadline time.Time
}

type waiter struct {
	party  Party
	reason string
	since  time.Time
}

// New returns a wheel that nobody holds.
func New(n Numbers) *Wheel { return &Wheel{n: n} }

// Why says why the wheel was refused.
type Why string

// The refusals.
const (
	// InBackOff: a person stopped everything a moment ago.
	InBackOff Why = "back-off"
	// IsRevoked: a person took the wheel from this agent and has not handed
	// it back.
	IsRevoked Why = "revoked"
	// IsHeld: somebody else holds it, and waiting was declined.
	IsHeld Why = "held"
	// QueueFull: too many wait already.
	QueueFull Why = "queue full"
)

// A Refusal is the error of a party that does not get the wheel.
type Refusal struct {
	Why Why
	// Remaining is the rest of the back-off.
	Remaining time.Duration
	// Holder is who has it, when somebody has.
	Holder *Party
}

// Error says why the wheel was refused.
func (r *Refusal) Error() string {
	switch r.Why {
	case InBackOff:
		return fmt.Sprintf("a person stopped all agents on this machine; nobody may take the wheel for another %d ms", (r.Remaining+time.Millisecond-1)/time.Millisecond)
	case IsRevoked:
		return "a person took the wheel and has not handed it back"
	case QueueFull:
		return "too many wait for the wheel already"
	}
	if r.Holder != nil {
		return "the wheel is held by " + r.Holder.Text()
	}
	return "the wheel is being handed to somebody else"
}

// An Answer tells what came of asking for the wheel.
type Answer struct {
	Outcome  Outcome
	Lease    uint64    // when the asker holds it now; 0 otherwise
	Position int       // in the queue, from 1; 0 when not queued
	Deadline time.Time // of a preemption
}

// Acquire asks for the wheel. Without queue a party that cannot have it at
// once is refused instead of waiting.
func (w *Wheel) Acquire(now time.Time, p Party, queue bool, reason string) (Answer, error) {
	w.Tick(now)
	if p.Kind == Agent {
		if rest := w.backOff.Sub(now); rest > 0 {
			return Answer{}, &Refusal{Why: InBackOff, Remaining: rest}
		}
		if w.isRevoked(p) {
			return Answer{}, &Refusal{Why: IsRevoked, Holder: w.who()}
		}
	}
	h := w.holder
	switch {
	case h != nil && h.party.ID == p.ID:
		if !h.gone.IsZero() {
			w.turn++
		}
		h.renewed, h.gone = now, time.Time{}
		if reason != "" && reason != h.reason {
			h.reason = reason
			w.turn++
		}
		return Answer{Outcome: Renewed, Lease: h.lease}, nil
	case w.preempt != nil && w.preempt.party.ID == p.ID:
		return Answer{Outcome: PreemptionStarted, Deadline: w.preempt.deadline}, nil
	}
	if i := w.position(p.ID); i > 0 {
		return Answer{Outcome: Queued, Position: i}, nil
	}
	if h == nil {
		return Answer{Outcome: Granted, Lease: w.grant(now, p, reason)}, nil
	}
	lifted := p.Kind.Person() && h.party.Kind == Agent
	switch {
	case h.party.priority() >= p.priority(), w.preempt != nil, w.Owes(),
		!lifted && now.Sub(h.since) < w.n.MinimumHold:
		return w.wait(now, p, queue, reason)
	case !h.gone.IsZero():
		w.depart(Preempted, &p)
		return Answer{Outcome: Granted, Lease: w.grant(now, p, reason)}, nil
	}
	w.pending(&preemption{party: p, reason: reason, deadline: now.Add(w.n.PreemptGrace)})
	return Answer{Outcome: PreemptionStarted, Deadline: w.preempt.deadline}, nil
}

// wait puts a party into the queue: by priority, then first come.
func (w *Wheel) wait(now time.Time, p Party, queue bool, reason string) (Answer, error) {
	switch {
	case !queue:
		return Answer{}, &Refusal{Why: IsHeld, Holder: w.who()}
	case len(w.queue) >= w.n.QueueDepth:
		return Answer{}, &Refusal{Why: QueueFull, Holder: w.who()}
	}
	w.turn++
	w.queue = append(w.queue, waiter{p, reason, now})
	slices.SortStableFunc(w.queue, func(a, b waiter) int { return cmp.Compare(b.party.priority(), a.party.priority()) })
	return Answer{Outcome: Queued, Position: w.position(p.ID)}, nil
}

// grant makes p the holder. What the driver before it may have left held down
// is owed first. A person who drove last, or to whom a clean machine falls,
// owes nothing; an agent always begins with a release.
func (w *Wheel) grant(now time.Time, p Party, reason string) uint64 {
	w.turn++
	w.lease++
	w.holder = &hold{party: p, lease: w.lease, reason: reason, since: now, intent: now, renewed: now}
	if p.Kind == Agent || w.driver != "" && w.driver != p.ID {
		w.debt++
	}
	return w.lease
}

// depart ends the hold. Whatever is held down is owed a release, unless it is
// a person's hold that ended with nothing down.
func (w *Wheel) depart(c Cause, by *Party) {
	h := w.holder
	w.holder = nil
	w.turn++
	w.left = append(w.left, Departure{Party: h.party, Lease: h.lease, Cause: c, By: by})
	if h.party.Kind == Agent || h.holding {
		w.debt++
	}
}

// succeed gives a free wheel to whoever is next.
func (w *Wheel) succeed(now time.Time) {
	switch {
	case w.holder != nil:
	case w.preempt != nil:
		p := w.preempt
		w.pending(nil)
		w.grant(now, p.party, p.reason)
	case len(w.queue) > 0:
		next := w.queue[0]
		w.unqueue(next.party.ID)
		w.grant(now, next.party, next.reason)
	}
}

// pending sets or ends the preemption under way.
func (w *Wheel) pending(p *preemption) {
	w.turn++
	w.preempt = p
}

// drop takes waiters out of the queue.
func (w *Wheel) drop(which func(waiter) bool) {
	n := len(w.queue)
	if w.queue = slices.DeleteFunc(w.queue, which); len(w.queue) != n {
		w.turn++
	}
}

func (w *Wheel) unqueue(id string) { w.drop(func(q waiter) bool { return q.party.ID == id }) }

// Release gives the wheel back, or the place in the queue, or the preemption
// under way. A lease that is not the current one changes nothing; 0 stands for
// whatever the party has.
func (w *Wheel) Release(now time.Time, id string, lease uint64) Outcome {
	w.Tick(now)
	switch {
	case w.holder != nil && w.holder.party.ID == id:
		if lease != 0 && lease != w.holder.lease {
			return Unchanged
		}
		w.depart(Released, nil)
		w.succeed(now)
		if w.holder != nil {
			return HandoverComplete
		}
		return LetGo
	case w.preempt != nil && w.preempt.party.ID == id:
		w.pending(nil)
		return PreemptionAbandoned
	case w.position(id) > 0:
		w.unqueue(id)
		return WaitCancelled
	}
	return Unchanged
}

// Takeover gives the wheel to a person at once, with no grace. An agent that
// held it, and agents that waited for it, are revoked until
// [Wheel.HandBack]. An owner is not interrupted by a mere human.
func (w *Wheel) Takeover(now time.Time, p Party) (Answer, error) {
	w.Tick(now)
	h := w.holder
	switch {
	case !p.Kind.Person():
		return Answer{}, &Refusal{Why: IsHeld, Holder: w.who()}
	case h != nil && h.party.ID == p.ID:
		h.renewed = now
		return Answer{Outcome: Renewed, Lease: h.lease}, nil
	case h != nil && h.party.Kind.Person() && h.party.priority() > p.priority():
		return Answer{}, &Refusal{Why: IsHeld, Holder: w.who()}
	}
	w.unqueue(p.ID)
	if h != nil {
		if h.party.Kind == Agent {
			w.revoke(h.party)
			w.revokeWaiting()
		}
		w.depart(Preempted, &p)
	}
	return Answer{Outcome: Granted, Lease: w.grant(now, p, "")}, nil
}

// revokeWaiting throws off every agent that waits.
func (w *Wheel) revokeWaiting() {
	if w.preempt != nil {
		if w.preempt.party.Kind == Agent {
			w.revoke(w.preempt.party)
		}
		w.pending(nil)
	}
	w.drop(func(q waiter) bool {
		if q.party.Kind == Agent {
			w.revoke(q.party)
		}
		return q.party.Kind == Agent
	})
}

func (w *Wheel) revoke(p Party) {
	if !w.isRevoked(p) {
		w.turn++
		w.revoked = append(w.revoked, p)
	}
}

func (w *Wheel) isRevoked(p Party) bool {
	return slices.ContainsFunc(w.revoked, func(o Party) bool { return o.authority() == p.authority() })
}

// Revoke keeps an agent off the wheel until [Wheel.HandBack], whether it holds
// it or not. A person asked for it.
func (w *Wheel) Revoke(now time.Time, p, by Party) {
	w.Tick(now)
	w.revoke(p)
	same := func(o Party) bool { return o.Kind == Agent && o.authority() == p.authority() }
	if w.preempt != nil && same(w.preempt.party) {
		w.pending(nil)
	}
	w.drop(func(q waiter) bool { return same(q.party) })
	if w.holder != nil && same(w.holder.party) {
		w.depart(Preempted, &by)
		w.succeed(now)
	}
}

// HandBack ends every revocation and the back-off, and the person's own hold.
func (w *Wheel) HandBack(now time.Time, id string) {
	w.turn++
	w.revoked, w.backOff = nil, time.Time{}
	w.Release(now, id, 0)
}

// Force takes the wheel from whoever has it, empties the queue, revokes the
// agents among them, and refuses agents for the back-off. A release is owed
// even when nobody held anything.
func (w *Wheel) Force(now time.Time, by Party) {
	w.Tick(now)
	for _, q := range w.queue {
		if q.party.Kind == Agent {
			w.revoke(q.party)
		}
	}
	if w.preempt != nil && w.preempt.party.Kind == Agent {
		w.revoke(w.preempt.party)
	}
	w.queue, w.preempt = nil, nil
	if w.holder != nil {
		if w.holder.party.Kind == Agent {
			w.revoke(w.holder.party)
		}
		w.depart(Forced, &by)
	}
	w.Owe()
	w.backOff = now.Add(w.n.BackOff)
}

// Renew resets the holder's time to live, not its idle time: it looked.
func (w *Wheel) Renew(now time.Time, id string) {
	w.Tick(now)
	if w.holder != nil && w.holder.party.ID == id {
		w.holder.renewed = now
	}
}

// Disconnect says that a party's transport dropped. A holder has the grace to
// come back and acquire again; a waiter loses its place.
func (w *Wheel) Disconnect(now time.Time, id string) {
	w.Tick(now)
	if w.preempt != nil && w.preempt.party.ID == id {
		w.pending(nil)
	}
	w.unqueue(id)
	if h := w.holder; h != nil && h.party.ID == id && h.gone.IsZero() {
		w.turn++
		h.gone = now
	}
}

// Gone says that the machine's session has ended: nobody holds the wheel or
// waits for it, and nothing is held down. Agents stay revoked.
func (w *Wheel) Gone() {
	if w.holder != nil {
		w.depart(Released, nil)
	}
	w.turn++
	w.queue, w.preempt = nil, nil
	w.paid, w.driver = w.debt, ""
}

// MayDispatch reports whether a party may send input right now.
func (w *Wheel) MayDispatch(id string) bool {
	h := w.holder
	return h != nil && h.party.ID == id && h.gone.IsZero() && w.preempt == nil && !w.Owes()
}

// Dispatched notes that the holder sent input, and whether it holds keys or
// buttons down since. It reports false, and notes nothing, for a party that
// may not dispatch.
func (w *Wheel) Dispatched(now time.Time, id string, holding bool) bool {
	if !w.MayDispatch(id) {
		return false
	}
	w.holder.intent, w.holder.holding = now, holding
	w.driver = id
	return true
}

// Owes reports whether a release is owed to the machine: a pointer event with
// no buttons, then the release of every key. Until it is written nobody may
// drive.
func (w *Wheel) Owes() bool { return w.debt > w.paid }

// Owe asks for a release without a change of holder: an act was interrupted
// with something held down.
func (w *Wheel) Owe() {
	w.turn++
	w.debt++
}

// Debt is the number to give to [Wheel.Pay] once the release has been written.
// ok is false when none is owed.
func (w *Wheel) Debt() (debt uint64, ok bool) { return w.debt, w.Owes() }

// Pay says that a release begun when [Wheel.Debt] told that number is on the
// wire. A change since then owes another one.
func (w *Wheel) Pay(debt uint64) Outcome {
	if debt = min(debt, w.debt); debt <= w.paid {
		return Unchanged
	}
	w.paid = debt
	w.turn++
	if w.Owes() {
		return Unchanged
	}
	w.driver = ""
	if w.holder != nil {
		w.holder.holding = false
		return HandoverComplete
	}
	return Unchanged
}
