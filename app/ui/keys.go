package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"deskvnc/control/command"
	"deskvnc/control/grant"
	"deskvnc/control/plane"
	"deskvnc/viewer"
	"deskvnc/viewer/key"
)

// A sent chord is a command that presses keys which do not reach the machine
// from the keyboard, or not everywhere.
type sentChord struct {
	verb, label, keys string
	menu              []string
	shortcuts         []string
}

// sentChords are the keys of the menu.
func sentChords() []sentChord {
	keys, function := []string{"Keys"}, []string{"Keys", "Function keys"}
	out := []sentChord{
		{"sendCtrlAltDel", "Send Ctrl+Alt+Del", "ctrl+alt+Delete", keys, []string{"End", "Insert"}},
		{"sendCtrlAltBackspace", "Send Ctrl+Alt+Backspace", "ctrl+alt+Backspace", keys, nil},
		{"sendAltTab", "Send Alt+Tab", "alt+Tab", keys, nil},
		{"sendAltF4", "Send Alt+F4", "alt+F4", keys, nil},
		{"sendSuper", "Send the Super key", "Super", keys, nil},
		{"sendPrint", "Send Print Screen", "PrintScreen", keys, nil},
	}
	for i := 1; i <= 12; i++ {
		f := "F" + itoa(i)
		out = append(out, sentChord{"send" + f, "Send " + f, f, function, nil})
	}
	return append(out, sentChord{"sendCtrlAltF1", "Send Ctrl+Alt+F1", "ctrl+alt+F1", function, nil},
		sentChord{"sendCtrlAltF7", "Send Ctrl+Alt+F7", "ctrl+alt+F7", function, nil})
}

// keyCommands are the commands about keys.
func (w *Window) keyCommands() []command.Command {
	session := []command.Param{sessionParam}
	var out []command.Command
	for _, c := range sentChords() {
		out = append(out, command.Command{
			ID: "session." + c.verb, Label: c.label, Menu: c.menu, Kind: command.Action, Capability: grant.Control, Person: true, Window: true,
			Doc:    strings.Replace(c.label, "Send", "Sends", 1) + " to the machine.",
			Params: session, Enabled: w.needInput, Shortcuts: viewerKey(c.shortcuts...),
			Run: w.onTab(func(t *tab) error { return t.sendChord(c.keys) }),
		})
	}
	return append(out,
		command.Command{
			ID: "session.sendKeys", Label: "Send keys", Kind: command.Action, Capability: grant.Control, Person: true, Window: true,
			Doc:    "Presses chords such as ctrl+alt+F2 one after the other; spaces stand between them.",
			Params: []command.Param{sessionParam, {Name: "keys", Type: command.String, Required: true, Doc: "the chords"}}, Enabled: w.needInput,
			Run: func(_ context.Context, p command.Params) (any, error) {
				return w.onTab(func(t *tab) error { return t.sendChords(p.Text("keys")) })(context.Background(), p)
			},
		},
		command.Command{
			ID: "session.typeClipboard", Label: "Type the clipboard", Menu: []string{"Keys"}, Kind: command.Action, Capability: grant.Control, Person: true, Window: true,
			Doc:    "Types the text on the clipboard here as keys, for a machine that takes no clipboard, such as at a login.",
			Params: session, Enabled: w.needInput, Shortcuts: viewerKey("P"),
			Run: w.onTab(func(t *tab) error { w.readHere(t.typeText); return nil }),
		},
		command.Command{
			ID: "session.releaseKeys", Label: "Release all keys", Menu: []string{"Keys"}, Kind: command.Action, Capability: grant.Control, Person: true, Window: true,
			Doc:    "Lets go of every key and button that is held down on the machine.",
			Params: session, Enabled: w.needLive, Shortcuts: viewerKey("Z"),
			Run: w.onTab(func(t *tab) error { t.pane.LetGo(); return t.releaseAll() }),
		},
		command.Command{
			ID: "session.grabKeyboard", Label: "Send system keys", Menu: []string{"Keys"}, Kind: command.Action, Capability: grant.Control, Person: true, Window: true,
			Doc:    "Takes the whole keyboard for the shown session, Alt+Tab and the Super keys too, or gives it back.",
			Params: []command.Param{{Name: "on", Type: command.Bool, Doc: "the other way round when missing"}}, Enabled: w.needGrab, Shortcuts: viewerKey("G"),
			On: func() bool { return w.grabbed },
			Run: func(_ context.Context, p command.Params) (any, error) {
				if err := w.grab(p.Bool("on", !w.grabbed)); err != nil {
					return nil, err
				}
				return map[string]any{"on": w.grabbed}, nil
			},
		},
	)
}

// needInput says why a session takes no input from the person.
func (w *Window) needInput(p command.Params) error {
	if err := w.needLive(p); err != nil {
		return err
	}
	t, err := w.named(p)
	if err == nil && t.person.ViewOnly() {
		err = errors.New("the session is view only; let it take input again first")
	}
	return err
}

// sendChord presses keys together and lets them go, as the person.
func (t *tab) sendChord(chord string) error {
	keys, _, err := key.ParseChord(chord)
	if err != nil {
		return err
	}
	t.pane.LetGo()
	var in []viewer.Input
	for _, k := range keys {
		in = append(in, viewer.Key{Sym: k.Sym, Scan: k.Scan, Rune: key.Rune(k.Sym), Down: true})
	}
	for _, k := range slices.Backward(keys) {
		in = append(in, viewer.Key{Sym: k.Sym, Scan: k.Scan, Rune: key.Rune(k.Sym)})
	}
	return outcome(t.person.Input(in...))
}

// sendChords presses chords one after the other. A wrong one among them is
// said before anything is pressed.
func (t *tab) sendChords(text string) error {
	chords := strings.Fields(text)
	if len(chords) == 0 {
		return key.ErrNone
	}
	for _, c := range chords {
		if _, _, err := key.ParseChord(c); err != nil {
			return err
		}
	}
	for _, c := range chords {
		if err := t.sendChord(c); err != nil {
			return err
		}
	}
	return nil
}

// Bounds of typing a text.
const (
	// maxTyped bounds a text that is typed, in characters.
	maxTyped = 4096
	// typedAtOnce is how many characters are typed before what was typed is
	// waited for; all of them fit into the session's queue.
	typedAtOnce = viewer.InputQueue / 4
	// typeWait bounds how long the machine may take for them.
	typeWait = 10 * time.Second
)

// typeText types a text as the person, past the goroutine of the widgets: a
// slow machine takes its time.
func (t *tab) typeText(text string) {
	var keys []key.Key
	lost := 0
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if k := key.FromRune(r); k.Sym != 0 {
			keys = append(keys, k)
		} else {
			lost++
		}
	}
	w := t.w
	switch {
	case len(keys) == 0:
		w.status.say("There is no text on the clipboard to type.", true)
		return
	case len(keys) > maxTyped:
		w.status.say(fmt.Sprintf("The text on the clipboard has %d characters; at most %d are typed. Send it to the machine's clipboard instead.", len(keys), maxTyped), true)
		return
	case t.typing:
		w.status.say("A text is being typed already.", true)
		return
	}
	t.typing = true
	t.pane.LetGo()
	go func() {
		n, err := t.press(keys)
		w.fence.Go(func() {
			t.typing = false
			switch {
			case err != nil:
				w.status.say(fmt.Sprintf("Typing ended after %d of %d characters: %s", n, len(keys), sentence(viewer.Reason(err))), true)
			case lost > 0:
				w.status.say(fmt.Sprintf("%d characters of the text can be typed by no key and were left out.", lost), true)
			default:
				w.status.say(fmt.Sprintf("Typed %d characters.", n), false)
			}
		})
	}()
}

// press presses keys one after the other and tells how many were.
func (t *tab) press(keys []key.Key) (n int, err error) {
	for chunk := range slices.Chunk(keys, typedAtOnce) {
		for _, k := range chunk {
			in := viewer.Key{Sym: k.Sym, Rune: key.Rune(k.Sym), Down: true}
			up := in
			up.Down = false
			if o := t.person.Input(in, up); o != plane.Delivered {
				return n, outcome(o)
			}
			n++
		}
		ctx, cancel := context.WithTimeout(context.Background(), typeWait)
		err := t.session.Flush(ctx)
		cancel()
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// releaseAll lets go of everything held on the machine, whoever holds it.
func (t *tab) releaseAll() error {
	if t.wheel.Holder == plane.HolderAgent {
		return errors.New("an agent is driving; take the wheel first")
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseWait)
	go func() {
		defer cancel()
		if err := t.session.ReleaseAll(ctx); err != nil {
			t.w.fence.Go(func() { t.w.status.say(reason(err), true) })
		}
	}()
	return nil
}

// releaseWait bounds how long releasing may take.
const releaseWait = 5 * time.Second
