package key

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Mods are the modifiers held with a key, with the values that terminal
// programs know.
type Mods uint8

// The modifiers.
const (
	ModShift Mods = 1
	ModAlt   Mods = 2
	ModCtrl  Mods = 4
	ModSuper Mods = 8
)

// An Action is what a key does. The values are those of the kitty keyboard
// protocol.
type Action uint8

// The actions.
const (
	Press   Action = 1
	Repeat  Action = 2
	Release Action = 3
)

// A Stroke is one action of a key, for a program in a terminal.
type Stroke struct {
	Sym     uint32 // keysym
	Rune    rune   // the character that the key types, with Shift applied; 0 for none
	Mods    Mods
	Action  Action // the zero Action is a press
	NumLock bool
}

// A Term is the keyboard of a terminal: the modes that its program set.
type Term struct {
	AppCursor   bool // DECCKM
	AppKeypad   bool // DECKPAM
	NewLine     bool // LNM
	BackspaceBS bool // DECBKM
	MetaEsc     bool // Alt sends ESC first
	ModifyOther uint8
	Kitty       uint8 // flags of the kitty keyboard protocol
}

// The flags of the kitty keyboard protocol.
const (
	kittyDisambiguate = 1
	kittyEvents       = 2
	kittyAlternates   = 4
	kittyAll          = 8
	kittyText         = 16
)

// A termKey is how a key that types nothing is written: CSI number final.
type termKey struct {
	number int
	final  byte
}

// termKeys are the keys of a PC keyboard as xterm writes them.
var termKeys = map[uint32]termKey{
	0xff52: {1, 'A'}, 0xff54: {1, 'B'}, 0xff53: {1, 'C'}, 0xff51: {1, 'D'}, 0xff50: {1, 'H'}, 0xff57: {1, 'F'}, 0xff0b: {1, 'E'},
	0xff63: {2, '~'}, Delete: {3, '~'}, 0xff55: {5, '~'}, 0xff56: {6, '~'},
	0xffbe: {1, 'P'}, 0xffbf: {1, 'Q'}, 0xffc0: {1, 'R'}, 0xffc1: {1, 'S'}, 0xffc2: {15, '~'}, 0xffc3: {17, '~'},
	0xffc4: {18, '~'}, 0xffc5: {19, '~'}, 0xffc6: {20, '~'}, 0xffc7: {21, '~'}, 0xffc8: {23, '~'}, 0xffc9: {24, '~'},
	0xffca: {25, '~'}, 0xffcb: {26, '~'}, 0xffcc: {28, '~'}, 0xffcd: {29, '~'}, 0xffce: {31, '~'}, 0xffcf: {32, '~'},
	0xffd0: {33, '~'}, 0xffd1: {34, '~'}, 0xff67: {29, '~'},
}

// padKeys are the keys of the keypad without NumLock.
var padKeys = map[uint32]uint32{
	0xff95: 0xff50, 0xff96: 0xff51, 0xff97: 0xff52, 0xff98: 0xff53, 0xff99: 0xff54, 0xff9a: 0xff55, 0xff9b: 0xff56, 0xff9c: 0xff57,
	0xff9d: 0xff0b, 0xff9e: 0xff63, 0xff9f: Delete,
}

// padRunes are the keys of the keypad that type.
var padRunes = map[uint32]rune{
	0xffaa: '*', 0xffab: '+', 0xffac: ',', 0xffad: '-', 0xffae: '.', 0xffaf: '/', 0xffbd: '=',
	0xffb0: '0', 0xffb1: '1', 0xffb2: '2', 0xffb3: '3', 0xffb4: '4', 0xffb5: '5', 0xffb6: '6', 0xffb7: '7', 0xffb8: '8', 0xffb9: '9',
}

const (
	padEnter = 0xff8d
	leftTab  = 0xfe20 // Shift and Tab on X11
)

// Bytes are what a stroke sends to the program, as xterm writes it; nil when
// that is nothing: for a modifier, for a release that nobody asked for.
func (t Term) Bytes(s Stroke) []byte {
	if s.Action == 0 {
		s.Action = Press
	}
	if s.Sym == leftTab {
		s.Sym, s.Mods = Tab, s.Mods|ModShift
	}
	if t.Kitty != 0 {
		return t.kitty(s)
	}
	if s.Action == Release {
		return nil
	}
	if nav, ok := padKeys[s.Sym]; ok {
		s.Sym, s.Rune = nav, 0
	}
	if r, ok := padRunes[s.Sym]; ok {
		if t.AppKeypad && !s.NumLock && s.Mods == 0 {
			// SS3 and the character, 0x40 higher.
			return []byte{0x1b, 'O', byte(r) + 0x40}
		}
		s.Rune = r
	}
	switch s.Sym {
	case padEnter:
		if t.AppKeypad && s.Mods == 0 {
			return []byte("\x1bOM")
		}
		return t.control(s, '\r')
	case Return:
		return t.control(s, '\r')
	case Tab:
		return t.control(s, '\t')
	case Escape:
		return t.control(s, 0x1b)
	case BackSpace:
		return t.control(s, 0x7f)
	}
	if k, ok := termKeys[s.Sym]; ok {
		return k.bytes(s.Mods, t.AppCursor, 0)
	}
	if s.Rune == 0 {
		s.Rune = Rune(s.Sym)
	}
	if s.Rune < 0x20 {
		return nil
	}
	return t.typed(s)
}

func (k termKey) bytes(m Mods, app bool, event Action) []byte {
	b := []byte{0x1b, '['}
	if event <= Press {
		event = 0
	}
	if m == 0 && event == 0 {
		switch {
		case k.final == '~':
			return append(strconv.AppendInt(b, int64(k.number), 10), '~')
		case k.final >= 'P' && k.final <= 'S', app:
			b[1] = 'O'
		}
		return append(b, k.final)
	}
	b = strconv.AppendInt(b, int64(k.number), 10)
	b = append(b, ';')
	b = strconv.AppendInt(b, int64(m)+1, 10)
	if event > 0 {
		b = append(b, ':', '0'+byte(event))
	}
	return append(b, k.final)
}

// other is modifyOtherKeys' form.
func other(m Mods, code rune) []byte {
	b := append([]byte("\x1b[27;"), strconv.Itoa(int(m)+1)...)
	b = append(b, ';')
	return append(strconv.AppendInt(b, int64(code), 10), '~')
}

// control writes Return, Tab, Escape and Backspace.
func (t Term) control(s Stroke, c byte) []byte {
	if t.ModifyOther == 2 && s.Mods != 0 && (c != '\t' || s.Mods != ModShift) && (c != 0x7f || s.Mods != ModCtrl) {
		return other(s.Mods, rune(c))
	}
	if t.ModifyOther == 1 && s.Mods&(ModCtrl|ModShift) != 0 && c != 0x7f && c != 0x1b && (c != '\t' || s.Mods != ModShift) {
		return other(s.Mods, rune(c))
	}
	var b []byte
	if s.Mods&ModAlt != 0 {
		b = append(b, 0x1b)
	}
	switch {
	case c == '\t' && s.Mods&ModShift != 0:
		return append(b, "\x1b[Z"...)
	case c == '\r' && t.NewLine:
		return append(b, "\r\n"...)
	case c == 0x7f && t.BackspaceBS != (s.Mods&ModCtrl != 0):
		c = 0x08
	}
	return append(b, c)
}

// ctrl is the control character of a key held with Control.
func ctrl(r rune) (byte, bool) {
	switch {
	case r >= 'a' && r <= 'z', r >= '@' && r <= '_':
		return byte(r) & 0x1f, true
	case r == ' ' || r == '2' || r == '`':
		return 0, true
	case r >= '3' && r <= '7':
		return byte(r-'3') + 0x1b, true
	case r == '8' || r == '?':
		return 0x7f, true
	case r == '/' || r == '-':
		return 0x1f, true
	case r == '~':
		return 0x1e, true
	case r == '{' || r == '}' || r == '|':
		return byte(r) & 0x1f, true
	}
	return 0, false
}

// typed writes a key that types a character.
func (t Term) typed(s Stroke) []byte {
	if t.ModifyOther == 2 && s.Mods != 0 {
		return other(s.Mods, s.Rune)
	}
	if s.Mods&^ModShift == 0 {
		return utf8.AppendRune(nil, s.Rune)
	}
	c, is := ctrl(s.Rune)
	if t.ModifyOther == 1 && s.Mods&ModCtrl != 0 && !is {
		return other(s.Mods, s.Rune)
	}
	r := s.Rune
	if s.Mods&ModCtrl != 0 && is {
		r = rune(c)
	}
	if s.Mods&ModAlt == 0 {
		return utf8.AppendRune(nil, r)
	}
	if !t.MetaEsc && r < 0x80 {
		return utf8.AppendRune(nil, r+0x80)
	}
	return utf8.AppendRune([]byte{0x1b}, r)
}

// kittyCodes are the numbers of the protocol for keys that have neither a
// character nor an older sequence.
var kittyCodes = map[uint32]int{
	CapsLock: 57358, 0xff14: 57359, NumLock: 57360, 0xff61: 57361, 0xff13: 57362, 0xff67: 57363,
	0xffca: 57376, 0xffcb: 57377, 0xffcc: 57378, 0xffcd: 57379, 0xffce: 57380, 0xffcf: 57381, 0xffd0: 57382, 0xffd1: 57383,
	0xffb0: 57399, 0xffb1: 57400, 0xffb2: 57401, 0xffb3: 57402, 0xffb4: 57403, 0xffb5: 57404, 0xffb6: 57405, 0xffb7: 57406,
	0xffb8: 57407, 0xffb9: 57408, 0xffae: 57409, 0xffaf: 57410, 0xffaa: 57411, 0xffad: 57412, 0xffab: 57413, padEnter: 57414,
	0xffbd: 57415, 0xffac: 57416, 0xff96: 57417, 0xff98: 57418, 0xff97: 57419, 0xff99: 57420, 0xff9a: 57421, 0xff9b: 57422,
	0xff95: 57423, 0xff9c: 57424, 0xff9e: 57425, 0xff9f: 57426, 0xff9d: 57427,
	ShiftL: 57441, ControlL: 57442, AltL: 57443, SuperL: 57444, HyperR - 1: 57445, MetaL: 57446,
	ShiftR: 57447, ControlR: 57448, AltR: 57449, SuperR: 57450, HyperR: 57451, ISOLevel3: 57453,
}

// kitty writes a stroke in the kitty keyboard protocol.
func (t Term) kitty(s Stroke) []byte {
	all := t.Kitty&kittyAll != 0
	event := Press
	if t.Kitty&kittyEvents != 0 {
		event = s.Action
	} else if s.Action == Release {
		return nil
	}
	if k, ok := termKeys[s.Sym]; ok && kittyCodes[s.Sym] == 0 {
		if s.Sym == 0xffc0 { // F3: its older form is that of a report
			k = termKey{13, '~'}
		}
		return k.bytes(s.Mods, t.AppCursor && t.Kitty&kittyDisambiguate == 0, event)
	}
	var code int
	switch s.Sym {
	case Return, Tab, BackSpace, Escape:
		c := map[uint32]int{Return: 13, Tab: 9, BackSpace: 127, Escape: 27}[s.Sym]
		if !all && s.Sym != Escape && s.Mods == 0 {
			// So that a shell can be typed to after a program crashed.
			if s.Action == Release {
				return nil
			}
			return t.control(s, byte(c))
		}
		return kittyKey(c, 0, s.Mods, event, 0)
	}
	if code = kittyCodes[s.Sym]; code != 0 {
		if r, ok := padRunes[s.Sym]; ok && s.Rune == 0 {
			s.Rune = r
		}
		modifier := s.Sym >= ShiftL && s.Sym <= HyperR || s.Sym == ISOLevel3 || s.Sym == NumLock || s.Sym == 0xff14
		if modifier && !all {
			return nil
		}
	}
	if s.Rune == 0 {
		s.Rune = Rune(s.Sym)
	}
	if s.Rune < 0x20 && code == 0 {
		return nil
	}
	held := s.Mods &^ ModShift
	if !all && held == 0 && s.Rune >= 0x20 && (s.Action != Release) {
		return utf8.AppendRune(nil, s.Rune)
	}
	if !all && s.Action == Release && held == 0 && s.Rune >= 0x20 {
		return nil
	}
	shifted := rune(0)
	if code == 0 {
		plain := unshifted(s.Rune)
		if plain != s.Rune && t.Kitty&kittyAlternates != 0 && s.Mods&ModShift != 0 {
			shifted = s.Rune
		}
		code = int(plain)
	}
	text := rune(0)
	if t.Kitty&kittyText != 0 && all && s.Rune >= 0x20 && held == 0 && s.Action != Release {
		text = s.Rune
	}
	return kittyKey(code, shifted, s.Mods, event, text)
}

// unshifted is the character of a key without Shift, on a US keyboard.
func unshifted(r rune) rune {
	for plain, s := range usShift {
		if s == r && plain != r {
			return plain
		}
	}
	return unicode.ToLower(r)
}

func kittyKey(code int, shifted rune, m Mods, event Action, text rune) []byte {
	b := strconv.AppendInt([]byte("\x1b["), int64(code), 10)
	if shifted != 0 {
		b = strconv.AppendInt(append(b, ':'), int64(shifted), 10)
	}
	if m != 0 || event > Press || text != 0 {
		b = append(b, ';')
		if m != 0 || event > Press {
			b = strconv.AppendInt(b, int64(m)+1, 10)
		}
		if event > Press {
			b = append(b, ':', '0'+byte(event))
		}
		if text != 0 {
			b = strconv.AppendInt(append(b, ';'), int64(text), 10)
		}
	}
	return append(b, 'u')
}
