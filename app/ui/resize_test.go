package ui

import (
	"image"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"deskvnc/control/command"
	"deskvnc/keychain"
	"deskvnc/viewer"
	"deskvnc/viewer/sample"
)

// sizeOf is the size of the remote screen.
func sizeOf(t *tab) image.Point {
	w, h := t.session.Frame().Size()
	return image.Pt(w, h)
}

// The screen takes the size of the pane when that is wished for, follows it
// once it rests, and keeps what it has when the wish ends.
func TestScreenFollowsThePane(t *testing.T) {
	l := newLab(t, sample.Options{})
	m := &machines{changed: make(chan struct{}, 10)}
	l.w.config.Machines = m
	s := l.open(0)
	before := sizeOf(s)
	if before == s.pane.View() {
		t.Fatal("the sample has the pane's size by chance")
	}
	l.w.invoke("session.resizeRemote", command.Params{"follow": true})
	<-m.changed
	if m.size != keychain.SizeFollow {
		t.Errorf("kept as %q", m.size)
	}
	follows := func(what string) {
		t.Helper()
		l.until(what, func() bool { return sizeOf(s) == s.pane.View() && s.pane.Place().Remote == s.pane.View() })
	}
	follows("the pane's size")
	for _, size := range []fyne.Size{{Width: 900, Height: 640}, {Width: 820, Height: 600}, {Width: 760, Height: 570}} {
		l.win.Resize(size) // dragged: only the last counts
	}
	follows("the new size")

	// View only and a drive of an agent hold it; it comes after.
	s.setViewOnly(true)
	<-m.changed
	was := sizeOf(s)
	l.win.Resize(fyne.NewSize(700, 560))
	l.until("the look at it", func() bool { return s.size.timer == nil })
	if sizeOf(s) != was {
		t.Error("a session that is view only resized its machine")
	}
	s.setViewOnly(false)
	<-m.changed
	follows("the size after view only")

	l.w.invoke("session.resizeRemote", command.Params{"follow": false})
	<-m.changed
	was = sizeOf(s)
	l.win.Resize(fyne.NewSize(1000, 700))
	if s.size.timer != nil || s.wantsSize() {
		t.Error("a screen that keeps its size is asked for another")
	}
	// Once, by the command; and a size that is given.
	l.w.invoke("session.resizeRemote", nil)
	follows("the size asked for once")
	l.w.invoke("session.resizeRemote", command.Params{"width": 640, "height": 480})
	l.until("640 x 480", func() bool { return sizeOf(s) == image.Pt(640, 480) })
	if l.w.invoke("session.resizeRemote", command.Params{"width": 640}); !l.w.status.trouble {
		t.Error("half a size is taken")
	}
	_ = was
}

// A screen that is to take the pane's size once, when connecting, does; and
// again after a reconnect.
func TestScreenTakesThePanesSizeOnce(t *testing.T) {
	l := newLab(t, sample.Options{})
	l.w.config.Machines = &machines{size: keychain.SizeOnce, changed: make(chan struct{}, 10)}
	s := l.open(0)
	l.until("the pane's size", func() bool { return sizeOf(s) == s.pane.View() })
	l.win.Resize(fyne.NewSize(800, 600))
	if s.wantsSize() {
		t.Error("it is asked for again")
	}
}

// A refusal is shown once, the machine is not asked again, and its whole
// screen stays to be seen (C074).
func TestRefusedSize(t *testing.T) {
	l := newLab(t, sample.Options{})
	l.w.config.Machines = &machines{size: keychain.SizeFollow, changed: make(chan struct{}, 10)}
	s := l.open(0)
	l.until("the pane's size", func() bool { return sizeOf(s) == s.pane.View() })
	refusal := viewer.Refusal{Text: "the machine cannot show that size"}
	s.event(refusal)
	if !l.w.status.trouble || !strings.Contains(l.w.status.message, "cannot show that size") {
		t.Errorf("the window says %q", l.w.status.message)
	}
	l.w.status.say("", false)
	s.event(refusal)
	if l.w.status.message != "" {
		t.Errorf("the same is said again: %q", l.w.status.message)
	}
	l.win.Resize(fyne.NewSize(720, 560))
	if s.wantsSize() {
		t.Error("a machine that refused is asked again")
	}
	if p := s.pane.Place(); p.Rect.Intersect(image.Rectangle{Max: p.View}) != p.Rect {
		t.Errorf("the whole screen is not in the pane: %+v", p)
	}
	// A new connection is a new try.
	n := s.session.Info().Connections
	s.session.Reconnect()
	l.until("the size after a reconnect", func() bool { return s.session.Info().Connections > n && sizeOf(s) == s.pane.View() })
}
