package ui

import (
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"deskvnc/app/ui/picture"
	"deskvnc/control/command"
	"deskvnc/keychain"
	"deskvnc/viewer"
	"deskvnc/viewer/sample"
)

// View only: nothing of the person's reaches the machine, the window says why,
// and it is kept for a saved machine.
func TestViewOnly(t *testing.T) {
	l := newLab(t, sample.Options{})
	m := &machines{sharing: keychain.ShareBoth, changed: make(chan struct{}, 10)}
	l.w.config.Machines = m
	s := l.open(0)
	l.w.invoke("session.viewOnly", nil)
	<-m.changed
	if !s.person.ViewOnly() || !m.is().viewOnly {
		t.Errorf("view only is %v, kept %v", s.person.ViewOnly(), m.is().viewOnly)
	}
	l.click(s, inPad, desktop.MouseButtonPrimary)
	l.until("the reason", func() bool { return strings.Contains(l.w.status.message, "is view only") })
	l.w.invoke("session.sendCtrlAltDel", nil)
	if !l.w.status.trouble {
		t.Error("keys are sent to a session that is view only")
	}
	l.w.invoke("session.viewOnly", command.Params{"on": false})
	<-m.changed
	l.click(s, inPad, desktop.MouseButtonPrimary)
	l.until("the first click that counts", func() bool { return padIs(s, 1) })
}

// machines are the wishes about one saved machine.
type machines struct {
	mu       sync.Mutex
	sharing  keychain.Sharing
	viewOnly bool
	size     keychain.SizePolicy
	fault    error
	changed  chan struct{}
}

type wishes struct {
	sharing  keychain.Sharing
	viewOnly bool
}

func (m *machines) is() wishes {
	m.mu.Lock()
	defer m.mu.Unlock()
	return wishes{m.sharing, m.viewOnly}
}

func (m *machines) Sharing(viewer.Target) keychain.Sharing { return m.is().sharing }

func (m *machines) SetSharing(_ context.Context, _ viewer.Target, s keychain.Sharing) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer func() { m.changed <- struct{}{} }()
	if m.fault == nil {
		m.sharing = s
	}
	return m.fault
}

func (m *machines) SetViewOnly(_ context.Context, _ viewer.Target, on bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer func() { m.changed <- struct{}{} }()
	if m.fault == nil {
		m.viewOnly = on
	}
	return m.fault
}

func (m *machines) Size(viewer.Target) keychain.SizePolicy {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.size
}

func (m *machines) SetSize(_ context.Context, _ viewer.Target, p keychain.SizePolicy) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer func() { m.changed <- struct{}{} }()
	if m.fault == nil {
		m.size = p
	}
	return m.fault
}

// The clipboard goes the ways that the machine has, and never comes here while
// the person is elsewhere.
func TestClipboardWays(t *testing.T) {
	l := newLab(t, sample.Options{})
	m := &machines{sharing: keychain.ShareOff, changed: make(chan struct{}, 10)}
	l.w.config.Machines = m
	here := l.w.config.App.Clipboard()
	here.SetContent("mine")
	s := l.open(0)
	l.click(s, inPad, desktop.MouseButtonPrimary)
	l.until("the keyboard", func() bool { return s.focused })
	l.w.share()
	l.w.remoteText(s, "theirs")
	if s.shared != "" || here.Content() != "mine" || s.remote != "" {
		t.Errorf("with sharing off: given %q, here %q", s.shared, here.Content())
	}
	if l.w.invoke("clipboard.send", nil); !l.w.status.trouble {
		t.Error("the clipboard is sent although it is not shared")
	}
	l.w.invoke("clipboard.fromRemote", nil)
	<-m.changed
	if m.is().sharing != keychain.ShareFromRemote {
		t.Errorf("kept as %q", m.is().sharing)
	}
	l.w.remoteText(s, "theirs")
	if here.Content() != "theirs" {
		t.Errorf("here is %q", here.Content())
	}
	l.win.Canvas().Unfocus()
	l.w.remoteText(s, "later")
	if here.Content() != "theirs" || !strings.Contains(l.w.status.message, "takes it") {
		t.Errorf("while the person is elsewhere here is %q, and the window says %q", here.Content(), l.w.status.message)
	}
	l.w.invoke("clipboard.take", nil)
	if here.Content() != "later" {
		t.Errorf("taken, here is %q", here.Content())
	}
	l.w.invoke("clipboard.toRemote", nil)
	<-m.changed
	if m.is().sharing != keychain.ShareBoth {
		t.Errorf("kept as %q", m.is().sharing)
	}
	s.pane.Focus()
	here.SetContent("mine again")
	l.w.share()
	if s.shared != "mine again" {
		t.Errorf("given %q", s.shared)
	}
	here.SetContent(strings.Repeat("x", maxShared+1))
	l.w.share()
	if s.shared != "mine again" || !l.w.status.trouble || !strings.Contains(l.w.status.message, "8 MiB") {
		t.Errorf("a text that is too large: the window says %q", l.w.status.message)
	}
	m.mu.Lock()
	m.fault = errors.New("the disk is full")
	m.mu.Unlock()
	l.w.invoke("clipboard.mode", command.Params{"mode": "off"})
	l.until("the fault", func() bool { return strings.Contains(l.w.status.message, "he disk is full") })
	if s.sharing != keychain.ShareOff {
		t.Error("a way that cannot be saved does not hold")
	}
}

// A picture goes to a file whole, and a file that is there only when asked.
func TestScreenshot(t *testing.T) {
	l := newLab(t, sample.Options{Width: 640, Height: 400})
	s := l.open(0)
	path := filepath.Join(t.TempDir(), "picture.png")
	save := func(p command.Params) {
		l.w.status.say("", false)
		l.w.invoke("session.screenshot", p)
		l.until("what became of the picture", func() bool { return l.w.status.message != "" })
	}
	save(command.Params{"path": path})
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err, l.w.status.message)
	}
	img, err := png.Decode(f)
	f.Close()
	if err != nil || img.Bounds() != image.Rect(0, 0, 640, 400) {
		t.Fatalf("%v, %v", img.Bounds(), err)
	}
	want, _ := s.session.Frame().Snapshot(image.Rectangle{}, nil)
	for y := range 400 {
		for x := range 640 {
			r, g, b, _ := img.At(x, y).RGBA()
			if i := want.Image.PixOffset(x, y); uint8(r>>8) != want.Image.Pix[i] || uint8(g>>8) != want.Image.Pix[i+1] || uint8(b>>8) != want.Image.Pix[i+2] {
				t.Fatalf("pixel %d,%d differs", x, y)
			}
		}
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	save(command.Params{"path": path})
	if b, _ := os.ReadFile(path); string(b) != "mine" || !l.w.status.trouble {
		t.Errorf("a file was replaced unasked; the window says %q", l.w.status.message)
	}
	save(command.Params{"path": path, "overwrite": true})
	if info, err := os.Stat(path); err != nil || info.Size() < 100 || l.w.status.trouble {
		t.Errorf("%v, %v; the window says %q", info, err, l.w.status.message)
	}
	save(command.Params{"path": filepath.Join(path, "x.png")})
	if !l.w.status.trouble {
		t.Error("a path through a file is no fault")
	}
	if rest, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(rest) != 0 {
		t.Errorf("left behind: %q", rest)
	}
}

func TestPictureName(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 5, 7, 0, time.UTC)
	for machine, want := range map[string]string{
		"lab01":                      "lab01",
		"10.0.0.5:5901":              "10.0.0.5-5901",
		"../../etc/passwd":           "etc-passwd",
		"...":                        "DeskVNC",
		"a\x00b\nc":                  "a-b-c",
		"Büro 3":                     "Büro 3",
		"":                           "DeskVNC",
		strings.Repeat("long/", 100): strings.Trim(strings.Repeat("long-", 12), "-"),
	} {
		if got := pictureName(machine, at); got != want+" 2026-11-30 09.05.07.png" {
			t.Errorf("%q: got %q, want %q", machine, got, want)
		}
	}
}

// Zooming steps, keeps what is in the middle there, and ends at its bounds.
func TestZoomCommands(t *testing.T) {
	l := newLab(t, sample.Options{})
	s := l.open(0)
	l.w.invoke("view.actualSize", nil)
	middle := func() image.Point {
		p := s.pane.Place()
		at, _ := p.At(p.View.Div(2))
		return at
	}
	at := middle()
	l.w.invoke("view.zoomIn", nil)
	if got := s.percent(); got < 109.5 || got > 110.5 || s.pane.Mode() != picture.Zoomed {
		t.Errorf("zoomed in to %v %%", got)
	}
	if d := middle().Sub(at); d.X*d.X+d.Y*d.Y > 50 {
		t.Errorf("the middle moved from %v to %v", at, middle())
	}
	for range 30 {
		l.w.invoke("view.zoomIn", nil)
	}
	if got := s.percent(); got != 800 {
		t.Errorf("zoomed in to %v %%", got)
	}
	for range 40 {
		l.w.invoke("view.zoomOut", nil)
	}
	if got := s.percent(); got < 9.5 || got > 10.5 {
		t.Errorf("zoomed out to %v %%", got)
	}
	l.w.invoke("view.zoom", command.Params{"percent": 100})
	if s.pane.Mode() != picture.Actual {
		t.Error("100 % is not the actual size")
	}
	l.click(s, inPad, desktop.MouseButtonPrimary) // points where it did
	l.w.invoke("view.zoom", command.Params{"percent": 137})
}

// The list of all commands: found by some of a name, run with Return.
func TestPalette(t *testing.T) {
	l := newLab(t, sample.Options{})
	s := l.open(0)
	l.w.invoke("app.palette", nil)
	entry, ok := l.win.Canvas().Focused().(*paletteEntry)
	if !ok {
		t.Fatalf("%T has the keyboard", l.win.Canvas().Focused())
	}
	test.Type(entry, "view actual")
	entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if s.pane.Mode() != picture.Actual || l.w.modal != nil {
		t.Errorf("mode %v, list %v", s.pane.Mode(), l.w.modal)
	}
	l.w.invoke("app.palette", nil)
	l.win.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if l.w.modal != nil {
		t.Error("Escape does not close the list")
	}
}

// Typing a text that is too long, or none, is said.
func TestTypeClipboard(t *testing.T) {
	l := newLab(t, sample.Options{})
	l.open(0)
	here := l.w.config.App.Clipboard()
	for text, want := range map[string]string{"": "no text", strings.Repeat("x", maxTyped+1): "at most 4096"} {
		here.SetContent(text)
		l.w.invoke("session.typeClipboard", nil)
		if !l.w.status.trouble || !strings.Contains(l.w.status.message, want) {
			t.Errorf("%.10q: the window says %q", text, l.w.status.message)
		}
	}
	here.SetContent(strings.Repeat("typed ", 100))
	l.w.invoke("session.typeClipboard", nil)
	l.until("the end of typing", func() bool { return l.w.status.message == "Typed 600 characters." })
}
