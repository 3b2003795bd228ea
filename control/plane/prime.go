package plane

import (
	"context"
	"fmt"
	"image"
	"time"

	"deskvnc/control"
	"deskvnc/control/wheel"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// How a picture that has holes is helped along.
const (
	primeRefresh       = 2 * time.Second // then the whole picture is asked for again
	primeReconnect     = 6 * time.Second // then the machine is dialled again
	primeGiveUp        = 8 * time.Second
	primeGiveUpRedial  = 30 * time.Second
	primeReconnectWait = 15 * time.Second
)

// primed waits until every pixel of a region has been painted, the whole
// screen for an empty one. A machine that leaves holes is asked for its
// picture again and then dialled again, unless somebody else is driving.
func (c *call) primed(st *seat, region image.Rectangle) error {
	f := st.session.Frame()
	if f.Whole(region) {
		return nil
	}
	reader := f.Reader()
	defer reader.Close()
	start := time.Now()
	next := primeRefresh
	for !f.Whole(region) {
		t := time.NewTimer(time.Until(start.Add(next)))
		select {
		case <-reader.Wake():
			t.Stop()
			continue
		case <-st.session.Done():
			t.Stop()
			return control.Refuse(control.LimbGone, "the session of "+st.limb.id+" has ended")
		case <-c.ctx.Done():
			t.Stop()
			return c.ctx.Err()
		case <-t.C:
		}
		switch next {
		case primeRefresh:
			st.session.Refresh()
			next = primeReconnect
		case primeReconnect:
			if !st.mayRedial() {
				next = primeGiveUp
				continue
			}
			next = primeGiveUpRedial
			if err := c.redial(st, primeReconnectWait); err != nil {
				return err
			}
		default:
			return priming(st, region)
		}
	}
	return nil
}

// priming refuses a look at a region with holes, and tells where they are: what
// lies beside them can be looked at.
func priming(st *seat, region image.Rectangle) *control.Refused {
	r := &control.Refused{Code: control.NotReady, Message: "the machine has not painted the whole screen of " + st.limb.id + " yet", Hint: "Call dvv_reconnect, then dvv_screen."}
	f := st.session.Frame()
	m := f.Missing(region)
	if region.Empty() {
		region = whole(f)
	}
	if m != region && !m.Empty() {
		r.Message = fmt.Sprintf("the machine has not painted %d,%d %dx%d of the screen of %s yet", m.Min.X, m.Min.Y, m.Dx(), m.Dy(), st.limb.id)
		r.Hint = "Look at the rest with dvv_screen form region, or call dvv_reconnect, then dvv_screen."
	}
	return r
}

// mayRedial reports whether the seat may drop the connection by itself: not
// under somebody who drives.
func (s *seat) mayRedial() bool {
	if s.session.Called() { // only the machine can connect again
		return false
	}
	v := s.wheelView()
	return !v.Revoked && (v.Holder == nil || v.Lease != 0)
}

// redial drops the connection and waits for the next one. Not connected in
// time is no error.
func (c *call) redial(st *seat, wait time.Duration) error {
	s := st.session
	if s.Called() {
		return &control.Refused{Code: control.NotSupported, Message: st.limb.id + " is a machine that calls by itself: only it can connect again", Hint: "Wait with dvv_wait until connected, or ask the user to have it call."}
	}
	before := s.Info().Connections
	// The state as it is now says nothing: what counts comes after the next
	// attempt has begun.
	if err := dialAgain(c.ctx, s); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.ctx, wait)
	defer cancel()
	_, err := s.WaitState(ctx, func(state viewer.State) bool {
		return s.Info().Connections > before && state.Phase == viewer.Connected || final(state)
	})
	switch {
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case viewer.KindOf(err) == viewer.Closed:
		return control.Refuse(control.LimbGone, "the session of "+st.limb.id+" has ended")
	}
	st.blind()
	if s.State().Phase == viewer.Connected && s.Info().Connections > before && st.mirror() != nil {
		s.Refresh()
	}
	return nil
}

// dialAgain asks for a new connection and returns when the attempt has begun,
// so that the state is not the old one any more.
func dialAgain(ctx context.Context, s *engine.Session) error {
	begun := make(chan struct{}, 1)
	cancel := s.Subscribe(func(ev viewer.Event) {
		if ch, ok := ev.(viewer.StateChanged); ok && ch.State.Phase != viewer.Disconnected {
			select {
			case begun <- struct{}{}:
			default:
			}
		}
	})
	defer cancel()
	s.Reconnect()
	t := time.NewTimer(beginWait)
	defer t.Stop()
	select {
	case <-begun:
	case <-t.C: // it closes the old connection still
	case <-s.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// beginWait bounds how long a new connection may take to begin: the old one
// is closed first, and what it holds released.
const beginWait = 5 * time.Second

// final reports whether a state ends a wait for connected: nothing will come
// of it without somebody's doing.
func final(st viewer.State) bool { return st.Phase == viewer.Disconnected }

// reconnect serves dvv_reconnect.
func (c *call) reconnect() (control.Result, error) {
	st, err := c.seat()
	if err != nil {
		return control.Result{}, err
	}
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	var refused *control.Refused
	st.limb.steer(func(w *wheel.Wheel, _ time.Time) {
		switch v := w.View(st.party()); {
		case v.Revoked:
			refused = control.Refuse(control.LeaseRevoked, "a person took the wheel and has not handed it back")
		case v.Holder != nil && v.Lease == 0:
			refused = &control.Refused{
				Code: control.LeaseNotHeld, Message: v.Holder.Label + " (" + string(v.Holder.Kind) + ") is driving this session", Hint: "Wait until they are done; a new connection would cut them off.",
			}
		}
	})
	if refused != nil {
		return control.Result{}, refused
	}
	wait := defaultReconnectWait
	if c.args.Has("timeoutMs") {
		wait = min(time.Duration(c.args.Int("timeoutMs"))*time.Millisecond, maxWait)
	}
	before := st.session.Info().Connections
	if err := c.redial(st, wait); err != nil {
		return control.Result{}, err
	}
	state := st.session.State()
	ok := state.Phase == viewer.Connected && st.session.Info().Connections > before
	text := st.limb.id + " is connected again. Call dvv_screen before you act."
	if !ok {
		text = st.limb.id + " is not connected yet: it is " + string(state.Phase)
		if state.Reason != "" {
			text += " (" + oneLine(state.Reason) + ")"
		}
		text += "."
	}
	return control.Result{Text: text, Structured: struct {
		LimbID    string        `json:"limbId"`
		Connected bool          `json:"connected"`
		State     control.State `json:"state"`
	}{st.limb.id, ok, stateOf(state, c.a.plane.now())}}, nil
}

// defaultReconnectWait is how long dvv_reconnect waits for the machine.
const defaultReconnectWait = 20 * time.Second
