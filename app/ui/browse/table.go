package browse

import (
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/viewer"
)

// rowHeight is the height of an entry and of the heads.
const rowHeight = 25

// A table lists entries. It draws the rows that can be seen and no more, so
// that a folder of many entries costs what a small one does.
type table struct {
	widget.BaseWidget
	canvas fyne.Canvas
	chord  func(fyne.Shortcut) bool   // runs the viewer's command of a shortcut
	mods   func() fyne.KeyModifier    // held now
	moved  func()                     // the cursor or the chosen have changed
	open   func(viewer.FileEntry)     // an entry was opened
	key    func(fyne.KeyName) bool    // takes a key that is not the table's
	typed  func(rune)                 // text: part of a name
	focus  func()                     // the keyboard has come
	menu   func(at fyne.Position)     // the other mouse button
	drag   func(at fyne.Position)     // what is chosen is carried
	drop   func(at fyne.Position)     // and let go
	sort   func(column)               // a head was clicked
	order  func() (by column, d bool) // for the mark in the heads

	entries []viewer.FileEntry
	chosen  map[string]bool // by name
	cursor  int             // -1 for none
	anchor  int             // where a range begins
	top     int             // first row shown
	focused bool
	single  bool          // letting go of the mouse chooses the cursor alone
	carried bool          // being dragged
	last    fyne.Position // where it was dragged to

	scroll *look.Scroll
	r      *tableRenderer
}

var (
	_ fyne.Focusable         = (*table)(nil)
	_ fyne.Shortcutable      = (*table)(nil)
	_ fyne.Tabbable          = (*table)(nil)
	_ fyne.DoubleTappable    = (*table)(nil)
	_ fyne.Scrollable        = (*table)(nil)
	_ fyne.Draggable         = (*table)(nil)
	_ desktop.Mouseable      = (*table)(nil)
	_ desktop.Hoverable      = (*table)(nil)
	_ fyne.WidgetRenderer    = (*tableRenderer)(nil)
	_ fyne.SecondaryTappable = (*table)(nil)
)

func newTable(c fyne.Canvas) *table {
	t := &table{canvas: c, chosen: map[string]bool{}, cursor: -1}
	t.mods = func() fyne.KeyModifier {
		if d, ok := fyne.CurrentApp().Driver().(desktop.Driver); ok {
			return d.CurrentKeyModifiers()
		}
		return 0
	}
	t.scroll = look.NewScroll(true, func(to int) { t.scrollTo(to) })
	t.ExtendBaseWidget(t)
	return t
}

// set shows entries. What was chosen stays so while it is there, and the
// cursor stays on its name.
func (t *table) set(entries []viewer.FileEntry) {
	name := ""
	if e, ok := t.at(t.cursor); ok {
		name = e.Name
	}
	t.entries = entries
	keep := make(map[string]bool, len(t.chosen))
	was := t.cursor
	t.cursor = -1
	for i, e := range entries {
		if t.chosen[e.Name] {
			keep[e.Name] = true
		}
		if name != "" && e.Name == name {
			t.cursor = i
		}
	}
	t.chosen = keep
	if t.cursor < 0 && len(entries) > 0 {
		t.cursor = min(max(was, 0), len(entries)-1)
	}
	t.anchor = t.cursor
	t.scrollTo(t.top)
	t.Refresh()
	t.moved()
}

// point puts the cursor on a name and forgets what was chosen.
func (t *table) point(name string) {
	clear(t.chosen)
	t.cursor, t.top = min(0, len(t.entries)-1), 0
	for i, e := range t.entries {
		if e.Name == name {
			t.cursor = i
		}
	}
	t.anchor = t.cursor
	t.bring()
	t.moved()
}

func (t *table) at(i int) (viewer.FileEntry, bool) {
	if i < 0 || i >= len(t.entries) {
		return viewer.FileEntry{}, false
	}
	return t.entries[i], true
}

// picked are the chosen entries in their order, or that under the cursor.
func (t *table) picked() (out []viewer.FileEntry) {
	for _, e := range t.entries {
		if t.chosen[e.Name] {
			out = append(out, e)
		}
	}
	if e, ok := t.at(t.cursor); ok && len(out) == 0 {
		out = append(out, e)
	}
	return out
}

// rows is how many rows there is room for.
func (t *table) rows() int { return max(int((t.Size().Height-rowHeight)/rowHeight), 1) }

func (t *table) scrollTo(top int) {
	t.top = max(min(top, len(t.entries)-t.rows()), 0)
	t.Refresh()
}

// bring scrolls to the cursor.
func (t *table) bring() {
	switch {
	case t.cursor < t.top:
		t.top = max(t.cursor, 0)
	case t.cursor >= t.top+t.rows():
		t.top = t.cursor - t.rows() + 1
	}
	t.scrollTo(t.top)
}

// step moves the cursor; with extend what lies between is chosen.
func (t *table) step(to int, extend bool) {
	if len(t.entries) == 0 {
		return
	}
	t.cursor = min(max(to, 0), len(t.entries)-1)
	clear(t.chosen)
	if extend {
		t.span()
	} else {
		t.anchor = t.cursor
	}
	t.bring()
	t.moved()
}

// span chooses from where the range begins to the cursor.
func (t *table) span() {
	from, to := min(max(t.anchor, 0), t.cursor), max(t.anchor, t.cursor)
	for _, e := range t.entries[from : to+1] {
		t.chosen[e.Name] = true
	}
}

// toggle chooses the entry under the cursor, or no more.
func (t *table) toggle() {
	if e, ok := t.at(t.cursor); ok {
		if t.chosen[e.Name] {
			delete(t.chosen, e.Name)
		} else {
			t.chosen[e.Name] = true
		}
		t.anchor = t.cursor
	}
	t.Refresh()
	t.moved()
}

// all chooses everything that is shown.
func (t *table) all() {
	for _, e := range t.entries {
		t.chosen[e.Name] = true
	}
	t.Refresh()
	t.moved()
}

// TypedKey is called by the toolkit.
func (t *table) TypedKey(ev *fyne.KeyEvent) {
	shift := t.mods()&fyne.KeyModifierShift != 0
	switch ev.Name {
	case fyne.KeyUp:
		t.step(t.cursor-1, shift)
	case fyne.KeyDown:
		t.step(t.cursor+1, shift)
	case fyne.KeyPageUp:
		t.step(t.cursor-t.rows(), shift)
	case fyne.KeyPageDown:
		t.step(t.cursor+t.rows(), shift)
	case fyne.KeyHome:
		t.step(0, shift)
	case fyne.KeyEnd:
		t.step(len(t.entries)-1, shift)
	case fyne.KeyInsert:
		t.toggle()
		if t.cursor+1 < len(t.entries) {
			t.cursor++
			t.anchor = t.cursor
			t.bring()
		}
	case fyne.KeyReturn, fyne.KeyEnter:
		if e, ok := t.at(t.cursor); ok {
			t.open(e)
		}
	default:
		t.key(ev.Name)
	}
}

// TypedRune is called by the toolkit: letters look for a name.
func (t *table) TypedRune(r rune) {
	if unicode.IsPrint(r) {
		t.typed(r)
	}
}

// TypedShortcut is called by the toolkit.
func (t *table) TypedShortcut(s fyne.Shortcut) {
	if _, ok := s.(*fyne.ShortcutSelectAll); ok {
		t.all()
		return
	}
	if c, ok := s.(*desktop.CustomShortcut); ok && c.Modifier == fyne.KeyModifierAlt && t.key("Alt+"+c.KeyName) {
		return
	}
	if c, ok := s.(*desktop.CustomShortcut); ok && c.Modifier == fyne.KeyModifierControl && t.key("Ctrl+"+c.KeyName) {
		return
	}
	t.chord(s)
}

// AcceptsTab is called by the toolkit: Tab goes to the other side.
func (t *table) AcceptsTab() bool { return true }

// FocusGained is called by the toolkit.
func (t *table) FocusGained() {
	t.focused = true
	t.Refresh()
	t.focus()
}

// FocusLost is called by the toolkit.
func (t *table) FocusLost() {
	t.focused = false
	t.Refresh()
}

// rowAt is the row at a height; -1 for none.
func (t *table) rowAt(y float32) int {
	i := t.top + int((y-rowHeight)/rowHeight)
	if y < rowHeight || i >= len(t.entries) || i >= t.top+t.rows() {
		return -1
	}
	return i
}

// MouseDown is called by the toolkit.
func (t *table) MouseDown(ev *desktop.MouseEvent) {
	t.canvas.Focus(t)
	i := t.rowAt(ev.Position.Y)
	t.single = false
	if i < 0 {
		if ev.Position.Y >= rowHeight && ev.Modifier == 0 {
			clear(t.chosen)
			t.Refresh()
			t.moved()
		}
		return
	}
	mods := ev.Modifier
	if mods == 0 {
		mods = t.mods()
	}
	on := t.chosen[t.entries[i].Name]
	t.cursor = i
	switch {
	case ev.Button == desktop.MouseButtonSecondary && on:
	case mods&fyne.KeyModifierControl != 0:
		t.toggle()
	case mods&fyne.KeyModifierShift != 0:
		clear(t.chosen)
		t.span()
	case on: // it may be carried with the others
		t.single = true
	default:
		clear(t.chosen)
		t.chosen[t.entries[i].Name] = true
		t.anchor = i
	}
	t.Refresh()
	t.moved()
}

// MouseUp is called by the toolkit.
func (t *table) MouseUp(ev *desktop.MouseEvent) {
	if t.single && !t.carried && ev.Button == desktop.MouseButtonPrimary {
		if e, ok := t.at(t.cursor); ok {
			clear(t.chosen)
			t.chosen[e.Name] = true
			t.anchor = t.cursor
			t.Refresh()
			t.moved()
		}
	}
	t.single = false
}

// DoubleTapped is called by the toolkit.
func (t *table) DoubleTapped(ev *fyne.PointEvent) {
	if i := t.rowAt(ev.Position.Y); i >= 0 {
		t.open(t.entries[i])
	}
}

// TappedSecondary is called by the toolkit.
func (t *table) TappedSecondary(ev *fyne.PointEvent) {
	if ev.Position.Y >= rowHeight {
		t.menu(ev.AbsolutePosition)
	}
}

// Dragged is called by the toolkit.
func (t *table) Dragged(ev *fyne.DragEvent) {
	if !t.carried {
		from := ev.Position.Y - ev.Dragged.DY
		i := t.rowAt(from)
		if i < 0 || !t.chosen[t.entries[i].Name] {
			return
		}
		t.carried = true
	}
	t.drag(ev.AbsolutePosition)
	t.last = ev.AbsolutePosition
}

// DragEnd is called by the toolkit.
func (t *table) DragEnd() {
	if t.carried {
		t.carried, t.single = false, false
		t.drop(t.last)
	}
}

// Scrolled is called by the toolkit.
func (t *table) Scrolled(ev *fyne.ScrollEvent) {
	const notch, rows = 25, 3
	by := int(ev.Scrolled.DY / notch * rows)
	if by == 0 && ev.Scrolled.DY != 0 {
		by = 1
		if ev.Scrolled.DY < 0 {
			by = -1
		}
	}
	t.scrollTo(t.top - by)
}

// MouseIn is called by the toolkit.
func (t *table) MouseIn(*desktop.MouseEvent) {}

// MouseMoved is called by the toolkit.
func (t *table) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is called by the toolkit.
func (t *table) MouseOut() {}

// MinSize is called by the toolkit.
func (t *table) MinSize() fyne.Size { return fyne.NewSize(120, 3*rowHeight) }

// CreateRenderer is called by the toolkit.
func (t *table) CreateRenderer() fyne.WidgetRenderer {
	t.r = newTableRenderer(t)
	return t.r
}
