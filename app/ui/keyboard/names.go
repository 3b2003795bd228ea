package keyboard

import (
	"strings"

	"deskvnc/viewer"
	"deskvnc/viewer/key"
)

// Keysyms that only this package needs.
const (
	metaR       uint32 = 0xffe8
	multiKey    uint32 = 0xff20
	modeSwitch  uint32 = 0xff7e
	level5      uint32 = 0xfe11
	deadFirst   uint32 = 0xfe50
	deadLast    uint32 = 0xfe93
	keypadSpace uint32 = 0xff80
	keypadNine  uint32 = 0xffb9
	keypadEqual uint32 = 0xffbd
)

// modifier reports whether a keysym only changes what other keys mean.
func modifier(sym uint32) bool {
	switch sym {
	case key.ISOLevel3, level5, modeSwitch:
		return true
	}
	return key.Key{Sym: sym}.Modifier()
}

// dead reports whether a keysym waits for the next key to make a character.
func dead(sym uint32) bool {
	return sym >= deadFirst && sym <= deadLast || sym == multiKey
}

// typed is the character that a keysym makes, or 0.
func typed(sym uint32) rune {
	switch {
	case sym == keypadSpace:
		return ' '
	case sym == keypadEqual:
		return '='
	case sym >= 0xffaa && sym <= keypadNine: // KP_Multiply to KP_9, in the order of ASCII
		return rune(sym - 0xff80)
	}
	return key.Rune(sym)
}

// scanByte is a key code as X11 has it, or 0.
func scanByte(code int) byte {
	if code < 0 || code > 255 {
		return 0
	}
	return byte(code)
}

// toolkit are the names of Fyne's keys where they are not the DOM's.
var toolkit = map[string]string{
	"LeftShift": "ShiftLeft", "RightShift": "ShiftRight", "LeftControl": "ControlLeft", "RightControl": "ControlRight",
	"LeftAlt": "AltLeft", "RightAlt": "AltRight", "LeftSuper": "MetaLeft", "RightSuper": "MetaRight", "Menu": "ContextMenu",
	"Prior": "PageUp", "Next": "PageDown", "Return": "Enter", "KP_Enter": "NumpadEnter", "Up": "ArrowUp", "Down": "ArrowDown",
	"Left": "ArrowLeft", "Right": "ArrowRight", "Space": " ", "BackSpace": "Backspace",
}

// byName makes do with the toolkit's name of a key: letters come small, since
// the character that follows says otherwise.
func (k *Keyboard) byName(name string, locks viewer.Locks) Stroke {
	s := Stroke{Locks: locks, Plain: true}
	if dom, ok := toolkit[name]; ok {
		name = dom
	}
	if len(name) == 1 {
		name = strings.ToLower(name)
	}
	if found, _, ok := key.Lookup(name); ok {
		s.Sym, s.Cap = found.Sym, found.Sym
	}
	for _, p := range k.held {
		if sym := p.key.Sym; modifier(sym) && sym != key.ShiftL && sym != key.ShiftR && sym != key.ISOLevel3 {
			s.Plain = false
		}
	}
	return s
}

// caps are the names of keys in chords, where they are not what they print.
var caps = map[uint32]string{
	' ': "Space", key.Return: "Enter", 0xff8d: "Enter", key.Tab: "Tab", key.Escape: "Escape", key.BackSpace: "Backspace",
	key.Delete: "Delete", 0xff63: "Insert", 0xff50: "Home", 0xff57: "End", 0xff55: "PageUp", 0xff56: "PageDown",
	0xff51: "Left", 0xff52: "Up", 0xff53: "Right", 0xff54: "Down", 0xff9c: "End", 0xff9e: "Insert",
}

// us are the caps of a US keyboard by key code, the printable ones.
var us = map[int]string{
	10: "1", 11: "2", 12: "3", 13: "4", 14: "5", 15: "6", 16: "7", 17: "8", 18: "9", 19: "0", 20: "-", 21: "=",
	24: "Q", 25: "W", 26: "E", 27: "R", 28: "T", 29: "Y", 30: "U", 31: "I", 32: "O", 33: "P", 34: "[", 35: "]",
	38: "A", 39: "S", 40: "D", 41: "F", 42: "G", 43: "H", 44: "J", 45: "K", 46: "L", 47: ";", 48: "'", 49: "`",
	51: "\\", 52: "Z", 53: "X", 54: "C", 55: "V", 56: "B", 57: "N", 58: "M", 59: ",", 60: ".", 61: "/", 65: "Space",
}

// capNames are the names under which a chord with a key may be known: what is
// printed on it; then, when that is no Latin letter or digit, what a US
// keyboard has in its place. A French digit row is a digit row in chords, and
// a Russian keyboard has all of them.
func capNames(printed uint32, code int) []string {
	if name, ok := caps[printed]; ok {
		return []string{name}
	}
	if printed >= 0xffbe && printed <= 0xffd5 { // F1 to F24
		return []string{"F" + itoa(int(printed-0xffbe)+1)}
	}
	r := typed(printed)
	var names []string
	switch {
	case r >= 'a' && r <= 'z':
		return []string{string(r - 'a' + 'A')}
	case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return []string{string(r)}
	case r > ' ' && r < 0x7f:
		names = append(names, string(r))
	}
	place, ok := us[code]
	latin := r > ' ' && r < 0x7f
	if ok && (!latin || place[0] >= '0' && place[0] <= '9') && (len(names) == 0 || names[0] != place) {
		names = append(names, place)
	}
	return names
}

func itoa(n int) string {
	if n >= 10 {
		return string(rune('0'+n/10)) + string(rune('0'+n%10))
	}
	return string(rune('0' + n))
}
