package ui

import (
	"image"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"deskvnc/app/ui/look"
	"deskvnc/app/ui/pane"
	"deskvnc/control/plane"
	"deskvnc/keychain"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// A tab is one session in the window.
type tab struct {
	w        *Window
	session  *engine.Session
	tab      *look.Tab
	pane     *pane.Pane
	person   *plane.Pane
	wheel    plane.WheelState
	unwatch  func()
	focused  bool   // the picture has the keyboard
	shared   string // the text last given to or got from the remote clipboard
	remote   string // the text that the machine last put on its clipboard
	sharing  keychain.Sharing
	chosen   bool // sharing was chosen for this session
	typing   bool // a text is being typed
	size     follower
	terminal terminalTab
	made     int // connections seen
	files    tabFiles
}

// engineChanged follows the sessions of the engine, whoever opened them. It is
// called from any goroutine.
func (w *Window) engineChanged(c engine.Change) {
	w.fence.Go(func() {
		if c.Gone {
			w.dropTab(c.Session)
		} else {
			w.addTab(c.Session)
		}
	})
}

func (w *Window) tabOf(s *engine.Session) *tab {
	for _, t := range w.tabs {
		if t.session == s {
			return t
		}
	}
	return nil
}

// addTab makes the tab of a session.
func (w *Window) addTab(s *engine.Session) {
	if w.tabOf(s) != nil {
		return
	}
	select {
	case <-s.Done(): // gone before it was shown
		return
	default:
	}
	t := &tab{w: w, session: s, person: w.plane.Pane(s)}
	t.tab = look.NewTab(func() { w.choose(t) }, func() { w.closeSession(s) })
	c := pane.Config{
		Session: s, Fence: w.fence, Canvas: w.win.Canvas(), InputMethod: w.config.InputMethod,
		Input:    func(in viewer.Input) { t.input(in) },
		Leave:    t.person.Leave,
		Chord:    w.chord,
		Patient:  func() bool { return t.wheel.Holder == plane.HolderAgent },
		Changed:  t.changed,
		Placed:   func() { w.status.update(w); t.sized() },
		Event:    t.event,
		Focused:  t.setFocused,
		Retry:    s.Reconnect,
		Edit:     func() { w.edit(s) },
		Close:    func() { w.closeSession(s) },
		Terminal: t.terminalConfig(),
	}
	if d := w.display; d != nil {
		c.Keys, c.Pointer, c.Forget = d, d, d.Forget
	}
	t.pane = pane.New(c)
	t.pane.SetDotted(w.dotted)
	t.pane.Object().Hide()
	t.beginTerminal()
	wheel := w.fence.Target(func() { t.setWheel(t.person.Wheel()) })
	t.unwatch = t.person.OnWheel(func(plane.WheelState) { wheel.Post() })
	t.wheel = t.person.Wheel()
	t.learn()
	w.tabs = append(w.tabs, t)
	w.strip.Add(t.tab)
	w.stage.Add(t.pane.Object())
	t.changed()
	w.update()
}

// input passes on what the person does.
func (t *tab) input(in viewer.Input) {
	t.w.handle.used()
	if t.person.Input(in) == plane.Dropped && pressed(in) && t.person.ViewOnly() {
		c, _ := t.w.commands.Command("session.viewOnly")
		t.w.status.say(t.title()+" is view only. "+shortcutOf(c)+" lets it take input.", false)
	}
}

// pressed reports whether an input is a press.
func pressed(in viewer.Input) bool {
	switch in := in.(type) {
	case viewer.Key:
		return in.Down
	case viewer.Pointer:
		return in.Buttons != 0
	}
	return false
}

// dropTab takes the tab of an ended session away.
func (w *Window) dropTab(s *engine.Session) {
	t := w.tabOf(s)
	if t == nil {
		return
	}
	i := slices.Index(w.tabs, t)
	w.tabs = slices.Delete(w.tabs, i, i+1)
	if w.grabber == t {
		w.grabber = nil
	}
	if w.selected == t {
		var next *tab
		if len(w.tabs) > 0 {
			next = w.tabs[min(i, len(w.tabs)-1)]
		}
		w.choose(next)
	}
	t.close()
	w.strip.Remove(t.tab)
	w.stage.Remove(t.pane.Object())
	w.update()
}

func (t *tab) close() {
	t.unwatch()
	t.stopSizing()
	t.stopReflow()
	t.endFiles()
	t.pane.Close()
	t.person.Close()
}

// choose shows a session, or the start page for nil.
func (w *Window) choose(t *tab) {
	old := w.selected
	if old == t && t != nil {
		t.pane.Focus()
		return
	}
	if old != nil {
		w.keepPicture(old)
		old.pane.SetShown(false)
		old.pane.Object().Hide()
	}
	w.selected = t
	if t == nil {
		w.setFull(false)
		w.start.object.Show()
		w.start.update()
		w.start.focus()
		w.strip.Select(nil)
	} else {
		w.start.object.Hide()
		t.pane.Object().Show()
		t.pane.SetShown(true)
		t.sized()
		w.strip.Select(t.tab)
		t.pane.Focus()
	}
	w.update()
}

// update brings everything around the stage up to date.
func (w *Window) update() {
	w.home.SetOn(w.selected == nil)
	w.tools.update()
	w.wheel.update()
	w.handle.update()
	w.status.update(w)
	w.updateAgents()
	title := "DeskVNC"
	if w.selected != nil {
		title = w.selected.title() + " – DeskVNC"
	}
	if w.win.Title() != title {
		w.win.SetTitle(title)
	}
	w.chrome.Refresh()
}

// changed follows the session.
func (t *tab) changed() {
	if t.pane == nil { // being built
		return
	}
	t.tab.Set(t.title(), t.color())
	if n := t.session.Info().Connections; n != t.made {
		t.made = n
		t.size.connected()
		t.terminal.asked = image.Point{}
	}
	t.filesConnected()
	t.sized()
	if t.w.selected == t {
		t.w.update()
	}
}

// title is what the session is called: what the person called it, else what
// the machine calls itself, else the address.
func (t *tab) title() string {
	if n := t.session.Target().Name; n != "" {
		return t.numbered(n)
	}
	if n := strings.TrimSpace(t.session.Info().Name); n != "" {
		return t.numbered(n)
	}
	return t.numbered(t.session.Target().HostPort())
}

// numbered tells sessions to one machine apart.
func (t *tab) numbered(name string) string {
	if s := t.session.Slot(); s > 0 {
		return name + " (" + itoa(s+1) + ")"
	}
	return name
}

// color is the colour of the session's state.
func (t *tab) color() fyne.ThemeColorName {
	switch t.session.State().Phase {
	case viewer.Connected:
		if t.wheel.Holder == plane.HolderAgent {
			return look.ColorAgent
		}
		return theme.ColorNameSuccess
	case viewer.Disconnected, viewer.Idle:
		return theme.ColorNameError
	}
	return theme.ColorNameWarning
}

// setFocused follows whether the picture has the keyboard.
func (t *tab) setFocused(on bool) {
	t.focused = on
	if on {
		t.w.share()
	} else {
		t.w.grab(false)
	}
	t.w.status.update(t.w)
}

// setWheel follows who drives.
func (t *tab) setWheel(st plane.WheelState) {
	freed := t.wheel.Holder == plane.HolderAgent && st.Holder != plane.HolderAgent
	t.wheel = st
	if freed && t.focused {
		t.w.share()
	}
	t.sized()
	t.tab.Set(t.title(), t.color())
	if t.w.selected == t {
		t.w.update()
	}
}

// event takes what is not the pane's.
func (t *tab) event(ev viewer.Event) {
	switch ev := ev.(type) {
	case viewer.Bell:
		t.rang()
	case viewer.ClipboardAsked:
		t.copied(ev.Text)
	case viewer.Notified:
		t.w.status.say(t.title()+": "+ev.Text, false)
	case viewer.Refusal:
		t.refused(ev.Text)
	case viewer.CutText:
		t.w.remoteText(t, ev.Text)
	}
}

// closeSession ends a session without waiting for it; its tab goes at once.
func (w *Window) closeSession(s *engine.Session) {
	w.dropTab(s)
	go s.Close()
}

// edit takes the address of a session back to the connect bar, or opens the
// form of a saved machine.
func (w *Window) edit(s *engine.Session) {
	target := s.Target()
	w.choose(nil)
	if t := w.known(target); t.HostID != "" && w.config.Library != nil && !w.isSample(t) {
		w.screen().EditID(t.HostID)
		return
	}
	w.start.fill(target)
	w.start.instead = s
}
