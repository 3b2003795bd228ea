package pane

import (
	"image"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/keyboard"
	"deskvnc/app/ui/look"
	"deskvnc/app/ui/picture"
	"deskvnc/viewer"
)

// A PointerSource tells where the pointer of the window system is and which
// buttons are down, also outside the window and of what the toolkit does not
// tell. It may be called from any goroutine.
type PointerSource interface {
	// Pointer gives the place in pixels of the window. Known are the buttons
	// of which held tells.
	Pointer() (at image.Point, held, known viewer.Buttons, ok bool)
	// Window is the size of the window in pixels, zero when not known.
	Window() image.Point
}

// draggable are the buttons whose drags the toolkit follows outside.
const draggable = viewer.Left | viewer.Middle

// A surface is the remote picture on the canvas, and where a person's mouse
// and keyboard act on it.
type surface struct {
	widget.BaseWidget

	canvas  fyne.Canvas
	picture *picture.Picture
	keys    *keyboard.Keyboard
	mouse   mouse
	source  PointerSource // may be nil
	fence   *fence.Fence
	placed  func()        // tells that the picture is elsewhere, or of another size
	leave   func()        // lets go of everything held at the remote side
	focused func(on bool) // tells that the surface has or has not the keyboard
	forget  func()        // drops what the key source has gathered; may be nil

	mode    picture.Mode
	percent int         // of the actual size, when zoomed
	offset  image.Point // pixel of the shown picture at the corner, when scrolled
	pad     *look.Ground
	bars    [2]*look.Scroll // horizontal and vertical

	pointer  desktop.Cursor
	cursor   desktop.Cursor // the one shown: pointer, but for what is held
	shapeOf  viewer.Cursor  // what pointer was made of
	shapeSet bool
	dotted   bool      // a hidden pointer is shown as a dot
	dotUnit  float32   // the dot is for this many screen pixels a unit; 0: it is not shown
	follower *follower // follows the pointer while a button is held
	strayed  bool      // the last button was let go of outside
	lowered  int       // pixels that the picture is put lower; see raised
	hasFocus bool
}

var (
	_ fyne.Focusable     = (*surface)(nil)
	_ fyne.Tabbable      = (*surface)(nil)
	_ fyne.Shortcutable  = (*surface)(nil)
	_ fyne.Scrollable    = (*surface)(nil)
	_ fyne.Draggable     = (*surface)(nil)
	_ desktop.Keyable    = (*surface)(nil)
	_ desktop.Mouseable  = (*surface)(nil)
	_ desktop.Hoverable  = (*surface)(nil)
	_ desktop.Cursorable = (*surface)(nil)
)

func newSurface(p *picture.Picture, c fyne.Canvas) *surface {
	s := &surface{picture: p, canvas: c, pad: look.NewGround(look.ColorStage), pointer: dot(1), cursor: dot(1), dotUnit: 1}
	s.bars = [2]*look.Scroll{look.NewScroll(false, s.scrollX), look.NewScroll(true, s.scrollY)}
	s.ExtendBaseWidget(s)
	return s
}

// unit is the number of screen pixels in one unit of the canvas.
func (s *surface) unit() float32 {
	if u := s.canvas.Scale(); u > 0 {
		return u
	}
	return 1
}

// view is the size of the surface in pixels of the screen, as far as it is
// seen.
func (s *surface) view() image.Point {
	unit, size := s.unit(), s.Size()
	return image.Pt(round(float64(size.Width*unit)), max(round(float64(size.Height*unit))-s.raised(), 0))
}

// place puts the picture into the surface as it is now.
func (s *surface) place() {
	unit := s.unit()
	size := s.Size()
	s.lowered = s.raised()
	if s.dotUnit != 0 && s.dotUnit != unit {
		s.point()
	}
	view := s.view()
	s.picture.Object().Move(fyne.NewPos(0, float32(s.lowered)/unit))
	room := view
	remote := s.picture.Size()
	thick := int(math.Round(float64(look.ScrollThickness * unit)))
	shown := s.put(view, remote).Rect.Size()
	if s.mode != picture.Fit { // one bar may make the other needed
		for range 2 {
			if shown.X > room.X {
				room.Y = view.Y - thick
			}
			if shown.Y > room.Y {
				room.X = view.X - thick
			}
		}
	}
	p := s.put(room, remote)
	moved := p != s.picture.Place()
	s.offset = p.Offset()
	s.picture.Lay(p, unit)
	over := p.Overflow()
	s.bars[0].Set(over.X > 0, p.View.X, shown.X, p.Offset().X)
	s.bars[1].Set(over.Y > 0, p.View.Y, shown.Y, p.Offset().Y)
	w, h := float32(room.X)/unit, float32(room.Y)/unit
	s.bars[0].Move(fyne.NewPos(0, size.Height-look.ScrollThickness))
	s.bars[0].Resize(fyne.NewSize(w, look.ScrollThickness))
	s.bars[1].Move(fyne.NewPos(size.Width-look.ScrollThickness, 0))
	s.bars[1].Resize(fyne.NewSize(look.ScrollThickness, h))
	if moved && s.placed != nil {
		s.placed()
	}
}

func (s *surface) scrollX(to int) { s.offset.X = to; s.place() }
func (s *surface) scrollY(to int) { s.offset.Y = to; s.place() }

// put is where the picture lies in a view.
func (s *surface) put(view, remote image.Point) picture.Place {
	if s.mode == picture.Zoomed {
		return picture.Zoom(s.percent, view, remote, s.offset)
	}
	return picture.Put(s.mode, view, remote, s.offset)
}

// setMode changes between the modes. What is in the middle of the view stays
// there.
func (s *surface) setMode(m picture.Mode, percent int) {
	if s.mode == m && s.percent == percent {
		return
	}
	before := s.picture.Place()
	s.mode, s.percent = m, percent
	if middle, ok := before.At(before.View.Div(2)); ok {
		after := s.put(before.View, before.Remote)
		scale := after.Scale()
		s.offset = image.Pt(round(float64(middle.X)*scale), round(float64(middle.Y)*scale)).Sub(before.View.Div(2))
	}
	s.place()
}

// at is the remote pixel under a point of the canvas. Positions go through
// whole pixels of the screen, in which nothing is lost.
func (s *surface) at(abs fyne.Position) (image.Point, bool) {
	unit := float64(s.unit())
	return s.atWindow(image.Pt(round(float64(abs.X)*unit), round(float64(abs.Y)*unit)))
}

// atWindow is the remote pixel under a pixel of the window.
func (s *surface) atWindow(p image.Point) (image.Point, bool) {
	if s.lowered != s.raised() { // the window has got its size since
		s.place()
	}
	unit := float64(s.unit())
	origin := fyne.CurrentApp().Driver().AbsolutePositionForObject(s)
	return s.picture.Place().At(p.Sub(image.Pt(round(float64(origin.X)*unit), round(float64(origin.Y)*unit))))
}

// raised is by how many pixels everything is shown above its place. The
// toolkit rounds the canvas up to whole units, and when that is more than the
// window is high, draws it from the window's lower edge. The picture is put
// lower by as much.
func (s *surface) raised() int {
	if s.source == nil {
		return 0
	}
	h := s.source.Window().Y
	if h == 0 {
		return 0
	}
	if over := round(float64(s.canvas.Size().Height)*float64(s.unit())) - h; over > 0 && float64(over) <= math.Ceil(float64(s.unit())) {
		return over
	}
	return 0
}

func round(f float64) int { return int(math.Round(f)) }

// button is the button of a toolkit event. What the toolkit cannot tell apart
// is looked up.
func (s *surface) button(b desktop.MouseButton) viewer.Buttons {
	switch b {
	case desktop.MouseButtonPrimary:
		return viewer.Left
	case desktop.MouseButtonSecondary:
		return viewer.Right
	case desktop.MouseButtonTertiary:
		return viewer.Middle
	}
	return 0
}

// MouseDown is called by the toolkit.
func (s *surface) MouseDown(ev *desktop.MouseEvent) {
	s.strayed = false
	s.grabFocus()
	s.keys.Flush()
	at, inside := s.at(ev.AbsolutePosition)
	if !inside && s.mouse.held == 0 {
		return // on the frame around the picture
	}
	b := s.button(ev.Button)
	if b == 0 {
		_, held, known := s.now()
		b = held & known & (viewer.Back | viewer.Forward)
	}
	s.mouse.press(b, at)
	s.follow()
}

// MouseUp is called by the toolkit.
func (s *surface) MouseUp(ev *desktop.MouseEvent) {
	s.keys.Flush()
	at, _ := s.at(ev.AbsolutePosition)
	b := s.button(ev.Button)
	if b == 0 {
		_, held, known := s.now()
		b = (viewer.Back | viewer.Forward) &^ (held & known)
	}
	s.mouse.release(b, at)
}

// now asks the window system about the pointer.
func (s *surface) now() (at image.Point, held, known viewer.Buttons) {
	if s.source == nil {
		return at, 0, 0
	}
	at, held, known, ok := s.source.Pointer()
	if !ok {
		return at, 0, 0
	}
	return at, held, known
}

// MouseIn is called by the toolkit.
func (s *surface) MouseIn(ev *desktop.MouseEvent) {
	s.move(ev.AbsolutePosition)
}

// MouseMoved is called by the toolkit.
func (s *surface) MouseMoved(ev *desktop.MouseEvent) { s.move(ev.AbsolutePosition) }

func (s *surface) move(abs fyne.Position) {
	if at, inside := s.at(abs); inside || s.mouse.held != 0 {
		s.mouse.move(at)
	}
}

// MouseOut is called by the toolkit. What happens with a held button out there
// is followed; without a window system to ask, it is let go of here.
func (s *surface) MouseOut() {
	if s.source == nil && s.mouse.held != 0 {
		s.mouse.release(s.mouse.held&^draggable, s.mouse.at)
	}
}

// Dragged is called by the toolkit, also with positions outside.
func (s *surface) Dragged(ev *fyne.DragEvent) {
	at, inside := s.at(ev.AbsolutePosition)
	// With nothing held it was let go of outside, which the toolkit missed.
	if s.mouse.held != 0 || inside {
		s.mouse.move(at)
	}
}

// DragEnd is called by the toolkit when any button goes up after a drag,
// inside or outside; outside nothing else tells of it.
func (s *surface) DragEnd() {
	if s.source != nil {
		p, held, known := s.now()
		if known != 0 {
			at, _ := s.atWindow(p)
			s.mouse.set(held, known, at)
		} else {
			s.mouse.release(draggable, s.mouse.at)
		}
	} else {
		s.mouse.release(draggable, s.mouse.at)
	}
	s.grabFocus() // a release over something else has taken it away
}

// Scrolled is called by the toolkit. It makes the wheel horizontal while Shift
// is held, which is undone here: what Shift means is for the remote side to
// say.
func (s *surface) Scrolled(ev *fyne.ScrollEvent) {
	s.keys.Flush()
	at, inside := s.at(ev.AbsolutePosition)
	if !inside {
		return
	}
	dx, dy := float64(ev.Scrolled.DX), float64(ev.Scrolled.DY)
	if dy == 0 && s.shift() {
		dx, dy = 0, dx
	}
	s.mouse.scroll(-dx/wheelClick, -dy/wheelClick, at)
}

// shift reports whether Shift is held, as the toolkit sees it.
func (s *surface) shift() bool {
	if d, ok := fyne.CurrentApp().Driver().(desktop.Driver); ok {
		return d.CurrentKeyModifiers()&fyne.KeyModifierShift != 0
	}
	return s.keys.Shift()
}

// Cursor is called by the toolkit. While a button is held the shape stays: a
// change would end the grab of the mouse; see [follower].
func (s *surface) Cursor() desktop.Cursor {
	if s.mouse.held == 0 {
		s.cursor = s.pointer
	}
	return s.cursor
}

// AcceptsTab is called by the toolkit: Tab is for the remote side.
func (s *surface) AcceptsTab() bool { return true }

// KeyDown is called by the toolkit.
func (s *surface) KeyDown(ev *fyne.KeyEvent) {
	s.mouse.flush()
	s.keys.Down(string(ev.Name), ev.Physical.ScanCode)
}

// KeyUp is called by the toolkit.
func (s *surface) KeyUp(ev *fyne.KeyEvent) {
	s.mouse.flush()
	s.keys.Up(ev.Physical.ScanCode)
}

// TypedKey is called by the toolkit.
func (s *surface) TypedKey(ev *fyne.KeyEvent) { s.keys.Typed(string(ev.Name), ev.Physical.ScanCode) }

// TypedShortcut is called by the toolkit. Shortcuts are for the remote side,
// and their keys have been told of already.
func (s *surface) TypedShortcut(fyne.Shortcut) { s.keys.Typed("", 0) }

// TypedRune is called by the toolkit.
func (s *surface) TypedRune(r rune) { s.keys.Rune(r) }

// FocusGained is called by the toolkit.
func (s *surface) FocusGained() {
	s.hasFocus = true
	if s.forget != nil {
		s.forget()
	}
	if s.focused != nil {
		s.focused(true)
	}
}

// FocusLost is called by the toolkit.
func (s *surface) FocusLost() {
	s.hasFocus = false
	dragged := s.mouse.held != 0 || s.strayed
	s.strayed = false
	s.letGo()
	if s.focused != nil {
		s.focused(false)
	}
	if dragged { // let go over something that takes no keyboard: it stays here
		s.fence.Go(func() {
			if s.canvas.Focused() == nil {
				s.grabFocus()
			}
		})
	}
}

// letGo releases everything held.
func (s *surface) letGo() {
	s.stopFollowing()
	held := s.mouse.held != 0 || s.keys.Held() > 0
	if s.mouse.held != 0 { // let go of where the pointer has come to
		if p, _, known := s.now(); known != 0 {
			at, _ := s.atWindow(p)
			s.mouse.move(at)
		}
	}
	s.mouse.flush()
	s.mouse.reset()
	s.keys.Reset()
	if held && s.leave != nil {
		s.leave()
	}
}

// grabFocus takes the keyboard.
func (s *surface) grabFocus() {
	if s.Visible() && s.canvas.Overlays().Top() == nil && s.canvas.Focused() != fyne.Focusable(s) {
		s.canvas.Focus(s)
	}
}

// drop gives the keyboard up: there is nothing to type to any more.
func (s *surface) drop() {
	s.letGo()
	if s.canvas.Focused() == fyne.Focusable(s) {
		s.canvas.Unfocus()
	}
}

// MinSize is small: the picture takes what there is.
func (s *surface) MinSize() fyne.Size { return fyne.NewSize(80, 60) }

// CreateRenderer is called by the toolkit.
func (s *surface) CreateRenderer() fyne.WidgetRenderer {
	return &surfaceRenderer{s: s, objects: []fyne.CanvasObject{s.pad, s.picture.Object(), s.bars[0], s.bars[1]}}
}

type surfaceRenderer struct {
	s       *surface
	objects []fyne.CanvasObject
}

// Layout is called by the toolkit.
func (r *surfaceRenderer) Layout(size fyne.Size) {
	r.s.pad.Resize(size)
	r.s.place()
}

// MinSize is called by the toolkit.
func (r *surfaceRenderer) MinSize() fyne.Size { return r.s.MinSize() }

// Refresh is called by the toolkit, for example when the scale has changed.
func (r *surfaceRenderer) Refresh() {
	r.s.pad.Refresh()
	r.s.place()
}

// Objects is called by the toolkit.
func (r *surfaceRenderer) Objects() []fyne.CanvasObject { return r.objects }

// Destroy is called by the toolkit.
func (r *surfaceRenderer) Destroy() {}
