package ui

import (
	"context"
	"errors"
	"image"
	"time"

	"deskvnc/control/command"
	"deskvnc/control/grant"
	"deskvnc/keychain"
	"deskvnc/viewer"
)

const (
	// settleTime is how long the pane keeps its size before the machine is
	// asked to take it: a window is dragged through many sizes.
	settleTime = 400 * time.Millisecond
	// announceTime is how often it is looked whether a machine that has just
	// been connected has said that it can be resized, and announceTries how
	// many times.
	announceTime  = 500 * time.Millisecond
	announceTries = 20
	// minRemote is the least size that a machine is asked for.
	minRemote = 160
)

// A follower has the machine's screen take the size of its pane.
type follower struct {
	policy  keychain.SizePolicy
	chosen  bool        // for this session, whatever is saved
	asked   image.Point // what the machine was last asked for in this connection
	tries   int         // looks whether it has said that it can be asked
	stopped bool        // it cannot, or does not want to, in this connection
	told    string      // the refusal that was shown in this connection
	resting image.Point // the pane's size at the last look
	timer   *time.Timer // to the next look; nil for none
}

// resizeCommands are the commands about the size of the remote screen.
func (w *Window) resizeCommands() []command.Command {
	return []command.Command{{
		ID: "session.resizeRemote", Label: "Match the window's size", Menu: []string{"View"}, Kind: command.Action, Capability: grant.Control, Person: true, Window: true,
		Doc: "Asks the machine for a screen of the size of its pane, or of the size given; or has it follow the pane, which is remembered for a saved machine.",
		Params: []command.Param{
			sessionParam,
			{Name: "width", Type: command.Integer, Doc: "pixels, with height"},
			{Name: "height", Type: command.Integer, Doc: "pixels, with width"},
			{Name: "follow", Type: command.Bool, Doc: "whether the screen follows the pane from now on"},
		},
		Enabled: w.needLive, Run: w.runResize,
	}}
}

// runResize asks for a size, or changes whether it follows.
func (w *Window) runResize(_ context.Context, p command.Params) (any, error) {
	t, err := w.named(p)
	if err != nil {
		return nil, err
	}
	if p.Has("follow") {
		t.setFollow(p.Bool("follow", false))
		return map[string]any{"session": t.session.ID(), "follow": t.size.policy == keychain.SizeFollow}, nil
	}
	want := t.pane.View()
	if s := t.screen(); s != nil {
		want = s.Cells()
	}
	if p.Has("width") || p.Has("height") {
		if !p.Has("width") || !p.Has("height") {
			return nil, errors.New("give both width and height, or neither")
		}
		want = image.Pt(p.Int("width"), p.Int("height"))
	}
	if err := t.person.Resize(context.Background(), want.X, want.Y); err != nil {
		return nil, err
	}
	t.size.told = ""
	return map[string]any{"session": t.session.ID(), "width": want.X, "height": want.Y}, nil
}

// setFollow has the machine's screen follow the pane, or not.
func (t *tab) setFollow(on bool) {
	policy := keychain.SizeKeep
	if on {
		policy = keychain.SizeFollow
	}
	t.stopSizing()
	t.size = follower{policy: policy, chosen: true}
	t.keep("The size of the screen", func(ctx context.Context, m Machines, o viewer.Target) error { return m.SetSize(ctx, o, policy) })
	if on {
		t.w.status.say("The screen of "+t.title()+" follows the window.", false)
	} else {
		t.w.status.say("The screen of "+t.title()+" keeps its size.", false)
	}
	t.sized()
}

// connected begins anew: what the machine refused before it may do now.
func (f *follower) connected() {
	f.asked, f.tries, f.stopped, f.told = image.Point{}, 0, false, ""
}

// sized follows the size of the pane, and whatever else may let the machine be
// asked. Only a new size of the pane makes a question: what the machine does
// by itself, or says no to, is let be.
func (t *tab) sized() {
	if t.screen() != nil {
		t.reflow()
		return
	}
	f := &t.size
	if f.timer != nil || !t.wantsSize() {
		return
	}
	f.timer = time.AfterFunc(settleTime, func() { t.w.fence.Go(t.askSize) })
}

// wantsSize reports whether the machine is to be asked for the pane's size.
func (t *tab) wantsSize() bool {
	f := &t.size
	switch {
	case t.w.selected != t, f.stopped, f.policy == keychain.SizeKeep, t.session.State().Phase != viewer.Connected:
		return false
	case f.policy == keychain.SizeOnce && f.asked != (image.Point{}):
		return false
	}
	view := t.pane.View()
	return view.X >= minRemote && view.Y >= minRemote && view != f.asked
}

// askSize asks the machine for the size of the pane, once that rests.
func (t *tab) askSize() {
	f := &t.size
	f.timer = nil
	view := t.pane.View()
	if !t.wantsSize() {
		return
	}
	if f.resting != view { // it is still being dragged
		f.resting = view
		t.sized()
		return
	}
	if w, h := t.session.Frame().Size(); image.Pt(w, h) == view {
		f.asked = view
		return
	}
	err := t.person.Resize(context.Background(), view.X, view.Y)
	switch {
	case err == nil:
		f.asked = view
	case viewer.KindOf(err) == viewer.Unsupported && f.tries < announceTries:
		// It says so with its first picture.
		f.tries++
		f.timer = time.AfterFunc(announceTime, func() { t.w.fence.Go(t.askSize) })
	case viewer.KindOf(err) == viewer.Unsupported:
		f.stopped = true
		t.pane.Tell("This machine does not let its screen be resized: it is shown as it is.", false)
	default:
		// View only, or an agent drives: it is tried again when that ends.
	}
}

// refused shows what the machine does not do, the same once in a connection.
func (t *tab) refused(text string) {
	f := &t.size
	if f.policy == keychain.SizeFollow && f.asked != (image.Point{}) {
		f.stopped = true
	}
	if f.told == text {
		return
	}
	f.told = text
	t.w.status.say(t.title()+": "+text, true)
}

// stopSizing ends the wait for the pane to rest.
func (t *tab) stopSizing() {
	if t.size.timer != nil {
		t.size.timer.Stop()
		t.size.timer = nil
	}
}
