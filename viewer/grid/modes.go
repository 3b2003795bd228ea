package grid

// A Mouse is what a program wants to hear of the mouse.
type Mouse uint16

// The mouse modes, by their numbers.
const (
	NoMouse      Mouse = 0
	MouseX10     Mouse = 9    // presses only
	MouseClicks  Mouse = 1000 // presses and releases
	MouseDrags   Mouse = 1002 // and motion while a button is held
	MouseMotions Mouse = 1003 // and all motion
)

// A MouseForm is how mouse reports are written.
type MouseForm uint16

// The forms, by their numbers.
const (
	MouseBytes  MouseForm = 0
	MouseUTF8   MouseForm = 1005
	MouseSGR    MouseForm = 1006
	MouseURXVT  MouseForm = 1015
	MousePixels MouseForm = 1016 // as SGR, in pixels
)

// Modes are what a program asked for that a window or a keyboard must know.
type Modes struct {
	Alternate       bool // the alternate screen is shown
	AppCursor       bool // DECCKM
	AppKeypad       bool // DECNKM, DECKPAM
	NewLine         bool // LNM: Return sends CR LF
	BackspaceBS     bool // DECBKM: Backspace sends BS, not DEL
	BracketedPaste  bool
	Focus           bool // reports of focus are wanted
	Mouse           Mouse
	MouseForm       MouseForm
	AlternateScroll bool // the wheel sends arrows on the alternate screen
	Reverse         bool // DECSCNM: the whole screen reversed
	MetaEsc         bool // Alt sends ESC first
	ModifyOther     uint8
	Kitty           uint8 // flags of the kitty keyboard protocol
}

// modes are all modes.
type modes struct {
	autowrap, origin, insert, newline, cursorOn, reverse, reverseWrap bool
	appCursor, appKeypad, bsKey, paste, focus, altScroll, metaEsc     bool
	margins, allow132, clusters, noBlink                              bool
	mouse                                                             Mouse
	form                                                              MouseForm
	cursorStyle                                                       uint8
	modifyOther                                                       uint8
	kept                                                              map[int]bool
}

// Modes returns the modes.
func (t *Terminal) Modes() Modes {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.modes()
}

func (t *Terminal) modes() Modes {
	m := &t.mode
	return Modes{
		Alternate: t.scr == &t.alt, AppCursor: m.appCursor, AppKeypad: m.appKeypad, NewLine: m.newline,
		BackspaceBS: m.bsKey, BracketedPaste: m.paste, Focus: m.focus, Mouse: m.mouse, MouseForm: m.form,
		AlternateScroll: m.altScroll, Reverse: m.reverse, MetaEsc: m.metaEsc, ModifyOther: m.modifyOther,
		Kitty: t.kittyFlags(),
	}
}

func (t *Terminal) setANSI(n int, on bool) {
	switch n {
	case 4: // IRM
		t.mode.insert = on
	case 20: // LNM
		t.mode.newline = on
	}
}

// flag is the place of a private mode that is nothing but on or off.
func (m *modes) flag(n int) *bool {
	switch n {
	case 1:
		return &m.appCursor
	case 5:
		return &m.reverse
	case 7:
		return &m.autowrap
	case 25:
		return &m.cursorOn
	case 40:
		return &m.allow132
	case 45:
		return &m.reverseWrap
	case 66:
		return &m.appKeypad
	case 67:
		return &m.bsKey
	case 1004:
		return &m.focus
	case 1007:
		return &m.altScroll
	case 1036:
		return &m.metaEsc
	case 2004:
		return &m.paste
	case 2027:
		return &m.clusters
	}
	return nil
}

func (t *Terminal) setPrivate(n int, on bool) {
	if f := t.mode.flag(n); f != nil {
		*f = on
		return
	}
	switch n {
	case 3: // DECCOLM: the width is the window's, the rest is done
		if t.mode.allow132 {
			t.top, t.bot, t.left, t.rgt = 0, t.rows-1, 0, t.cols-1
			t.eraseScreen(2, false)
			t.moveTo(1, 1)
		}
	case 6: // DECOM
		t.mode.origin = on
		t.moveTo(1, 1)
	case 12:
		t.mode.noBlink = !on
	case 69: // DECLRMM
		t.mode.margins = on
		t.left, t.rgt = 0, t.cols-1
	case 9, 1000, 1002, 1003:
		if on {
			t.mode.mouse = Mouse(n)
		} else {
			t.mode.mouse = NoMouse
		}
	case 1005, 1006, 1015, 1016:
		if on {
			t.mode.form = MouseForm(n)
		} else if t.mode.form == MouseForm(n) {
			t.mode.form = MouseBytes
		}
	case 47:
		t.alternate(on, false)
	case 1047:
		t.alternate(on, !on)
	case 1048:
		if on {
			t.saveCursor()
		} else {
			t.restoreCursor()
		}
	case 1049:
		if on {
			if t.scr == &t.main {
				t.saveCursor()
			}
			t.alternate(true, true)
		} else if t.scr == &t.alt {
			t.alternate(false, true)
			t.restoreCursor()
		}
	case 2026:
		t.hold(on)
	}
}

// modeState is 1 for a mode that is set, 2 for one that is not, 0 for one that
// is not known (DECRPM).
func (t *Terminal) modeState(n int) int {
	m := &t.mode
	var on bool
	if f := m.flag(n); f != nil {
		on = *f
	} else {
		switch n {
		case 3:
			return 4 // never
		case 6:
			on = m.origin
		case 12:
			on = !m.noBlink
		case 69:
			on = m.margins
		case 9, 1000, 1002, 1003:
			on = m.mouse == Mouse(n)
		case 1005, 1006, 1015, 1016:
			on = m.form == MouseForm(n)
		case 47, 1047, 1049:
			on = t.scr == &t.alt
		case 1048:
			on = t.scr.saved.ok
		case 2026:
			on = t.held()
		default:
			return 0
		}
	}
	if on {
		return 1
	}
	return 2
}

func (t *Terminal) reportMode(n int, prefix byte) {
	switch prefix {
	case '?':
		t.replyf("\x1b[?%d;%d$y", n, t.modeState(n))
	case 0:
		s := 0
		switch {
		case n == 4 && t.mode.insert, n == 20 && t.mode.newline:
			s = 1
		case n == 4, n == 20:
			s = 2
		}
		t.replyf("\x1b[%d;%d$y", n, s)
	}
}

// keepMode does XTSAVE and XTRESTORE of one private mode.
func (t *Terminal) keepMode(n int, save bool) {
	if n == 2026 || n == 1048 {
		return
	}
	s := t.modeState(n)
	if s != 1 && s != 2 {
		return
	}
	if save {
		if t.mode.kept == nil {
			t.mode.kept = map[int]bool{}
		}
		t.mode.kept[n] = s == 1
	} else if on, ok := t.mode.kept[n]; ok && on != (s == 1) {
		t.setPrivate(n, on)
	}
}

// alternate switches screens; erase clears the alternate one.
func (t *Terminal) alternate(on, erase bool) {
	if on {
		if t.scr == &t.main {
			t.scr = &t.alt
			t.epoch++
		}
		if erase {
			t.eraseAlt()
		}
		return
	}
	t.leaveAlt(erase)
}

func (t *Terminal) leaveAlt(erase bool) {
	if t.scr != &t.alt {
		return
	}
	if erase {
		t.eraseAlt()
	}
	t.scr = &t.main
	t.epoch++
}

func (t *Terminal) eraseAlt() {
	for _, r := range t.alt.rows {
		t.fillRow(r)
	}
}

// maxKitty is the number of flags that are kept of those pushed.
const maxKitty = 16

// kittyKnown are the flags of which viewer/key writes the keys: disambiguate,
// event types, alternate keys, all keys as sequences, text with them.
const kittyKnown = 0x1f

func (t *Terminal) kittyFlags() uint8 {
	if n := len(t.scr.kitty); n > 0 {
		return t.scr.kitty[n-1]
	}
	return 0
}

func (t *Terminal) kittyPush(flags int) {
	s := t.scr
	if len(s.kitty) == 0 {
		s.kitty = append(s.kitty, 0)
	}
	if len(s.kitty) > maxKitty {
		s.kitty = append(s.kitty[:0], s.kitty[1:]...)
	}
	s.kitty = append(s.kitty, uint8(flags&kittyKnown))
}

func (t *Terminal) kittyPop(n int) {
	s := t.scr
	s.kitty = s.kitty[:max(0, len(s.kitty)-n)]
}

func (t *Terminal) kittySet(flags, how int) {
	s := t.scr
	if len(s.kitty) == 0 {
		s.kitty = append(s.kitty, 0)
	}
	f := &s.kitty[len(s.kitty)-1]
	switch how {
	case 1:
		*f = uint8(flags & kittyKnown)
	case 2:
		*f |= uint8(flags & kittyKnown)
	case 3:
		*f &^= uint8(flags)
	}
}
