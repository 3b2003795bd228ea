package library

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

// faults is all that the form says is wrong.
func (f *form) faults() string {
	var out []string
	for _, l := range f.lines {
		if l.fault.Visible() {
			out = append(out, l.fault.String())
		}
	}
	if f.fault.Visible() {
		out = append(out, f.fault.String())
	}
	return strings.Join(out, "\n")
}

// Every setting of a VNC machine is in the form, is saved as it was chosen and
// comes back.
func TestFormHoldsEverySetting(t *testing.T) {
	s := newStore(t)
	ctx := context.Background()
	office, err := s.AddGroup(ctx, keychain.Group{Name: "Office"})
	if err != nil {
		t.Fatal(err)
	}
	l := newLab(t, s)
	l.until("the groups", func() bool { return len(l.s.view.groups) == 1 })
	f := l.s.form
	l.s.Add(keychain.Host{Protocol: viewer.VNC})
	if f.folded.Visible() || f.fold.Text != "More settings" {
		t.Errorf("a new machine's form is unfolded (%v) and says %q", f.folded.Visible(), f.fold.Text)
	}
	f.name.SetText("full")
	f.address.SetText("10.1.2.3:7")
	f.group.SetText("Office")
	f.quality.SetSelected("Low")
	f.colors.SetSelected("High (16 bits)")
	f.encodings.SetText("Tight, zrle  raw")
	f.size.SetSelected("Follows the window")
	f.keyboard.SetSelected("By key")
	f.clipboard.SetSelected("Only to the machine")
	f.encrypted.SetChecked(true)
	f.exclusive.SetChecked(true)
	f.proxy.SetText("socks5://me@proxy:1080")
	f.repeater.SetText("ID:1234")
	f.picture.SetChecked(false)
	if want := "More settings  ·  12 set"; f.fold.Text != want {
		t.Errorf("the fold says %q, want %q", f.fold.Text, want)
	}
	if f.quality.about.Value() != "Quick and coarse, for slow connections." {
		t.Errorf("the quality is explained as %q", f.quality.about.Value())
	}
	f.save()
	l.until("the saving", func() bool { return !f.box.Visible() })
	all, err := s.List(ctx)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d machines, %v: %s", len(all), err, f.faults())
	}
	got := all[0]
	want := keychain.Host{
		ID: got.ID, Revision: got.Revision, Created: got.Created, Changed: got.Changed, Name: "full", Protocol: viewer.VNC, Address: "10.1.2.3", Port: 5907,
		Group: office.ID, Quality: viewer.QualityFast, Colors: viewer.ColorsHigh, Encodings: []string{"tight", "zrle", "raw"}, RemoteResize: keychain.SizeFollow,
		Keyboard: keychain.KeyboardScancode, Clipboard: keychain.ShareToRemote, Encryption: keychain.EncryptionRequired, Exclusive: true,
		Proxy: "socks5://me@proxy:1080", Repeater: "ID:1234",
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("saved\n%+v, want\n%+v", got, want)
	}
	l.s.EditID(got.ID)
	l.until("the form", func() bool { return f.box.Visible() })
	if h, err := f.host(); err != nil || fmt.Sprintf("%+v", h) != fmt.Sprintf("%+v", got) {
		t.Errorf("the form gives\n%+v, %v, want\n%+v", h, err, got)
	}

	// A new group is made when the machine is saved.
	f.group.SetText("Attic")
	f.save()
	l.until("the saving", func() bool { return !f.box.Visible() })
	groups, err := s.Groups(ctx)
	if err != nil || len(groups) != 2 {
		t.Fatalf("groups %v, %v", groups, err)
	}
	l.untilShown("Attic: full")
}

// What is wrong is said under its field, which comes into view with the
// keyboard; it goes as soon as it is right. A proxy is checked at each key.
func TestFormSaysWhatIsWrongInPlace(t *testing.T) {
	l := newLab(t, newStore(t))
	l.win.Resize(fyne.NewSize(500, 400))
	l.until("the first reading", func() bool { return l.s.read })
	f := l.s.form
	l.s.Add(keychain.Host{Protocol: viewer.VNC, Name: "x", Address: "h"})
	f.repeater.SetText("nonsense at all")
	f.save()
	if !f.folded.Visible() || !f.repeater.line.fault.Visible() || l.win.Canvas().Focused() != fyne.Focusable(f.repeater) {
		t.Errorf("unfolded %v, fault %v, the keyboard is at %T", f.folded.Visible(), f.repeater.line.fault.Visible(), l.win.Canvas().Focused())
	}
	d := fyne.CurrentApp().Driver()
	at, top := d.AbsolutePositionForObject(f.repeater).Y, d.AbsolutePositionForObject(f.scroll).Y
	if at < top || at+f.repeater.Size().Height > top+f.scroll.Size().Height {
		t.Errorf("the field is at %v, the view is %v to %v", at, top, top+f.scroll.Size().Height)
	}
	f.repeater.SetText("ID:5")
	if f.faults() != "" {
		t.Errorf("what is right is said to be wrong: %s", f.faults())
	}
	for text, wrong := range map[string]bool{"ftp://p:1": true, "socks5://p:1080": false, "socks5://u:secret@p:1080": true, "": false} {
		f.proxy.SetText(text)
		if got := f.proxy.line.fault.Visible(); got != wrong || strings.Contains(f.faults(), "secret") {
			t.Errorf("proxy %q: wrong %v, said %q", text, got, f.faults())
		}
	}
	f.encodings.SetText("tight;zrle")
	f.save()
	if !f.encodings.line.fault.Visible() || !f.box.Visible() {
		t.Error("encodings that cannot be are not refused in their place")
	}
}

// What was typed is not lost: not when the form is asked for again, and not
// when it was closed.
func TestFormKeepsWhatWasTyped(t *testing.T) {
	s := newStore(t)
	l := newLab(t, s)
	a := l.add(keychain.Host{Name: "a", Notes: "n"})
	l.untilShown("Machines: a")
	f := l.s.form
	l.s.Add(keychain.Host{Protocol: viewer.VNC})
	f.name.SetText("half")
	l.s.Add(keychain.Host{Protocol: viewer.VNC})
	l.s.Edit(a)
	if f.edit || f.name.Text != "half" {
		t.Errorf("another form took the place: %q", f.name.Text)
	}
	f.cancel()
	if !l.s.dropped.object.Visible() {
		t.Fatal("what was typed is gone without a word")
	}
	f.again()
	if !f.box.Visible() || f.name.Text != "half" {
		t.Errorf("going back shows %q", f.name.Text)
	}
	f.address.SetText("10.0.0.9")
	f.save()
	l.untilShown("Machines: a half")

	// Nothing typed, nothing to say.
	l.s.EditID(a.ID)
	l.until("the form", func() bool { return f.box.Visible() })
	f.cancel()
	if l.s.dropped.object.Visible() {
		t.Error("an untouched form is said to be lost")
	}
	l.s.Add(keychain.Host{Protocol: viewer.VNC})
	f.cancel()
	if l.s.dropped.object.Visible() {
		t.Error("an empty form is said to be lost")
	}
}

// A socket of this computer is a machine too.
func TestFormTakesASocket(t *testing.T) {
	s := newStore(t)
	l := newLab(t, s)
	l.until("the first reading", func() bool { return l.s.read })
	f := l.s.form
	l.s.Add(keychain.Host{Protocol: viewer.VNC})
	f.name.SetText("vm")
	f.address.SetText("unix:/run/vm.sock")
	f.port.SetText("5900")
	f.save()
	if !strings.Contains(f.faults(), "no port") {
		t.Errorf("a port of a socket: %q", f.faults())
	}
	f.port.SetText("")
	f.save()
	l.untilShown("Machines: vm")
	e := l.s.shelf.entries[0]
	if !e.Target.Socket() || e.Target.Address != "/run/vm.sock" {
		t.Errorf("saved as %+v", e.Target)
	}
	l.s.Edit(e.Host)
	if f.address.Text != "unix:/run/vm.sock" || f.port.Text != "" {
		t.Errorf("edited as %q port %q", f.address.Text, f.port.Text)
	}
	if _, err := f.host(); err != nil {
		t.Error(err)
	}
}

// Tab goes through every line and button of the form and stays there.
func TestTabStaysInTheForm(t *testing.T) {
	l := newLab(t, newStore(t))
	l.until("the first reading", func() bool { return l.s.read })
	f := l.s.form
	l.s.Add(keychain.Host{Protocol: viewer.VNC})
	f.unfold(true)
	c := l.win.Canvas()
	tab := func() {
		if in, ok := c.Focused().(fyne.Tabbable); ok && in.AcceptsTab() {
			c.Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyTab})
			return
		}
		c.(interface{ FocusNext() }).FocusNext()
	}
	seen := map[fyne.Focusable]bool{}
	for !seen[c.Focused()] {
		seen[c.Focused()] = true
		tab()
	}
	if c.Focused() != fyne.Focusable(f.name) {
		t.Errorf("the round ends at %T", c.Focused())
	}
	all := []fyne.Focusable{f.name, f.address, f.port, f.by.box, f.user, f.tags, f.favourite, f.viewOnly, f.fold, f.group, f.notes, f.picture, f.quality.box,
		f.colors.box, f.encodings, f.size.box, f.keyboard.box, f.clipboard.box, f.encrypted, f.exclusive, f.proxy, f.repeater,
		f.ssh.via, f.ssh.key, f.ssh.agent, f.ssh.config, f.no, f.yes}
	for i, w := range all {
		if !seen[w] {
			t.Errorf("number %d, a %T, is never reached", i, w)
		}
	}
	if want := len(all) + 2; len(seen) != want { // the arrows that list the groups and the machines on the way
		t.Errorf("%d things were reached, want %d", len(seen), want)
	}
}
