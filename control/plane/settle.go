package plane

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deskvnc/control"
	"deskvnc/control/wheel"
	"deskvnc/viewer"
)

// A settlement is what became of one intent; there is exactly one for each.
type settlement struct {
	LimbID   string            `json:"limbId"`
	Intent   uint64            `json:"intent"`
	Outcome  string            `json:"outcome"`
	Progress progress          `json:"progress"`
	Gaps     gaps              `json:"gaps"`
	Lease    control.LeaseInfo `json:"lease"`
	Resolved []string          `json:"resolved,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	// Lost is how many characters of a clipboard text the protocol could not
	// carry.
	Lost int `json:"replacedCharacters,omitempty"`
}

// progress is how far an act came.
type progress struct {
	Kind               string `json:"kind"` // none, code-points, drag or delivered
	Count              *int   `json:"count,omitempty"`
	ReleasedAt         *point `json:"released_at,omitempty"`
	PointsDelivered    *int   `json:"points_delivered,omitempty"`
	ReleaseSynthesised *bool  `json:"release_synthesised,omitempty"`

	of [2]string // what Count counts, in words: one, and more; steps without
}

type point struct {
	X int `json:"x"`
	Y int `json:"y"`
}

// gaps are what did not go as it was asked for.
type gaps struct {
	PointerMovesShed  int   `json:"pointer_moves_shed"`
	SettingsCoalesced int   `json:"settings_coalesced"`
	CommandsDropped   int   `json:"commands_dropped"`
	BytesDropped      int   `json:"bytes_dropped"`
	BlockedMs         int64 `json:"blocked_ms"`
}

func counted(kind string, n int) progress { return progress{Kind: kind, Count: &n} }

// settle ends an act: what it still holds down is released, and the result
// says exactly what went. done is the sentence of a full success.
func (c *call) settle(a *act, p progress, err error, resolved []string, done string) (control.Result, error) {
	st, l := a.seat, a.seat.limb
	synthesised := a.end(err)
	if p.ReleaseSynthesised != nil && synthesised {
		*p.ReleaseSynthesised = true
	}
	a.cancel(nil)
	s := settlement{LimbID: l.id, Intent: a.id, Progress: p, Gaps: gaps{BlockedMs: a.blocked.Milliseconds()}, Resolved: resolved}
	if a.posted {
		st.act()
	}
	if err == nil {
		s.Outcome = "delivered"
	}
	refused := c.judge(a, err, &s)
	s.Lease = st.lease()
	if refused != nil {
		refused.Settlement = s
		return control.Result{}, refused
	}
	text := done
	if s.Outcome != "delivered" {
		text = fmt.Sprintf("%s: intent %d ended as %s", c.row.Name, a.id, s.Outcome)
		if s.Reason != "" {
			text += " (" + s.Reason + ")"
		}
		text += fmt.Sprintf("; %s.", progressText(p))
	}
	return control.Result{Text: text, Structured: s}, nil
}

// progressText is how far an act came, in words.
func progressText(p progress) string {
	switch {
	case p.Kind == "code-points":
		return count(*p.Count, "character was sent", "characters were sent")
	case p.Kind == "drag":
		return fmt.Sprintf("the pointer came to %d,%d", p.ReleasedAt.X, p.ReleasedAt.Y)
	case p.Count != nil && p.of[0] != "":
		return count(*p.Count, p.of[0], p.of[1])
	case p.Count != nil:
		return count(*p.Count, "step was sent", "steps were sent")
	}
	return "nothing was sent"
}

// end takes the act off its limb. When it failed with something held down,
// that is released; end reports whether it was, or is being.
func (a *act) end(err error) (synthesised bool) {
	l := a.seat.limb
	stuck := errors.Is(err, errBlocked) && a.posted
	var wait bool
	l.steer(func(w *wheel.Wheel, _ time.Time) {
		if l.acts[a.seat.a.id] == a {
			delete(l.acts, a.seat.a.id)
			close(l.changed) // for whoever waits for the act to end
			l.changed = make(chan struct{})
		}
		if err == nil || l.session != a.seat.session {
			return
		}
		held := a.down
		if w.MayDispatch(a.seat.a.id) && (held || stuck) {
			w.Owe()
			wait = held
			l.discard = l.discard || stuck // it is told that it did not go
		}
		synthesised = held && !linkLost(err)
	})
	if wait {
		ctx, cancel := context.WithTimeout(context.Background(), settleWait)
		defer cancel()
		l.await(ctx, func(w *wheel.Wheel) bool { return !w.Owes() })
	}
	return synthesised
}

// judge names the outcome of an act that did not go through, and the refusal
// when it is one.
func (c *call) judge(a *act, err error, s *settlement) *control.Refused {
	var lost *leaseLost
	nothing := a.sent == 0
	partial := func(code control.Code, message, hint string) *control.Refused {
		s.Outcome, s.Reason = "partial", string(code)
		if nothing {
			s.Outcome = "refused"
		}
		return &control.Refused{Code: code, Message: message + "; " + progressText(s.Progress), Hint: hint}
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &lost):
		s.Outcome = "superseded"
		if lost.d.Cause != wheel.Preempted {
			s.Outcome = "cancelled"
		}
		s.Reason = string(control.LeaseRevoked)
		a.seat.cutOff(a.id)
		who := "the wheel was lost part way (" + string(lost.d.Cause) + ")"
		if lost.d.By != nil && lost.d.By.Kind.Person() {
			who = "a person took the wheel part way"
		}
		return control.Refuse(control.LeaseRevoked, who+"; "+progressText(s.Progress))
	case errors.Is(err, errScreen):
		return partial(control.ScreenChanged, "the screen was repainted while you typed", "Call dvv_screen and look at what was typed where before you go on; do not type it all again.")
	case errors.Is(err, errGeometry):
		return partial(control.GeometryChanged, "the screen was resized part way", "Call dvv_screen and look at what happened before you go on.")
	case errors.Is(err, errBlocked):
		if nothing {
			s.Outcome = "refused"
			return control.Refuse(control.IntentBlocked, "the machine took no input for 2 seconds; nothing was sent")
		}
		s.Outcome, s.Reason = "partial", string(control.IntentBlocked)
		return nil
	case linkLost(err):
		if !a.posted {
			s.Outcome = "refused"
			return control.Refuse(control.NotReady, "the connection was lost; nothing was sent")
		}
		s.Outcome, s.Reason = "link-lost", "the connection was lost; the last input may or may not have arrived"
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		s.Outcome, s.Reason = "timed-out", string(control.Timeout)
		return nil
	case errors.Is(err, errClosing), errors.Is(err, context.Canceled):
		s.Outcome = "cancelled"
		return nil
	}
	var refused *control.Refused
	if errors.As(err, &refused) {
		s.Outcome = "refused"
		return refused
	}
	s.Outcome = "unknown"
	return control.Refuse(control.Internal, reason(err))
}

// linkLost reports whether an act ended with its connection.
func linkLost(err error) bool {
	var e *viewer.Error
	return errors.Is(err, errSessionEnded) || errors.As(err, &e) && e.Kind == viewer.Closed
}
