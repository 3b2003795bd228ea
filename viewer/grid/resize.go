package grid

// Resize gives the terminal another size, brought within bounds. The main
// screen and the scrollback are laid out anew: lines that wrapped are joined
// and wrap at the new width, the cursor stays with its character. The
// alternate screen is cut; its program draws it again.
func (t *Terminal) Resize(cols, rows int) {
	cols, rows = clamp(cols, MinCols, MaxCols), clamp(rows, MinRows, MaxRows)
	t.mu.Lock()
	if cols == t.cols && rows == t.rows {
		t.mu.Unlock()
		return
	}
	t.gen++
	t.resize(cols, rows)
	t.mu.Unlock()
	t.wake()
}

// A spot is a place of the main screen that stays with its character.
type spot struct {
	x, y int
	pend bool

	from int // the row it was in, among all rows
	line int // the logical line, counted from the first of all
	char int // cells into it
	to   int // the row it is in then, among all rows
}

func (t *Terminal) resize(cols, rows int) {
	t.resizes++
	t.lastOK = false
	onAlt := t.scr == &t.alt
	kept := spot{x: t.main.saved.x, y: t.main.saved.y, pend: t.main.saved.pend}
	cur := kept
	if !onAlt {
		cur = spot{x: t.x, y: t.y, pend: t.pend}
	}
	shift := 0
	if onAlt {
		shift = max(0, t.y-rows+1)
	}
	t.spare = nil
	if cols != t.cols {
		t.reflow(cols, rows, &cur, &kept)
	} else {
		t.reheight(rows, &cur, &kept)
	}
	t.alt.rows = t.cut(t.alt.rows[shift:], cols, rows)
	t.cols, t.rows = cols, rows

	t.main.saved.x, t.main.saved.y, t.main.saved.pend = kept.x, kept.y, kept.pend
	if onAlt {
		t.x, t.y, t.pend = min(t.x, cols-1), min(t.y-shift, rows-1), false
	} else {
		t.x, t.y, t.pend = cur.x, cur.y, cur.pend
	}
	s := &t.alt.saved
	s.x, s.y, s.pend = min(s.x, cols-1), min(s.y, rows-1), false
	t.top, t.bot, t.left, t.rgt = 0, rows-1, 0, cols-1
}

// cut copies rows of a screen to another size without moving text.
func (t *Terminal) cut(old []*row, cols, rows int) []*row {
	out := t.newRows(rows, cols)
	for y, r := range out[:min(rows, len(old))] {
		o := old[y]
		n := min(o.used, cols)
		copy(r.cells[:n], o.cells[:n])
		r.used, r.wide = n, o.wide
		if n == cols && r.cells[n-1].Attr&Wide != 0 {
			r.cells[n-1] = Cell{}
		}
	}
	return out
}

// reheight changes the number of rows of the main screen. A lower one gives up
// the blank rows at its bottom first, then moves rows at its top to the
// scrollback; a taller one takes them back.
func (t *Terminal) reheight(rows int, spots ...*spot) {
	s := &t.main
	move := func(n int) {
		for _, p := range spots {
			p.y = clamp(p.y+n, 0, rows-1)
		}
	}
	n := len(s.rows) - rows
	if n > 0 {
		used := max(t.lastUsed(s), spots[0].y) + 1
		blank := min(n, len(s.rows)-used)
		s.rows = s.rows[:len(s.rows)-blank]
		n -= blank
		for _, r := range s.rows[:n] {
			t.ring.push(r)
		}
		s.rows = append([]*row(nil), s.rows[n:]...)
		move(-n)
		return
	}
	back := min(-n, t.ring.pull, t.ring.n)
	out := make([]*row, back, rows)
	for i := back - 1; i >= 0; i-- {
		out[i] = t.ring.take()
	}
	out = append(out, s.rows...)
	s.rows = append(out, t.newRows(-n-back, t.cols)...)
	move(back)
}

// reflow lays out the scrollback and the main screen at another width. The
// bottom stays where it is, with as many blank rows below the text as before,
// unless text would leave the top for them.
func (t *Terminal) reflow(cols, height int, spots ...*spot) {
	g := &t.ring
	used := max(t.lastUsed(&t.main), spots[0].y) + 1
	total := g.n + used

	// Where the top of the screen and the oldest row that may come back go.
	top, floor := spot{}, spot{y: -min(g.pull, g.n)}
	marks := append([]*spot{&top, &floor}, spots...)
	for _, m := range marks {
		m.from, m.line, m.to = g.n+m.y, -1, -1
	}
	w := &layout{t: t, cols: cols}
	for i := range total {
		r := t.mainRow(i)
		end, text := r.length(), r.textLength()
		if r.wrapped {
			end = characters(r)
			text = end
		}
		for _, m := range marks {
			if m.from == i {
				x := m.x
				if m.pend {
					x++
				}
				if r.wrapped {
					x = min(x, end)
				}
				m.line, m.char = w.lines, len(w.line)+x
			}
		}
		w.text = len(w.line) + text
		w.line = append(w.line, r.cells[:end]...)
		if !r.wrapped || i == total-1 {
			w.end(marks)
		}
	}
	n := len(w.rows)
	for _, m := range marks {
		if m.to < 0 {
			m.to = n
		}
	}
	first := min(top.to, max(0, n+t.rows-used-height))
	first = max(first, floor.to, n-height)
	first = min(first, n)
	g.pull = first - min(first, floor.to)
	g.max = limit(t.scrollback, cols)
	g.set(append([]*row(nil), w.rows[:first]...))
	t.main.rows = append(make([]*row, 0, height), w.rows[first:]...)
	t.main.rows = append(t.main.rows, t.newRows(height-(n-first), cols)...)
	for _, p := range spots {
		p.y = clamp(p.to-first, 0, height-1)
	}
	t.epoch++
}

// A layout writes logical lines into rows of a width.
type layout struct {
	t     *Terminal
	cols  int
	rows  []*row
	spare []*row

	line  []Cell // the logical line so far
	text  int    // its length without blanks that only have a colour
	lines int    // those before it
}

func (w *layout) row() *row {
	if len(w.spare) == 0 {
		w.spare = w.t.newRows(slab, w.cols)
	}
	r := w.spare[0]
	w.spare = w.spare[1:]
	w.rows = append(w.rows, r)
	return r
}

// end lays out the line, and places the spots that are in it. Blanks that only
// have a colour do not wrap.
func (w *layout) end(marks []*spot) {
	for at := 0; ; {
		r := w.row()
		n := min(w.cols, len(w.line)-at)
		if n == w.cols && w.line[at+n-1].Attr&Wide != 0 {
			n--
		}
		r.used = copy(r.cells, w.line[at:at+n])
		for _, c := range r.cells[:n] {
			if c.Attr&(Wide|Tail) != 0 {
				r.wide = true
				break
			}
		}
		next := at + n
		last := next >= w.text
		for _, m := range marks {
			if m.line != w.lines || m.char < at || m.char >= next && !last || m.to >= 0 {
				continue
			}
			m.to = len(w.rows) - 1
			m.x = min(m.char-at, w.cols-1)
			m.pend = m.pend && m.char-at == w.cols
		}
		if last {
			break
		}
		if n < w.cols {
			r.cells[n] = Cell{Attr: pad}
			r.used = w.cols
		}
		r.wrapped = true
		at = next
	}
	w.line = w.line[:0]
	w.lines++
}
