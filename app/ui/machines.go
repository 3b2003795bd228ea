package ui

import (
	"context"
	"errors"
	"time"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

// Machines is how the saved machines are to be treated. One that is not saved
// has the defaults, and is told of changes in vain, which is no error. Its
// methods may take their time and are called from any goroutine.
type Machines interface {
	// Sharing is which way the clipboard goes with a machine.
	Sharing(t viewer.Target) keychain.Sharing
	SetSharing(ctx context.Context, t viewer.Target, s keychain.Sharing) error
	// SetViewOnly says whether a machine takes no input when it is opened.
	SetViewOnly(ctx context.Context, t viewer.Target, on bool) error
	// Size says whether a machine's screen takes the size of its pane.
	Size(t viewer.Target) keychain.SizePolicy
	SetSize(ctx context.Context, t viewer.Target, p keychain.SizePolicy) error
}

// rememberWait bounds how long remembering may take.
const rememberWait = 10 * time.Second

// learn finds out how the clipboard is shared with the session's machine, and
// whether its screen follows the pane. Until that is known neither is.
func (t *tab) learn() {
	m, w := t.w.config.Machines, t.w
	if m == nil {
		return
	}
	t.sharing = keychain.ShareOff
	machine := w.known(t.session.Target())
	w.background.Go(func() {
		s, size := m.Sharing(machine), m.Size(machine)
		w.fence.Go(func() {
			if !t.chosen {
				t.sharing = s
				w.share()
			}
			if !t.size.chosen {
				t.size.policy = size
				t.sized()
			}
		})
	})
}

// keep has something remembered of the session's machine, and says when that
// does not work.
func (t *tab) keep(what string, set func(context.Context, Machines, viewer.Target) error) {
	m, w := t.w.config.Machines, t.w
	if m == nil {
		return
	}
	machine := w.known(t.session.Target())
	w.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), rememberWait)
		defer cancel()
		if err := set(ctx, m, machine); err != nil {
			w.fence.Go(func() {
				w.status.say(what+" holds for now and could not be saved: "+sentence(viewer.Reason(err)), true)
			})
		}
	})
}

// setViewOnly has the session take no input, or take it again.
func (t *tab) setViewOnly(on bool) {
	t.pane.LetGo()
	t.person.SetViewOnly(on)
	t.keep("View only", func(ctx context.Context, m Machines, o viewer.Target) error { return m.SetViewOnly(ctx, o, on) })
	if on {
		t.w.status.say(t.title()+" is view only: it gets no input, from you or an agent.", false)
	} else {
		t.w.status.say(t.title()+" takes input again.", false)
	}
	t.sized()
	t.w.update()
}

// The ways of sharing the clipboard, each on its own.
func toRemote(s keychain.Sharing) bool {
	return s == keychain.ShareBoth || s == keychain.ShareToRemote
}

func fromRemote(s keychain.Sharing) bool {
	return s == keychain.ShareBoth || s == keychain.ShareFromRemote
}

// ways is the sharing of two ways.
func ways(to, from bool) keychain.Sharing {
	switch {
	case to && from:
		return keychain.ShareBoth
	case to:
		return keychain.ShareToRemote
	case from:
		return keychain.ShareFromRemote
	}
	return keychain.ShareOff
}

var errNotToRemote = errors.New("what is copied here is not shared with this machine; turn that on in the Clipboard menu")

// setSharing changes which way the clipboard goes with the session's machine.
func (t *tab) setSharing(s keychain.Sharing) {
	if t.sharing == s {
		return
	}
	t.sharing, t.chosen = s, true
	if !fromRemote(s) {
		t.remote = ""
	}
	t.keep("How the clipboard is shared", func(ctx context.Context, m Machines, o viewer.Target) error { return m.SetSharing(ctx, o, s) })
	switch s {
	case keychain.ShareBoth:
		t.w.status.say("The clipboard is shared with "+t.title()+" both ways.", false)
	case keychain.ShareToRemote:
		t.w.status.say("What is copied here goes to "+t.title()+", and nothing comes from there.", false)
	case keychain.ShareFromRemote:
		t.w.status.say("What is copied on "+t.title()+" comes here, and nothing goes there.", false)
	default:
		t.w.status.say("The clipboard is not shared with "+t.title()+".", false)
	}
}
