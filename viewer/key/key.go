// Package key knows keyboards: X11 keysyms, XT scan codes, the names and
// chords in which keys are spelled, and how one becomes another.
//
// It imports nothing of ours and sends nothing.
package key

import (
	"errors"
	"fmt"
	"strings"
)

// A Key is one key of a keyboard, or one character to be typed.
type Key struct {
	Name string // the DOM spelling, or the character itself
	Sym  uint32 // X11 keysym
	Scan uint16 // XT set 1 scan code on a US keyboard, extended keys as 0xE0xx; 0 for none
}

// Modifier reports whether the key is Shift, Control, Alt or Meta.
func (k Key) Modifier() bool { return k.Sym >= ShiftL && k.Sym <= HyperR && k.Sym != CapsLock }

// Keysyms that code names.
const (
	BackSpace uint32 = 0xff08
	Tab       uint32 = 0xff09
	Return    uint32 = 0xff0d
	Escape    uint32 = 0xff1b
	Delete    uint32 = 0xffff
	NumLock   uint32 = 0xff7f
	ShiftL    uint32 = 0xffe1
	ShiftR    uint32 = 0xffe2
	ControlL  uint32 = 0xffe3
	ControlR  uint32 = 0xffe4
	CapsLock  uint32 = 0xffe5
	MetaL     uint32 = 0xffe7
	AltL      uint32 = 0xffe9
	AltR      uint32 = 0xffea
	SuperL    uint32 = 0xffeb
	SuperR    uint32 = 0xffec
	HyperR    uint32 = 0xffee
	ISOLevel3 uint32 = 0xfe03
)

// named are the keys that have names, in DOM spelling.
var named = []Key{
	{"Backspace", BackSpace, 0x0e}, {"Tab", Tab, 0x0f}, {"Clear", 0xff0b, 0}, {"Enter", Return, 0x1c},
	{"Pause", 0xff13, 0xe046}, {"ScrollLock", 0xff14, 0x46}, {"Escape", Escape, 0x01}, {"Space", 0x20, 0x39},
	{"Delete", Delete, 0xe053}, {"Home", 0xff50, 0xe047}, {"ArrowLeft", 0xff51, 0xe04b}, {"ArrowUp", 0xff52, 0xe048},
	{"ArrowRight", 0xff53, 0xe04d}, {"ArrowDown", 0xff54, 0xe050}, {"PageUp", 0xff55, 0xe049}, {"PageDown", 0xff56, 0xe051},
	{"End", 0xff57, 0xe04f}, {"Insert", 0xff63, 0xe052}, {"ContextMenu", 0xff67, 0xe05d}, {"PrintScreen", 0xff61, 0x54},
	{"NumLock", NumLock, 0x45}, {"CapsLock", CapsLock, 0x3a},
	{"F1", 0xffbe, 0x3b}, {"F2", 0xffbf, 0x3c}, {"F3", 0xffc0, 0x3d}, {"F4", 0xffc1, 0x3e}, {"F5", 0xffc2, 0x3f},
	{"F6", 0xffc3, 0x40}, {"F7", 0xffc4, 0x41}, {"F8", 0xffc5, 0x42}, {"F9", 0xffc6, 0x43}, {"F10", 0xffc7, 0x44},
	{"F11", 0xffc8, 0x57}, {"F12", 0xffc9, 0x58}, {"F13", 0xffca, 0}, {"F14", 0xffcb, 0}, {"F15", 0xffcc, 0},
	{"F16", 0xffcd, 0}, {"F17", 0xffce, 0}, {"F18", 0xffcf, 0}, {"F19", 0xffd0, 0}, {"F20", 0xffd1, 0},
	{"ShiftLeft", ShiftL, 0x2a}, {"ShiftRight", ShiftR, 0x36}, {"ControlLeft", ControlL, 0x1d}, {"ControlRight", ControlR, 0xe01d},
	{"AltLeft", AltL, 0x38}, {"AltRight", AltR, 0xe038}, {"MetaLeft", SuperL, 0xe05b}, {"MetaRight", SuperR, 0xe05c},
	{"NumpadEnter", 0xff8d, 0xe01c}, {"NumpadMultiply", 0xffaa, 0x37}, {"NumpadAdd", 0xffab, 0x4e},
	{"NumpadSubtract", 0xffad, 0x4a}, {"NumpadDecimal", 0xffae, 0x53}, {"NumpadDivide", 0xffaf, 0xe035},
	{"Numpad0", 0xffb0, 0x52}, {"Numpad1", 0xffb1, 0x4f}, {"Numpad2", 0xffb2, 0x50}, {"Numpad3", 0xffb3, 0x51},
	{"Numpad4", 0xffb4, 0x4b}, {"Numpad5", 0xffb5, 0x4c}, {"Numpad6", 0xffb6, 0x4d}, {"Numpad7", 0xffb7, 0x47},
	{"Numpad8", 0xffb8, 0x48}, {"Numpad9", 0xffb9, 0x49},
}

// aliases are other spellings people and models use.
var aliases = map[string]string{
	"ctrl": "ControlLeft", "control": "ControlLeft", "shift": "ShiftLeft", "alt": "AltLeft", "option": "AltLeft",
	"altgr": "AltRight", "meta": "MetaLeft", "cmd": "MetaLeft", "command": "MetaLeft", "super": "MetaLeft", "win": "MetaLeft",
	"esc": "Escape", "return": "Enter", "del": "Delete", "ins": "Insert", "pgup": "PageUp", "pgdn": "PageDown",
}

// codes are the DOM codes of the printable keys of a US keyboard, with the
// character each makes.
var codes = map[string]rune{
	"Minus": '-', "Equal": '=', "BracketLeft": '[', "BracketRight": ']', "Semicolon": ';', "Quote": '\'',
	"Backquote": '`', "Backslash": '\\', "Comma": ',', "Period": '.', "Slash": '/',
}

// usRows lists the printable keys of a US keyboard by scan code, plain and with
// Shift.
var usRows = []struct {
	scan           uint16
	plain, shifted string
}{
	{0x02, "1234567890-=", "!@#$%^&*()_+"},
	{0x10, "qwertyuiop[]", "QWERTYUIOP{}"},
	{0x1e, "asdfghjkl;'`", "ASDFGHJKL:\"~"},
	{0x2b, "\\zxcvbnm,./", "|ZXCVBNM<>?"},
}

var (
	byName  = map[string]Key{}
	usScan  = map[rune]uint16{' ': 0x39}
	usShift = map[rune]rune{}
)

func init() {
	for _, k := range named {
		byName[strings.ToLower(k.Name)] = k
	}
	for _, row := range usRows {
		for i := range len(row.plain) {
			p, s := rune(row.plain[i]), rune(row.shifted[i])
			usScan[p], usScan[s], usShift[p] = row.scan+uint16(i), row.scan+uint16(i), s
		}
	}
	for name, r := range codes {
		byName[strings.ToLower(name)] = FromRune(r)
	}
	for r := 'a'; r <= 'z'; r++ {
		byName["key"+string(r)] = FromRune(r)
	}
	for r := '0'; r <= '9'; r++ {
		byName["digit"+string(r)] = FromRune(r)
	}
}

// Names returns the named keys in DOM spelling.
func Names() []string {
	out := make([]string, len(named))
	for i, k := range named {
		out[i] = k.Name
	}
	return out
}

// FromRune is the key that types a character: control characters that stand
// for keys (newline, tab, backspace, escape) as those, Latin-1 as its own
// keysym, everything else as 0x01000000 plus its code point (X11 protocol,
// appendix A). A character that no key types has Sym 0.
func FromRune(r rune) Key {
	switch r {
	case '\n', '\r':
		return Key{"Enter", Return, 0x1c}
	case '\t':
		return Key{"Tab", Tab, 0x0f}
	case '\b':
		return Key{"Backspace", BackSpace, 0x0e}
	case 0x1b:
		return Key{"Escape", Escape, 0x01}
	case 0x7f:
		return Key{"Delete", Delete, 0xe053}
	}
	switch {
	case r < 0x20, r >= 0x80 && r < 0xa0, r >= 0xd800 && r < 0xe000, r > 0x10ffff:
		return Key{}
	case r < 0x100:
		return Key{string(r), uint32(r), usScan[r]}
	}
	return Key{string(r), 0x01000000 + uint32(r), 0}
}

// Rune is the character that a keysym types, or 0.
func Rune(sym uint32) rune {
	switch {
	case sym >= 0x20 && sym < 0x7f, sym >= 0xa0 && sym < 0x100:
		return rune(sym)
	case sym > 0x01000100 && sym <= 0x0110ffff:
		return rune(sym - 0x01000000)
	}
	return olderRune(sym)
}

// Lookup finds a key by its DOM name, an alias, the DOM code of a printable
// key, or a single character. Names do not mind case. alias reports that the
// key was spelled otherwise than its name.
func Lookup(name string) (k Key, alias, ok bool) {
	lower := strings.ToLower(name)
	if a, is := aliases[lower]; is {
		return byName[strings.ToLower(a)], true, true
	}
	if k, ok = byName[lower]; ok {
		return k, false, true
	}
	if rs := []rune(name); len(rs) == 1 {
		if k = FromRune(rs[0]); k.Sym != 0 {
			return k, false, true
		}
	}
	return Key{}, false, false
}

// ErrNone is returned for a chord without a key.
var ErrNone = errors.New("no key is named")

// An UnknownError names a key that is not in the table.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%q is not a key: use a name such as Enter, F4 or ArrowLeft, an alias such as ctrl or esc, or one character", e.Name)
}

// maxChord bounds the keys of one chord.
const maxChord = 8

// ParseChord reads one key or several joined by +, such as ctrl+alt+Delete or
// ctrl++. resolved lists the aliases used, as "asked => got".
//
// A letter or digit takes the form that a person's keyboard would send: with
// Shift in the chord the shifted character of a US keyboard, with other
// modifiers only, the plain one.
func ParseChord(s string) (keys []Key, resolved []string, err error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil, nil, ErrNone
	}
	parts := strings.Split(s, "+")
	// A plus sign itself leaves two empty parts: "ctrl++" or a lone "+".
	if n := len(parts); n >= 2 && parts[n-1] == "" && parts[n-2] == "" {
		parts = append(parts[:n-2], "+")
	}
	if len(parts) > maxChord {
		return nil, nil, fmt.Errorf("a chord of %d keys is more than the %d that can be held at once", len(parts), maxChord)
	}
	shift, other := false, false
	for _, p := range parts {
		p = strings.TrimSpace(p)
		if p == "" {
			return nil, nil, ErrNone
		}
		k, alias, ok := Lookup(p)
		if !ok {
			return nil, nil, &UnknownError{p}
		}
		if alias {
			resolved = append(resolved, p+" => "+k.Name)
		}
		switch {
		case k.Sym == ShiftL || k.Sym == ShiftR:
			shift = true
		case k.Modifier():
			other = true
		}
		keys = append(keys, k)
	}
	for i, k := range keys {
		r := Rune(k.Sym)
		switch {
		case r == 0 || r > 0x7e:
		case shift:
			if s, ok := usShift[r]; ok {
				keys[i] = FromRune(s)
			}
		case other && r >= 'A' && r <= 'Z':
			keys[i] = FromRune(r + 'a' - 'A')
		}
	}
	return keys, resolved, nil
}
