package wheel

import "time"

// A Kind is what sort of party wants to drive. The values are the ones that
// agents see.
type Kind string

// The kinds of party.
const (
	// Agent is a program that drives under a grant.
	Agent Kind = "agent"
	// Human is a person at a pane or window.
	Human Kind = "human"
	// Owner is a person who asked not to be interrupted by a stray click.
	Owner Kind = "owner"
	// Admin is the application's own stop.
	Admin Kind = "admin"
)

// Priority is the kind's rank; the higher one may take the wheel.
func (k Kind) Priority() int {
	switch k {
	case Admin:
		return 900
	case Owner:
		return 200
	case Human:
		return 100
	}
	return 50
}

// Person reports whether a kind counts as a person.
func (k Kind) Person() bool { return k == Human || k == Owner || k == Admin }

// A Party is somebody who may hold the wheel.
type Party struct {
	// ID tells one attachment or pane from another.
	ID string
	// Authority is what a take-over revokes: an agent that comes back under
	// another ID but the same authority stays revoked. Empty means ID.
	Authority string
	Kind      Kind
	// Label is shown to people.
	Label string
	// Rank replaces the kind's priority when it is not 0. It changes neither
	// what is shown nor the floor that the kind has.
	Rank int
}

// Text is who the party is, for a sentence.
func (p Party) Text() string {
	if p.Kind.Person() {
		return "a person"
	}
	return p.Label + " (" + string(p.Kind) + ")"
}

func (p Party) priority() int {
	if p.Rank != 0 {
		return p.Rank
	}
	return p.Kind.Priority()
}

func (p Party) authority() string {
	if p.Authority != "" {
		return p.Authority
	}
	return p.ID
}

// A Phase is where the wheel stands. The values are the ones that agents see.
type Phase string

// The phases.
const (
	// Unheld: nobody drives.
	Unheld Phase = "unheld"
	// Held: the holder drives.
	Held Phase = "held"
	// HeldGrace: the holder's transport dropped; it may come back.
	HeldGrace Phase = "held-grace"
	// PreemptPending: a higher party asked, and the holder is fenced already.
	PreemptPending Phase = "preempt-pending"
	// HandingOver: the new holder is known, and what the last one held down is
	// not confirmed released; nobody drives.
	HandingOver Phase = "handing-over"
)

// An Outcome is what came of an act on the wheel.
type Outcome string

// The outcomes.
const (
	Unchanged           Outcome = "unchanged"
	Granted             Outcome = "granted"
	Renewed             Outcome = "renewed"
	Queued              Outcome = "queued"
	PreemptionStarted   Outcome = "preemption-started"
	WaitCancelled       Outcome = "wait-cancelled"
	PreemptionAbandoned Outcome = "preemption-abandoned"
	LetGo               Outcome = "unheld"
	HandoverComplete    Outcome = "handover-complete"
)

// A Cause says how a holder lost the wheel.
type Cause string

// The causes.
const (
	Released     Cause = "released"
	Preempted    Cause = "preempted"
	Expired      Cause = "expired"
	IdleRevoked  Cause = "idle-revoked"
	GraceElapsed Cause = "disconnect-grace-elapsed"
	Forced       Cause = "force-released"
)

// A Departure is a holder that lost the wheel.
type Departure struct {
	Party Party
	Lease uint64
	Cause Cause
	// By is the person who took it, when one did.
	By *Party
}

// Numbers are the times and bounds of a wheel.
type Numbers struct {
	TTL          time.Duration // since the later of the last intent and the last renewal
	Idle         time.Duration // since the last intent only
	Grace        time.Duration // since the holder's transport dropped
	QueueTTL     time.Duration // since a waiter queued
	QueueDepth   int
	MinimumHold  time.Duration // since granted: a higher agent waits that long
	PreemptGrace time.Duration // since a preemption started
	BackOff      time.Duration // after a forced release agents are refused
	PersonIdle   time.Duration // a person's hold ends so long after the last input with nothing held down
}

// Defaults are the numbers of the tool contract.
func Defaults() Numbers {
	return Numbers{
		TTL:          60 * time.Second,
		Idle:         120 * time.Second,
		Grace:        10 * time.Second,
		QueueTTL:     60 * time.Second,
		QueueDepth:   8,
		MinimumHold:  3 * time.Second,
		PreemptGrace: 2 * time.Second,
		BackOff:      30 * time.Second,
		PersonIdle:   2 * time.Second,
	}
}
