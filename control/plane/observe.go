package plane

import (
	"fmt"
	"image"
	"slices"
	"time"

	"deskvnc/control"
	"deskvnc/control/grant"
	"deskvnc/control/wheel"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/frame"
)

// stateOf is a session's state as agents see it.
func stateOf(st viewer.State, now time.Time) control.State {
	out := control.State{State: st.Phase, Reason: oneLine(st.Reason)}
	switch st.Phase {
	case viewer.Authenticating:
		out.Method = st.Method
		if st.Asking != "" {
			out.Reason = asking(st.Asking)
		}
	case viewer.Reconnecting:
		out.Attempt = st.Attempt
		if !st.NextRetry.IsZero() {
			out.NextRetryMs = max(st.NextRetry.Sub(now).Milliseconds(), 0)
		}
	case viewer.Disconnected:
		retry := st.CanRetry
		out.CanRetry, out.Symbol = &retry, string(st.Kind)
	}
	return out
}

// asking says what a person is being asked. The kind of question is in the
// text as it is spelled elsewhere: password, certificate, host-key.
func asking(k viewer.QuestionKind) string {
	switch k {
	case viewer.AskCertificate, viewer.AskServerKey:
		return "a person is being asked whether to trust the machine's " + string(k)
	case viewer.AskUnencrypted:
		return "a person is being asked whether to go on without encryption (unencrypted)"
	}
	return "a person is being asked for the " + string(k)
}

// lease is the wheel as the seat sees it.
func (s *seat) lease() control.LeaseInfo {
	return leaseOf(s.wheelView())
}

// wheelView is the wheel as the seat sees it.
func (s *seat) wheelView() wheel.View {
	s.limb.lock()
	defer s.limb.unlock()
	return s.limb.wheel.View(s.party())
}

func leaseOf(v wheel.View) control.LeaseInfo {
	out := control.LeaseInfo{Held: v.Lease != 0, Phase: string(v.Phase), QueueDepth: v.QueueDepth, HumanTookOver: v.HumanTookOver}
	if v.Holder != nil {
		kind, label := string(v.Holder.Kind), v.Holder.Label
		out.HolderKind, out.HolderLabel = &kind, &label
	}
	if v.Position > 0 {
		out.QueuePosition = &v.Position
	}
	return out
}

// allSignals are the signals of an observation, all of them always.
var allSignals = []viewer.SignalName{
	viewer.SignalCopyRect, viewer.SignalFence, viewer.SignalLEDState, viewer.SignalCursorPosition, viewer.SignalCursorShape,
	viewer.SignalScreenLayout, viewer.SignalContentHint, viewer.SignalErrInfo, viewer.SignalAltScreen, viewer.SignalResize, viewer.SignalWindows,
}

// signalsOf tells which signals a session carries.
func signalsOf(s *engine.Session) map[viewer.SignalName]control.Envelope[control.Nothing] {
	told, protocol := s.Signals(), s.Target().Protocol
	connected := s.State().Phase == viewer.Connected
	out := make(map[viewer.SignalName]control.Envelope[control.Nothing], len(allSignals))
	for _, name := range allSignals {
		sig, ok := told[name]
		e := control.Envelope[control.Nothing]{Availability: sig.Availability, Reason: sig.Reason}
		switch {
		case name == viewer.SignalWindows:
			e = control.AbsentValue[control.Nothing]("these protocols carry no windows")
		case name == viewer.SignalErrInfo && protocol != viewer.RDP:
			e = control.AbsentValue[control.Nothing]("only RDP tells why it ends")
		case name == viewer.SignalAltScreen && protocol != viewer.SSH:
			e = control.AbsentValue[control.Nothing]("a desktop has no alternate screen")
		case name == viewer.SignalCopyRect && (!ok || sig.Availability == viewer.Absent):
			e = control.UnknownValue[control.Nothing]("none has arrived yet")
		case !ok && !connected:
			e = control.UnknownValue[control.Nothing]("not negotiated yet")
		case !ok:
			e = control.AbsentValue[control.Nothing]("this connection does not carry it")
		case sig.Availability == viewer.Live:
			e.Reason = ""
		case e.Reason == "":
			e.Reason = "the machine did not say why"
		}
		out[name] = e
	}
	return out
}

// observe is the observation of a limb, served to the seat: its geometry
// becomes what a click without a generation is compared with.
func (c *call) observe(st *seat) *control.Observation {
	o := c.observation(st)
	st.served(o.Geometry.Generation)
	return o
}

// observation is the observation of a limb.
func (c *call) observation(st *seat) *control.Observation {
	s, now := st.session, c.a.plane.now()
	t, info := s.Target(), s.Info()
	generation, w, h := geometryOf(s)
	signals := signalsOf(s)
	o := &control.Observation{
		Schema: control.ObservationSchema, LimbID: st.limb.id, Protocol: t.Protocol, CapturedAt: now.UnixMilli(),
		State: stateOf(s.State(), now),
		Geometry: control.Geometry{
			Generation: generation,
			Space:      control.Space{Width: w, Height: h, Unit: unitOf(s)},
			Screens:    screensOf(info.Screens), PrimaryKnown: primaryKnown(t.Protocol, info.Screens),
		},
		Damage: damageOf(st), Terminal: terminalInfo(s), Lease: st.lease(), Signals: signals, Untrusted: true,
	}
	switch led := signals[viewer.SignalLEDState]; {
	case info.Locks.Known:
		o.Locks = control.LiveValue(control.LockKeys{Caps: info.Locks.Caps, Num: info.Locks.Num, Scroll: info.Locks.Scroll})
	case led.Availability == viewer.Absent:
		o.Locks = control.AbsentValue[control.LockKeys](led.Reason)
	default:
		o.Locks = control.UnknownValue[control.LockKeys]("no lock key report has arrived")
	}
	if info.NameKnown {
		o.DesktopName = control.LiveValue(info.Name)
	} else {
		o.DesktopName = control.UnknownValue[string]("the machine has not told its name")
	}
	if f, ok := s.Figures(); ok {
		o.Session = sessionInfo(f)
	}
	if err := info.LastErr; err != nil {
		kind := viewer.KindOf(err)
		o.LastError = control.LiveValue(control.LastError{Code: errorCode(kind), Symbol: string(kind), Message: reason(err)})
	} else {
		o.LastError = control.UnknownValue[control.LastError]("nothing has gone wrong yet")
	}
	return o
}

// sessionInfo are the figures of a connection.
func sessionInfo(f viewer.Figures) *control.SessionInfo {
	i := &control.SessionInfo{
		FPS: f.FPS, RTTSource: "none", ServerDutyCycle: f.Duty, ThroughputBps: 8 * f.Throughput,
		DecodeMs: f.Decode.Seconds() * 1e3, CurrentEncoding: f.Encoding, JPEGQuality: f.JPEGQuality,
	}
	if f.RoundTripKnown {
		i.RTTMs, i.RTTSource = f.RoundTrip.Seconds()*1e3, "fence"
	}
	return i
}

// errorKinds number the kinds of error for last_error.code: the place in the
// list, from 1. New kinds go to the end.
var errorKinds = []viewer.Kind{
	viewer.Unreachable, viewer.Timeout, viewer.Closed, viewer.Malformed, viewer.Limit, viewer.Unsupported,
	viewer.Credentials, viewer.Denied, viewer.Untrusted, viewer.Busy, viewer.Cancelled, viewer.Invalid,
	viewer.Exited,
}

func errorCode(k viewer.Kind) uint32 { return uint32(slices.Index(errorKinds, k) + 1) }

func screensOf(screens []viewer.Screen) []control.ScreenInfo {
	out := []control.ScreenInfo{}
	for _, s := range screens {
		b := s.Bounds
		out = append(out, control.ScreenInfo{ID: s.ID, X: b.Min.X, Y: b.Min.Y, W: b.Dx(), H: b.Dy(), Primary: s.Primary})
	}
	return out
}

// primaryKnown reports whether the protocol tells which screen is the primary
// one: VNC never does.
func primaryKnown(p viewer.Protocol, screens []viewer.Screen) bool {
	return p == viewer.RDP && len(screens) > 0
}

// damageOf sums up what changed since the seat last looked, and takes nothing.
func damageOf(st *seat) control.Envelope[control.DamageInfo] {
	reader := st.mirror()
	switch {
	case isTerminal(st.session):
		return st.rowDamage()
	case reader == nil:
		return control.UnknownValue[control.DamageInfo]("no picture is kept for this limb; open it with perceive true")
	case st.session.Frame().Memory() == 0:
		return control.UnknownValue[control.DamageInfo]("nothing has been painted yet")
	}
	rects := reader.Damage()
	var union image.Rectangle
	var sum int64
	for _, r := range rects {
		union = union.Union(r)
		sum += area(r)
	}
	d := control.DamageInfo{Union: rectOf(union), Rects: len(rects)}
	if all := area(union); all > 0 {
		d.Coverage = min(float64(sum)/float64(all), 1)
	}
	return control.LiveValue(d)
}

func area(r image.Rectangle) int64 { return int64(r.Dx()) * int64(r.Dy()) }

func rectOf(r image.Rectangle) control.Rect {
	return control.Rect{X: r.Min.X, Y: r.Min.Y, W: r.Dx(), H: r.Dy()}
}

// offers are what a limb can ever serve.
func (s *seat) offers() []string {
	if isTerminal(s.session) {
		return []string{grant.View, grant.Control, grant.Close, grant.HostsRead, grant.TerminalRead, grant.TerminalWrite, grant.Exec}
	}
	out := []string{grant.View}
	if s.mirror() != nil {
		out = append(out, grant.Capture)
	}
	return append(out, grant.Control, grant.Close, grant.HostsRead, grant.ClipboardRead, grant.ClipboardWrite)
}

// card is a limb in a list.
func (c *call) card(st *seat) control.Card {
	s := st.session
	t := s.Target()
	generation, w, h := geometryOf(s)
	card := control.Card{
		LimbID: st.limb.id, Protocol: t.Protocol, Host: t.Label(), Slot: s.Slot(), State: stateOf(s.State(), c.a.plane.now()),
		Size: control.Size{Width: w, Height: h}, Grounding: "none", Generation: generation,
		Offers: st.offers(), Allows: []string{}, Lease: st.lease(), HasMirror: st.mirror() != nil,
	}
	for _, o := range card.Offers {
		if c.grant.Has(o) {
			card.Allows = append(card.Allows, o)
		}
	}
	switch {
	case t.Protocol == viewer.SSH:
		card.Grounding, card.What = "cells", "A terminal: look with dvv_screen, which gives its text, act with dvv_run, dvv_term_send, dvv_type and dvv_key."
		if s.Grid() == nil {
			card.Grounding, card.What = "none", "A login without a terminal: use dvv_run for commands and dvv_files for files."
		}
	case card.HasMirror:
		card.Grounding, card.What = "pixels", "A desktop: look with dvv_screen, act with dvv_click, dvv_type and dvv_key."
	default:
		card.What = "A desktop without its picture: open it again with perceive true before you look or act."
	}
	for _, o := range c.a.plane.engine.Sessions() {
		if ot := o.Target(); t.Protocol != viewer.SSH && ot.Protocol == viewer.SSH && viewer.Normalize(ot.Address) == viewer.Normalize(t.Address) {
			advice := fmt.Sprintf("For files and commands use the terminal %s on the same machine.", control.LimbID(ot, o.Slot()))
			card.SteerAway = &advice
			break
		}
	}
	return card
}

// status serves dvv_status.
func (c *call) status() (control.Result, error) {
	st, err := c.seat()
	if err != nil {
		return control.Result{}, err
	}
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	o := c.observe(st)
	st.renew()
	return control.Result{Text: summary(o, st.wheelView().Revoked), Structured: o}, nil
}

// renew resets the life of the seat's lease: it looked.
func (s *seat) renew() {
	s.limb.steer(func(w *wheel.Wheel, now time.Time) { w.Renew(now, s.a.id) })
}

// stateText is a state in words, with its reason.
func stateText(s control.State) string {
	if s.Reason == "" {
		return string(s.State)
	}
	return string(s.State) + " (" + s.Reason + ")"
}

// summary is an observation in one sentence; revoked says that a person took
// the wheel from its reader and has not handed it back.
func summary(o *control.Observation, revoked bool) string {
	text := o.LimbID + " is " + stateText(o.State)
	text += fmt.Sprintf(", %d x %d %s, geometry generation %d; ", o.Geometry.Space.Width, o.Geometry.Space.Height, o.Geometry.Space.Unit, o.Geometry.Generation)
	switch l := o.Lease; {
	case l.Held:
		text += "you hold the wheel."
	case revoked:
		text += "a person has taken the wheel: stop and tell the user."
	case l.HumanTookOver:
		text += "a person is driving: stop and tell the user, or acquire with waitMs when they asked you to act here."
	case l.HolderLabel != nil:
		text += *l.HolderLabel + " holds the wheel."
	default:
		text += "nobody holds the wheel."
	}
	return text
}

// signals serves dvv_signals.
func (c *call) signals() (control.Result, error) {
	st, err := c.seat()
	if err != nil {
		return control.Result{}, err
	}
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	signals := signalsOf(st.session)
	live := 0
	for _, s := range signals {
		if s.Availability == viewer.Live {
			live++
		}
	}
	return control.Result{
		Text: fmt.Sprintf("%d of %d signals of %s are live.", live, len(signals), st.limb.id),
		Structured: struct {
			LimbID  string                                                  `json:"limbId"`
			Signals map[viewer.SignalName]control.Envelope[control.Nothing] `json:"signals"`
		}{st.limb.id, signals},
	}, nil
}

// ready refuses when the session is not connected, and says why.
func ready(s *engine.Session, now time.Time) *control.Refused {
	st := s.State()
	why := oneLine(st.Reason)
	if why != "" {
		why = ": " + why
	}
	switch {
	case st.Phase == viewer.Connected:
		return nil
	case st.Asking != "":
		return control.Refuse(control.CredentialsRequired, asking(st.Asking))
	case st.Phase == viewer.Disconnected:
		switch st.Kind {
		case viewer.Credentials, viewer.Denied, viewer.Untrusted:
			return control.Refuse(control.CredentialsRequired, "the machine is not connected"+why)
		}
		if s.Info().Connections == 0 {
			return &control.Refused{Code: control.NotConnected, Message: "the machine was never connected" + why, Hint: "Call dvv_reconnect to try again, or tell the user."}
		}
		return &control.Refused{Code: control.LimbGone, Message: "the machine is disconnected" + why, Hint: "Call dvv_reconnect to try again, or tell the user."}
	case st.Phase == viewer.Reconnecting:
		return control.Refuse(control.NotReady, fmt.Sprintf("the machine is being reconnected, attempt %d, next in %d ms%s", st.Attempt, max(st.NextRetry.Sub(now).Milliseconds(), 0), why))
	}
	return control.Refuse(control.NotReady, "the session is "+string(st.Phase)+", not connected yet"+why)
}

// whole is the frame's bounds.
func whole(f *frame.Frame) image.Rectangle {
	w, h := f.Size()
	return image.Rect(0, 0, w, h)
}
