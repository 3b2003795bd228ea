package grid

// blank is what erasing leaves: the background of the pen.
func (t *Terminal) blank() Cell { return Cell{BG: t.pen.BG} }

// fill erases the cells from lo to hi of a row, hi not included.
func (t *Terminal) fill(r *row, lo, hi int) {
	if lo >= hi {
		return
	}
	t.work += hi - lo
	if r.wide {
		t.split(r, lo)
		t.split(r, hi)
	}
	r.gen = t.gen
	c := t.blank()
	if c == (Cell{}) {
		if hi >= r.used {
			if lo < r.used {
				clear(r.cells[lo:r.used])
				r.used = lo
			}
			return
		}
		clear(r.cells[lo:hi])
		return
	}
	for i := range r.cells[lo:hi] {
		r.cells[lo+i] = c
	}
	r.used = max(r.used, hi)
}

// fillRow erases a whole row.
func (t *Terminal) fillRow(r *row) {
	r.wrapped = false
	t.fill(r, 0, len(r.cells))
	if r.used == 0 {
		r.wide = false
	}
}

// whole reports whether the margins take the full width.
func (t *Terminal) whole() bool { return t.left == 0 && t.rgt == t.cols-1 }

// unwrap says that what follows a row is not its continuation any more.
func (t *Terminal) unwrap(y int) {
	if y >= 0 && y < t.rows {
		t.scr.rows[y].wrapped = false
	}
}

// scrollUp moves the rows from top to bot up by n. What leaves the top of the
// main screen goes to the scrollback.
func (t *Terminal) scrollUp(top, bot, n int) {
	n = min(n, bot-top+1)
	if n <= 0 {
		return
	}
	if !t.whole() {
		t.shiftBox(top, bot, n)
		return
	}
	rows := t.scr.rows
	if top > 0 {
		t.unwrap(top - 1)
	}
	if bot < t.rows-1 {
		t.unwrap(bot)
	}
	keep := top == 0 && t.scr == &t.main
	for ; n > 0; n-- {
		r := rows[top]
		copy(rows[top:bot], rows[top+1:bot+1])
		if keep {
			if old := t.ring.push(r); old != nil {
				r = t.recycle(old)
			} else {
				r = t.spareRow()
			}
		} else {
			r = t.recycle(r)
		}
		rows[bot] = r
		if t.pen.BG != Default {
			t.fillRow(r)
		}
	}
}

// scrollDown moves the rows from top to bot down by n.
func (t *Terminal) scrollDown(top, bot, n int) {
	n = min(n, bot-top+1)
	if n <= 0 {
		return
	}
	if !t.whole() {
		t.shiftBox(top, bot, -n)
		return
	}
	rows := t.scr.rows
	if top > 0 {
		t.unwrap(top - 1)
	}
	t.unwrap(bot)
	for ; n > 0; n-- {
		r := rows[bot]
		copy(rows[top+1:bot+1], rows[top:bot])
		r = t.recycle(r)
		rows[top] = r
		if t.pen.BG != Default {
			t.fillRow(r)
		}
	}
	t.unwrap(bot)
}

// shiftBox moves the cells between the margins up by n, or down by -n.
func (t *Terminal) shiftBox(top, bot, n int) {
	rows := t.scr.rows
	for y := top; y <= bot; y++ {
		if rows[y].wide {
			t.split(rows[y], t.left)
			t.split(rows[y], t.rgt+1)
		}
	}
	move := func(to, from int) {
		if from < top || from > bot {
			t.fill(rows[to], t.left, t.rgt+1)
			return
		}
		t.work += t.rgt + 1 - t.left
		copy(rows[to].cells[t.left:t.rgt+1], rows[from].cells[t.left:t.rgt+1])
		rows[to].wide = rows[to].wide || rows[from].wide
		rows[to].used = max(rows[to].used, min(rows[from].used, t.rgt+1))
		rows[to].gen = t.gen
	}
	if n > 0 {
		for y := top; y <= bot; y++ {
			move(y, y+n)
		}
	} else {
		for y := bot; y >= top; y-- {
			move(y, y+n)
		}
	}
}

// insertCells makes room for n cells at the cursor.
func (t *Terminal) insertCells(n int) {
	end := t.rightEdge()
	r := t.scr.rows[t.y]
	n = min(n, end-t.x)
	if r.wide {
		t.split(r, t.x)
		t.split(r, end-n)
		t.split(r, end)
	}
	copy(r.cells[t.x+n:end], r.cells[t.x:end-n])
	t.work += end - t.x
	r.used = max(r.used, min(end, r.used+n))
	r.gen = t.gen
	// The halves were split before they moved.
	wide := r.wide
	r.wide = false
	t.fill(r, t.x, t.x+n)
	r.wide = wide
}

// deleteCells takes n cells out at the cursor.
func (t *Terminal) deleteCells(n int) {
	end := t.rightEdge()
	r := t.scr.rows[t.y]
	n = min(n, end-t.x)
	if r.wide {
		t.split(r, t.x)
		t.split(r, t.x+n)
		t.split(r, end)
	}
	copy(r.cells[t.x:end-n], r.cells[t.x+n:end])
	t.work += end - t.x
	r.used = max(r.used, min(end, len(r.cells)))
	r.gen = t.gen
	wide := r.wide
	r.wide = false
	t.fill(r, end-n, end)
	r.wide = wide
	if end == t.cols {
		r.wrapped = false
	}
}

// inBox reports whether the cursor is where lines and columns are inserted.
func (t *Terminal) inBox() bool {
	return t.y >= t.top && t.y <= t.bot && t.x >= t.left && t.x <= t.rgt
}

// insertLines does IL, deleteLines DL.
func (t *Terminal) insertLines(n int) {
	if t.inBox() {
		t.scrollDown(t.y, t.bot, n)
		t.x, t.pend = t.left, false
	}
}

func (t *Terminal) deleteLines(n int) {
	if !t.inBox() {
		return
	}
	// Lines that are deleted are not history.
	if t.y == 0 && t.scr == &t.main && t.whole() {
		n = min(n, t.bot-t.y+1)
		rows := t.scr.rows
		t.unwrap(t.bot)
		for ; n > 0; n-- {
			r := rows[0]
			copy(rows[:t.bot], rows[1:t.bot+1])
			rows[t.bot] = t.recycle(r)
			t.fillRow(rows[t.bot])
		}
		if t.ring.n > 0 {
			t.ring.endLast()
		}
	} else {
		t.scrollUp(t.y, t.bot, n)
	}
	t.x, t.pend = t.left, false
}

// shiftColumns inserts n columns at x, or deletes -n, in the whole region.
func (t *Terminal) shiftColumns(x, n int) {
	if !t.inBox() {
		return
	}
	oldX, oldY := t.x, t.y
	for y := t.top; y <= t.bot; y++ {
		t.x, t.y = x, y
		if n > 0 {
			t.insertCells(n)
		} else {
			t.deleteCells(-n)
		}
		t.scr.rows[y].wrapped = false
	}
	t.x, t.y, t.pend = oldX, oldY, false
}

func (t *Terminal) backIndex() {
	t.pend = false
	if t.x == t.left {
		t.shiftColumns(t.left, 1)
	} else if t.x > 0 {
		t.x--
	}
}

func (t *Terminal) forwardIndex() {
	t.pend = false
	if t.x == t.rgt {
		t.shiftColumns(t.left, -1)
	} else if t.x < t.cols-1 {
		t.x++
	}
}

// eraseLine does EL, and with selective DECSEL.
func (t *Terminal) eraseLine(how int, selective bool) {
	r := t.scr.rows[t.y]
	lo, hi := 0, t.cols
	switch how {
	case 0:
		lo = t.x
		r.wrapped = false
	case 1:
		hi = t.x + 1
	case 2:
		r.wrapped = false
	default:
		return
	}
	t.pend = false
	t.erase(r, lo, hi, selective)
}

// erase clears cells, all of them or those not protected.
func (t *Terminal) erase(r *row, lo, hi int, selective bool) {
	if !selective {
		t.fill(r, lo, hi)
		return
	}
	for x := lo; x < hi; x++ {
		if r.cells[x].Attr&protected == 0 {
			t.fill(r, x, x+1)
		}
	}
}

// eraseScreen does ED, and with selective DECSED.
func (t *Terminal) eraseScreen(how int, selective bool) {
	lo, hi := 0, t.rows
	switch how {
	case 0:
		if t.y == 0 && t.x == 0 && !selective {
			t.pushScreen()
		}
		t.eraseLine(0, selective)
		lo = t.y + 1
	case 1:
		t.eraseLine(1, selective)
		hi = t.y
	case 2:
		if !selective {
			t.pushScreen()
		}
	case 3:
		if t.scr == &t.main {
			t.ring.drop()
			t.epoch++
		}
		return
	default:
		return
	}
	t.pend = false
	for _, r := range t.scr.rows[lo:hi] {
		if selective {
			t.erase(r, 0, t.cols, true)
		} else {
			t.fillRow(r)
		}
	}
}

// pushScreen moves what the main screen shows to the scrollback before all of
// it is erased, so that it can still be read and no line number comes twice.
func (t *Terminal) pushScreen() {
	if t.scr != &t.main {
		return
	}
	last := t.lastUsed(&t.main)
	for y := 0; y <= last; y++ {
		r := t.main.rows[y]
		if y == last {
			r.wrapped = false
		}
		if old := t.ring.push(r); old != nil {
			t.main.rows[y] = t.recycle(old)
		} else {
			t.main.rows[y] = t.spareRow()
		}
	}
	t.ring.endLast()
	// A taller screen does not bring back what was cleared.
	t.ring.pull = 0
}
