package shell

import (
	"math/bits"

	"deskvnc/viewer"
	"deskvnc/viewer/grid"
	"deskvnc/viewer/key"
)

// wheelLines is how many lines a click of the wheel moves programs that did
// not ask for the mouse.
const wheelLines = 3

// A keyboard turns inputs into what a program in the terminal reads, by the
// modes that it set. It knows what is held.
type keyboard struct {
	down    map[uint32]bool // keysyms
	buttons viewer.Buttons
	x, y    int // of the pointer
}

// modKeys are the keys that change others.
var modKeys = map[uint32]key.Mods{
	key.ShiftL: key.ModShift, key.ShiftR: key.ModShift, key.ControlL: key.ModCtrl, key.ControlR: key.ModCtrl,
	key.AltL: key.ModAlt, key.AltR: key.ModAlt, key.MetaL: key.ModAlt, 0xffe8: key.ModAlt,
	key.SuperL: key.ModSuper, key.SuperR: key.ModSuper,
}

func (k *keyboard) mods() (m key.Mods) {
	for sym := range k.down {
		m |= modKeys[sym]
	}
	return m
}

// bytes are what an input sends to the program; nil for nothing.
func (k *keyboard) bytes(in viewer.Input, m grid.Modes, cellW, cellH int) []byte {
	switch in := in.(type) {
	case viewer.Key:
		return k.key(in, m)
	case viewer.Pointer:
		return k.pointer(in, m, cellW, cellH)
	case viewer.Paste:
		return key.PasteBytes(in.Text, m.BracketedPaste)
	case viewer.Bytes:
		return in.Data
	case viewer.Focus:
		if m.Focus {
			return key.FocusBytes(in.In)
		}
	}
	return nil
}

func termOf(m grid.Modes) key.Term {
	return key.Term{
		AppCursor: m.AppCursor, AppKeypad: m.AppKeypad, NewLine: m.NewLine, BackspaceBS: m.BackspaceBS,
		MetaEsc: m.MetaEsc, ModifyOther: m.ModifyOther, Kitty: m.Kitty,
	}
}

func (k *keyboard) key(in viewer.Key, m grid.Modes) []byte {
	s := key.Stroke{Sym: in.Sym, Rune: in.Rune, Mods: k.mods(), Action: key.Press, NumLock: in.Locks.Known && in.Locks.Num}
	switch {
	case !in.Down && !k.down[in.Sym]:
		return nil
	case !in.Down:
		s.Action = key.Release
		delete(k.down, in.Sym)
	case k.down[in.Sym]:
		s.Action = key.Repeat
	default:
		if k.down == nil {
			k.down = map[uint32]bool{}
		}
		k.down[in.Sym] = true
	}
	if modKeys[in.Sym] == 0 && s.Mods&key.ModCtrl != 0 && s.Rune > 0 && s.Rune < 0x20 {
		s.Rune = 0 // some keyboards tell the control character: the symbol says which key it is
	}
	return termOf(m).Bytes(s)
}

// mouseButtons are the buttons of reports, in the order of [viewer.Buttons].
var mouseButtons = map[viewer.Buttons]int{
	viewer.Left: key.ButtonLeft, viewer.Middle: key.ButtonMiddle, viewer.Right: key.ButtonRight,
	viewer.Back: key.ButtonBack, viewer.Forward: key.ButtonForward,
}

func (k *keyboard) pointer(in viewer.Pointer, m grid.Modes, cellW, cellH int) []byte {
	act := key.MouseAct{X: in.X, Y: in.Y, PX: in.X*cellW + cellW/2, PY: in.Y*cellH + cellH/2, Mods: k.mods()}
	report := func(a key.MouseAct) []byte { return key.MouseBytes(a, uint16(m.Mouse), uint16(m.MouseForm)) }
	var out []byte
	changed := in.Buttons ^ k.buttons
	if moved := in.X != k.x || in.Y != k.y; moved {
		a := act
		a.Motion, a.Button = true, key.NoButton
		for n := k.buttons; n != 0; n &= n - 1 {
			if b, ok := mouseButtons[1<<bits.TrailingZeros16(uint16(n))]; ok {
				a.Button = b
				break
			}
		}
		out = append(out, report(a)...)
	}
	for n := changed; n != 0; n &= n - 1 {
		one := viewer.Buttons(1) << bits.TrailingZeros16(uint16(n))
		if b, ok := mouseButtons[one]; ok {
			a := act
			a.Button, a.Release = b, in.Buttons&one == 0
			out = append(out, report(a)...)
		}
	}
	k.x, k.y, k.buttons = in.X, in.Y, in.Buttons
	out = append(out, k.wheel(act, in.WheelY, key.ButtonWheelUp, key.ButtonWheelDown, 0xff52, 0xff54, m)...)
	return append(out, k.wheel(act, in.WheelX, key.ButtonWheelLeft, key.ButtonWheelRight, 0, 0, m)...)
}

// wheel turns the wheel by n clicks: towards less below 0.
func (k *keyboard) wheel(act key.MouseAct, n, less, more int, lessKey, moreKey uint32, m grid.Modes) []byte {
	act.Button = more
	sym := moreKey
	if n < 0 {
		n, act.Button, sym = -n, less, lessKey
	}
	var one []byte
	switch {
	case m.Mouse != 0:
		one = key.MouseBytes(act, uint16(m.Mouse), uint16(m.MouseForm))
	case m.Alternate && m.AlternateScroll && sym != 0:
		line := termOf(m).Bytes(key.Stroke{Sym: sym})
		for range wheelLines {
			one = append(one, line...)
		}
	}
	var out []byte
	for range n {
		out = append(out, one...)
	}
	return out
}

// release lets go of everything: the program is told of buttons, and of keys
// when it asked to be.
func (k *keyboard) release(m grid.Modes, cellW, cellH int) []byte {
	out := k.pointer(viewer.Pointer{X: k.x, Y: k.y}, m, cellW, cellH)
	for sym := range k.down {
		out = append(out, k.key(viewer.Key{Sym: sym}, m)...)
	}
	return out
}
