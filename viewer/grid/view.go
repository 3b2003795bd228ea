package grid

import "time"

// A CursorShape is what the cursor looks like.
type CursorShape uint8

// The shapes.
const (
	Block CursorShape = iota
	Underscore
	Bar
)

// A Caret is the cursor of a view.
type Caret struct {
	X, Y    int // Y is a row of the view; it may lie below it when scrolled back
	Visible bool
	Shape   CursorShape
	Blink   bool
}

// A View is one window's copy of what it shows: the screen, or rows of the
// scrollback above it. It belongs to one goroutine, which calls
// [Terminal.Update] and then paints the rows that changed. The zero View is
// ready.
type View struct {
	Cols, Rows int
	Cells      []Cell // Rows times Cols; valid until the next Update
	Changed    []bool // the rows that are not what they were
	Resized    bool   // the size, and so every row
	Caret      Caret
	Modes      Modes
	Title      string
	Colors     Colors // see ColorsChanged
	// ColorsChanged says that Colors are not what they were.
	ColorsChanged bool
	// Back is how many rows the view is scrolled back. It grows by itself while
	// rows scroll away, so that what is looked at stays. Set it with [View.Scroll].
	Back int
	// Scrollback is the number of rows that can be scrolled back to.
	Scrollback int
	// Top is the absolute number of the first row, for [Pos]. Epoch moves when
	// numbers given before have lost their meaning: after a change of width,
	// after a switch of screens, when the scrollback was cleared.
	Top   int64
	Epoch uint64
	// Held is how long the program may still hold back what it is drawing: the
	// view stayed as it was, and should be updated again by then. 0: it does not.
	Held time.Duration

	stamps   []stamp
	clusters []cluster
	extras   []Extra
	tables   [2]uint64
	want     int
	live     int64 // absolute number of the screen's first row, at the last Update
}

// A stamp tells a row apart from what it was and from every other one.
type stamp struct{ id, gen uint64 }

// Scroll moves a view back by n rows, or forward by -n. The next Update does
// it, as far as there are rows.
func (v *View) Scroll(n int) {
	v.want = clamp(v.want+n, -MaxScrollback, MaxScrollback)
}

// Row is one row of the view.
func (v *View) Row(y int) []Cell { return v.Cells[y*v.Cols : (y+1)*v.Cols] }

// Text is the character of a cell of the view with its marks; a blank for a
// cell without one.
func (v *View) Text(c Cell) string { return clusterText(v.clusters, c.Rune) }

// Extra is the link and the underline colour of a cell of the view.
func (v *View) Extra(c Cell) Extra {
	if int(c.Extra) < len(v.extras) {
		return v.extras[c.Extra]
	}
	return Extra{}
}

// Update brings a view up to date and reports whether anything in it changed.
// While a program holds back its output nothing does. It allocates only when
// the size has changed.
func (t *Terminal) Update(v *View) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(v.Changed)
	v.Resized, v.ColorsChanged, v.Held = false, false, 0
	if t.held() && v.Cols == t.cols && v.Rows == t.rows {
		v.Held = max(time.Millisecond, t.syncEnd.Sub(t.now()))
		return false
	}
	tables := [2]uint64{t.clusters.gen, t.extras.gen}
	changed := false
	if v.Cols != t.cols || v.Rows != t.rows {
		v.Cols, v.Rows = t.cols, t.rows
		v.Cells = make([]Cell, v.Cols*v.Rows)
		v.Changed = make([]bool, v.Rows)
		v.stamps = make([]stamp, v.Rows)
		v.Resized, changed = true, true
	} else if tables != v.tables {
		clear(v.stamps)
	}
	v.tables = tables
	v.clusters, v.extras = t.clusters.list, t.extras.list

	live := t.liveTop()
	back := v.Back
	if back > 0 && v.Epoch == t.epoch {
		back += int(live - v.live)
	}
	back = clamp(back+v.want, 0, t.history())
	v.want, v.live = 0, live
	scrolled := back != v.Back
	v.Back, v.Scrollback = back, t.history()
	v.Top, v.Epoch = live-int64(back), t.epoch

	for y := range v.Rows {
		r := t.absolute(v.Top + int64(y))
		s := stamp{r.id, r.gen}
		if s == v.stamps[y] {
			continue
		}
		v.stamps[y] = s
		row := v.Cells[y*v.Cols : (y+1)*v.Cols]
		clear(row[copy(row, r.cells):])
		v.Changed[y], changed = true, true
	}

	caret := Caret{X: t.x, Y: t.y + back, Visible: t.mode.cursorOn}
	switch t.mode.cursorStyle {
	case 0, 1, 2:
		caret.Shape = Block
	case 3, 4:
		caret.Shape = Underscore
	default:
		caret.Shape = Bar
	}
	caret.Blink = t.mode.cursorStyle%2 == 1 || t.mode.cursorStyle == 0 && !t.mode.noBlink
	modes := t.modes()
	if caret != v.Caret || modes != v.Modes || v.Title != t.title || scrolled {
		changed = true
	}
	v.Caret, v.Modes, v.Title = caret, modes, t.title
	if v.Colors.gen != t.colors.gen {
		v.Colors = t.colors
		v.ColorsChanged, changed = true, true
	}
	return changed
}

// history is the number of rows that can be scrolled back to.
func (t *Terminal) history() int {
	if t.scr == &t.alt {
		return 0
	}
	return t.ring.n
}

// liveTop is the absolute number of the screen's first row.
func (t *Terminal) liveTop() int64 { return t.ring.gone + int64(t.ring.n) }

// absolute is the row with an absolute number; nil when there is none.
func (t *Terminal) absolute(n int64) *row {
	live := t.liveTop()
	switch {
	case n >= live+int64(t.rows):
		return nil
	case n >= live:
		return t.scr.rows[n-live]
	case n >= live-int64(t.history()):
		return t.ring.at(int(n - t.ring.gone))
	}
	return nil
}
