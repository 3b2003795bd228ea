package grid

// csi does a control sequence with its final byte.
func (t *Terminal) csi(final byte) {
	p := &t.parser
	if final != 'm' || p.middles > 0 || p.prefix != 0 {
		t.lastOK = false
		if final != 'b' {
			t.last = 0
		}
	}
	if p.middles > 0 {
		t.csiMiddle(final)
		return
	}
	switch p.prefix {
	case 0:
		t.csiPlain(final)
	case '?':
		t.csiPrivate(final)
	case '>':
		t.csiGreater(final)
	case '=':
		switch final {
		case 'c': // DA3
			if p.arg(0, 0) == 0 {
				t.reply("\x1bP!|00000000\x1b\\")
			}
		case 'u':
			t.kittySet(p.arg(0, 0), p.arg(1, 1))
		}
	case '<':
		if final == 'u' {
			t.kittyPop(p.arg(0, 1))
		}
	}
}

func (t *Terminal) csiPlain(final byte) {
	p := &t.parser
	n := p.arg(0, 1)
	switch final {
	case '@': // ICH
		t.pend = false
		t.insertCells(n)
	case 'A': // CUU
		t.up(n)
	case 'B', 'e': // CUD, VPR
		t.down(n)
	case 'C', 'a': // CUF, HPR
		t.forward(n)
	case 'D', 'j': // CUB, HPB
		t.back(n)
	case 'E': // CNL
		t.down(n)
		t.carriageReturn()
	case 'F': // CPL
		t.up(n)
		t.carriageReturn()
	case 'G', '`': // CHA, HPA
		t.column(n)
	case 'H', 'f': // CUP, HVP
		t.moveTo(n, p.arg(1, 1))
	case 'I': // CHT
		t.tab(n)
	case 'J': // ED
		t.eraseScreen(p.arg(0, 0), false)
	case 'K': // EL
		t.eraseLine(p.arg(0, 0), false)
	case 'L': // IL
		t.insertLines(n)
	case 'M': // DL
		t.deleteLines(n)
	case 'P': // DCH
		t.pend = false
		t.deleteCells(n)
	case 'S': // SU
		t.scrollUp(t.top, t.bot, n)
	case 'T', '^': // SD
		if p.params <= 1 {
			t.scrollDown(t.top, t.bot, n)
		}
	case 'X': // ECH
		t.pend = false
		t.fill(t.scr.rows[t.y], t.x, min(t.x+n, t.cols))
	case 'Z': // CBT
		t.backTab(n)
	case 'b': // REP
		t.repeat(n)
		t.last = 0
	case 'c': // DA1
		if p.arg(0, 0) == 0 {
			t.reply("\x1b[?62;22c")
		}
	case 'd': // VPA
		t.row(n)
	case 'k': // VPB
		t.up(n)
	case 'g': // TBC
		switch p.arg(0, 0) {
		case 0:
			t.tabs[t.x] = false
		case 3:
			clear(t.tabs)
		}
	case 'h', 'l': // SM, RM
		for i := range p.params {
			t.setANSI(p.arg(i, 0), final == 'h')
		}
	case 'm':
		t.sgr()
	case 'n': // DSR
		t.status(p.arg(0, 0), false)
	case 'r': // DECSTBM
		t.setRegion(n, p.arg(1, t.rows))
	case 's':
		if t.mode.margins {
			t.setMargins(n, p.arg(1, t.cols))
		} else {
			t.saveCursor()
		}
	case 't':
		t.window()
	case 'u':
		t.restoreCursor()
	case 'x': // DECREQTPARM
		if k := p.arg(0, 0); k <= 1 {
			t.replyf("\x1b[%d;1;1;128;128;1;0x", k+2)
		}
	}
}

func (t *Terminal) csiPrivate(final byte) {
	p := &t.parser
	switch final {
	case 'J':
		t.eraseScreen(p.arg(0, 0), true)
	case 'K':
		t.eraseLine(p.arg(0, 0), true)
	case 'W': // DECST8C
		if p.arg(0, 0) == 5 {
			t.resetTabs()
		}
	case 'h', 'l':
		for i := range p.params {
			t.setPrivate(p.arg(i, 0), final == 'h')
		}
	case 'm': // XTQMODKEYS
		if p.arg(0, 0) == 4 {
			t.replyf("\x1b[>4;%dm", t.mode.modifyOther)
		}
	case 'n':
		t.status(p.arg(0, 0), true)
	case 'r', 's': // XTRESTORE, XTSAVE
		for i := range p.params {
			t.keepMode(p.arg(i, 0), final == 's')
		}
	case 'u':
		t.replyf("\x1b[?%du", t.kittyFlags())
	}
}

func (t *Terminal) csiGreater(final byte) {
	p := &t.parser
	switch final {
	case 'c': // DA2: a VT220, and a number that programs compare with xterm's
		if p.arg(0, 0) == 0 {
			t.reply("\x1b[>1;377;0c")
		}
	case 'm': // XTMODKEYS
		if p.params == 0 || p.arg(0, 0) == 4 {
			t.mode.modifyOther = uint8(clamp(p.arg(1, 0), 0, 2))
		}
	case 'n':
		if p.arg(0, 0) == 4 {
			t.mode.modifyOther = 0
		}
	case 'q': // XTVERSION
		if p.arg(0, 0) == 0 {
			t.reply("\x1bP>|DeskVNC(" + cleanTitle([]byte(t.version)) + ")\x1b\\")
		}
	case 'u':
		t.kittyPush(p.arg(0, 0))
	}
}

func (t *Terminal) csiMiddle(final byte) {
	p := &t.parser
	if p.middles != 1 {
		return
	}
	switch m := p.middle[0]; {
	case m == '!' && final == 'p' && p.prefix == 0: // DECSTR
		t.softReset()
	case m == ' ' && final == 'q' && p.prefix == 0: // DECSCUSR
		if n := p.arg(0, 0); n <= 6 {
			t.mode.cursorStyle = uint8(n)
		}
	case m == ' ' && final == '@' && p.prefix == 0: // SL
		t.shiftLeft(p.arg(0, 1))
	case m == ' ' && final == 'A' && p.prefix == 0: // SR
		t.shiftLeft(-p.arg(0, 1))
	case m == '"' && final == 'q' && p.prefix == 0: // DECSCA
		switch p.arg(0, 0) {
		case 0, 2:
			t.pen.Attr &^= protected
		case 1:
			t.pen.Attr |= protected
		}
	case m == '$' && final == 'p':
		t.reportMode(p.arg(0, 0), p.prefix)
	case m == '\'' && final == '}' && p.prefix == 0: // DECIC
		t.shiftColumns(t.x, p.arg(0, 1))
	case m == '\'' && final == '~' && p.prefix == 0: // DECDC
		t.shiftColumns(t.x, -p.arg(0, 1))
	}
}

// shiftLeft does SL, and with a number below 0 SR.
func (t *Terminal) shiftLeft(n int) {
	if t.y < t.top || t.y > t.bot || t.x < t.left || t.x > t.rgt {
		return
	}
	t.shiftColumns(t.left, -n)
}

// repeat does REP.
func (t *Terminal) repeat(n int) {
	if t.last == 0 {
		return
	}
	n = min(n, t.cols*t.rows)
	t.work += n
	if t.last < 0x7f && t.set.plain() && !t.mode.insert {
		var b [256]byte
		for i := range b {
			b[i] = byte(t.last)
		}
		for ; n > 0; n -= len(b) {
			t.ascii(b[:min(n, len(b))])
		}
		return
	}
	w := runeWidth(t.last)
	for ; n > 0; n-- {
		t.put(t.last, w, t.pen.Attr)
	}
}

// setRegion does DECSTBM.
func (t *Terminal) setRegion(top, bot int) {
	bot = min(bot, t.rows)
	if top >= bot {
		return
	}
	t.top, t.bot = top-1, bot-1
	t.moveTo(1, 1)
}

// setMargins does DECSLRM.
func (t *Terminal) setMargins(left, rgt int) {
	rgt = min(rgt, t.cols)
	if left >= rgt {
		return
	}
	t.left, t.rgt = left-1, rgt-1
	t.moveTo(1, 1)
}
