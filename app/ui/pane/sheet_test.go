package pane

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"deskvnc/app/ui/look"
	"deskvnc/viewer"
)

// newAsked shows a question on a sheet of its own.
func newAsked(t *testing.T, q viewer.Question) (*sheet, chan answer) {
	t.Helper()
	test.NewTempApp(t).Settings().SetTheme(look.Theme{})
	w := test.NewTempWindow(t, nil)
	s := newSheet(w.Canvas())
	w.SetContent(s.box)
	w.Resize(fyne.NewSize(700, 700))
	reply := make(chan answer, 1)
	q.Target = viewer.Target{Protocol: viewer.SSH, Address: "lab01", Port: 22, Name: "lab"}
	s.ask(q, "", reply)
	return s, reply
}

// The machine's own questions get a line each, hidden where the machine says
// so; Return goes on to the next and answers after the last.
func TestSheetPrompts(t *testing.T) {
	s, reply := newAsked(t, viewer.Question{Kind: viewer.AskPrompts, Text: "second factor", Prompts: []viewer.Prompt{{Text: "Token:"}, {Text: "Colour:", Echo: true}}})
	if s.secret.Visible() || s.user.Visible() || s.save.Visible() || len(s.lines) != 2 {
		t.Fatalf("password %v, user %v, save %v, %d lines", s.secret.Visible(), s.user.Visible(), s.save.Visible(), len(s.lines))
	}
	if !s.lines[0].Password || s.lines[1].Password {
		t.Errorf("hidden: %v and %v, want the first alone", s.lines[0].Password, s.lines[1].Password)
	}
	s.take()
	c := s.user.canvas
	if c.Focused() != fyne.Focusable(s.lines[0]) {
		t.Errorf("the keyboard is at %T", c.Focused())
	}
	first := s.lines[0]
	test.Type(first, "123456")
	first.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if c.Focused() != fyne.Focusable(s.lines[1]) || len(reply) > 0 {
		t.Error("Return in the first line does not go on to the second")
	}
	second := s.lines[1]
	test.Type(second, "blue")
	second.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	a := <-reply
	if a.err != nil || len(a.a.Secrets) != 2 || string(a.a.Secrets[0].Open()) != "123456" || string(a.a.Secrets[1].Open()) != "blue" {
		t.Errorf("answered %d secrets, %v", len(a.a.Secrets), a.err)
	}
	if first.Text != "" || s.box.Visible() || len(s.lines) != 0 {
		t.Error("what was typed is still there")
	}
}

// No answer may be endless.
func TestSheetRefusesEndlessAnswers(t *testing.T) {
	s, reply := newAsked(t, viewer.Question{Kind: viewer.AskPrompts, Prompts: []viewer.Prompt{{Text: "Token:"}}})
	s.lines[0].SetText(strings.Repeat("x", maxSecret+1))
	s.submit()
	if len(reply) != 0 || !strings.Contains(s.text.String(), "at most 1024 bytes") {
		t.Errorf("answered %d times, the sheet says %q", len(reply), s.text.String())
	}
}

// A passphrase is asked for by the name of the key, and can be kept.
func TestSheetPassphrase(t *testing.T) {
	s, reply := newAsked(t, viewer.Question{Kind: viewer.AskPassphrase, Name: "/home/me/.ssh/id", Note: "the passphrase does not open it: try again"})
	for _, want := range []string{"/home/me/.ssh/id", "try again", "stays on this computer"} {
		if !strings.Contains(s.text.String(), want) {
			t.Errorf("%q is not said in %q", want, s.text.String())
		}
	}
	if s.secret.PlaceHolder != "Passphrase" || s.user.Visible() {
		t.Errorf("the line says %q, the user's is shown: %v", s.secret.PlaceHolder, s.user.Visible())
	}
	s.offer(Keeping{Possible: true})
	if s.save.Text != "Save the machine, and its passphrase in the keychain" {
		t.Errorf("offered: %q", s.save.Text)
	}
	s.save.SetChecked(true)
	s.secret.SetText("open sesame")
	s.submit()
	a := <-reply
	if a.err != nil || string(a.a.Secret.Open()) != "open sesame" || !a.a.Save || a.a.User != "" {
		t.Errorf("answered %+v, %v", a.a, a.err)
	}
}

// A host key is shown with its drawing. A changed one stops, shows both
// fingerprints, and no key pressed by mistake accepts it.
func TestSheetHostKey(t *testing.T) {
	key := &viewer.KeyInfo{What: "ED25519 key", Fingerprint: "SHA256:" + strings.Repeat("n", 43), Art: "+--[ED25519]--+\n|      .o      |\n+--------------+"}
	s, reply := newAsked(t, viewer.Question{Kind: viewer.AskServerKey, Key: key})
	if !s.art.Visible() || s.art.Text != key.Art || !s.art.TextStyle.Monospace {
		t.Errorf("the drawing shown: %v, %q", s.art.Visible(), s.art.Text)
	}
	if !strings.Contains(s.text.String(), key.Fingerprint) || s.yes.Disabled() || !s.save.Visible() {
		t.Errorf("says %q, yes disabled %v, can be kept %v", s.text.String(), s.yes.Disabled(), s.save.Visible())
	}
	s.take()
	if s.user.canvas.Focused() != nil {
		t.Error("a question of yes or no has taken the keyboard")
	}
	s.cancel()
	if a := <-reply; viewer.KindOf(a.err) != viewer.Cancelled {
		t.Errorf("cancelled: %v", a.err)
	}

	key.Pinned = &viewer.PinnedKey{What: "ED25519 key", Fingerprint: "SHA256:" + strings.Repeat("o", 43)}
	s, reply = newAsked(t, viewer.Question{Kind: viewer.AskServerKey, Key: key})
	for _, want := range []string{key.Fingerprint, key.Pinned.Fingerprint} {
		if !strings.Contains(s.text.String(), want) {
			t.Errorf("%q is not shown in %q", want, s.text.String())
		}
	}
	if !s.yes.Disabled() || !strings.Contains(s.warning.String(), "Stop") || s.save.Visible() {
		t.Errorf("yes disabled %v, warned %q, kept without asking %v", s.yes.Disabled(), s.warning.String(), !s.save.Visible())
	}
	s.yes.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if len(reply) != 0 {
		t.Fatal("Return replaced the key")
	}
	s.sure.SetChecked(true)
	s.submit()
	if a := <-reply; !a.a.Accept || !a.a.Replace {
		t.Errorf("answered %+v", a.a)
	}
}
