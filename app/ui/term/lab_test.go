package term

import (
	"fmt"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/look"
	"deskvnc/viewer"
	"deskvnc/viewer/grid"
)

// A lab is a screen on a canvas, and what came out of it. The test is the
// goroutine of the widgets.
type lab struct {
	*Screen
	t     *testing.T
	win   fyne.Window
	posts chan func()

	sent    []string
	copied  []string
	clip    string
	asked   []Question
	opened  []string
	said    []string
	left    int
	placed  int
	resized []float32
}

func newLab(t *testing.T, cols, rows int) *lab {
	t.Helper()
	test.NewTempApp(t).Settings().SetTheme(look.Theme{})
	known := make(chan struct{}) // the fonts of the system: what is drawn changes when they come
	if installed(func() { close(known) }) == nil {
		<-known
	}
	l := &lab{t: t, posts: make(chan func(), 1000)}
	l.win = test.NewTempWindow(t, nil)
	l.win.SetPadded(false)
	l.Screen = New(Config{
		Grid: grid.New(grid.Options{Cols: cols, Rows: rows}), Fence: fence.On(func(fn func()) { l.posts <- fn }), Canvas: l.win.Canvas(),
		Input: l.input, Leave: func() { l.left++ },
		Chord:   func(string, bool) bool { return false },
		Focused: func(bool) {}, Placed: func() { l.placed++ },
		Copy: func(s string) { l.copied = append(l.copied, s) }, Clipboard: func(use func(string)) { use(l.clip) },
		Ask: func(q Question) { l.asked = append(l.asked, q) }, Open: func(a string) { l.opened = append(l.opened, a) },
		Said: func(s string, _ bool) { l.said = append(l.said, s) }, Sized: func(f float32) { l.resized = append(l.resized, f) },
	})
	l.win.SetContent(l.Screen)
	l.win.Resize(fyne.NewSize(800, 500))
	l.SetShown(true)
	t.Cleanup(l.Close)
	return l
}

func (l *lab) input(in viewer.Input) {
	switch in := in.(type) {
	case viewer.Key:
		l.sent = append(l.sent, fmt.Sprintf("key %x %v", in.Sym, in.Down))
	case viewer.Pointer:
		l.sent = append(l.sent, fmt.Sprintf("at %d,%d:%d wheel %d", in.X, in.Y, in.Buttons, in.WheelY))
	case viewer.Paste:
		l.sent = append(l.sent, "paste "+in.Text)
	default:
		l.sent = append(l.sent, fmt.Sprintf("%T", in))
	}
}

// write has the program write something, and shows it.
func (l *lab) write(format string, args ...any) {
	fmt.Fprintf(l.grid, format, args...)
	l.Redraw()
}

// settle runs what is posted now.
func (l *lab) settle() {
	for {
		select {
		case fn := <-l.posts:
			fn()
		default:
			return
		}
	}
}

// until runs what is posted until ok.
func (l *lab) until(what string, ok func() bool) {
	l.t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for !ok() {
		select {
		case fn := <-l.posts:
			fn()
		case <-limit.C:
			l.t.Fatalf("waited too long for %s", what)
		}
	}
}

// took is what was sent since it was last asked.
func (l *lab) took() []string {
	s := l.sent
	l.sent = nil
	return s
}

// point is the place of the canvas a part of the width into a cell.
func (l *lab) point(x, y int, part float32) fyne.Position {
	c := l.paint.glyphs.cell
	o := fyne.CurrentApp().Driver().AbsolutePositionForObject(l.Screen)
	return fyne.NewPos(o.X+margin+(float32(x)+part)*float32(c.X)/l.unit, o.Y+margin+(float32(y)+0.5)*float32(c.Y)/l.unit)
}

func (l *lab) press(x, y int, part float32, b desktop.MouseButton, m fyne.KeyModifier) {
	l.MouseDown(&desktop.MouseEvent{PointEvent: fyne.PointEvent{AbsolutePosition: l.point(x, y, part)}, Button: b, Modifier: m})
}

func (l *lab) drag(x, y int, part float32) {
	l.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{AbsolutePosition: l.point(x, y, part)}})
}

func (l *lab) release(x, y int, b desktop.MouseButton) {
	l.MouseUp(&desktop.MouseEvent{PointEvent: fyne.PointEvent{AbsolutePosition: l.point(x, y, 0.5)}, Button: b})
	l.DragEnd()
}

// later makes the next click one of its own.
func (l *lab) later() { l.mouse.clicked = time.Time{} }

// codes are the codes of keys that stand for themselves in the tests.
var codes = map[string]int{"LeftControl": 37, "LeftShift": 50, "LeftAlt": 64}

func code(name string) int {
	if c := codes[name]; c != 0 {
		return c
	}
	c := 200
	for _, r := range name {
		c = c*31 + int(r)
	}
	return c
}

func (l *lab) down(name string) {
	ev := &fyne.KeyEvent{Name: fyne.KeyName(name), Physical: fyne.HardwareKey{ScanCode: code(name)}}
	l.KeyDown(ev)
	l.TypedKey(ev)
}

func (l *lab) up(name string) {
	l.KeyUp(&fyne.KeyEvent{Name: fyne.KeyName(name), Physical: fyne.HardwareKey{ScanCode: code(name)}})
}

// chord presses keys and lets them go.
func (l *lab) chord(names ...string) {
	for _, n := range names {
		l.down(n)
	}
	for i := range names {
		l.up(names[len(names)-1-i])
	}
	l.settle()
}
