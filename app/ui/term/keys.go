package term

import (
	"fyne.io/fyne/v2"

	"deskvnc/app/ui/keyboard"
	"deskvnc/viewer"
	"deskvnc/viewer/key"
)

// A strokes is a source of keys that can be looked at before a key is passed
// on.
type strokes struct {
	source keyboard.Source // nil when only the toolkit tells
	code   int
	next   keyboard.Stroke
	known  bool
	looked bool
}

// look is what the key means that has just gone down.
func (s *strokes) look(code int) (keyboard.Stroke, bool) {
	s.looked = s.source != nil
	if s.looked {
		s.code = code
		s.next, s.known = s.source.Press(code)
	}
	return s.next, s.looked && s.known
}

// Press implements keyboard.Source.
func (s *strokes) Press(code int) (keyboard.Stroke, bool) {
	if s.looked && s.code == code {
		s.looked = false
		return s.next, s.known
	}
	return s.source.Press(code)
}

// localKeys are the keys that stay here.
type localKeys struct {
	mods  map[int]key.Mods // modifiers that are down, by the code of the key
	kept  map[int]func()   // keys that are down and were not passed on, and what they do
	last  int              // the code of the one pressed last, when it was kept
	fresh bool             // the toolkit's second word on it is still to come
}

func (l *localKeys) reset() { l.mods, l.kept, l.last, l.fresh = nil, nil, 0, false }

func (l *localKeys) held() (m key.Mods) {
	for _, o := range l.mods {
		m |= o
	}
	return m
}

var modSyms = map[uint32]key.Mods{
	key.ShiftL: key.ModShift, key.ShiftR: key.ModShift, key.ControlL: key.ModCtrl, key.ControlR: key.ModCtrl,
	key.AltL: key.ModAlt, key.AltR: key.ModAlt, key.MetaL: key.ModAlt, 0xffe8: key.ModAlt,
	0xffeb: key.ModSuper, 0xffec: key.ModSuper,
}

var modNames = map[string]key.Mods{
	"LeftShift": key.ModShift, "RightShift": key.ModShift, "LeftControl": key.ModCtrl, "RightControl": key.ModCtrl,
	"LeftAlt": key.ModAlt, "RightAlt": key.ModAlt, "LeftSuper": key.ModSuper, "RightSuper": key.ModSuper,
}

// The keysyms of the keys that move in the scrollback, on both parts of the
// keyboard.
var moves = map[uint32]string{
	0xff55: "Prior", 0xff56: "Next", 0xff50: "Home", 0xff57: "End", 0xff9a: "Prior", 0xff9b: "Next", 0xff95: "Home", 0xff9c: "End",
}

const escape = 0xff1b

// own is what a key does here; nil for one that is the program's.
func (s *Screen) own(name string, st keyboard.Stroke, known bool) func() {
	mods := s.local.held()
	if known {
		switch {
		case moves[st.Sym] != "":
			name = moves[st.Sym]
		case st.Sym == escape:
			name = "Escape"
		case st.Cap == 0xffab:
			name = "+"
		case st.Cap == 0xffad:
			name = "-"
		case st.Cap > 0x20 && st.Cap < 0x7f:
			name = string(rune(st.Cap))
		default:
			name = ""
		}
	}
	if len(name) == 1 && name[0] >= 'a' && name[0] <= 'z' {
		name = string(name[0] - 'a' + 'A')
	}
	switch mods {
	case 0:
		if name == "Escape" && s.config.Refuse != nil && s.config.Refuse() {
			return func() {}
		}
	case key.ModCtrl | key.ModShift:
		switch name {
		case "C":
			return s.Copy
		case "V":
			return s.Paste
		case "F":
			return s.Find
		case "A":
			return s.SelectAll
		case "+", "=":
			return func() { s.resizeText(s.size + 1) }
		case "-", "_":
			return func() { s.resizeText(s.size - 1) }
		case "0", ")":
			return func() { s.resizeText(UsualSize) }
		}
	case key.ModShift:
		v := &s.paint.view
		if v.Modes.Alternate {
			return nil
		}
		switch name {
		case "Prior":
			return func() { s.scroll(max(v.Rows-1, 1)) }
		case "Next":
			return func() { s.scroll(-max(v.Rows-1, 1)) }
		case "Home":
			return func() { s.scroll(v.Scrollback) }
		case "End":
			return s.bottom
		}
	}
	return nil
}

// resizeText changes the size of the text because a person said so.
func (s *Screen) resizeText(size float32) {
	s.SetTextSize(size)
	s.config.Sized(s.size)
}

// press notes a key going down and does what it does here; it reports false
// for one that is the program's.
func (s *Screen) press(name string, code int, st keyboard.Stroke, known bool) bool {
	l := &s.local
	m := modNames[name]
	if known {
		m = modSyms[st.Sym]
	}
	if m != 0 {
		if l.mods == nil {
			l.mods = map[int]key.Mods{}
		}
		l.mods[code] = m
		return false
	}
	l.last = 0
	do := s.own(name, st, known)
	if do == nil {
		return false
	}
	if l.kept == nil {
		l.kept = map[int]func(){}
	}
	l.kept[code], l.last = do, code
	s.keys.Flush()
	do()
	return true
}

// KeyDown is called by the toolkit.
func (s *Screen) KeyDown(ev *fyne.KeyEvent) {
	name, code := string(ev.Name), ev.Physical.ScanCode
	st, known := s.strokes.look(code)
	if known && st.Sym == 0 {
		known = false
	}
	if s.press(name, code, st, known) {
		s.local.fresh = true
		return
	}
	s.keys.Down(name, code)
}

// KeyUp is called by the toolkit.
func (s *Screen) KeyUp(ev *fyne.KeyEvent) { s.up(ev.Physical.ScanCode) }

func (s *Screen) up(code int) {
	delete(s.local.mods, code)
	if _, ok := s.local.kept[code]; ok {
		delete(s.local.kept, code)
		if s.local.last == code {
			s.local.last = 0
		}
		return
	}
	s.keys.Up(code)
}

// repeat takes the toolkit's second word on a key that stays here, and what
// tells that it is still held. It reports false for other keys.
func (s *Screen) repeat() bool {
	l := &s.local
	do := l.kept[l.last]
	if l.last == 0 || do == nil {
		return false
	}
	if l.fresh {
		l.fresh = false
	} else {
		do()
	}
	return true
}

// TypedKey is called by the toolkit.
func (s *Screen) TypedKey(ev *fyne.KeyEvent) {
	if !s.repeat() {
		s.keys.Typed(string(ev.Name), ev.Physical.ScanCode)
	}
}

// TypedShortcut is called by the toolkit. Shortcuts are for the program, and
// their keys have been told of already.
func (s *Screen) TypedShortcut(fyne.Shortcut) {
	if !s.repeat() {
		s.keys.Typed("", 0)
	}
}

// TypedRune is called by the toolkit.
func (s *Screen) TypedRune(r rune) {
	if s.local.last == 0 {
		s.keys.Rune(r)
	}
}

// AcceptsTab is called by the toolkit: Tab is for the program.
func (s *Screen) AcceptsTab() bool { return true }

// Key takes a key that comes past the toolkit, while the keyboard is grabbed.
func (s *Screen) Key(code int, st keyboard.Stroke, down bool) {
	if !down {
		if _, ok := s.local.kept[code]; !ok {
			delete(s.local.mods, code)
			s.keys.Key(code, st, false)
			return
		}
		s.up(code)
		return
	}
	if do := s.local.kept[code]; do != nil {
		do()
		return
	}
	if !s.press("", code, st, st.Sym != 0) {
		s.keys.Key(code, st, true)
	}
}

// send passes a key on. A key that is more than a modifier brings back what
// the program shows now.
func (s *Screen) send(k viewer.Key) {
	if k.Down && modSyms[k.Sym] == 0 && !(k.Sym >= 0xffe1 && k.Sym <= 0xffee) && k.Sym != 0xfe03 {
		s.bottom()
		s.stir()
	}
	s.config.Input(k)
}
