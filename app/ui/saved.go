package ui

import (
	"context"
	"encoding/json"
	"errors"
	"image"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"deskvnc/app/ui/library"
	"deskvnc/control/command"
	"deskvnc/keychain"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/frame"
)

const (
	// keyReopen is the preference to open the sessions of before at the start.
	keyReopen = "window.reopen"
	// keyDotted is the preference for a dot where the pointer is hidden.
	keyDotted = "window.dot"
	// windowName is what the tabs of the window are kept under.
	windowName = "main"
)

func (w *Window) savedTargets() []viewer.Target {
	if w.config.Saved == nil {
		return w.config.Samples
	}
	return w.config.Saved()
}

// known is the saved machine that a target means: the one with its id, or the
// only one at the address that was typed.
func (w *Window) known(t viewer.Target) viewer.Target {
	var found []viewer.Target
	for _, s := range w.savedTargets() {
		switch {
		case t.HostID != "":
			if s.HostID == t.HostID {
				return s
			}
		case s.Protocol == t.Protocol && s.Port == t.Port && viewer.Normalize(s.Address) == viewer.Normalize(t.Address) && (t.User == "" || t.User == s.User):
			found = append(found, s)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return t
}

// tabAt is the tab of a machine, be it opened as the saved one or by its
// address.
func (w *Window) tabAt(t viewer.Target) *tab {
	for _, tab := range w.tabs {
		o := tab.session.Target()
		if same(o, t) {
			return tab
		}
		// Asking the library is not for every tab and machine.
		here := t.HostID != "" && o.HostID == "" && o.Port == t.Port && viewer.Normalize(o.Address) == viewer.Normalize(t.Address)
		if here && same(w.known(o), t) {
			return tab
		}
	}
	return nil
}

// openOnce goes to the session of a machine, or opens one. One that has ended
// is tried again. One that is still trying where the machine was before it was
// edited is dropped for one that tries where it is now.
func (w *Window) openOnce(t viewer.Target, p command.Params) (any, error) {
	tab := w.tabAt(t)
	if tab == nil {
		return w.open(t, p)
	}
	if moved(tab.session.Target(), t) && tab.session.State().Phase != viewer.Connected && !tab.session.Called() {
		w.closeSession(tab.session)
		return w.open(t, p)
	}
	w.choose(tab)
	if tab.session.State().Phase == viewer.Disconnected {
		tab.session.Reconnect()
	}
	return w.settled(tab.session, p), nil
}

// moved reports whether a machine is to be reached otherwise than it was.
func moved(was, now viewer.Target) bool {
	was.Name, was.HostID = now.Name, now.HostID
	return was != now
}

// plainKeys are the keys that, with Ctrl, work while the library is shown.
var plainKeys = map[fyne.KeyName]string{fyne.KeyF: "library.search", fyne.KeyN: "host.add"}

// libraryChord runs the command of a shortcut on the library screen.
func (w *Window) libraryChord(s fyne.Shortcut) bool {
	if c, ok := s.(*desktop.CustomShortcut); ok && c.Modifier == fyne.KeyModifierControl && w.selected == nil {
		if id := plainKeys[c.KeyName]; id != "" {
			w.invoke(id, nil)
			return true
		}
	}
	return w.typedChord(s)
}

// addLibraryKeys makes the keys of the library work wherever the keyboard is
// while it is shown, and Escape say no to what a pane asks.
func (w *Window) addLibraryKeys() {
	c := w.win.Canvas()
	for key := range plainKeys {
		c.AddShortcut(&desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierControl}, func(s fyne.Shortcut) { w.libraryChord(s) })
	}
	c.SetOnTypedKey(func(ev *fyne.KeyEvent) {
		if ev.Name == fyne.KeyEscape && w.selected != nil {
			w.selected.pane.Refuse()
		}
	})
}

// item is a menu item of a command.
func (w *Window) item(id, label string) *fyne.MenuItem {
	c, _ := w.commands.Command(id)
	if label == "" {
		label = c.Label
	}
	i := fyne.NewMenuItem(label, func() { w.invoke(id, nil) })
	i.Disabled = w.commands.Enabled(id, nil) != nil
	i.Checked = c.On != nil && c.On()
	return i
}

// hostMenu is the menu of the chosen machine.
func (w *Window) hostMenu() *fyne.Menu {
	if e, ok := w.screen().Chosen(); ok && !e.Saved {
		return fyne.NewMenu("", w.item("host.connect", "Connect"), w.item("host.save", "Save..."), w.item("host.copyAddress", ""))
	}
	return fyne.NewMenu("",
		w.item("host.connect", "Connect"), fyne.NewMenuItemSeparator(),
		w.item("host.edit", "Edit..."), w.item("host.duplicate", "Duplicate"), w.item("host.favourite", ""), w.item("host.copyAddress", ""), fyne.NewMenuItemSeparator(),
		w.item("host.delete", "Delete"))
}

// libraryMenu is the menu of the library's own button.
func (w *Window) libraryMenu() *fyne.Menu {
	return fyne.NewMenu("", w.item("library.cards", ""), w.item("library.rows", ""), fyne.NewMenuItemSeparator(),
		w.item("library.reopen", ""), fyne.NewMenuItemSeparator(), w.item("host.undelete", ""))
}

// liveColor is the colour of the open session to a machine.
func (w *Window) liveColor(t viewer.Target) fyne.ThemeColorName {
	if len(w.tabs) > 0 {
		if tab := w.tabAt(t); tab != nil {
			return tab.color()
		}
	}
	return ""
}

// followSessions keeps the states that the library shows, and the list of
// open tabs, up to date.
func (w *Window) followSessions() (stop func()) {
	states := w.fence.Target(func() {
		if w.selected == nil && !w.closing {
			w.screen().Update()
		}
	})
	return w.engine.Subscribe(func(c engine.Change) {
		if !c.Gone {
			c.Session.Subscribe(func(ev viewer.Event) {
				if _, ok := ev.(viewer.StateChanged); ok {
					states.Post()
				}
			})
		}
		states.Post()
		w.fence.Go(w.keepTabs)
	})
}

// keepTabs remembers which sessions are open.
func (w *Window) keepTabs() {
	if w.config.Tabs == nil || w.closing {
		return
	}
	tabs := []keychain.Tab{}
	for _, t := range w.tabs {
		target := t.session.Target()
		if w.isSample(target) || t.session.Called() {
			continue // gone with the program, or to be called by
		}
		tab := keychain.Tab{HostID: target.HostID, Slot: t.session.Slot(), Active: t == w.selected}
		if tab.HostID == "" {
			tab.Target = library.URL(target)
		}
		tabs = append(tabs, tab)
	}
	if slices.Equal(tabs, w.keptTabs) {
		return
	}
	w.keptTabs = tabs
	w.screen().Later(func(ctx context.Context) error { return w.config.Tabs.SetTabs(ctx, windowName, tabs) })
}

// Resume takes up what the window kept, and opens the sessions of before when
// the person wishes that.
func (w *Window) Resume() {
	if w.config.Library == nil {
		return
	}
	var dotted bool
	w.screen().After(func(ctx context.Context) error {
		raw, err := w.config.Library.Setting(ctx, keyDotted)
		if err == nil && raw != nil {
			json.Unmarshal(raw, &dotted) // what is not understood counts as not set
		}
		return nil
	}, func(error) { w.setDotted(dotted || w.dotted) })
	w.resumeTerminals()
	if w.config.Tabs == nil {
		return
	}
	var on bool
	var tabs []keychain.Tab
	w.screen().After(func(ctx context.Context) error {
		raw, err := w.config.Library.Setting(ctx, keyReopen)
		if err != nil || raw == nil {
			return err
		}
		if err := json.Unmarshal(raw, &on); err != nil || !on {
			return nil // what is not understood counts as not set
		}
		all, err := w.config.Tabs.Tabs(ctx)
		tabs = all[windowName]
		return err
	}, func(err error) {
		w.reopen = on
		if err != nil {
			w.status.say("The sessions of before cannot be opened: "+library.Reason(err), true)
		}
		w.restore(tabs)
	})
}

// restore opens sessions.
func (w *Window) restore(tabs []keychain.Tab) {
	var active *engine.Session
	before := w.selected
	for _, k := range tabs {
		t := viewer.Target{HostID: k.HostID}
		if k.HostID == "" {
			var ok bool
			if t, ok = library.ParseURL(k.Target); !ok {
				continue
			}
		}
		if t = w.known(t); t.Address == "" {
			continue // deleted since
		}
		s, err := w.engine.Open(t)
		if err != nil {
			w.status.say(reason(err), true)
			continue
		}
		w.addTab(s)
		if k.Active {
			active = s
		}
	}
	if active != nil && before == nil {
		w.choose(w.tabOf(active))
	}
}

// The last picture of a machine is kept no larger than this.
const (
	thumbWidth   = 320
	thumbHeight  = 200
	thumbQuality = 82
)

// keepPicture keeps how a session looks, if that is wanted of its machine. It
// is called when the session is left or closed.
func (w *Window) keepPicture(t *tab) {
	if w.config.Library == nil || t.session.Info().Connections == 0 {
		return
	}
	target := w.known(t.session.Target())
	if target.HostID == "" || w.isSample(target) {
		return
	}
	f := t.session.Frame()
	w.screen().KeepPicture(target.HostID, func() ([]byte, error) {
		v, ok := f.Snapshot(image.Rectangle{}, nil)
		if !ok || !v.Whole {
			return nil, errors.New("there is no whole picture")
		}
		scale := min(1, min(thumbWidth/float64(v.W), thumbHeight/float64(v.H)))
		small := frame.Shrink(nil, v.Image, max(int(float64(v.W)*scale), 1), max(int(float64(v.H)*scale), 1))
		return frame.JPEG(small, thumbQuality)
	})
}

// PasswordSaved tells what came of a password that a person asked to keep. It
// may be called from any goroutine.
func (w *Window) PasswordSaved(t viewer.Target, err error) {
	w.fence.Go(func() {
		text := "The password is saved in the keychain."
		if err != nil {
			text = sentence("The password was not saved: " + library.Reason(err))
		}
		if tab := w.tabAt(w.known(t)); tab != nil {
			tab.pane.Tell(text, err != nil)
		}
		if err != nil {
			w.status.say(t.Label()+": "+text, true)
		}
	})
}

// sampleEntries are the sample machines as the library shows them.
func (w *Window) sampleEntries() []library.Entry {
	var out []library.Entry
	desktops := 0
	for _, t := range w.config.Samples {
		if t.Protocol != viewer.SSH {
			desktops++
		}
	}
	for _, t := range w.config.Samples {
		e := library.Entry{Target: t, About: "Drawn by this program"}
		switch {
		case t.Protocol == viewer.SSH:
			e.About = "Served by this program"
		case desktops == 1:
			e.Target.Name = "Sample desktop"
		}
		out = append(out, e)
	}
	return out
}
