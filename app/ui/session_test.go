package ui

import (
	"image"
	"net"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"deskvnc/app/ui/look"
	"deskvnc/app/ui/picture"
	"deskvnc/control/plane"
	"deskvnc/viewer"
	"deskvnc/viewer/sample"
)

// The pad of a sample desktop of the usual size.
var pad = sample.PadRect(sample.DefaultWidth, sample.DefaultHeight)

// inPad is a point of the pad where nothing is written.
var inPad = pad.Min.Add(image.Pt(30, 30))

func padIs(t *tab, clicks int) bool {
	c := sample.PadColor(clicks)
	return pixel(t, inPad) == [3]uint8{c.R, c.G, c.B}
}

func TestStartPageThenSession(t *testing.T) {
	l := newLab(t, sample.Options{})
	if !l.w.start.object.Visible() || l.w.tools.object.Visible() || l.win.Title() != "DeskVNC" {
		t.Error("the start page is not what is shown first")
	}
	s := l.open(0)
	if l.w.start.object.Visible() || !s.pane.Object().Visible() || !l.w.tools.object.Visible() {
		t.Error("the session is not shown")
	}
	if l.win.Title() != "sample – DeskVNC" || s.tab.Title() != "sample" || s.tab.State() != theme.ColorNameSuccess {
		t.Errorf("title %q, tab %q, state %s", l.win.Title(), s.tab.Title(), s.tab.State())
	}
	if !l.w.tools.plain.Visible() {
		t.Error("a connection that is not encrypted is not marked")
	}
	if !s.session.Watched() {
		t.Error("nobody watches the shown session")
	}
	l.w.invoke("view.library", nil)
	if s.session.Watched() || s.pane.Object().Visible() || !l.w.start.object.Visible() {
		t.Error("a session that is not shown is still watched or visible")
	}
	l.w.start.open(l.w.config.Samples[0]) // goes to the one that is open
	if l.w.selected != s || len(l.w.tabs) != 1 || !s.session.Watched() {
		t.Errorf("%d tabs, watched %v", len(l.w.tabs), s.session.Watched())
	}
	l.w.invoke("session.close", nil)
	if len(l.w.tabs) != 0 || l.w.selected != nil || !l.w.start.object.Visible() || l.win.Title() != "DeskVNC" {
		t.Error("closing the last session does not lead back to the start page")
	}
	l.until("the session's end", func() bool {
		select {
		case <-s.session.Done():
			return true
		default:
			return len(l.engine.Sessions()) == 0
		}
	})
}

// What the pane shows is the remote picture: a click on the pad changes its
// colour on the machine, in the frame and on the canvas.
func TestClickAndType(t *testing.T) {
	l := newLab(t, sample.Options{})
	s := l.open(0)
	for n := 1; n <= 3; n++ {
		l.click(s, inPad, desktop.MouseButtonPrimary)
		l.until("the pad's new colour", func() bool { return padIs(s, n) })
	}
	want := sample.PadColor(3)
	l.until("the pad's colour on the canvas", func() bool {
		at := l.at(s, inPad)
		r, g, b, _ := l.win.Canvas().Capture().At(int(at.X), int(at.Y)).RGBA()
		return uint8(r>>8) == want.R && uint8(g>>8) == want.G && uint8(b>>8) == want.B
	})
	if !s.focused || l.win.Canvas().Focused() != surfaceOf(s) {
		t.Error("a click on the picture does not give it the keyboard")
	}
	// Typing reaches the note: the picture changes there.
	note := s.session.Frame().Generations()
	updates := s.session.Frame().Updates()
	k := surfaceOf(s)
	for _, r := range "hi" {
		k.KeyDown(&fyne.KeyEvent{Name: fyne.KeyName(strings.ToUpper(string(r))), Physical: fyne.HardwareKey{ScanCode: 43}})
		k.(fyne.Focusable).TypedRune(r)
		k.KeyUp(&fyne.KeyEvent{Name: fyne.KeyName(strings.ToUpper(string(r))), Physical: fyne.HardwareKey{ScanCode: 43}})
	}
	l.until("the typed text", func() bool { return s.session.Frame().Updates() > updates })
	if s.session.Frame().Generations().Geometry != note.Geometry {
		t.Error("typing changed the geometry")
	}
}

func TestFitAndActualSize(t *testing.T) {
	l := newLab(t, sample.Options{})
	s := l.open(0)
	if s.pane.Mode() != picture.Fit || s.pane.Place().Overflow() != (image.Point{}) {
		t.Error("a session does not begin fitted")
	}
	l.w.invoke("view.actualSize", nil)
	p := s.pane.Place()
	if p.Scale() != 1 || p.Overflow().X <= 0 || p.Overflow().Y <= 0 {
		t.Errorf("actual size shows %+v", p)
	}
	// C253: every corner can be reached.
	size := s.pane.Object().Size()
	bars := surfaceBars(s)
	for _, b := range bars {
		from := &desktop.MouseEvent{}
		from.Position = fyne.NewPos(6, 6)
		b.(desktop.Mouseable).MouseDown(from)
		to := &fyne.DragEvent{}
		to.Position = fyne.NewPos(size.Width, size.Height)
		b.(fyne.Draggable).Dragged(to)
		b.(fyne.Draggable).DragEnd()
	}
	if p = s.pane.Place(); p.Offset() != p.Overflow() {
		t.Errorf("scrolled to the end the offset is %v, want %v", p.Offset(), p.Overflow())
	}
	if at, inside := p.At(p.View.Sub(image.Pt(1, 1))); !inside || at != image.Pt(1919, 1079) {
		t.Errorf("the last pixel of the view is %v", at)
	}
	l.win.Resize(fyne.NewSize(800, 600))
	if p = s.pane.Place(); p.Rect.Max.X < p.View.X || p.Rect.Max.Y < p.View.Y {
		t.Errorf("after a resize there is a gap: %v in %v", p.Rect, p.View)
	}
	l.w.invoke("view.fit", nil)
	if s.pane.Place().Overflow() != (image.Point{}) {
		t.Error("fit scrolls")
	}
}

// surfaceBars are the scroll bars of a pane.
func surfaceBars(s *tab) []fyne.CanvasObject {
	objects := test.WidgetRenderer(surfaceOf(s).(fyne.Widget)).Objects()
	return objects[len(objects)-2:]
}

// An agent drives: the window says who and why; the person's first click takes
// the wheel and does nothing else; hand-back lets the agent in again.
func TestTakeOverAndHandBack(t *testing.T) {
	l := newLab(t, sample.Options{})
	s := l.open(0)
	a := l.agent("Claude")
	limb := l.call(a, "dvv_limbs", nil)["available"].([]any)[0].(map[string]any)["limb_id"]
	got := l.call(a, "dvv_control", map[string]any{"limbId": limb, "action": "acquire", "reason": "fill in\nthe form"})
	if got["held"] != true {
		t.Fatalf("the agent got %v", got)
	}
	l.until("the agent's mark", func() bool { return s.wheel.Holder == plane.HolderAgent })
	text := l.w.tools.wheel
	if !text.object.Visible() || !strings.HasPrefix(text.text.Value(), "Claude is driving: fill in the form  ·  since ") || !text.take.Visible() || text.back.Visible() {
		t.Errorf("the window says %q", text.text.Value())
	}
	if s.tab.State() != look.ColorAgent {
		t.Errorf("the tab's mark is %s", s.tab.State())
	}
	// Moving and beginning a chord takes nothing.
	ev := &desktop.MouseEvent{}
	ev.AbsolutePosition = l.at(s, inPad)
	surfaceOf(s).MouseMoved(ev)
	surfaceOf(s).KeyDown(&fyne.KeyEvent{Name: desktop.KeyControlLeft, Physical: fyne.HardwareKey{ScanCode: 37}})
	surfaceOf(s).KeyUp(&fyne.KeyEvent{Name: desktop.KeyControlLeft, Physical: fyne.HardwareKey{ScanCode: 37}})
	if s.person.Wheel().Holder != plane.HolderAgent {
		t.Error("motion or a modifier took the wheel")
	}
	l.click(s, inPad, desktop.MouseButtonPrimary)
	l.until("the take-over", func() bool { return len(s.wheel.Revoked) > 0 })
	if text.text.Value() != "You took over from Claude" || !text.back.Visible() || text.take.Visible() {
		t.Errorf("the window says %q", text.text.Value())
	}
	l.click(s, inPad, desktop.MouseButtonPrimary)
	l.until("the second click", func() bool { return padIs(s, 1) }) // the first did nothing
	test.Tap(text.back)
	l.until("the hand-back", func() bool { return len(s.wheel.Revoked) == 0 })
	if text.object.Visible() {
		t.Error("the window still speaks of the agent")
	}
	if got := l.call(a, "dvv_control", map[string]any{"limbId": limb, "action": "acquire", "reason": "go on"}); got["held"] != true {
		t.Errorf("after the hand-back the agent got %v", got)
	}
	l.until("the agent's mark", func() bool { return s.wheel.Holder == plane.HolderAgent })
	test.Tap(text.take)
	l.until("the take-over by the button", func() bool { return len(s.wheel.Revoked) > 0 })
}

// A password is asked for on the pane, asked for again with the machine's
// words, cancelled, and never shown.
func TestPassword(t *testing.T) {
	l := newLab(t, sample.Options{Password: viewer.SecretString("geheim")})
	l.w.start.open(l.w.config.Samples[0])
	s := l.w.selected
	asked := func() bool { return s.session.State().Asking != "" && focusedEntry(l) != nil }
	l.until("the question", asked)
	focusedEntry(l).TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	l.until("the end after Escape", func() bool { return s.session.State().Phase == viewer.Disconnected })
	if st := s.session.State(); st.Kind != viewer.Cancelled {
		t.Errorf("cancelled is %s: %s", st.Kind, st.Reason)
	}
	s.session.Reconnect()
	l.until("the question again", asked)
	e := focusedEntry(l)
	test.Type(e, "falsch")
	if shown := markup(l); strings.Contains(shown, "falsch") {
		t.Error("the password is shown")
	}
	e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	l.until("the refusal", func() bool {
		st := s.session.State()
		return st.Phase == viewer.Disconnected && st.Kind == viewer.Denied
	})
	l.until("the card", func() bool { return strings.Contains(markup(l), "sample refused the login") })
	s.session.Reconnect()
	l.until("the third question", asked)
	test.Type(focusedEntry(l), "geheim")
	focusedEntry(l).TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	l.until("the session", func() bool { return s.session.State().Phase == viewer.Connected })
	if strings.Contains(markup(l), "geheim") {
		t.Error("the password is kept in the window")
	}
}

// focusedEntry is the line that has the keyboard, or nil.
func focusedEntry(l *lab) fyne.Focusable {
	f := l.win.Canvas().Focused()
	if _, ok := f.(interface{ SelectedText() string }); !ok || f == fyne.Focusable(l.w.start.bar) {
		return nil
	}
	return f
}

func markup(l *lab) string { return test.RenderObjectToMarkup(l.win.Content()) }

// A machine that is not there: what happened, what to do, and the buttons.
func TestUnreachable(t *testing.T) {
	l := newLab(t, sample.Options{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close() // nothing listens there now
	l.w.start.bar.SetText("vnc://alice@" + strings.Replace(address, ":", "::", 1))
	l.w.start.connect()
	s := l.w.selected
	if s == nil {
		t.Fatal("no session was opened")
	}
	l.until("the failure", func() bool { return s.session.State().Phase == viewer.Disconnected })
	l.until("the card", func() bool { return strings.Contains(markup(l), "Could not connect to "+address) })
	if s.tab.State() != theme.ColorNameError {
		t.Errorf("the tab's mark is %s", s.tab.State())
	}
	l.w.edit(s.session)
	if l.w.selected != nil || l.w.start.bar.Text != "vnc://alice@"+address {
		t.Errorf("the bar holds %q", l.w.start.bar.Text)
	}
	again, err := viewer.ParseTarget(l.w.start.bar.Text, viewer.VNC)
	if err != nil || again != s.session.Target() {
		t.Errorf("the bar's text is %+v, %v, want %+v", again, err, s.session.Target())
	}
	// Another machine from there takes its place.
	l.w.start.bar.SetText(targetText(l.w.config.Samples[0]))
	l.w.start.connect()
	if len(l.w.tabs) != 1 || l.w.selected == s {
		t.Errorf("%d tabs after the address was edited", len(l.w.tabs))
	}
}

// Losing a machine leaves the others alone (C254), and keys held are let go.
func TestOneSessionFails(t *testing.T) {
	l := newLab(t, sample.Options{Count: 3})
	var tabs []*tab
	for i := range 3 {
		tabs = append(tabs, l.open(i))
	}
	l.w.closeSession(tabs[1].session)
	if len(l.w.tabs) != 2 || l.w.selected != tabs[2] {
		t.Errorf("%d tabs are left", len(l.w.tabs))
	}
	l.w.invoke("session.previous", nil)
	if l.w.selected != tabs[0] || !tabs[0].session.Watched() || tabs[2].session.Watched() {
		t.Error("the wrong session is shown or watched")
	}
	l.click(tabs[0], inPad, desktop.MouseButtonPrimary)
	l.until("the click", func() bool { return padIs(tabs[0], 1) })
	l.w.closeSession(tabs[0].session)
	if l.w.selected != tabs[2] {
		t.Error("the neighbour is not shown")
	}
}

// A button that was held when the connection broke is up afterwards, and the
// first press counts (C121).
func TestFirstPressAfterAReconnect(t *testing.T) {
	l := newLab(t, sample.Options{})
	s := l.open(0)
	ev := &desktop.MouseEvent{Button: desktop.MouseButtonPrimary}
	ev.AbsolutePosition = l.at(s, inPad)
	surface := surfaceOf(s)
	surface.MouseMoved(ev)
	surface.MouseDown(ev)
	l.until("the press", func() bool { return padIs(s, 1) })
	n := s.session.Info().Connections
	s.session.Reconnect()
	l.until("the new connection", func() bool {
		return s.session.Info().Connections > n && s.session.State().Phase == viewer.Connected && s.session.Frame().Whole(image.Rectangle{})
	})
	l.until("the pane to let go", func() bool { return s.made == n+1 })
	l.click(s, inPad, desktop.MouseButtonPrimary)
	l.until("one more click, no more", func() bool { return padIs(s, 2) })
}
