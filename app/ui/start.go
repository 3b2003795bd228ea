package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/library"
	"deskvnc/app/ui/look"
	"deskvnc/control/command"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// A startPage is what is shown without a session: the connect bar and the
// library below it.
type startPage struct {
	w      *Window
	object fyne.CanvasObject
	bar    *connectEntry
	fault  *widget.RichText
	screen *library.Screen
	// instead is the session whose address is being edited in the bar: it goes
	// when another one is opened from there.
	instead *engine.Session
}

func newStartPage(w *Window) *startPage {
	s := &startPage{w: w, fault: look.NewParagraph("", theme.ColorNameError, theme.SizeNameText)}
	s.bar = newConnectEntry(w.libraryChord)
	s.bar.SetPlaceHolder("Address, for example lab01 or 10.0.0.5:1")
	s.bar.OnSubmitted = func(string) { s.connect() }
	s.bar.OnChanged = func(text string) {
		s.fault.Hide()
		if text == "" { // it is about another machine from now on
			s.instead = nil
		}
	}
	s.bar.down = func() { s.screen.FocusSearch() }
	s.fault.Hide()
	connect := widget.NewButton("Connect", s.connect)
	connect.Importance = widget.HighImportance
	head := container.NewVBox(container.NewBorder(nil, nil, nil, connect, s.bar), s.fault)
	store := w.config.Library
	if store == nil {
		store = library.None(w.config.LibraryFault)
	}
	s.screen = library.New(library.Config{
		Store: store, Fence: w.fence, Canvas: w.win.Canvas(), Samples: w.sampleEntries(),
		Open:  func(e library.Entry) { s.open(e.Target) },
		Do:    func(id string) { w.invoke(id, nil) },
		Menu:  w.hostMenu,
		More:  w.libraryMenu,
		Chord: w.libraryChord,
		Live:  w.liveColor,
		Hint:  w.hint,
		Head:  head, HeadFocus: s.focus,
	})
	s.object = s.screen.Object()
	return s
}

// connect opens what was typed; what is wrong with it is said under the bar.
func (s *startPage) connect() {
	if _, err := s.w.commands.Invoke("session.quickConnect", command.Params{"target": s.bar.Text}); err != nil {
		s.fail(reason(err))
		return
	}
	old := s.instead
	s.bar.SetText("")
	if old != nil && old.State().Phase != viewer.Connected && s.w.selected != nil && s.w.selected.session != old {
		s.w.closeSession(old)
	}
}

func (s *startPage) fail(text string) {
	look.SetParagraph(s.fault, text, theme.ColorNameError)
	s.fault.Show()
	s.object.Refresh()
	s.focus()
}

// fill puts a target into the bar for a person to change.
func (s *startPage) fill(t viewer.Target) {
	s.bar.SetText(targetText(t))
	s.bar.CursorColumn = len([]rune(s.bar.Text))
	s.bar.Refresh()
	s.focus()
}

// targetText is a target as a person would type it.
func targetText(t viewer.Target) string {
	text := t.HostPort()
	if t.Protocol == viewer.VNC && t.Port < 100 {
		text = (&viewer.Target{Address: t.Address, Port: t.Port}).HostPort()
		text = text[:len(text)-len(itoa(t.Port))-1] + "::" + itoa(t.Port) // a port, not a display
	}
	if t.User != "" || t.Protocol != viewer.VNC {
		user := ""
		if t.User != "" {
			user = t.User + "@"
		}
		text = string(t.Protocol) + "://" + user + text
	}
	return text
}

// focus gives the connect bar the keyboard, or the form when it is open.
func (s *startPage) focus() {
	if c := s.w.win.Canvas(); c != nil && s.object.Visible() && c.Content() != nil && !s.screen.Focus() {
		c.Focus(s.bar)
	}
}

// update shows the machines and their sessions as they are now.
func (s *startPage) update() {
	s.screen.Update()
	s.screen.Again()
}

// open goes to a machine of the list: to its session when one is open.
func (s *startPage) open(t viewer.Target) {
	if _, err := s.w.openOnce(s.w.known(t), command.Params{"wait": false}); err != nil {
		s.fail(reason(err))
	}
}

// A connectEntry is the line an address is typed into.
type connectEntry struct {
	widget.Entry
	chord func(fyne.Shortcut) bool
	down  func()
}

func newConnectEntry(chord func(fyne.Shortcut) bool) *connectEntry {
	e := &connectEntry{chord: chord}
	e.ExtendBaseWidget(e)
	return e
}

// TypedShortcut is called by the toolkit: the viewer's chords work here too.
func (e *connectEntry) TypedShortcut(s fyne.Shortcut) {
	if !e.chord(s) {
		e.Entry.TypedShortcut(s)
	}
}

// TypedKey is called by the toolkit.
func (e *connectEntry) TypedKey(ev *fyne.KeyEvent) {
	if ev.Name == fyne.KeyDown {
		e.down()
		return
	}
	e.Entry.TypedKey(ev)
}
