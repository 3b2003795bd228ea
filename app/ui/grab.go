package ui

import (
	"errors"

	"deskvnc/app/ui/keyboard"
	"deskvnc/control/command"
)

// grab takes the keyboard for the shown session, with the keys that the window
// manager keeps otherwise, or gives it back.
func (w *Window) grab(on bool) error {
	if w.grabbed == on {
		return nil
	}
	if !on {
		w.grabbed = false
		w.display.Grab(false)
		if w.selected != nil {
			w.selected.pane.LetGo()
		}
		w.status.say("", false)
		return nil
	}
	w.selected.pane.Focus()
	w.selected.pane.LetGo() // what the toolkit told of, it will not tell the end of
	if !w.display.Grab(true) {
		return errors.New("another program has the keyboard")
	}
	w.grabbed, w.grabber = true, w.selected
	c, _ := w.commands.Command("session.grabKeyboard")
	w.status.say("All keys go to "+w.selected.title()+". "+shortcutOf(c)+" gives the keyboard back.", false)
	return nil
}

// needGrab says why the keyboard cannot be taken.
func (w *Window) needGrab(p command.Params) error {
	if w.display == nil {
		return errors.New("this window system does not give the keyboard away")
	}
	if w.selected == nil {
		return errors.New("no session is shown")
	}
	return w.needLive(p)
}

// GrabbedKey takes a key that comes past the toolkit: all do while the keyboard
// is grabbed, and those that were on their way when it was given back come
// after that. They belong to the session that had it, as long as it has the
// window's keyboard.
func (w *Window) GrabbedKey(code int, s keyboard.Stroke, down bool) {
	t := w.grabber
	if t == nil || t != w.selected || down && !w.grabbed && !t.focused {
		return
	}
	t.pane.Key(code, s, down)
}
