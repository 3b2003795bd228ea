package term

import (
	"image"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"deskvnc/viewer"
	"deskvnc/viewer/grid"
	"deskvnc/viewer/key"
)

const (
	// wheelClick is what the toolkit scrolls for one click of the wheel, and
	// wheelRows how many rows that moves.
	wheelClick = 25
	wheelRows  = 3
	// doubleTime is how fast the clicks of a double one follow each other.
	doubleTime = 400 * time.Millisecond
	// edgeTime is how often the view moves on while a selection is drawn
	// outside of it.
	edgeTime = 50 * time.Millisecond
)

// A mouse is a person's mouse at a screen. What it does is for the program
// when that asked for it and Shift is not held, else it selects.
type mouse struct {
	held  viewer.Buttons // that the program was told of
	at    image.Point    // the cell it was last told of
	told  bool
	turns float64 // parts of a wheel click

	selecting bool
	block     bool
	by        int       // what is selected: 1 characters, 2 words, 3 lines
	anchor    grid.Span // where it began
	epoch     uint64
	clicks    int
	clicked   time.Time
	clickedAt grid.Pos
	last      fyne.Position // where the pointer was while selecting
	edge      *time.Timer
	hover     fyne.Position
}

// cell is the cell under a point of the canvas, and how far into it, in parts
// of its width. It lies in the terminal even when the point does not.
func (s *Screen) cell(abs fyne.Position) (at image.Point, part float64, outside int) {
	origin := fyne.CurrentApp().Driver().AbsolutePositionForObject(s)
	c, v := s.paint.glyphs.cell, &s.paint.view
	x := float64((abs.X - origin.X - margin) * s.unit)
	y := float64((abs.Y - origin.Y - margin) * s.unit)
	at = image.Pt(int(x)/c.X, int(y)/c.Y)
	part = x/float64(c.X) - float64(at.X)
	switch {
	case y < 0:
		outside = -1 - int(-y)/c.Y
	case at.Y >= v.Rows:
		outside = 1 + at.Y - v.Rows
	}
	switch {
	case x < 0:
		at.X, part = 0, 0
	case at.X >= v.Cols:
		at.X, part = max(v.Cols-1, 0), 1
	}
	at.Y = min(max(at.Y, 0), max(v.Rows-1, 0))
	if y < 0 {
		at.Y = 0
	}
	return at, part, outside
}

// pos is a cell of the view by its number.
func (s *Screen) pos(at image.Point) grid.Pos {
	return grid.Pos{Row: s.paint.view.Top + int64(at.Y), Col: at.X}
}

// reports tells whether the mouse is the program's now.
func (s *Screen) reports(shift bool) bool {
	return s.paint.view.Modes.Mouse != 0 && !shift && s.paint.view.Back == 0
}

func button(b desktop.MouseButton) viewer.Buttons {
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
func (s *Screen) MouseDown(ev *desktop.MouseEvent) {
	s.GrabFocus()
	s.keys.Flush()
	at, part, _ := s.cell(ev.AbsolutePosition)
	mods := ev.Modifier | s.modifiers()
	shift := mods&fyne.KeyModifierShift != 0
	b := button(ev.Button)
	if b != 0 && s.reports(shift) {
		s.mouse.held |= b
		s.tell(at, 0, 0, true)
		return
	}
	switch b {
	case viewer.Left:
		if mods&fyne.KeyModifierControl != 0 {
			if address, _, ok := s.grid.Link(s.paint.view.Epoch, s.pos(at)); ok {
				s.openLink(address)
				return
			}
		}
		s.begin(at, part, shift, mods&fyne.KeyModifierAlt != 0)
		s.mouse.last = ev.AbsolutePosition
	case viewer.Middle:
		s.PasteSelection()
	case viewer.Right:
		if s.config.Menu != nil {
			s.config.Menu(ev.AbsolutePosition)
		}
	}
}

// modifiers are the ones held, as the toolkit and the keys tell.
func (s *Screen) modifiers() (m fyne.KeyModifier) {
	held := s.local.held()
	if held&key.ModShift != 0 {
		m |= fyne.KeyModifierShift
	}
	if held&key.ModCtrl != 0 {
		m |= fyne.KeyModifierControl
	}
	if held&key.ModAlt != 0 {
		m |= fyne.KeyModifierAlt
	}
	if d, ok := fyne.CurrentApp().Driver().(desktop.Driver); ok {
		m |= d.CurrentKeyModifiers()
	}
	return m
}

// tell passes the mouse on to the program, in cells.
func (s *Screen) tell(at image.Point, wheelX, wheelY int, always bool) {
	m := &s.mouse
	if at == m.at && m.told && !always {
		return
	}
	m.at, m.told = at, true
	s.config.Input(viewer.Pointer{X: at.X, Y: at.Y, Buttons: m.held, WheelX: wheelX, WheelY: wheelY})
}

// MouseUp is called by the toolkit.
func (s *Screen) MouseUp(ev *desktop.MouseEvent) {
	at, _, _ := s.cell(ev.AbsolutePosition)
	b := button(ev.Button)
	if s.mouse.held&b != 0 {
		s.mouse.held &^= b
		s.tell(at, 0, 0, true)
		return
	}
	if b == viewer.Left {
		s.stopDragging()
	}
}

// MouseIn is called by the toolkit.
func (s *Screen) MouseIn(ev *desktop.MouseEvent) { s.MouseMoved(ev) }

// MouseMoved is called by the toolkit.
func (s *Screen) MouseMoved(ev *desktop.MouseEvent) {
	s.mouse.hover = ev.AbsolutePosition
	at, _, outside := s.cell(ev.AbsolutePosition)
	if s.mouse.held != 0 || outside == 0 && s.reports(s.modifiers()&fyne.KeyModifierShift != 0) && s.paint.view.Modes.Mouse >= 1003 {
		s.tell(at, 0, 0, false)
	}
	s.hoverLink(at)
}

// MouseOut is called by the toolkit. What is held and cannot be followed out
// there is let go of.
func (s *Screen) MouseOut() {
	if lost := s.mouse.held &^ (viewer.Left | viewer.Middle); lost != 0 {
		s.mouse.held &^= lost
		s.tell(s.mouse.at, 0, 0, true)
	}
	s.setLink(grid.Span{})
}

// hoverLink underlines the link under the pointer.
func (s *Screen) hoverLink(at image.Point) {
	_, span, ok := s.grid.Link(s.paint.view.Epoch, s.pos(at))
	if !ok {
		span = grid.Span{}
	}
	s.setLink(span)
}

func (s *Screen) setLink(span grid.Span) {
	if span == s.paint.link {
		return
	}
	s.paint.mark(s.paint.link)
	s.paint.link = span
	s.paint.mark(span)
	s.show()
}

// Dragged is called by the toolkit, also with positions outside.
func (s *Screen) Dragged(ev *fyne.DragEvent) {
	s.mouse.last = ev.AbsolutePosition
	if s.mouse.held != 0 {
		at, _, _ := s.cell(ev.AbsolutePosition)
		s.tell(at, 0, 0, false)
		return
	}
	s.extend()
}

// DragEnd is called by the toolkit when a button goes up after a drag, inside
// or outside.
func (s *Screen) DragEnd() {
	if lost := s.mouse.held & (viewer.Left | viewer.Middle); lost != 0 {
		s.mouse.held &^= lost
		s.tell(s.mouse.at, 0, 0, true)
	}
	s.stopDragging()
	s.GrabFocus() // a release over something else has taken it away
}

// Scrolled is called by the toolkit. It makes the wheel horizontal while Shift
// is held, which is undone here.
func (s *Screen) Scrolled(ev *fyne.ScrollEvent) {
	s.keys.Flush()
	shift := s.modifiers()&fyne.KeyModifierShift != 0
	dx, dy := float64(ev.Scrolled.DX), float64(ev.Scrolled.DY)
	if dy == 0 && shift {
		dx, dy = 0, dx
	}
	m, v := &s.mouse, &s.paint.view
	m.turns += -dy / wheelClick
	clicks := int(m.turns)
	m.turns -= float64(clicks)
	at, _, _ := s.cell(ev.AbsolutePosition)
	switch {
	case s.reports(shift):
		if x := int(-dx / wheelClick); clicks != 0 || x != 0 {
			s.tell(at, x, clicks, true)
		}
	case v.Modes.Alternate && v.Modes.AlternateScroll && !shift:
		if clicks != 0 {
			s.tell(at, 0, clicks, true) // arrows, to a program without a mouse
		}
	case clicks != 0:
		s.scroll(-clicks * wheelRows)
	}
}

// Cursor is called by the toolkit.
func (s *Screen) Cursor() desktop.Cursor {
	switch {
	case !s.paint.link.Empty() && s.modifiers()&fyne.KeyModifierControl != 0:
		return desktop.PointerCursor
	case s.reports(false):
		return desktop.DefaultCursor
	}
	return desktop.TextCursor
}

var (
	_ fyne.Focusable     = (*Screen)(nil)
	_ fyne.Tabbable      = (*Screen)(nil)
	_ fyne.Shortcutable  = (*Screen)(nil)
	_ fyne.Scrollable    = (*Screen)(nil)
	_ fyne.Draggable     = (*Screen)(nil)
	_ desktop.Keyable    = (*Screen)(nil)
	_ desktop.Mouseable  = (*Screen)(nil)
	_ desktop.Hoverable  = (*Screen)(nil)
	_ desktop.Cursorable = (*Screen)(nil)
)
