package pane

import (
	"fmt"
	"image"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/keyboard"
	"deskvnc/app/ui/look"
	"deskvnc/app/ui/picture"
	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

// A bench is a surface on a canvas, with a window system that says what the
// test wants.
type bench struct {
	*surface
	t     *testing.T
	win   fyne.Window
	posts chan func()
	got   []string
	left  int

	mu     sync.Mutex // guards below
	at     image.Point
	held   viewer.Buttons
	window image.Point
}

func newBench(t *testing.T, source bool) *bench {
	t.Helper()
	test.NewTempApp(t).Settings().SetTheme(look.Theme{})
	b := &bench{t: t, posts: make(chan func(), 1000)}
	b.win = test.NewTempWindow(t, nil)
	b.win.SetPadded(false)
	f := frame.New()
	if err := f.Reset(800, 600, frame.BGRX); err != nil {
		t.Fatal(err)
	}
	p := picture.New(f)
	p.Redraw()
	t.Cleanup(p.Close)
	b.surface = newSurface(p, b.win.Canvas())
	b.fence = fence.On(func(fn func()) { b.posts <- fn })
	if source {
		b.source = b
	}
	b.leave = func() { b.left++ }
	later := func(fn func()) { b.fence.Go(fn) }
	b.mouse = mouse{later: later, send: func(p viewer.Pointer) {
		s := fmt.Sprintf("%d,%d:%d", p.X, p.Y, p.Buttons)
		if p.WheelX != 0 || p.WheelY != 0 {
			s += fmt.Sprintf(" wheel %d,%d", p.WheelX, p.WheelY)
		}
		b.got = append(b.got, s)
	}}
	b.keys = keyboard.New(keyboard.Config{Later: later, Send: func(viewer.Key) {}, Chord: func(string, bool) bool { return false }})
	b.win.SetContent(b.surface)
	b.win.Resize(fyne.NewSize(900, 700))
	b.setMode(picture.Actual, 0)
	t.Cleanup(b.stopFollowing)
	return b
}

// Pointer implements PointerSource.
func (b *bench) Pointer() (image.Point, viewer.Buttons, viewer.Buttons, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at, b.held, draggable | viewer.Right | viewer.Back | viewer.Forward, true
}

// Window implements PointerSource.
func (b *bench) Window() image.Point {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.window
}

// really says where the pointer is, in remote pixels, and what is held.
func (b *bench) really(at image.Point, held viewer.Buttons) {
	p := b.pixel(at.X, at.Y)
	b.mu.Lock()
	b.at, b.held = p, held
	b.mu.Unlock()
}

// until runs what is posted until ok.
func (b *bench) until(what string, ok func() bool) {
	b.t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for !ok() {
		select {
		case fn := <-b.posts:
			fn()
		case <-limit.C:
			b.t.Fatalf("waited too long for %s; sent %v", what, b.got)
		}
	}
}

// settle runs what is posted now.
func (b *bench) settle() {
	for {
		select {
		case fn := <-b.posts:
			fn()
		default:
			return
		}
	}
}

func (b *bench) want(want ...string) {
	b.t.Helper()
	if got, want := strings.Join(b.got, " | "), strings.Join(want, " | "); got != want {
		b.t.Errorf("sent %q, want %q", got, want)
	}
	b.got = nil
}

// pixel is the pixel of the window that shows a remote one; at actual size the
// two differ by where the picture begins.
func (b *bench) pixel(x, y int) image.Point {
	o := fyne.CurrentApp().Driver().AbsolutePositionForObject(b.surface)
	return image.Pt(round(float64(o.X))+x, round(float64(o.Y))+y).Add(b.picture.Place().Rect.Min)
}

func (b *bench) pos(x, y int) fyne.Position {
	p := b.pixel(x, y)
	return fyne.NewPos(float32(p.X), float32(p.Y))
}

func (b *bench) event(button desktop.MouseButton, x, y int) *desktop.MouseEvent {
	ev := &desktop.MouseEvent{Button: button}
	ev.AbsolutePosition = b.pos(x, y)
	return ev
}

func TestButtonsTheToolkitCannotTell(t *testing.T) {
	b := newBench(t, true)
	for _, button := range []viewer.Buttons{viewer.Back, viewer.Forward} {
		b.really(image.Pt(10, 10), button)
		b.MouseDown(b.event(0, 10, 10))
		b.really(image.Pt(10, 10), 0)
		b.MouseUp(b.event(0, 10, 10))
		b.want(fmt.Sprintf("10,10:%d", button), "10,10:0")
	}
	b.MouseDown(b.event(0, 10, 10)) // too short to be seen
	b.MouseUp(b.event(0, 10, 10))
	b.settle()
	b.want()
}

// A button let go of outside, of which the toolkit tells nothing.
func TestReleaseOutside(t *testing.T) {
	b := newBench(t, true)
	b.really(image.Pt(100, 100), viewer.Right)
	b.MouseDown(b.event(desktop.MouseButtonSecondary, 100, 100))
	b.want("100,100:4")
	b.MouseOut()
	b.really(image.Pt(-50, 2000), viewer.Right)
	b.until("the pointer at the edge", func() bool { return len(b.got) > 0 })
	b.want("0,599:4")
	b.really(image.Pt(-60, 2000), 0)
	b.until("the release", func() bool { return len(b.got) > 0 })
	b.want("0,599:0")
	if b.follower != nil {
		t.Error("the pointer is still followed")
	}
	b.grabFocus()
	b.win.Canvas().Unfocus() // the toolkit's own word on it comes late
	b.until("the keyboard", func() bool { return b.win.Canvas().Focused() == fyne.Focusable(b.surface) })
}

// Over the picture the toolkit's events count; only when none comes for long
// the button is taken for released: another window has got it.
func TestReleaseUnderAnotherWindow(t *testing.T) {
	b := newBench(t, true)
	b.really(image.Pt(100, 100), viewer.Left)
	b.MouseDown(b.event(desktop.MouseButtonPrimary, 100, 100))
	b.really(image.Pt(120, 120), 0)
	b.until("the release", func() bool { return b.mouse.held == 0 })
	b.want("100,100:1", "120,120:0")
}

func TestReleaseOutsideWithoutAWindowSystem(t *testing.T) {
	b := newBench(t, false)
	b.MouseDown(b.event(desktop.MouseButtonSecondary, 100, 100))
	b.MouseOut()
	b.want("100,100:4", "100,100:0")
	b.MouseDown(b.event(desktop.MouseButtonPrimary, 100, 100))
	ev := &fyne.DragEvent{}
	ev.AbsolutePosition = b.pos(-100, 5000)
	b.Dragged(ev)
	b.DragEnd()
	b.want("100,100:1", "0,599:0")
}

// The shape of the pointer stays while a button is held: the toolkit's library
// gives up the mouse when it changes.
func TestShapeStaysWhileHeld(t *testing.T) {
	b := newBench(t, true)
	first := b.Cursor()
	b.MouseDown(b.event(desktop.MouseButtonPrimary, 5, 5))
	img := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	img.Pix[3] = 0xff
	b.setCursor(viewer.Cursor{Image: img})
	if b.Cursor() != first {
		t.Error("the shape changed while a button was held")
	}
	b.MouseUp(b.event(desktop.MouseButtonPrimary, 5, 5))
	if b.Cursor() == first {
		t.Error("the shape did not change afterwards")
	}
}

func TestFocusLost(t *testing.T) {
	b := newBench(t, true)
	b.grabFocus()
	b.FocusLost()
	if b.left != 0 {
		t.Error("nothing was held, and it was let go of")
	}
	b.MouseDown(b.event(desktop.MouseButtonPrimary, 5, 5))
	b.FocusLost()
	if b.left != 1 || b.mouse.held != 0 {
		t.Errorf("let go %d times, holding %b", b.left, b.mouse.held)
	}
}

// The wheel keeps its axis while Shift is held; beside the picture it does
// nothing.
func TestScroll(t *testing.T) {
	b := newBench(t, false)
	scroll := func(x, y int, dx, dy float32) {
		ev := &fyne.ScrollEvent{Scrolled: fyne.NewDelta(dx, dy)}
		ev.AbsolutePosition = b.pos(x, y)
		b.Scrolled(ev)
	}
	scroll(10, 10, 0, -25)
	scroll(10, 10, 0, 75)
	scroll(10, 10, -25, 0)
	b.want("10,10:0 wheel 0,1", "10,10:0 wheel 0,-3", "10,10:0 wheel 1,0")
	b.KeyDown(&fyne.KeyEvent{Name: desktop.KeyShiftLeft, Physical: fyne.HardwareKey{ScanCode: 50}})
	scroll(10, 10, -25, 0)
	b.want("10,10:0 wheel 0,1")
	scroll(-10, 5, 0, -25)
	b.want()
}

// Corners and centre at several scales of the canvas, also when the toolkit
// shows everything one pixel too high (C122).
func TestPointingAtScales(t *testing.T) {
	for _, scale := range []float32{1, 1.3, 2} {
		for _, over := range []int{0, 1} {
			b := newBench(t, true)
			b.setMode(picture.Fit, 0)
			b.win.Canvas().(test.WindowlessCanvas).SetScale(scale)
			b.win.Resize(fyne.NewSize(500, 400))
			whole := int(b.win.Canvas().Size().Height*scale + 0.5)
			b.mu.Lock()
			b.window = image.Pt(int(500*scale), whole-over)
			b.mu.Unlock()
			b.place()
			o := fyne.CurrentApp().Driver().AbsolutePositionForObject(b.surface)
			r := b.picture.Place().Rect.Add(image.Pt(round(float64(o.X*scale)), round(float64(o.Y*scale))))
			for _, tt := range []struct{ at, want image.Point }{
				{r.Min, image.Pt(0, 0)}, {r.Max.Sub(image.Pt(1, 1)), image.Pt(799, 599)},
				{image.Pt(r.Min.X, r.Max.Y-1), image.Pt(0, 599)}, {image.Pt(r.Max.X-1, r.Min.Y), image.Pt(799, 0)},
			} {
				if got, inside := b.atWindow(tt.at); got != tt.want || !inside {
					t.Errorf("scale %v, %d over: %v points at %v (inside %v), want %v", scale, over, tt.at, got, inside, tt.want)
				}
			}
			if want := float32(over) / scale; b.picture.Object().Position().Y != want {
				t.Errorf("scale %v, %d over: the picture is put lower by %v, want %v", scale, over, b.picture.Object().Position().Y, want)
			}
		}
	}
}
