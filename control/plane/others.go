package plane

import (
	"fmt"

	"deskvnc/control"
	"deskvnc/viewer"
)

// maxClipboard bounds the text of one dvv_clipboard set, in bytes.
const maxClipboard = 8 << 20

// clipboard serves dvv_clipboard.
func (c *call) clipboard() (control.Result, error) {
	st, err := c.seat()
	if err != nil {
		return control.Result{}, err
	}
	if err := c.desktop(st); err != nil {
		return control.Result{}, err
	}
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	if c.args.Text("action") == "get" {
		if c.args.Has("text") {
			return control.Result{}, control.Refuse(control.BadRequest, `dvv_clipboard: "text" goes with set only`)
		}
		return control.Result{}, &control.Refused{Code: control.NotImplemented, Message: "reading the remote clipboard is not served by this build", Hint: "Paste it somewhere on the remote screen and look with dvv_screen, or ask the user."}
	}
	switch text := c.args.Text("text"); {
	case !c.args.Has("text"):
		return control.Result{}, control.Refuse(control.BadRequest, `dvv_clipboard: set needs "text"`)
	case len(text) > maxClipboard:
		return control.Result{}, control.Refuse(control.BadRequest, fmt.Sprintf("dvv_clipboard: the text takes %d bytes, more than the %d that one may have", len(text), maxClipboard))
	}
	return c.setClipboard(st)
}

// setClipboard is one intent; it needs no lease, but an agent from whom a
// person took the wheel does not touch their clipboard.
func (c *call) setClipboard(st *seat) (control.Result, error) {
	l := st.limb
	var refused *control.Refused
	now := l.lock()
	l.intents++
	a := &act{id: l.intents, seat: st}
	switch {
	case l.session != st.session:
		refused = control.Refuse(control.LimbGone, "the session of "+l.id+" has ended")
	case l.viewOnly:
		refused = viewOnlyRefusal()
	case l.wheel.View(st.party()).Revoked:
		refused = control.Refuse(control.LeaseRevoked, "a person took the wheel and has not handed it back")
	default:
		refused = ready(st.session, now)
	}
	lease := leaseOf(l.wheel.View(st.party()))
	l.unlock()
	s := settlement{LimbID: l.id, Intent: a.id, Outcome: "refused", Progress: progress{Kind: "none"}, Lease: lease}
	if refused != nil {
		refused.Settlement = s
		return control.Result{}, refused
	}
	lost, err := st.session.SetClipboard(c.ctx, c.args.Text("text"))
	switch kind := viewer.KindOf(err); kind {
	case "":
	case viewer.Unsupported:
		refused = &control.Refused{Code: control.NotSupported, Message: reason(err), Hint: "Type the text with dvv_type instead."}
	case viewer.Limit, viewer.Invalid:
		refused = &control.Refused{Code: control.BadRequest, Message: reason(err), Hint: "Send less text."}
	case viewer.Busy:
		refused = control.Refuse(control.IntentBlocked, reason(err))
	case viewer.Cancelled, viewer.Timeout:
		s.Outcome = map[viewer.Kind]string{viewer.Cancelled: "cancelled", viewer.Timeout: "timed-out"}[kind]
		return control.Result{Text: fmt.Sprintf("Setting the clipboard ended as %s (intent %d).", s.Outcome, a.id), Structured: s}, nil
	default:
		s.Outcome, s.Reason = "link-lost", reason(err)
		return control.Result{Text: fmt.Sprintf("The connection was lost while the clipboard was set (intent %d).", a.id), Structured: s}, nil
	}
	if refused != nil {
		refused.Settlement = s
		return control.Result{}, refused
	}
	s.Outcome, s.Progress, s.Lost = "delivered", counted("delivered", 1), lost
	text := fmt.Sprintf("Put the text on the clipboard of %s (intent %d). Paste it there with dvv_key ctrl+v.", l.id, a.id)
	if lost > 0 {
		text += fmt.Sprintf(" %s could not be carried by the connection and became a question mark.", count(lost, "character", "characters"))
	}
	return control.Result{Text: text, Structured: s}, nil
}

// transfer serves dvv_transfer.
func (c *call) transfer() (control.Result, error) {
	if _, err := c.seat(); err != nil {
		return control.Result{}, err
	}
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	return control.Result{}, &control.Refused{Code: control.NotImplemented, Message: "there is nothing to report: dvv_files moves a file within its own call, so no transfer id exists", Hint: "Call dvv_files; its answer says what was moved."}
}
