package plane

import (
	"context"
	"errors"
	"fmt"
	"image"
	"time"

	"deskvnc/control"
	"deskvnc/control/wheel"
	"deskvnc/viewer"
)

// The input queue as agents may use it: half of it, the rest stays for the
// person.
const (
	agentQueue = viewer.InputQueue / 2
	// pollRoom is the pause between two looks for room in a full queue.
	pollRoom = 5 * time.Millisecond
	// blockedAfter is how long a machine may take no input before an act
	// gives up.
	blockedAfter = 2 * time.Second
)

// fences are what an act must prove before and while it runs.
type fences struct {
	// pointer acts carry a geometry generation and the points they touch.
	pointer    bool
	given      bool // generation was in the arguments
	generation uint32
	points     []image.Point
	// keys are pressed only on a picture that the attachment has seen.
	keys bool
}

// An act is one intent while it runs. It is owned by its call; stop may be
// called from anywhere.
type act struct {
	id     uint64
	seat   *seat
	ctx    context.Context
	cancel context.CancelCauseFunc

	geometry uint32 // compared before each step; 0 for keys
	keys     bool
	repaint  uint32 // compared before each key goes down

	sent    int  // steps that reached the wire
	posted  bool // something was queued
	down    bool // something is held down on the machine
	at      image.Point
	blocked time.Duration
}

func (a *act) stop(cause error) { a.cancel(cause) }

// Errors that end an act from inside.
var (
	errBlocked = errors.New("the machine takes no input")
	// errScreen and errGeometry: a fence tripped part way.
	errScreen   = errors.New("the screen was repainted")
	errGeometry = errors.New("the screen was resized")
)

// begin gives the act its number, and checks everything that must hold before
// anything is sent. The refusal carries the settled intent.
func (c *call) begin(st *seat, f fences) (*act, error) {
	l := st.limb
	c.clear(st)
	now := l.lock()
	defer l.unlock()
	l.intents++
	a := &act{id: l.intents, seat: st, keys: f.keys}
	refused := c.admit(a, f, now)
	if refused != nil {
		refused.Settlement = settlement{
			LimbID: l.id, Intent: a.id, Outcome: "refused", Progress: progress{Kind: "none"}, Lease: leaseOf(l.wheel.View(st.party())),
		}
		return nil, refused
	}
	a.ctx, a.cancel = context.WithCancelCause(c.ctx)
	l.acts[c.a.id] = a
	return a, nil
}

// clear waits for a cancelled act of the caller to be over and for what was
// held down before to be released: an act that follows at once is then simply
// the next one.
func (c *call) clear(st *seat) {
	l := st.limb
	ctx, cancel := context.WithTimeout(c.ctx, settleWait)
	defer cancel()
	l.await(ctx, func(w *wheel.Wheel) bool {
		if own := l.acts[c.a.id]; own != nil {
			return own.ctx.Err() == nil // it goes on: refused as such
		}
		v := w.View(st.party())
		return v.Lease == 0 || v.Phase != wheel.HandingOver
	})
}

// admit is the order of checks of an act. The caller holds the limb's lock.
func (c *call) admit(a *act, f fences, now time.Time) *control.Refused {
	st, l := a.seat, a.seat.limb
	if l.session != st.session {
		return control.Refuse(control.LimbGone, "the session of "+l.id+" has ended")
	}
	if l.viewOnly {
		return viewOnlyRefusal()
	}
	if refused := ready(st.session, now); refused != nil {
		return refused
	}
	if refused := st.mayAct(l.wheel); refused != nil {
		return refused
	}
	if l.acts[c.a.id] != nil {
		return control.Refuse(control.IntentInFlight, fmt.Sprintf("intent %d of yours is still running on %s", l.acts[c.a.id].id, l.id))
	}
	seen, looked, served := st.view()
	gen := st.session.Frame().Generations()
	if f.pointer {
		geometry, w, h := geometryOf(st.session)
		quoted := served
		if f.given {
			quoted = f.generation
		}
		switch {
		case !f.given && served == 0:
			return control.Refuse(control.Unfenced, "no geometry generation was given, and you have not looked at "+l.id+" yet")
		case quoted != geometry:
			return control.Refuse(control.GeometryChanged, fmt.Sprintf("the point belongs to geometry generation %d, and %s is at %d; nothing was sent", quoted, l.id, geometry))
		}
		for _, p := range f.points {
			if p.X < 0 || p.Y < 0 || p.X >= w || p.Y >= h {
				return control.Refuse(control.OutOfBounds, fmt.Sprintf("%d,%d is outside the screen of %d x %d %s; nothing was sent", p.X, p.Y, w, h, unitOf(st.session)))
			}
		}
		a.geometry = geometry
	}
	if f.keys {
		switch {
		case !looked:
			return control.Refuse(control.ScreenChanged, fmt.Sprintf("you have not looked at %s yet (content generation %d); nothing was typed", l.id, gen.Content))
		case seen.Content != gen.Content:
			return control.Refuse(control.ScreenChanged, fmt.Sprintf("you looked at content generation %d of %s, and it is at %d now; nothing was typed", seen.Content, l.id, gen.Content))
		}
		a.repaint = gen.Repaint
	}
	return nil
}

// mayAct refuses a seat that may not send input. The caller holds the limb's
// lock.
func (s *seat) mayAct(w *wheel.Wheel) *control.Refused {
	if w.MayDispatch(s.a.id) {
		return nil
	}
	switch v := w.View(s.party()); {
	case v.Revoked:
		return control.Refuse(control.LeaseRevoked, "a person took the wheel and has not handed it back")
	case v.Lease != 0 && v.Phase == wheel.HandingOver:
		return control.Refuse(control.IntentBlocked, "what was held down before is still being released")
	case v.Lease != 0:
		return control.Refuse(control.LeaseRevoked, "somebody with a higher right is taking the wheel")
	case v.Holder != nil:
		return control.Refuse(control.LeaseNotHeld, v.Holder.Text()+" holds the wheel")
	}
	return control.Refuse(control.LeaseNotHeld, "you do not hold the wheel; a holder that does nothing for 60 seconds loses it")
}

// step queues inputs as one and waits until they are on the wire. holding says
// that something is held down afterwards.
func (a *act) step(holding bool, in ...viewer.Input) error {
	cleared, err := a.post(holding, in)
	if err != nil {
		return err
	}
	if err := a.flush(cleared); err != nil {
		return err
	}
	a.sent++
	return nil
}

// post queues inputs, all or none, once there is room. Between the last check
// and the queue nobody can take the wheel or be told that they have it.
func (a *act) post(holding bool, in []viewer.Input) (cleared uint64, err error) {
	l, s := a.seat.limb, a.seat.session
	var waited time.Duration
	for {
		if a.ctx.Err() != nil {
			return 0, context.Cause(a.ctx)
		}
		now := l.lock()
		err := a.still(in)
		if err == nil {
			if s.Queued() > agentQueue-min(len(in), agentQueue) {
				err = errBlocked
			} else if err = s.Post(in...); viewer.KindOf(err) == viewer.Busy {
				err = errBlocked
			}
		}
		if err == nil {
			l.wheel.Dispatched(now, a.seat.a.id, holding)
			cleared, a.posted, a.down = l.cleared, true, holding
		}
		l.unlock()
		if !errors.Is(err, errBlocked) || waited >= blockedAfter {
			return cleared, err
		}
		if err := a.pause(pollRoom); err != nil {
			return 0, err
		}
		waited += pollRoom
		a.blocked += pollRoom
	}
}

// still checks, right before inputs are queued, that the act may send them.
// The caller holds the limb's lock.
func (a *act) still(in []viewer.Input) error {
	l := a.seat.limb
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
	switch {
	case l.session != a.seat.session:
		return errSessionEnded
	case l.viewOnly:
		return errClosing
	case !l.wheel.MayDispatch(a.seat.a.id):
		return &leaseLost{wheel.Departure{Party: a.seat.party(), Cause: wheel.Preempted}}
	}
	if a.geometry != 0 {
		if geometry, _, _ := geometryOf(a.seat.session); geometry != a.geometry {
			return errGeometry
		}
	}
	gen := a.seat.session.Frame().Generations()
	switch {
	case a.keys && gen.Repaint != a.repaint && presses(in):
		return errScreen
	}
	return nil
}

// presses reports whether a key goes down among inputs.
func presses(in []viewer.Input) bool {
	for _, i := range in {
		if k, ok := i.(viewer.Key); ok && k.Down {
			return true
		}
	}
	return false
}

// flush waits until what was queued is on the wire. It is not when a release
// threw it away meanwhile.
func (a *act) flush(cleared uint64) error {
	l, s := a.seat.limb, a.seat.session
	thrown := func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.cleared != cleared
	}
	ctx, cancel := context.WithTimeout(a.ctx, blockedAfter)
	defer cancel()
	start := time.Now()
	err := s.Flush(ctx)
	switch {
	case err == nil && !thrown():
		return nil
	case a.ctx.Err() != nil:
		// Stopped while it was on its way. It is counted if it went: the
		// release that follows waits for it as long as this does.
		grace, end := context.WithTimeout(context.Background(), flushGrace)
		defer end()
		if s.Flush(grace) == nil && !thrown() {
			return nil
		}
		return context.Cause(a.ctx)
	case ctx.Err() != nil:
		a.blocked += time.Since(start)
		return errBlocked
	case err == nil:
		return &leaseLost{wheel.Departure{Party: a.seat.party(), Cause: wheel.Preempted}}
	}
	return err
}

// pause waits, unless the act is stopped.
func (a *act) pause(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-a.ctx.Done():
		return context.Cause(a.ctx)
	}
}
