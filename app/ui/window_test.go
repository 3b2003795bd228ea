package ui

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"deskvnc/app/ui/look"
	"deskvnc/control/command"
	"deskvnc/viewer"
	"deskvnc/viewer/sample"
)

// The connect bar takes all forms of an address and says in words what is
// wrong with one.
func TestConnectBar(t *testing.T) {
	l := newLab(t, sample.Options{})
	for text, want := range map[string]string{
		"":                         "Type the address",
		"a b":                      "cannot contain ' '",
		"host:99999":               "is not a port",
		"[::1":                     "without a ]",
		"fe80::1:5901:zz":          "neither a host name nor an IPv6 address",
		"http://host":              "is not a protocol",
		"vnc://alice:secret@host":  "leave the password out",
		"rdp://host":               "this build has no rdp driver",
		strings.Repeat("x", 10000): "longer than 255",
	} {
		l.w.start.bar.SetText(text)
		l.w.start.connect()
		if !l.w.start.fault.Visible() || !strings.Contains(strings.ToLower(l.w.start.fault.String()), strings.ToLower(want)) {
			t.Errorf("%.30q: the page says %q, want %q", text, l.w.start.fault.String(), want)
		}
		if strings.Contains(l.w.start.fault.String(), "secret") {
			t.Error("a password in the address is repeated")
		}
		if len(l.w.tabs) != 0 {
			t.Fatalf("%.30q opened a session", text)
		}
		l.w.start.bar.SetText("x")
		if l.w.start.fault.Visible() {
			t.Error("what was wrong is still said while the address is corrected")
		}
	}
	for text, want := range map[string]string{
		"127.0.0.1:1": "127.0.0.1:5901", "127.0.0.1::1": "127.0.0.1:1", "[::1]:5903": "[::1]:5903", " LOCALHOST. ": "localhost:5900", "vnc://bob@127.0.0.1:5904/": "127.0.0.1:5904",
	} {
		l.w.start.bar.SetText(text)
		l.w.start.connect()
		if l.w.selected == nil || l.w.selected.session.Target().HostPort() != want {
			t.Errorf("%q did not open %s", text, want)
			continue
		}
		l.w.closeSession(l.w.selected.session)
	}
}

func TestTargetText(t *testing.T) {
	for _, text := range []string{"lab01:5900", "10.0.0.5:5901", "lab01::80", "[::1]:5903", "[fe80::1%eth0]:5900", "vnc://al%20ice@lab01:5900"} {
		target, err := viewer.ParseTarget(text, viewer.VNC)
		if err != nil {
			t.Fatal(err)
		}
		again, err := viewer.ParseTarget(targetText(target), viewer.VNC)
		if err != nil || again != target {
			t.Errorf("%q is shown as %q, which is %+v, %v", text, targetText(target), again, err)
		}
	}
}

// Everything that can be done is a command, with one effect or a reason why
// not (C250): the menu, every button and every chord with no, one and three
// sessions.
func TestEverythingIsACommand(t *testing.T) {
	for _, sessions := range []int{0, 1, 3} {
		l := newLab(t, sample.Options{Count: 3})
		for i := range sessions {
			l.open(i)
		}
		menu := flat(l.w.menu())
		labels := map[string]bool{}
		for _, item := range menu {
			if labels[item.Label] {
				t.Errorf("%d sessions: %q is in the menu twice", sessions, item.Label)
			}
			labels[item.Label] = true
		}
		for _, c := range l.w.commands.Commands() {
			if len(c.Menu) > 0 && c.Bare() != labels[c.Label] {
				t.Errorf("%s is missing from the menu", c.ID)
			}
			if c.Capability == "" || c.Doc == "" {
				t.Errorf("%s has no capability or no description", c.ID)
			}
			for _, s := range c.Shortcuts {
				chord, err := command.ParseChord(s.Chord)
				if err != nil || !chord.Viewer() {
					t.Errorf("%s: the chord %s could be meant for the machine", c.ID, s.Chord)
				}
				if !l.w.chord(chord.Key, false) {
					t.Errorf("%s: %s does nothing while a session has the keyboard", c.ID, chord)
				}
			}
		}
		// Run everything from the menu, but what closes comes last.
		l.w.config.App.Clipboard().SetContent("x")
		for _, item := range menu {
			if item.Label == "Quit" || item.Label == "Close session" || item.Label == "Open the sample desktop" {
				continue
			}
			l.w.status.say("", false)
			made := 0 // connections
			if sessions > 0 {
				made = l.w.selected.session.Info().Connections
				if item.Label == "Reconnect" {
					made++
				}
			}
			item.Action()
			if said := l.w.status.trouble; said != item.Disabled && !item.Disabled {
				t.Errorf("%d sessions: %q says %q", sessions, item.Label, l.w.status.message)
			} else if item.Disabled && !said {
				t.Errorf("%d sessions: %q is disabled and gives no reason", sessions, item.Label)
			}
			l.w.closeModal()
			l.clearOverlays()
			l.w.setFull(false)
			if sessions > 0 {
				if s := l.w.tabs[len(l.w.tabs)-1]; s.person.ViewOnly() {
					s.setViewOnly(false)
				}
				l.w.choose(l.w.tabs[len(l.w.tabs)-1])
				l.until("the session after "+item.Label, func() bool {
					s := l.w.selected.session
					return s.State().Phase == viewer.Connected && (item.Label != "Reconnect" || s.Info().Connections >= made)
				})
			}
		}
		if sessions > 0 {
			l.w.invoke("session.close", nil)
			if len(l.w.tabs) != sessions-1 {
				t.Errorf("%d sessions: close left %d", sessions, len(l.w.tabs))
			}
		}
		l.w.invoke("app.quit", nil)
		if l.quits != 1 {
			t.Errorf("quit was asked for %d times", l.quits)
		}
	}
}

// clearOverlays takes away the menus and dialogs that are open.
func (l *lab) clearOverlays() {
	o := l.win.Canvas().Overlays()
	for o.Top() != nil {
		o.Remove(o.Top())
	}
}

// flat are the items of a menu and of the menus in it.
func flat(m *fyne.Menu) (out []*fyne.MenuItem) {
	for _, item := range m.Items {
		if item.ChildMenu != nil {
			out = append(out, flat(item.ChildMenu)...)
		} else {
			out = append(out, item)
		}
	}
	return out
}

// Every button on screen runs a command.
func TestButtonsAreCommands(t *testing.T) {
	l := newLab(t, sample.Options{})
	l.open(0)
	var buttons []*look.Button
	var walk func(o fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		switch o := o.(type) {
		case *look.Button:
			buttons = append(buttons, o)
		case *container.Scroll:
			walk(o.Content)
		case *fyne.Container:
			for _, c := range o.Objects {
				walk(c)
			}
		}
	}
	walk(l.w.chrome)
	if len(buttons) < 10 {
		t.Fatalf("only %d buttons were found", len(buttons))
	}
	for _, b := range buttons {
		test.Tap(b) // none panics, none does nothing silently
		l.w.closeModal()
		l.clearOverlays()
		if l.w.selected == nil && len(l.w.tabs) > 0 {
			l.w.choose(l.w.tabs[0])
		}
		l.w.setFull(false)
	}
}

// Commands from outside, as the control socket gives them.
func TestCommandsFromOutside(t *testing.T) {
	l := newLab(t, sample.Options{})
	execute := func(id, params string) (any, error) {
		t.Helper()
		type result struct {
			v   any
			err error
		}
		done := make(chan result, 1)
		ctx, cancel := context.WithTimeout(context.Background(), hang)
		defer cancel()
		go func() {
			v, err := l.w.commands.Execute(ctx, id, json.RawMessage(params))
			done <- result{v, err}
		}()
		for {
			select {
			case r := <-done:
				return r.v, r.err
			case fn := <-l.posts:
				fn()
			case <-ctx.Done():
				t.Fatalf("waited too long for %s", id)
			}
		}
	}
	v, err := execute("session.sample", "")
	got, _ := json.Marshal(v)
	if err != nil || !strings.Contains(string(got), `"state":"connected"`) {
		t.Errorf("session.sample gives %s, %v", got, err)
	}
	if v, err = execute("session.quickConnect", `{"target": "127.0.0.1::1"}`); err != nil {
		t.Errorf("session.quickConnect: %v", err)
	}
	if got, _ = json.Marshal(v); !strings.Contains(string(got), `"state":"disconnected"`) || !strings.Contains(string(got), `"reason"`) {
		t.Errorf("session.quickConnect gives %s", got)
	}
	if _, err = execute("session.quickConnect", `{"target": "a b"}`); err == nil {
		t.Error("a wrong address was opened")
	}
	v, err = execute("session.list", "{}")
	if got, _ = json.Marshal(v); err != nil || strings.Count(string(got), `"session"`) != 2 {
		t.Errorf("session.list gives %s, %v", got, err)
	}
	if _, err = execute("session.select", `{"session": "1"}`); err != nil || l.w.selected != l.w.tabs[0] {
		t.Errorf("session.select: %v", err)
	}
	for _, id := range []string{"control.takeWheel", "control.handBack", "session.sendCtrlAltDel", "control.stopAgents", "session.grabKeyboard"} {
		if _, err := execute(id, ""); err == nil || !strings.Contains(err.Error(), "only a person") {
			t.Errorf("%s from outside: %v", id, err)
		}
	}
	if _, err := execute("session.close", `{"session": "s_2"}`); err != nil || len(l.w.tabs) != 1 {
		t.Errorf("session.close: %v, %d tabs are left", err, len(l.w.tabs))
	}
}

func TestFullScreen(t *testing.T) {
	l := newLab(t, sample.Options{})
	s := l.open(0)
	l.w.invoke("view.fullscreen", nil)
	if !l.win.FullScreen() || l.w.top.Visible() || l.w.tools.object.Visible() || l.w.status.object.Visible() {
		t.Error("full screen shows more than the session")
	}
	if !l.w.handle.bar.Visible() {
		t.Error("the way out is not shown at first")
	}
	s.input(viewer.Pointer{X: 1, Y: 1})
	if l.w.handle.bar.Visible() || !l.w.handle.grip.Visible() {
		t.Error("the bar stays in the way")
	}
	l.w.handle.grip.MouseIn(nil)
	l.until("the bar", func() bool { return l.w.handle.bar.Visible() })
	s.input(viewer.Pointer{X: 2, Y: 1})
	if !l.w.handle.bar.Visible() {
		t.Error("the bar goes while the pointer is on it")
	}
	l.w.invoke("session.close", nil)
	if l.win.FullScreen() || !l.w.top.Visible() {
		t.Error("without a session full screen goes on")
	}
}

func TestControlTrouble(t *testing.T) {
	l := newLab(t, sample.Options{})
	l.w.SetControl("No agents: the port is taken", true)
	if l.w.status.control.Value() != "No agents: the port is taken" {
		t.Error("the trouble is not shown")
	}
	l.w.invoke("view.library", nil)
	if l.w.status.control.Value() == "" {
		t.Error("the trouble went by itself")
	}
}

// C247: sessions opened and closed in quick succession, while they connect and
// while they draw.
func TestOpenAndCloseOften(t *testing.T) {
	l := newLab(t, sample.Options{Count: 2})
	for i := range 40 {
		l.w.start.open(l.w.config.Samples[i%2])
		s := l.w.selected
		switch i % 3 {
		case 1:
			l.until("connecting", func() bool { return s.session.State().Phase != viewer.Idle })
		case 2:
			l.until("the picture", func() bool { return s.session.State().Phase == viewer.Connected })
		}
		l.w.closeSession(s.session)
		l.w.closeSession(s.session)
	}
	l.until("the end of all", func() bool { return len(l.engine.Sessions()) == 0 })
}
