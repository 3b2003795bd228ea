package grid

// control does one of the controls 0x00 to 0x1f, but for ESC, CAN and SUB
// within a sequence.
func (t *Terminal) control(c byte) {
	switch c {
	case 0x07:
		t.event(Event{Kind: Bell})
		return
	case 0x08: // BS
		t.moved()
		t.back(1)
	case 0x09: // HT
		t.moved()
		t.tab(1)
	case 0x0a, 0x0b, 0x0c: // LF, VT, FF
		t.moved()
		t.index()
		if t.mode.newline {
			t.carriageReturn()
		}
	case 0x0d:
		t.moved()
		t.carriageReturn()
	case 0x0e: // SO
		t.set.gl = 1
	case 0x0f: // SI
		t.set.gl = 0
	}
}

// moved says that the next character or mark does not follow the last one.
func (t *Terminal) moved() { t.lastOK, t.last = false, 0 }

// esc does a sequence of ESC and one byte.
func (t *Terminal) esc(c byte) {
	t.moved()
	switch c {
	case '6': // DECBI
		t.backIndex()
	case '7': // DECSC
		t.saveCursor()
	case '8': // DECRC
		t.restoreCursor()
	case '9': // DECFI
		t.forwardIndex()
	case '=': // DECKPAM
		t.mode.appKeypad = true
	case '>': // DECKPNM
		t.mode.appKeypad = false
	case 'D': // IND
		t.index()
	case 'E': // NEL
		t.index()
		t.carriageReturn()
	case 'H': // HTS
		t.tabs[t.x] = true
	case 'M': // RI
		t.reverseIndex()
	case 'N': // SS2
		t.set.single = 2
	case 'O': // SS3
		t.set.single = 3
	case 'Z': // DECID
		t.reply("\x1b[?62;22c")
	case 'c': // RIS
		t.fullReset()
	case 'n': // LS2
		t.set.gl = 2
	case 'o': // LS3
		t.set.gl = 3
	}
}

// escMiddle does a sequence of ESC, intermediates and a final byte.
func (t *Terminal) escMiddle(c byte) {
	p := &t.parser
	if p.middles != 1 {
		return
	}
	switch p.middle[0] {
	case '(':
		t.designate(0, c)
	case ')':
		t.designate(1, c)
	case '*':
		t.designate(2, c)
	case '+':
		t.designate(3, c)
	case '#':
		if c == '8' { // DECALN
			t.moved()
			t.alignment()
		}
	}
}

// index moves down, and scrolls at the bottom of the region.
func (t *Terminal) index() {
	switch {
	case t.y == t.bot:
		if t.x >= t.left && t.x <= t.rgt || t.left == 0 && t.rgt == t.cols-1 {
			t.scrollUp(t.top, t.bot, 1)
		}
	case t.y < t.rows-1:
		t.y++
		t.pend = false
	}
	t.pend = false
}

// reverseIndex moves up, and scrolls at the top of the region.
func (t *Terminal) reverseIndex() {
	t.pend = false
	switch {
	case t.y == t.top:
		if t.x >= t.left && t.x <= t.rgt {
			t.scrollDown(t.top, t.bot, 1)
		}
	case t.y > 0:
		t.y--
	}
}

func (t *Terminal) carriageReturn() {
	t.pend = false
	switch {
	case t.x >= t.left || t.mode.origin:
		t.x = t.left
	default:
		t.x = 0
	}
}

// back moves left, not past the margin, and with reverse wrap to the row above.
func (t *Terminal) back(n int) {
	if !t.mode.reverseWrap || !t.mode.autowrap {
		t.pend = false
		stop := 0
		if t.x >= t.left {
			stop = t.left
		}
		t.x = max(stop, t.x-n)
		return
	}
	if t.pend {
		t.pend = false
		n--
	}
	// No more than the whole screen.
	for n = min(n, t.cols*t.rows); n > 0; n-- {
		switch {
		case t.x > t.left && t.x <= t.rgt, t.x > t.rgt, t.x > 0 && t.x < t.left:
			t.x--
		case t.y > t.top && t.scr.rows[t.y-1].wrapped:
			t.x = t.rgt
			t.y--
		default:
			return
		}
	}
}

func (t *Terminal) up(n int) {
	t.pend = false
	stop := 0
	if t.y >= t.top {
		stop = t.top
	}
	t.y = max(stop, t.y-n)
}

func (t *Terminal) down(n int) {
	t.pend = false
	stop := t.rows - 1
	if t.y <= t.bot {
		stop = t.bot
	}
	t.y = min(stop, t.y+n)
}

func (t *Terminal) forward(n int) {
	t.pend = false
	stop := t.cols - 1
	if t.x <= t.rgt {
		stop = t.rgt
	}
	t.x = min(stop, t.x+n)
}

// moveTo takes row and column from 1, of the region when origin mode is on.
func (t *Terminal) moveTo(y, x int) {
	t.row(y)
	t.column(x)
}

func (t *Terminal) row(y int) {
	t.pend = false
	if t.mode.origin {
		t.y = clamp(t.top+y-1, t.top, t.bot)
		return
	}
	t.y = clamp(y-1, 0, t.rows-1)
}

func (t *Terminal) column(x int) {
	t.pend = false
	if t.mode.origin {
		t.x = clamp(t.left+x-1, t.left, t.rgt)
		return
	}
	t.x = clamp(x-1, 0, t.cols-1)
}

// resetTabs sets a stop at each eighth column.
func (t *Terminal) resetTabs() {
	for i := range t.tabs {
		t.tabs[i] = i%8 == 0
	}
}

// tab moves n stops to the right.
func (t *Terminal) tab(n int) {
	stop := t.cols - 1
	if t.x <= t.rgt {
		stop = t.rgt
	}
	pend := t.pend && t.x == stop
	for n = min(n, t.cols); n > 0 && t.x < stop; n-- {
		t.x++
		for t.x < stop && !t.tabs[t.x] {
			t.x++
		}
	}
	t.pend = pend
}

// backTab moves n stops to the left.
func (t *Terminal) backTab(n int) {
	t.pend = false
	stop := 0
	if t.mode.origin && t.x >= t.left {
		stop = t.left
	}
	for n = min(n, t.cols); n > 0 && t.x > stop; n-- {
		t.x--
		for t.x > stop && !t.tabs[t.x] {
			t.x--
		}
	}
}

// saveCursor does DECSC.
func (t *Terminal) saveCursor() {
	t.scr.saved = saved{true, t.x, t.y, t.pend, t.pen, t.underline, t.link, t.set, t.mode.origin}
}

// restoreCursor does DECRC. With nothing saved the cursor goes home and what
// is saved is set as after a reset.
func (t *Terminal) restoreCursor() {
	s := &t.scr.saved
	if !s.ok {
		t.x, t.y, t.pend, t.mode.origin = 0, 0, false, false
		t.resetPen()
		t.set.reset()
		return
	}
	t.x, t.y = min(s.x, t.cols-1), min(s.y, t.rows-1)
	t.pend = s.pend && s.x == t.x
	t.mode.origin = s.origin
	t.pen, t.underline, t.set = s.pen, s.underline, s.set
	// A link is not part of it: what was opened since stays open.
	t.setExtra()
	if t.mode.origin {
		t.y = clamp(t.y, t.top, t.bot)
		t.x = clamp(t.x, t.left, t.rgt)
	}
}

func (t *Terminal) resetPen() {
	t.pen, t.underline = Cell{}, Default
	t.setExtra()
}

// softReset does DECSTR.
func (t *Terminal) softReset() {
	m := &t.mode
	m.cursorOn, m.origin, m.insert, m.appCursor, m.appKeypad = true, false, false, false, false
	m.autowrap, m.reverseWrap, m.margins, m.metaEsc = true, false, false, true
	m.modifyOther = 0
	t.scr.kitty = nil
	t.top, t.bot, t.left, t.rgt = 0, t.rows-1, 0, t.cols-1
	t.link = linkKey{}
	t.resetPen()
	t.set.reset()
	t.scr.saved = saved{}
	t.pend = false
}

// fullReset does RIS. What is on the screen goes to the scrollback, so that
// no line number is given twice.
func (t *Terminal) fullReset() {
	if t.scr == &t.alt {
		t.leaveAlt(true)
	}
	t.pushScreen()
	for _, s := range []*screen{&t.main, &t.alt} {
		for _, r := range s.rows {
			t.recycle(r)
		}
		s.saved, s.kitty = saved{}, nil
	}
	t.mode = modes{}
	t.softReset()
	t.x, t.y = 0, 0
	t.resetTabs()
	t.resetColors()
	t.titles = nil
	t.last = 0
	t.syncEnd = t.syncEnd.Truncate(0)
	t.hold(false)
	t.setTitle("")
}

// alignment does DECALN.
func (t *Terminal) alignment() {
	t.top, t.bot, t.left, t.rgt = 0, t.rows-1, 0, t.cols-1
	t.mode.origin = false
	t.x, t.y, t.pend = 0, 0, false
	t.work += t.cols * t.rows
	for _, r := range t.scr.rows {
		for i := range r.cells {
			r.cells[i] = Cell{Rune: 'E'}
		}
		r.used, r.wrapped, r.wide, r.gen = len(r.cells), false, false, t.gen
	}
}
