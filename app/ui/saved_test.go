package ui

import (
	"context"
	"encoding/json"
	"errors"
	"image"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/library"
	"deskvnc/app/ui/look"
	"deskvnc/app/ui/pane"
	"deskvnc/control/command"
	"deskvnc/keychain"
	"deskvnc/keychain/store"
	"deskvnc/viewer"
	"deskvnc/viewer/sample"
)

// shop is the real store as the window wants it.
type shop struct{ *store.Store }

func (s shop) Recent(ctx context.Context, n int) ([]library.Recent, error) {
	found, err := s.Recents(ctx, n)
	var out []library.Recent
	for _, r := range found {
		out = append(out, library.Recent(r))
	}
	return out, err
}

func (shop) Forget(context.Context, string) error { return nil }

func newShop(t *testing.T) shop {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "library.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return shop{s}
}

// with gives the window a library.
func (s shop) with(t *testing.T) func(*Config) {
	return func(c *Config) {
		samples := c.Samples
		c.Library, c.Tabs = s, s
		c.Saved = func() []viewer.Target {
			hosts, err := s.List(context.Background())
			if err != nil {
				t.Error(err)
			}
			var out []viewer.Target
			for _, h := range hosts {
				out = append(out, h.Target())
			}
			return append(out, samples...)
		}
	}
}

// save saves a machine that listens at the address of a sample.
func (s shop) save(t *testing.T, name string, at viewer.Target) keychain.Host {
	t.Helper()
	h, err := s.Add(context.Background(), keychain.Host{Name: name, Protocol: viewer.VNC, Address: at.Address, Port: at.Port, LastPicture: true})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// far is a machine for a test to end.
func far(t *testing.T) (viewer.Target, func()) {
	t.Helper()
	m, err := sample.Start(sample.Options{Width: 320, Height: 200})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	target := m.Targets()[0]
	target.HostID, target.Name = "", ""
	return target, func() { m.Close() }
}

// seen collects the visible objects of a kind.
func seen[T fyne.CanvasObject](o fyne.CanvasObject) (out []T) {
	if !o.Visible() {
		return nil
	}
	if w, ok := o.(T); ok {
		out = append(out, w)
	}
	switch o := o.(type) {
	case *container.Scroll:
		out = append(out, seen[T](o.Content)...)
	case *fyne.Container:
		for _, c := range o.Objects {
			out = append(out, seen[T](c)...)
		}
	}
	return out
}

// choice is the button of a card or sheet on a pane.
func choice(t *tab, text string) *look.Choice {
	for _, c := range seen[*look.Choice](t.pane.Object()) {
		if c.Text == text {
			return c
		}
	}
	return nil
}

// said is all text on a pane.
func said(t *tab) string {
	var all []string
	for _, r := range seen[*widget.RichText](t.pane.Object()) {
		all = append(all, r.String())
	}
	for _, r := range seen[*look.Text](t.pane.Object()) {
		all = append(all, r.Value())
	}
	return strings.Join(all, "\n")
}

// An address that is saved is that machine, with its name and id, and is
// opened once.
func TestTypedAddressIsTheSavedMachine(t *testing.T) {
	s := newShop(t)
	at, _ := far(t)
	h := s.save(t, "gate", at)
	l := newLab(t, sample.Options{}, s.with(t))
	for range 2 {
		l.w.choose(nil)
		l.w.start.bar.SetText(targetText(at))
		l.w.start.connect()
	}
	if len(l.w.tabs) != 1 || l.w.tabs[0].session.Target().HostID != h.ID || l.w.tabs[0].title() != "gate" {
		t.Fatalf("%d tabs, of %+v", len(l.w.tabs), l.w.tabs[0].session.Target())
	}
	tab := l.w.tabs[0]
	l.until("the connection", func() bool { return tab.session.State().Phase == viewer.Connected })
	if c := l.w.liveColor(h.Target()); c != theme.ColorNameSuccess {
		t.Errorf("the library shows it in %q", c)
	}
	// Its last picture is there once it is left.
	l.until("the picture", func() bool { return tab.session.Frame().Whole(image.Rectangle{}) })
	l.w.choose(nil)
	l.until("the kept picture", func() bool {
		data, _, err := s.Picture(context.Background(), h.ID)
		return err == nil && data != nil
	})
}

func TestCommandsOfTheLibrary(t *testing.T) {
	s := newShop(t)
	at, _ := far(t)
	h := s.save(t, "gate", at)
	l := newLab(t, sample.Options{}, s.with(t))
	chosen := func(name string) func() bool {
		return func() bool { e, ok := l.w.screen().Chosen(); return ok && e.Name() == name }
	}
	l.w.screen().Reveal(h.ID)
	l.until("the machine", chosen("gate"))
	l.w.invoke("host.duplicate", nil)
	l.until("the copy", func() bool { e, ok := l.w.screen().Chosen(); return ok && e.Host.ID != h.ID })
	l.w.invoke("host.delete", nil)
	l.until("the offer to undo", func() bool { return l.w.screen().CanUndo() != "" })
	l.w.invoke("host.undelete", nil)
	l.until("the copy again", func() bool {
		all, err := s.List(context.Background())
		return err == nil && len(all) == 2
	})
	if _, err := l.w.commands.Invoke("host.favourite", command.Params{"host": "gate"}); err != nil {
		t.Error(err)
	}
	l.until("the favourite", func() bool { got, err := s.Get(context.Background(), h.ID); return err == nil && got.Favourite })
	if _, err := l.w.commands.Invoke("host.connect", command.Params{"host": "gate", "wait": false}); err != nil || l.w.selected == nil {
		t.Errorf("host.connect: %v", err)
	}
	if _, err := l.w.commands.Invoke("host.edit", command.Params{"host": "nobody"}); err == nil || !strings.Contains(err.Error(), "no saved machine") {
		t.Errorf("host.edit of nobody: %v", err)
	}
	l.w.invoke("host.edit", command.Params{"host": h.ID})
	l.until("the form", l.w.screen().Busy)
	if l.w.selected != nil {
		t.Error("the form is behind a session")
	}
	for id, want := range map[string]string{"host.delete": "not saved", "host.save": "saved already"} {
		if err := l.w.commands.Enabled(id, command.Params{"host": l.w.config.Samples[0].HostID, "session": "1"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", id, err, want)
		}
	}
}

func TestSessionsAreReopened(t *testing.T) {
	s := newShop(t)
	at, _ := far(t)
	other, _ := far(t)
	h := s.save(t, "gate", at)
	kept := func() string {
		all, err := s.Tabs(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(all[windowName])
		return string(raw)
	}
	first := newLab(t, sample.Options{}, s.with(t))
	first.w.Open(h.Target())
	first.w.Open(other)
	first.open(0) // a sample is not kept: it is gone with the program
	first.until("the tabs to be kept", func() bool { return strings.Count(kept(), "{") == 2 })
	first.w.choose(first.w.tabs[1])
	first.w.Close()

	// Not unless it is asked for.
	again := newLab(t, sample.Options{}, s.with(t))
	again.w.Resume()
	done := false
	again.w.screen().After(func(context.Context) error { return nil }, func(error) { done = true })
	again.until("the start", func() bool { return done })
	if len(again.w.tabs) != 0 {
		t.Errorf("%d sessions were opened, and nobody asked for that", len(again.w.tabs))
	}
	again.w.invoke("library.reopen", nil)
	again.until("the preference", func() bool {
		raw, err := s.Setting(context.Background(), keyReopen)
		return err == nil && string(raw) == "true"
	})
	again.w.Open(h.Target())
	again.w.Open(other)
	again.until("the tabs to be kept", func() bool { return strings.Count(kept(), "{") == 2 })
	again.w.Close()

	third := newLab(t, sample.Options{}, s.with(t))
	third.w.Resume()
	third.until("the sessions", func() bool { return len(third.w.tabs) == 2 })
	if a, b := third.w.tabs[0].session.Target(), third.w.tabs[1].session.Target(); a.HostID != h.ID || !same(b, other) {
		t.Errorf("opened %+v and %+v", a, b)
	}
	if !third.w.reopen {
		t.Error("the preference is not shown")
	}
}

// ask has a session ask the person something.
func (l *lab) ask(s *tab, q viewer.Question) <-chan result {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	l.t.Cleanup(cancel)
	out := make(chan result, 1)
	q.Target = s.session.Target()
	go func() {
		a, err := l.w.Asker(s.session).Ask(ctx, q)
		out <- result{a, err}
	}()
	return out
}

type result struct {
	a   viewer.Answer
	err error
}

func (l *lab) answered(c <-chan result) (r result) {
	l.t.Helper()
	l.until("the answer", func() bool {
		select {
		case r = <-c:
			return true
		default:
			return false
		}
	})
	return r
}

func TestPasswordIsOfferedToBeKept(t *testing.T) {
	keeping := pane.Keeping{Possible: true, Text: "The keychain is locked: you are asked to unlock it."}
	l := newLab(t, sample.Options{}, func(c *Config) { c.Keeping = func(context.Context) pane.Keeping { return keeping } })
	s := l.open(0)
	check := func() *widget.Check {
		if c := seen[*widget.Check](s.pane.Object()); len(c) == 1 {
			return c[0]
		}
		return nil
	}
	typed := func(text string) {
		e := l.win.Canvas().Focused()
		if e == nil {
			t.Fatal("nothing has the keyboard")
		}
		test.Type(e, text)
	}
	got := l.ask(s, viewer.Question{Kind: viewer.AskVNCPassword})
	l.until("the offer", func() bool { return check() != nil })
	if !strings.Contains(said(s), "you are asked to unlock it") || check().Checked {
		t.Errorf("the sheet says %s", said(s))
	}
	typed("sesame")
	check().SetChecked(true)
	test.Tap(&choice(s, "Log in").Button)
	if r := l.answered(got); r.err != nil || !r.a.Save || string(r.a.Secret.Open()) != "sesame" {
		t.Errorf("answer %+v, %v", r.a, r.err)
	}
	// Where nothing can be kept, it is said at once (C230, C231).
	keeping = pane.Keeping{Text: "Passwords cannot be saved: there is no keychain."}
	got = l.ask(s, viewer.Question{Kind: viewer.AskVNCPassword})
	l.until("the offer", func() bool { return check() != nil })
	if !check().Disabled() || check().Checked || !strings.Contains(said(s), "there is no keychain") {
		t.Errorf("the sheet says %s", said(s))
	}
	typed("sesame")
	test.Tap(&choice(s, "Log in").Button)
	if r := l.answered(got); r.err != nil || r.a.Save {
		t.Errorf("answer %+v, %v", r.a, r.err)
	}
	l.w.PasswordSaved(s.session.Target(), errors.New("the keychain is full"))
	l.until("the failure to be shown", func() bool {
		return strings.Contains(said(s), "The password was not saved: The keychain is full.")
	})
}

// A changed key is replaced only by somebody who says so; Escape is no.
func TestChangedKey(t *testing.T) {
	l := newLab(t, sample.Options{})
	s := l.open(0)
	info := &viewer.KeyInfo{What: "certificate", Fingerprint: "AA:BB", Pinned: &viewer.PinnedKey{What: "certificate", Fingerprint: "CC:DD"}}
	got := l.ask(s, viewer.Question{Kind: viewer.AskCertificate, Key: info})
	l.until("the question", func() bool { return choice(s, "Replace and connect") != nil })
	yes := choice(s, "Replace and connect")
	if !yes.Disabled() || !strings.Contains(said(s), "AA:BB") || !strings.Contains(said(s), "CC:DD") {
		t.Errorf("the sheet says %s", said(s))
	}
	l.win.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if r := l.answered(got); viewer.KindOf(r.err) != viewer.Cancelled {
		t.Errorf("escape answers %+v, %v", r.a, r.err)
	}
	got = l.ask(s, viewer.Question{Kind: viewer.AskCertificate, Key: info})
	l.until("the question", func() bool { return choice(s, "Replace and connect") != nil })
	seen[*widget.Check](s.pane.Object())[0].SetChecked(true)
	test.Tap(&choice(s, "Replace and connect").Button)
	if r := l.answered(got); r.err != nil || !r.a.Accept || !r.a.Replace {
		t.Errorf("answer %+v, %v", r.a, r.err)
	}
	// An unknown one needs no tick, and is not a replacement.
	info.Pinned = nil
	got = l.ask(s, viewer.Question{Kind: viewer.AskCertificate, Key: info})
	l.until("the question", func() bool { return choice(s, "Trust it") != nil })
	test.Tap(&choice(s, "Trust it").Button)
	if r := l.answered(got); r.err != nil || !r.a.Accept || r.a.Replace {
		t.Errorf("answer %+v, %v", r.a, r.err)
	}
}

// A question of a session in the background waits there: what is typed into
// the shown one is not its answer.
func TestQuestionInTheBackground(t *testing.T) {
	l := newLab(t, sample.Options{Count: 2})
	back, front := l.open(0), l.open(1)
	got := l.ask(back, viewer.Question{Kind: viewer.AskVNCPassword})
	l.until("the hint", func() bool { return strings.Contains(l.w.status.message, "asks you something") })
	if l.w.selected != front || l.win.Canvas().Focused() != surfaceOf(front) {
		t.Error("the question took the screen or the keyboard")
	}
	l.w.choose(back)
	test.Tap(&choice(back, "Cancel").Button)
	if r := l.answered(got); viewer.KindOf(r.err) != viewer.Cancelled {
		t.Errorf("%+v, %v", r.a, r.err)
	}
}

func TestCountdownAndNow(t *testing.T) {
	l := newLab(t, sample.Options{})
	at, end := far(t)
	l.w.Open(at)
	s := l.w.selected
	l.until("the picture", func() bool { return s.session.State().Phase == viewer.Connected && s.pane.Place().Remote.X > 0 })
	end()
	var text string
	l.until("the count-down", func() bool {
		text = said(s)
		return s.session.State().Attempt >= 2 && choice(s, "Now") != nil && strings.Contains(text, "Trying again in ")
	})
	if !strings.Contains(text, "is lost") || choice(s, "Close") == nil {
		t.Errorf("the card says %s", text)
	}
	attempt := s.session.State().Attempt
	l.until("another second", func() bool { return said(s) != text })
	if now := choice(s, "Now"); now != nil {
		test.Tap(&now.Button)
	}
	l.until("the attempt", func() bool {
		return s.session.State().Attempt > attempt || s.session.State().Phase != viewer.Reconnecting
	})
	l.w.invoke("session.close", nil)
}

func TestNotice(t *testing.T) {
	l := newLab(t, sample.Options{})
	s := l.open(0)
	s.pane.Tell("The machine sends few colours.", false)
	if !strings.Contains(said(s), "few colours") {
		t.Error("a notice is not shown on the pane")
	}
	s.pane.Tell("The key could not be kept.", true)
	if text := said(s); !strings.Contains(text, "could not be kept") || strings.Contains(text, "few colours") {
		t.Errorf("the pane says %s", text)
	}
}

// While a lost machine is tried again and again its port is edited: the old
// attempts are dropped, and the new place is tried at once (C128).
func TestPortEditedWhileReconnecting(t *testing.T) {
	s := newShop(t)
	l := newLab(t, sample.Options{}, s.with(t))
	at, end := far(t)
	h := s.save(t, "lab", at)
	l.until("the machine", func() bool { return len(l.w.savedTargets()) > 1 })
	l.w.Open(h.Target())
	old := l.w.selected
	l.until("the picture", func() bool { return old.session.State().Phase == viewer.Connected && old.pane.Place().Remote.X > 0 })
	end()
	l.until("the pause", func() bool { return choice(old, "Now") != nil && choice(old, "Edit address") != nil })
	test.Tap(&choice(old, "Edit address").Button)
	l.until("the form", func() bool { return l.w.screen().Busy() })
	h, err := s.Get(context.Background(), h.ID)
	if err != nil {
		t.Fatal(err)
	}
	h.Port = l.w.config.Samples[0].Port
	if h, err = s.Update(context.Background(), h); err != nil {
		t.Fatal(err)
	}
	l.until("the new port", func() bool { return l.w.known(viewer.Target{HostID: h.ID}).Port == h.Port })
	l.w.invoke("host.connect", command.Params{"host": h.ID})
	now := l.w.selected
	if now == old || len(l.w.tabs) != 1 {
		t.Fatalf("%d tabs, the old one is shown: %v", len(l.w.tabs), now == old)
	}
	l.until("the new place", func() bool { return now.session.State().Phase == viewer.Connected })
	if now.session.Target().Port != h.Port {
		t.Errorf("connected to %s", now.session.Target().HostPort())
	}
	l.until("the end of the old attempts", func() bool { return closed(old.session.Done()) })
}

// What was chosen for a session stays when its connection is made anew (C132).
func TestChoicesHoldOverAReconnect(t *testing.T) {
	l := newLab(t, sample.Options{})
	s := l.open(0)
	s.setViewOnly(true)
	s.zoom(150)
	l.w.setFull(true)
	before := s.pane.Place()
	n := s.session.Info().Connections
	s.session.Reconnect()
	l.until("the picture again", func() bool {
		return s.session.Info().Connections > n && s.session.State().Phase == viewer.Connected && s.session.Frame().Whole(image.Rectangle{}) && s.pane.Place().Remote.X > 0
	})
	if !s.person.ViewOnly() || s.percent() != 150 || !l.w.full || s.pane.Place().Scale() != before.Scale() {
		t.Errorf("view only %v, %v %%, full screen %v", s.person.ViewOnly(), s.percent(), l.w.full)
	}
}

// What a person trusts is remembered, unless they take the tick away.
func TestTrustIsRemembered(t *testing.T) {
	l := newLab(t, sample.Options{})
	s := l.open(0)
	for _, keep := range []bool{true, false} {
		q := viewer.Question{Kind: viewer.AskCertificate, Target: s.session.Target(), Key: &viewer.KeyInfo{What: "certificate", Fingerprint: "00:11"}}
		c := l.ask(s, q)
		l.until("the question", func() bool { return choice(s, "Trust it") != nil })
		for _, tick := range seen[*widget.Check](s.pane.Object()) {
			if !keep {
				tick.SetChecked(false)
			}
		}
		test.Tap(&choice(s, "Trust it").Button)
		if r := l.answered(c); r.err != nil || !r.a.Accept || r.a.Save != keep || r.a.Replace {
			t.Errorf("keep %v: the answer is %+v, %v", keep, r.a, r.err)
		}
	}
}
