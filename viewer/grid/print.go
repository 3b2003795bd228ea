package grid

// ascii writes a run of bytes 0x20 to 0x7e.
func (t *Terminal) ascii(b []byte) {
	if !t.set.plain() || t.mode.insert {
		for _, c := range b {
			t.print(t.set.translate(c))
		}
		return
	}
	t.last = rune(b[len(b)-1])
	for len(b) > 0 {
		if t.pend {
			if !t.mode.autowrap {
				// Each one takes the place of the one before it.
				b = b[len(b)-1:]
				t.pend = false
			} else {
				t.wrap()
			}
		}
		end := t.rightEdge()
		n := min(len(b), end-t.x)
		r := t.scr.rows[t.y]
		if r.wide {
			t.split(r, t.x)
			t.split(r, t.x+n)
		}
		c := t.pen
		cells := r.cells[t.x : t.x+n]
		for i, ch := range b[:n] {
			c.Rune = rune(ch)
			cells[i] = c
		}
		r.used = max(r.used, t.x+n)
		r.gen = t.gen
		b = b[n:]
		t.lastX, t.lastY, t.lastOK = t.x+n-1, t.y, true
		t.x += n
		if t.x == end {
			t.x--
			t.pend = true
		}
	}
}

// rightEdge is the column after the last one that may be written from here.
func (t *Terminal) rightEdge() int {
	if t.x > t.rgt {
		return t.cols
	}
	return t.rgt + 1
}

// wrap goes to the start of the next row, as part of the same line.
func (t *Terminal) wrap() {
	if t.rightEdge() == t.cols {
		t.scr.rows[t.y].wrapped = true
	}
	t.x = t.leftStart()
	t.index()
}

// leftStart is the column that a new row begins with.
func (t *Terminal) leftStart() int {
	if t.x >= t.left {
		return t.left
	}
	return 0
}

// print writes one character.
func (t *Terminal) print(r rune) {
	w := runeWidth(r)
	if w == 0 {
		if !bidi(r) {
			t.mark(r)
		}
		return
	}
	if t.mode.clusters && t.extend(r) {
		return
	}
	t.last = r
	t.put(r, w, t.pen.Attr)
}

// put writes a character of w cells at the cursor.
func (t *Terminal) put(r rune, w int, attr Attr) {
	if t.pend && t.mode.autowrap {
		t.wrap()
	}
	end := t.rightEdge()
	if w == 2 && t.x+2 > end {
		if t.mode.autowrap && end-t.leftStart() >= 2 {
			row := t.scr.rows[t.y]
			t.split(row, t.x)
			row.cells[t.x] = Cell{BG: t.pen.BG, Attr: pad}
			row.used = max(row.used, t.x+1)
			row.gen = t.gen
			t.split(row, t.x+1)
			t.wrap()
			end = t.rightEdge()
		} else {
			return // no room
		}
	}
	if t.mode.insert {
		t.insertCells(w)
	}
	t.pend = false
	row := t.scr.rows[t.y]
	if row.wide || w == 2 {
		t.split(row, t.x)
		t.split(row, t.x+w)
	}
	c := t.pen
	c.Rune, c.Attr = r, attr
	if w == 2 {
		row.wide = true
		c.Attr |= Wide
		row.cells[t.x] = c
		c.Rune, c.Attr = 0, attr|Tail
		row.cells[t.x+1] = c
	} else {
		row.cells[t.x] = c
	}
	row.used = max(row.used, t.x+w)
	row.gen = t.gen
	t.lastX, t.lastY, t.lastOK = t.x, t.y, true
	t.x += w
	if t.x >= end {
		t.x, t.pend = end-1, true
	}
}

// split blanks both halves of a wide character that column x would cut in two.
func (t *Terminal) split(r *row, x int) {
	if x <= 0 || x >= len(r.cells) || r.cells[x].Attr&Tail == 0 {
		return
	}
	r.cells[x-1] = Cell{Rune: ' ', FG: r.cells[x-1].FG, BG: r.cells[x-1].BG, Attr: r.cells[x-1].Attr &^ shape}
	r.cells[x] = Cell{Rune: ' ', FG: r.cells[x].FG, BG: r.cells[x].BG, Attr: r.cells[x].Attr &^ shape}
	r.gen = t.gen
}

// before is the cell of the character that a mark joins; nil for none.
func (t *Terminal) before() (r *row, x int) {
	switch {
	case t.lastOK:
		r, x = t.scr.rows[t.lastY], t.lastX
	case t.pend:
		r, x = t.scr.rows[t.y], t.x
	case t.x > 0:
		r, x = t.scr.rows[t.y], t.x-1
	default:
		return nil, 0
	}
	if r.cells[x].Attr&Tail != 0 && x > 0 {
		x--
	}
	return r, x
}

// mark adds a mark to the character before it.
func (t *Terminal) mark(m rune) {
	r, x := t.before()
	if r == nil {
		return
	}
	c := &r.cells[x]
	base := c.Rune
	if base == 0 {
		base = ' '
	}
	n, ok := t.join(base, m)
	if !ok {
		return
	}
	c.Rune = n
	r.used = max(r.used, x+1)
	r.gen = t.gen
	if t.mode.clusters && m == pictureStyle && c.Attr&Wide == 0 && picture(t.clusters.base(n)) {
		t.widen(r, x)
	}
}

// widen makes the character at x, the last one written, two cells wide.
func (t *Terminal) widen(r *row, x int) {
	if !t.lastOK || t.lastX != x || r != t.scr.rows[t.y] {
		return
	}
	c := r.cells[x]
	if t.pend {
		// No room: it moves to the next row.
		end := t.rightEdge()
		if !t.mode.autowrap || end-t.leftStart() < 2 {
			return
		}
		r.cells[x] = Cell{BG: c.BG, Attr: pad}
		t.wrap()
	} else {
		t.x = x
	}
	pen := t.pen
	t.pen = c
	t.put(c.Rune, 2, c.Attr&^shape)
	t.pen = pen
}

// extend joins a character to the one before it when both are one grapheme
// cluster (Unicode Standard Annex 29, GB9 to GB13, without GB9a and GB9b).
func (t *Terminal) extend(r rune) bool {
	if !t.lastOK || r < 0x1f000 && !picture(r) {
		return false
	}
	row, x := t.before()
	if row == nil {
		return false
	}
	c := &row.cells[x]
	base, last, n := t.clusters.parts(c.Rune)
	switch {
	case last == joiner && picture(base) && picture(r):
	case skinTone(r) && picture(base) && n <= 2:
	case regional(r) && regional(base) && n == 1:
		if nc, ok := t.join(c.Rune, r); ok {
			c.Rune = nc
			row.gen = t.gen
			if c.Attr&Wide == 0 {
				t.widen(row, x)
			}
			return true
		}
		return false
	default:
		return false
	}
	nc, ok := t.join(c.Rune, r)
	if ok {
		c.Rune = nc
		row.gen = t.gen
	}
	return ok
}
