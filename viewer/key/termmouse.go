package key

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The buttons of a mouse report. Those of the wheel are only pressed.
const (
	ButtonLeft       = 0
	ButtonMiddle     = 1
	ButtonRight      = 2
	NoButton         = 3 // of a motion with nothing held
	ButtonWheelUp    = 64
	ButtonWheelDown  = 65
	ButtonWheelLeft  = 66
	ButtonWheelRight = 67
	ButtonBack       = 128
	ButtonForward    = 129
)

// A MouseAct is something done with the mouse over a terminal.
type MouseAct struct {
	Button  int // the one pressed, released, or held while moving
	Release bool
	Motion  bool
	X, Y    int // the cell, from 0
	PX, PY  int // the pixel within the terminal, from 0
	Mods    Mods
}

// MouseBytes are what an act sends to a program that set mouse mode (9, 1000,
// 1002 or 1003) and form (0, 1005, 1006, 1015 or 1016); nil when it did not
// ask for this act, or when the form has no way to say where it was.
func MouseBytes(a MouseAct, mode, form uint16) []byte {
	wheel := a.Button >= ButtonWheelUp && a.Button <= ButtonWheelRight
	switch {
	case wheel && (a.Release || a.Motion), a.X < 0 || a.Y < 0:
		return nil
	case mode == 9:
		if a.Release || a.Motion || a.Button > ButtonRight {
			return nil
		}
		a.Mods = 0
	case mode == 1000:
		if a.Motion {
			return nil
		}
	case mode == 1002:
		if a.Motion && a.Button == NoButton {
			return nil
		}
	case mode != 1003:
		return nil
	}
	code := a.Button
	if a.Mods&ModShift != 0 {
		code += 4
	}
	if a.Mods&ModAlt != 0 {
		code += 8
	}
	if a.Mods&ModCtrl != 0 {
		code += 16
	}
	if a.Motion {
		code += 32
	}
	x, y := a.X+1, a.Y+1
	switch form {
	case 1006, 1016:
		if form == 1016 {
			x, y = a.PX+1, a.PY+1
		}
		final := byte('M')
		if a.Release {
			final = 'm'
		}
		b := append([]byte("\x1b[<"), strconv.Itoa(code)...)
		b = strconv.AppendInt(append(b, ';'), int64(x), 10)
		b = strconv.AppendInt(append(b, ';'), int64(y), 10)
		return append(b, final)
	}
	if a.Release {
		code = code&^(3|64|128) | 3
	}
	switch form {
	case 1015:
		b := strconv.AppendInt([]byte("\x1b["), int64(code+32), 10)
		b = strconv.AppendInt(append(b, ';'), int64(x), 10)
		b = strconv.AppendInt(append(b, ';'), int64(y), 10)
		return append(b, 'M')
	case 1005:
		if x > 2015 || y > 2015 {
			return nil
		}
		b := utf8.AppendRune([]byte("\x1b[M"), rune(code+32))
		return utf8.AppendRune(utf8.AppendRune(b, rune(x+32)), rune(y+32))
	}
	if x > 223 || y > 223 {
		return nil
	}
	return []byte{0x1b, '[', 'M', byte(code + 32), byte(x + 32), byte(y + 32)}
}

// FocusBytes tell a program that set mode 1004 whether the terminal has the
// keyboard.
func FocusBytes(in bool) []byte {
	if in {
		return []byte("\x1b[I")
	}
	return []byte("\x1b[O")
}

// PasteBytes are text as it is sent for a paste: line ends as the Return key
// sends them and no other control characters but tabs, so that nothing in the
// text acts as a key or ends the paste. Bracketed says that the program set
// mode 2004.
func PasteBytes(text string, bracketed bool) []byte {
	text = strings.ReplaceAll(text, "\r\n", "\r")
	text = strings.ReplaceAll(text, "\n", "\r")
	text = strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\r' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, text)
	if !bracketed {
		return []byte(text)
	}
	return []byte("\x1b[200~" + text + "\x1b[201~")
}
