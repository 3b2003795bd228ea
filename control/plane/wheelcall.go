package plane

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deskvnc/control"
	"deskvnc/control/wheel"
)

// How long dvv_control acquire waits.
const (
	// defaultAcquireWait covers the time after which a person's hold ends by
	// itself.
	defaultAcquireWait = 3 * time.Second
	maxAcquireWait     = 25 * time.Second
)

// controlAnswer is the result of dvv_control.
type controlAnswer struct {
	LimbID   string        `json:"limb_id"`
	Action   string        `json:"action"`
	Outcome  wheel.Outcome `json:"outcome"`
	LeaseID  *uint64       `json:"lease_id"`
	Held     bool          `json:"held"`
	View     wheelView     `json:"view"`
	Released []string      `json:"released"`
	Yield    *yielded      `json:"control_yield,omitempty"`
}

type wheelView struct {
	Limb          string  `json:"limb"`
	Mode          string  `json:"mode"` // always exclusive
	Phase         string  `json:"phase"`
	HolderKind    *string `json:"holder_kind"`
	HolderLabel   *string `json:"holder_label"`
	YouHold       bool    `json:"you_hold"`
	QueueDepth    int     `json:"queue_depth"`
	QueuePosition *int    `json:"queue_position"`
}

// yielded tells an attachment that does not hold the wheel what happened.
type yielded struct {
	LimbID        string   `json:"limb_id"`
	Reason        string   `json:"reason"` // human_takeover, or the phase
	ByLabel       *string  `json:"by_label"`
	HumanTookOver bool     `json:"human_took_over"`
	Interrupted   []string `json:"interrupted"`
	Advice        string   `json:"advice"`
}

// releasedOnTheWire says what a release sends, in wire order.
var releasedOnTheWire = []string{"pointer buttons", "keys"}

// control serves dvv_control.
func (c *call) control() (control.Result, error) {
	st, err := c.seat()
	if err != nil {
		return control.Result{}, err
	}
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	action := c.args.Text("action")
	if c.args.Has("waitMs") && action != "acquire" {
		return control.Result{}, control.Refuse(control.BadRequest, "waitMs goes with acquire")
	}
	outcome, released := wheel.Unchanged, []string{}
	switch action {
	case "acquire":
		if outcome, released, err = c.acquire(st); err != nil {
			return control.Result{}, err
		}
	case "release", "yield":
		outcome, released = c.release(st)
	}
	v := st.wheelView()
	return control.Result{Text: controlText(st, action, outcome, v), Structured: answerOf(st, action, outcome, released, v)}, nil
}

// acquire gets the wheel, waiting for it as long as the caller allows.
func (c *call) acquire(st *seat) (wheel.Outcome, []string, error) {
	l, wait := st.limb, defaultAcquireWait
	if c.args.Has("waitMs") {
		wait = min(time.Duration(c.args.Int("waitMs"))*time.Millisecond, maxAcquireWait)
	}
	var answer wheel.Answer
	var owed bool
	var err error
	l.steer(func(w *wheel.Wheel, now time.Time) {
		switch {
		case l.session != st.session:
			err = control.Refuse(control.LimbGone, "the session of "+l.id+" has ended")
		case l.viewOnly:
			err = viewOnlyRefusal()
		default:
			answer, err = w.Acquire(now, st.party(), wait > 0, c.args.Text("reason"))
			owed = w.Owes()
		}
	})
	if err != nil {
		return "", nil, leaseRefusal(st, err)
	}
	released := []string{}
	if answer.Outcome == wheel.Queued || answer.Outcome == wheel.PreemptionStarted {
		ctx, cancel := context.WithTimeout(c.ctx, wait)
		defer cancel()
		waiting := answer.Outcome
		l.await(ctx, func(w *wheel.Wheel) bool {
			v := w.View(st.party())
			switch {
			case v.Lease != 0:
				waiting = wheel.Granted
			case v.Revoked:
				waiting = wheel.WaitCancelled
			case v.Position == 0 && waiting == wheel.Queued:
				waiting = wheel.WaitCancelled
			default:
				return false
			}
			return true
		})
		if c.ctx.Err() != nil && waiting != wheel.Granted { // the caller is no longer there to drive
			l.steer(func(w *wheel.Wheel, now time.Time) { w.Release(now, st.a.id, 0) })
			return "", nil, c.ctx.Err()
		}
		if waiting == wheel.WaitCancelled {
			if v := st.wheelView(); v.Revoked {
				return "", nil, leaseRefusal(st, &wheel.Refusal{Why: wheel.IsRevoked, Holder: v.Holder})
			}
		}
		if waiting != wheel.Granted {
			return waiting, released, nil
		}
		answer.Outcome, owed = wheel.Granted, true
	}
	if answer.Outcome == wheel.Granted {
		st.takes()
	}
	if owed && c.handedOver(st) {
		released = releasedOnTheWire
	}
	return answer.Outcome, released, nil
}

// handedOver waits until what was owed before the seat's turn is on the wire.
func (c *call) handedOver(st *seat) bool {
	ctx, cancel := context.WithTimeout(c.ctx, settleWait)
	defer cancel()
	return st.limb.await(ctx, func(w *wheel.Wheel) bool { return !w.Owes() })
}

// release gives the wheel back.
func (c *call) release(st *seat) (wheel.Outcome, []string) {
	var outcome wheel.Outcome
	var owed bool
	st.limb.steer(func(w *wheel.Wheel, now time.Time) {
		outcome = w.Release(now, st.a.id, 0)
		owed = outcome != wheel.Unchanged && w.Owes()
	})
	if owed && c.handedOver(st) {
		return outcome, releasedOnTheWire
	}
	return outcome, []string{}
}

// leaseRefusal is the refusal of a party that does not get the wheel.
func leaseRefusal(st *seat, err error) error {
	var r *wheel.Refusal
	if !errors.As(err, &r) {
		return err
	}
	if r.Why == wheel.IsRevoked {
		return control.Refuse(control.LeaseRevoked, r.Error())
	}
	hint := "Wait and acquire again with waitMs, or tell the user who holds it."
	if r.Why == wheel.InBackOff {
		hint = "A person stopped the agents on purpose. Tell the user, and do not try again on your own."
	}
	return &control.Refused{Code: control.LeaseNotHeld, Message: r.Error(), Hint: hint}
}

func viewOnlyRefusal() *control.Refused {
	return &control.Refused{Code: control.NotSupported, Message: "this session is view only; nothing is sent to it", Hint: "Tell the user: a person has to switch view only off."}
}

func answerOf(st *seat, action string, outcome wheel.Outcome, released []string, v wheel.View) controlAnswer {
	lease := leaseOf(v)
	a := controlAnswer{
		LimbID: st.limb.id, Action: action, Outcome: outcome, Held: lease.Held, Released: released,
		View: wheelView{
			Limb: st.limb.id, Mode: "exclusive", Phase: lease.Phase, HolderKind: lease.HolderKind, HolderLabel: lease.HolderLabel,
			YouHold: lease.Held, QueueDepth: lease.QueueDepth, QueuePosition: lease.QueuePosition,
		},
	}
	if lease.Held {
		a.LeaseID = &v.Lease
		return a
	}
	y := &yielded{LimbID: st.limb.id, Reason: lease.Phase, ByLabel: lease.HolderLabel, HumanTookOver: lease.HumanTookOver, Interrupted: []string{}}
	if lease.HumanTookOver {
		y.Reason = "human_takeover"
	}
	for _, n := range st.cut() {
		y.Interrupted = append(y.Interrupted, fmt.Sprintf("intent %d", n))
	}
	switch {
	case v.Revoked:
		y.Advice = "A person took the wheel. Stop, tell the user what was interrupted, and act again only after they hand it back."
	case lease.HumanTookOver:
		y.Advice = "A person is driving. Stop and tell the user, or acquire with waitMs when they asked you to go on."
	case v.Position > 0:
		y.Advice = "You are waiting for the wheel. Acquire again to see whether it is yours."
	case lease.HolderLabel != nil:
		y.Advice = "Another agent holds the wheel. Acquire with waitMs to wait for it."
	default:
		y.Advice = "Nobody holds the wheel. Acquire it before you act."
	}
	a.Yield = y
	return a
}

func controlText(st *seat, action string, outcome wheel.Outcome, v wheel.View) string {
	text := fmt.Sprintf("%s %s: %s. ", action, st.limb.id, outcome)
	switch {
	case v.Lease != 0:
		return text + fmt.Sprintf("You hold the wheel (lease %d).", v.Lease)
	case v.HumanTookOver:
		return text + "A person has the wheel."
	case v.Holder != nil:
		return text + v.Holder.Label + " holds the wheel."
	}
	return text + "Nobody holds the wheel."
}
