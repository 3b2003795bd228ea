package plane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deskvnc/control/wheel"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// An Outcome says what became of a person's input.
type Outcome int

// The outcomes.
const (
	// Delivered: it goes to the machine, in order.
	Delivered Outcome = iota
	// Consumed: it took the wheel from an agent, or belongs to the press that
	// did; the machine does not get it.
	Consumed
	// Dropped: an agent drives and it was only motion, or the session is view
	// only, or there is none.
	Dropped
)

// A Pane is a person at one shown session. Its methods are safe for
// concurrent use; those of input never block.
type Pane struct {
	limb    *limb
	session *engine.Session
	party   wheel.Party

	// The fields below are guarded by limb.mu.
	closed  bool
	at      viewer.Pointer // where the pointer is, with the buttons down on the machine
	pressed viewer.Buttons // buttons down at the person's end
	eaten   viewer.Buttons // those whose press was consumed
	down    []viewer.Key   // keys down on the machine, in order
	eatenOn map[keyID]bool // keys whose press was consumed
}

// A keyID tells keys apart: by scan code where there is one, since a key may
// come up with another keysym than it went down with.
type keyID struct {
	scan uint16
	sym  uint32
}

func idOf(k viewer.Key) keyID {
	if k.Scan != 0 {
		return keyID{scan: k.Scan}
	}
	return keyID{sym: k.Sym}
}

// maxPending bounds a person's input that waits for the machine.
const maxPending = viewer.InputQueue

// Pane returns a person's end of a session. Close it when the session is no
// longer shown.
func (p *Plane) Pane(s *engine.Session) *Pane {
	l, refused := p.limbOf(s)
	if refused != nil { // ended, or another machine has its id: a pane that takes nothing
		l = newLimb(p, s.ID(), "")
	}
	p.mu.Lock()
	p.panes++
	id := fmt.Sprintf("pane_%d", p.panes)
	p.mu.Unlock()
	n := &Pane{limb: l, session: s, party: wheel.Party{ID: id, Kind: wheel.Human, Label: "person"}, eatenOn: map[keyID]bool{}}
	l.mu.Lock()
	l.panes = append(l.panes, n)
	l.mu.Unlock()
	return n
}

// Input takes what the person does, in order, and tells what became of it:
// Consumed when any of it was, else Delivered when any of it was, else
// Dropped.
func (n *Pane) Input(in ...viewer.Input) Outcome {
	var delivered, consumed bool
	for _, i := range in {
		var o Outcome
		switch i := i.(type) {
		case viewer.Key:
			o = n.key(i)
		case viewer.Pointer:
			o = n.pointer(i)
		case viewer.Bytes, viewer.Paste:
			o = n.text(i)
		case viewer.Focus:
			o = n.focus(i)
		default:
			o = Dropped
		}
		delivered = delivered || o == Delivered
		consumed = consumed || o == Consumed
	}
	switch {
	case consumed:
		return Consumed
	case delivered:
		return Delivered
	}
	return Dropped
}

// key takes one key event.
func (n *Pane) key(k viewer.Key) Outcome {
	now := n.limb.lock()
	defer n.limb.unlock()
	id := idOf(k)
	if !n.usable() {
		return Dropped
	}
	if !k.Down {
		i := slices.IndexFunc(n.down, func(d viewer.Key) bool { return idOf(d) == id })
		switch {
		case n.eatenOn[id]:
			delete(n.eatenOn, id)
			return Consumed
		case i < 0 || !n.holds():
			return Dropped
		}
		up := n.down[i]
		up.Down, up.Locks = false, k.Locks
		n.down = slices.Delete(n.down, i, i+1)
		return n.send(up, now)
	}
	// Until every key of the press that took the wheel is up again, keys are
	// part of it: a chord must not arrive without its modifiers.
	if len(n.eatenOn) > 0 {
		n.eatenOn[id] = true
		return Consumed
	}
	switch took, ok := n.take(now); {
	case !ok:
		return Dropped
	case took:
		n.eatenOn[id] = true
		return Consumed
	}
	if !slices.ContainsFunc(n.down, func(d viewer.Key) bool { return idOf(d) == id }) {
		n.down = append(n.down, k)
	}
	return n.send(k, now)
}

// pointer takes one pointer event.
func (n *Pane) pointer(p viewer.Pointer) Outcome {
	now := n.limb.lock()
	defer n.limb.unlock()
	pressed := p.Buttons &^ n.pressed
	released := n.pressed &^ p.Buttons
	n.pressed = p.Buttons
	eatenUp := n.eaten&released != 0
	n.eaten &= p.Buttons
	if !n.usable() {
		return Dropped
	}
	if pressed != 0 {
		switch took, ok := n.take(now); {
		case !ok:
			n.eaten |= pressed
			return Dropped
		case took:
			n.eaten |= p.Buttons
			return Consumed
		}
	} else if !n.holds() {
		// Motion and scrolling never take the wheel from anybody, and find it
		// free or are dropped.
		if !n.mayHover(now) {
			if eatenUp {
				return Consumed
			}
			return Dropped
		}
	}
	p.Buttons &^= n.eaten
	n.at = p
	o := n.send(p, now)
	if eatenUp {
		return Consumed
	}
	return o
}

// text takes text for a terminal. Like a press it takes the wheel, and what
// took it from an agent is not delivered.
func (n *Pane) text(in viewer.Input) Outcome {
	now := n.limb.lock()
	defer n.limb.unlock()
	if !n.usable() {
		return Dropped
	}
	switch took, ok := n.take(now); {
	case !ok:
		return Dropped
	case took:
		return Consumed
	}
	return n.send(in, now)
}

// focus takes that a terminal has got or lost the keyboard, which nobody's
// wheel is taken for.
func (n *Pane) focus(in viewer.Focus) Outcome {
	now := n.limb.lock()
	defer n.limb.unlock()
	if !n.usable() || !n.holds() && !n.mayHover(now) {
		return Dropped
	}
	return n.send(in, now)
}

// take gets the wheel for a press. took says that an agent lost it by that,
// ok that the person has it now. The caller holds the limb's lock.
func (n *Pane) take(now time.Time) (took, ok bool) {
	holder, held := n.limb.wheel.Holder()
	if held && holder.ID == n.party.ID {
		return false, true
	}
	if _, err := n.limb.wheel.Takeover(now, n.party); err != nil {
		return false, false
	}
	return held && holder.Kind == wheel.Agent, true
}

// mayHover gets a free wheel for motion. The caller holds the limb's lock.
func (n *Pane) mayHover(now time.Time) bool {
	if _, held := n.limb.wheel.Holder(); held {
		return false
	}
	_, err := n.limb.wheel.Acquire(now, n.party, false, "")
	return err == nil
}

// holds reports whether the person has the wheel. The caller holds the
// limb's lock.
func (n *Pane) holds() bool {
	p, ok := n.limb.wheel.Holder()
	return ok && p.ID == n.party.ID
}

// holding reports whether the person holds anything down on the machine. The
// caller holds the limb's lock.
func (n *Pane) holding() bool { return len(n.down) > 0 || n.at.Buttons != 0 }

// usable reports whether input may go anywhere at all. The caller holds the
// limb's lock.
func (n *Pane) usable() bool {
	return !n.closed && !n.limb.viewOnly && n.limb.session == n.session
}

// forget drops what is known to be down on the machine: it was released
// there, or the machine is gone. The caller holds the limb's lock.
func (n *Pane) forget() {
	n.down = nil
	n.at.Buttons = 0
	// What is still pressed at the person's end began under the old hold.
	n.eaten = n.pressed
}

// send puts one input on its way. The caller holds the limb's lock.
func (n *Pane) send(in viewer.Input, now time.Time) Outcome {
	l := n.limb
	hover := false
	if p, ok := in.(viewer.Pointer); ok {
		hover = p.Buttons == 0 && p.WheelX == 0 && p.WheelY == 0 && !n.holding()
	}
	if len(l.pending) == 0 && l.wheel.MayDispatch(n.party.ID) {
		switch err := l.session.Post(in); viewer.KindOf(err) {
		case "":
			// Motion does not keep the wheel from somebody who waits for it.
			if !hover || l.wheel.View(n.party).QueueDepth == 0 {
				l.wheel.Dispatched(now, n.party.ID, n.holding())
			}
			return Delivered
		case viewer.Busy:
		default:
			return Dropped
		}
	}
	return n.hold(in)
}

// hold keeps an input until the worker can send it. Motion at the tail is
// replaced, further motion is shed when there is no room, and so is a press;
// a release always finds room. The caller holds the limb's lock.
func (n *Pane) hold(in viewer.Input) Outcome {
	l := n.limb
	release := false
	switch in := in.(type) {
	case viewer.Key:
		release = !in.Down
	case viewer.Pointer:
		if k := len(l.pending); k > 0 && in.WheelX == 0 && in.WheelY == 0 {
			if last, ok := l.pending[k-1].in.(viewer.Pointer); ok && last.Buttons == in.Buttons && last.WheelX == 0 && last.WheelY == 0 {
				l.pending[k-1].in = in
				return Delivered
			}
		}
		release = in.Buttons == 0
	}
	if len(l.pending) >= maxPending && !(release && len(l.pending) < 2*maxPending) {
		if k, ok := in.(viewer.Key); ok && k.Down {
			n.down = slices.DeleteFunc(n.down, func(d viewer.Key) bool { return idOf(d) == idOf(k) })
		}
		return Dropped
	}
	l.pending = append(l.pending, pending{n, in})
	l.work()
	return Delivered
}

// Leave says that the person's attention left the pane: the focus was lost,
// the tab hidden. What they hold down is released, buttons first, and the
// wheel is free at once.
func (n *Pane) Leave() {
	n.limb.steer(func(w *wheel.Wheel, now time.Time) { n.leave(w, now) })
}

// leave is Leave. The caller holds the limb's lock.
func (n *Pane) leave(w *wheel.Wheel, now time.Time) {
	n.eaten, n.pressed = 0, 0
	clear(n.eatenOn)
	if !n.holds() {
		return
	}
	if n.limb.session == n.session && n.holding() {
		if n.at.Buttons != 0 {
			up := n.at
			up.Buttons, up.WheelX, up.WheelY = 0, 0, 0
			n.at = up
			n.send(up, now)
		}
		for len(n.down) > 0 {
			last := len(n.down) - 1
			up := n.down[last]
			up.Down = false
			n.down = n.down[:last]
			n.send(up, now)
		}
	}
	if len(n.limb.pending) == 0 {
		w.Release(now, n.party.ID, 0)
	}
}

// TakeWheel takes the wheel for the person, from whoever has it. Agents that
// have the session attached stay off it until [Pane.HandBack].
func (n *Pane) TakeWheel() {
	n.limb.steer(func(w *wheel.Wheel, now time.Time) {
		if !n.closed && n.limb.session == n.session {
			w.Takeover(now, n.party) // an owner's hold stays: refused
			for st := range n.limb.seats {
				w.Revoke(now, st.party(), n.party)
			}
		}
	})
}

// HandBack lets the agents drive again, and ends the person's own hold.
func (n *Pane) HandBack() {
	n.limb.steer(func(w *wheel.Wheel, now time.Time) {
		n.leave(w, now)
		w.HandBack(now, n.party.ID)
	})
}

// Stop takes the wheel from everybody at once, releases everything that is
// held down, and keeps agents off it for the back-off.
func (n *Pane) Stop() {
	n.limb.steer(func(w *wheel.Wheel, now time.Time) { w.Force(now, n.party) })
}

// Wheel tells who drives.
func (n *Pane) Wheel() WheelState {
	l := n.limb
	l.lock()
	defer l.unlock()
	return l.wheelState()
}

// OnWheel calls fn whenever who drives changes, until cancel is called. fn
// must not block, and must not call the pane.
func (n *Pane) OnWheel(fn func(WheelState)) (cancel func()) { return n.limb.watch(fn) }

// SetViewOnly says whether the session takes input at all, from a person or
// an agent.
func (n *Pane) SetViewOnly(on bool) {
	n.limb.steer(func(w *wheel.Wheel, now time.Time) {
		if on && !n.limb.viewOnly {
			n.leave(w, now)
			if p, ok := w.Holder(); ok {
				w.Release(now, p.ID, 0)
			}
		}
		n.limb.viewOnly = on
	})
}

// ViewOnly reports whether the session takes no input.
func (n *Pane) ViewOnly() bool {
	n.limb.mu.Lock()
	defer n.limb.mu.Unlock()
	return n.limb.viewOnly
}

// errAgentDrives is the error of what a person's window does by itself while
// an agent drives.
var errAgentDrives = errors.New("an agent is driving this session; take the wheel first")

// free reports whether the person's side may change the machine: no agent
// holds the wheel.
func (n *Pane) free(op string) error {
	l := n.limb
	l.lock()
	defer l.unlock()
	switch p, held := l.wheel.Holder(); {
	case held && p.Kind == wheel.Agent:
		return &viewer.Error{Op: op, Kind: viewer.Denied, Err: errAgentDrives}
	case n.closed || l.session != n.session:
		return &viewer.Error{Op: op, Kind: viewer.Closed, Err: errSessionEnded}
	case l.viewOnly:
		return &viewer.Error{Op: op, Kind: viewer.Denied, Err: errors.New("the session is view only")}
	}
	return nil
}

// Resize asks for another size of the remote screen. It is refused while an
// agent drives.
func (n *Pane) Resize(ctx context.Context, w, h int) error {
	if err := n.free("resize"); err != nil {
		return err
	}
	return n.session.Resize(ctx, w, h)
}

// SetClipboard puts text on the remote clipboard; see [viewer.Clipboard]. It
// is refused while an agent drives.
func (n *Pane) SetClipboard(ctx context.Context, text string) (lost int, err error) {
	if err := n.free("clipboard"); err != nil {
		return 0, err
	}
	return n.session.SetClipboard(ctx, text)
}

// Close leaves the pane for good.
func (n *Pane) Close() {
	n.limb.steer(func(w *wheel.Wheel, now time.Time) {
		n.leave(w, now)
		n.closed = true
		n.limb.panes = slices.DeleteFunc(n.limb.panes, func(o *Pane) bool { return o == n })
	})
}
