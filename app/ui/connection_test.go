package ui

import (
	"strings"
	"testing"

	"deskvnc/app/ui/look"
	"deskvnc/control/command"
	"deskvnc/viewer"
	"deskvnc/viewer/sample"
)

// The card tells how the session is connected, keeps up with it and can be
// copied; what is not known has no line.
func TestConnectionCard(t *testing.T) {
	l := newLab(t, sample.Options{})
	s := l.open(0)
	l.w.invoke("session.info", nil)
	if l.w.modal == nil {
		t.Fatal("no card")
	}
	text := func() (all string) {
		for _, o := range seen[*look.Text](l.w.modal.Content) {
			all += o.Value() + "\n"
		}
		return all
	}
	for _, want := range []string{"Connection to", s.session.Target().HostPort(), "VNC", "1920 × 1080", "Quality\nAuto", "Last encoding", "Encryption\nNone"} {
		if !strings.Contains(text(), want) {
			t.Errorf("%q is not on the card: %s", want, text())
		}
	}
	if strings.Contains(text(), "Proxy") {
		t.Errorf("a proxy that is not there is on the card: %s", text())
	}
	l.w.commands.Invoke("session.quality", command.Params{"preset": "lossless"})
	l.until("the new quality on the card", func() bool { return strings.Contains(text(), "Quality\nLossless") })
	for _, b := range seen[*look.Choice](l.w.modal.Content) {
		if b.Text == "Copy" {
			b.OnTapped()
		}
	}
	if got := l.w.config.App.Clipboard().Content(); !strings.Contains(got, "Quality: Lossless\n") || !strings.Contains(got, "Address: "+s.session.Target().HostPort()) {
		t.Errorf("copied %q", got)
	}
	l.w.closeModal()
	if l.w.modalEnd != nil {
		t.Error("the figures go on")
	}
}

// Every quality is in the menu, the one in use is ticked, and choosing one
// counts at once.
func TestQualityMenu(t *testing.T) {
	l := newLab(t, sample.Options{})
	ticked := func() (on string, greyed int, all []string) {
		for _, i := range l.w.submenu(l.w.menu(), []string{"Session", "Quality"}).Items {
			all = append(all, i.Label)
			if i.Checked {
				on += i.Label
			}
			if i.Disabled {
				greyed++
			}
		}
		return on, greyed, all
	}
	if on, greyed, all := ticked(); on != "" || greyed != len(all) {
		t.Errorf("without a session: ticked %q, %d of %v greyed", on, greyed, all)
	}
	s := l.open(0)
	if on, greyed, all := ticked(); on != "Auto" || greyed != 0 || strings.Join(all, " ") != "Auto Lossless High Medium Low Grey" {
		t.Errorf("ticked %q, %d of %v greyed", on, greyed, all)
	}
	for _, item := range l.w.submenu(l.w.menu(), []string{"Session", "Quality"}).Items {
		item.Action()
		pic, err := s.session.Tuned()
		if on, _, _ := ticked(); err != nil || on != item.Label || presetOf(pic.Quality).label != item.Label {
			t.Errorf("%s: ticked %q, asked for %+v, %v; %s", item.Label, on, pic, err, l.w.status.message)
		}
	}
	l.w.invoke("session.quality", command.Params{"preset": "fast", "colors": "low", "encoding": "zrle,raw"})
	if pic, _ := s.session.Tuned(); pic != (viewer.Picture{Quality: viewer.QualityFast, Colors: viewer.ColorsLow, Encodings: "zrle,raw"}) {
		t.Errorf("asked for %+v", pic)
	}
	if l.w.invoke("session.quality", command.Params{"preset": "fast", "encoding": "nonsense"}) || !l.w.status.trouble {
		t.Error("an encoding that nobody knows is taken")
	}
	if pic, _ := s.session.Tuned(); pic.Encodings != "zrle,raw" {
		t.Errorf("it changed what is asked for: %+v", pic)
	}
	l.w.invoke("session.quality", command.Params{"preset": "auto", "colors": "full", "encoding": "auto"})
	if pic, _ := s.session.Tuned(); pic != (viewer.Picture{}) {
		t.Errorf("asked for %+v, want the usual", pic)
	}
}
