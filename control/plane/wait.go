package plane

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deskvnc/control"
	"deskvnc/viewer"
)

// Times of dvv_wait.
const (
	maxWait      = 25 * time.Second
	defaultWait  = 8 * time.Second
	defaultQuiet = 750 * time.Millisecond
)

// waitAnswer is the result of dvv_wait.
type waitAnswer struct {
	LimbID      string               `json:"limbId"`
	Settled     bool                 `json:"settled"`
	WaitedMs    int64                `json:"waitedMs"`
	AskedMs     int64                `json:"askedMs"`
	ClampedMs   int64                `json:"clampedMs"`
	Reason      string               `json:"reason,omitempty"`
	Observed    observed             `json:"observed"`
	Exit        *exitInfo            `json:"exit,omitempty"` // of the program, until exit
	Observation *control.Observation `json:"observation"`
}

// observed is what a wait saw.
type observed struct {
	Signal     string  `json:"signal"`   // damage, output-bytes or none
	QuietMs    int64   `json:"quiet_ms"` // since the last change
	Rects      int     `json:"damage_rects"`
	Bytes      int     `json:"bytes"`
	Confidence float64 `json:"confidence"`
}

// wait serves dvv_wait.
func (c *call) wait() (control.Result, error) {
	st, err := c.seat()
	if err != nil {
		return control.Result{}, err
	}
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	until := c.args.Text("until")
	text := until == "text" || until == "text-gone"
	switch {
	case text && !c.args.Has("text"):
		return control.Result{}, control.Refuse(control.BadRequest, "dvv_wait: until "+until+` needs "text"`)
	case !text && c.args.Has("text"):
		return control.Result{}, control.Refuse(control.BadRequest, `dvv_wait: "text" goes with text and text-gone only`)
	}
	if text {
		if err := checkWaitText(c.args.Text("text")); err != nil {
			return control.Result{}, err
		}
	}
	asked := defaultWait
	if c.args.Has("timeoutMs") {
		asked = time.Duration(c.args.Int("timeoutMs")) * time.Millisecond
	}
	quiet := defaultQuiet
	if c.args.Has("quietMs") {
		quiet = time.Duration(c.args.Int("quietMs")) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(c.ctx, min(asked, maxWait))
	defer cancel()
	start := time.Now()
	var settled bool
	var saw observed
	var exit *exitInfo
	switch {
	case until == "connected":
		settled, err = c.waitConnected(ctx, st)
		saw.Signal = "none"
	case isTerminal(st.session):
		settled, saw, exit, err = c.waitTerminal(ctx, st, until, quiet)
	case until == "screen-changed", until == "screen-stable", until == "idle":
		if until == "screen-changed" {
			quiet = 0
		}
		settled, saw, err = c.waitPicture(ctx, st, until != "screen-changed", quiet)
	default:
		err = c.waitUnserved(st, until)
	}
	lost := errors.Is(err, errLinkLost)
	if err != nil && !lost {
		return control.Result{}, err
	}
	st.renew()
	a := waitAnswer{
		LimbID: st.limb.id, Settled: settled, WaitedMs: time.Since(start).Milliseconds(), AskedMs: asked.Milliseconds(),
		ClampedMs: maxWait.Milliseconds(), Observed: saw, Exit: exit, Observation: c.observation(st),
	}
	say := fmt.Sprintf("%s: %s after %d ms.", st.limb.id, until, a.WaitedMs)
	if exit != nil {
		say = fmt.Sprintf("%s: %s, after %d ms.", st.limb.id, exit.words(), a.WaitedMs)
	}
	switch {
	case settled:
	case lost:
		a.Reason = "LINK_LOST"
		say = fmt.Sprintf("%s: the connection was lost after %d ms, so nobody knows whether the program has ended; it is %s.", st.limb.id, a.WaitedMs, stateText(a.Observation.State))
	default:
		a.Reason = string(control.Timeout)
		next := "look, then wait again."
		if until == "connected" {
			next = "it is " + stateText(a.Observation.State) + "; wait again."
		}
		say = fmt.Sprintf("%s: not %s within %d ms. That is no error: %s", st.limb.id, until, a.WaitedMs, next)
		if c.ctx.Err() != nil {
			a.Reason, say = "CANCELLED", st.limb.id+": the wait was cancelled."
		}
	}
	return control.Result{Text: say, Structured: a}, nil
}

// waitUnserved refuses what this build cannot wait for.
func (c *call) waitUnserved(st *seat, until string) error {
	r := control.Refuse(control.NotImplemented, fmt.Sprintf("dvv_wait until %s is not served for a %s session by this build", until, st.session.Target().Protocol))
	switch {
	case until == "exit":
		r.Hint = "A desktop has no end to wait for; use until screen-stable, or an SSH session to the same machine with dvv_run."
	default:
		r.Hint = "The words on a desktop cannot be read by this build: wait until screen-stable and look with dvv_screen, or use an SSH session to the same machine."
	}
	return r
}

// waitConnected waits for the session to be connected. A session that has
// given up is refused at once, with the reason.
func (c *call) waitConnected(ctx context.Context, st *seat) (bool, error) {
	s := st.session
	state, err := s.WaitState(ctx, func(state viewer.State) bool { return state.Phase == viewer.Connected || final(state) })
	switch {
	case state.Phase == viewer.Connected:
		return true, nil
	case ctx.Err() != nil && !final(state):
		return false, nil
	case err != nil && viewer.KindOf(err) == viewer.Closed:
		return false, control.Refuse(control.LimbGone, "the session of "+st.limb.id+" has ended")
	}
	if refused := ready(s, c.a.plane.now()); refused != nil {
		if refused.Code == control.LimbGone { // it is there, only not connected
			refused.Code = control.NotConnected
		}
		return false, refused
	}
	return true, nil
}

// waitPicture waits for a change of the picture, or for quiet without one. It
// looks through a cursor of its own.
func (c *call) waitPicture(ctx context.Context, st *seat, stable bool, quiet time.Duration) (bool, observed, error) {
	saw := observed{Signal: "damage"}
	if err := c.mirrored(st); err != nil {
		return false, saw, err
	}
	if refused := ready(st.session, c.a.plane.now()); refused != nil {
		return false, saw, refused
	}
	f := st.session.Frame()
	reader := f.Reader()
	defer reader.Close()
	reader.Clean()
	select { // a change before the call began
	case <-reader.Wake():
	default:
	}
	since := time.Now()
	for {
		// Nothing painted yet is not quiet: the first picture is on its way.
		var calm <-chan time.Time
		var t *time.Timer
		if stable && f.Memory() > 0 {
			t = time.NewTimer(time.Until(since.Add(quiet)))
			calm = t.C
		}
		var done, settled bool
		select {
		case <-reader.Wake():
			if n := len(reader.Take()); n > 0 {
				saw.Rects += n
				since = time.Now()
				done, settled = !stable, !stable
			}
		case <-calm:
			done, settled = true, true
		case <-st.session.Done():
			return false, saw, control.Refuse(control.LimbGone, "the session of "+st.limb.id+" has ended")
		case <-ctx.Done():
			done = true
		}
		if t != nil {
			t.Stop()
		}
		if done {
			if settled {
				saw.Confidence = 1
			}
			saw.QuietMs = time.Since(since).Milliseconds()
			return settled, saw, nil
		}
	}
}
