package key

import (
	"testing"
)

func TestTermBytes(t *testing.T) {
	up := uint32(0xff52)
	for _, k := range []struct {
		name string
		term Term
		in   Stroke
		want string
	}{
		{"letter", Term{}, Stroke{Sym: 'a', Rune: 'a'}, "a"},
		{"shifted letter", Term{}, Stroke{Sym: 'A', Rune: 'A', Mods: ModShift}, "A"},
		{"keysym only", Term{}, Stroke{Sym: 0x010020ac}, "€"},
		{"release", Term{}, Stroke{Sym: 'a', Rune: 'a', Action: Release}, ""},
		{"modifier", Term{}, Stroke{Sym: ShiftL, Mods: ModShift}, ""},
		{"control letter", Term{}, Stroke{Sym: 'c', Rune: 'c', Mods: ModCtrl}, "\x03"},
		{"control shift letter", Term{}, Stroke{Sym: 'C', Rune: 'C', Mods: ModCtrl | ModShift}, "\x03"},
		{"control space", Term{}, Stroke{Sym: ' ', Rune: ' ', Mods: ModCtrl}, "\x00"},
		{"control bracket", Term{}, Stroke{Sym: '[', Rune: '[', Mods: ModCtrl}, "\x1b"},
		{"control slash", Term{}, Stroke{Sym: '/', Rune: '/', Mods: ModCtrl}, "\x1f"},
		{"control digit", Term{}, Stroke{Sym: '3', Rune: '3', Mods: ModCtrl}, "\x1b"},
		{"control without meaning", Term{}, Stroke{Sym: '1', Rune: '1', Mods: ModCtrl}, "1"},
		{"alt letter", Term{MetaEsc: true}, Stroke{Sym: 'x', Rune: 'x', Mods: ModAlt}, "\x1bx"},
		{"alt letter without esc", Term{}, Stroke{Sym: 'x', Rune: 'x', Mods: ModAlt}, "ø"},
		{"alt control letter", Term{MetaEsc: true}, Stroke{Sym: 'x', Rune: 'x', Mods: ModAlt | ModCtrl}, "\x1b\x18"},
		{"return", Term{}, Stroke{Sym: Return}, "\r"},
		{"return with newline", Term{NewLine: true}, Stroke{Sym: Return}, "\r\n"},
		{"tab", Term{}, Stroke{Sym: Tab}, "\t"},
		{"back tab", Term{}, Stroke{Sym: Tab, Mods: ModShift}, "\x1b[Z"},
		{"left tab", Term{}, Stroke{Sym: leftTab}, "\x1b[Z"},
		{"escape", Term{}, Stroke{Sym: Escape}, "\x1b"},
		{"backspace", Term{}, Stroke{Sym: BackSpace}, "\x7f"},
		{"control backspace", Term{}, Stroke{Sym: BackSpace, Mods: ModCtrl}, "\b"},
		{"backspace mode", Term{BackspaceBS: true}, Stroke{Sym: BackSpace}, "\b"},
		{"up", Term{}, Stroke{Sym: up}, "\x1b[A"},
		{"up, application", Term{AppCursor: true}, Stroke{Sym: up}, "\x1bOA"},
		{"control up", Term{AppCursor: true}, Stroke{Sym: up, Mods: ModCtrl}, "\x1b[1;5A"},
		{"home", Term{AppCursor: true}, Stroke{Sym: 0xff50}, "\x1bOH"},
		{"F1", Term{}, Stroke{Sym: 0xffbe}, "\x1bOP"},
		{"shift F1", Term{}, Stroke{Sym: 0xffbe, Mods: ModShift}, "\x1b[1;2P"},
		{"F5", Term{}, Stroke{Sym: 0xffc2}, "\x1b[15~"},
		{"alt F12", Term{}, Stroke{Sym: 0xffc9, Mods: ModAlt}, "\x1b[24;3~"},
		{"delete", Term{}, Stroke{Sym: Delete}, "\x1b[3~"},
		{"page up", Term{}, Stroke{Sym: 0xff55}, "\x1b[5~"},
		{"keypad 7", Term{AppKeypad: true}, Stroke{Sym: 0xffb7, Rune: '7', NumLock: true}, "7"},
		{"keypad 7, application", Term{AppKeypad: true}, Stroke{Sym: 0xffb7}, "\x1bOw"},
		{"keypad home", Term{AppKeypad: true}, Stroke{Sym: 0xff95}, "\x1b[H"},
		{"keypad plus", Term{AppKeypad: true}, Stroke{Sym: 0xffab}, "\x1bOk"},
		{"keypad enter", Term{AppKeypad: true}, Stroke{Sym: padEnter}, "\x1bOM"},
		{"other keys 1: known", Term{ModifyOther: 1}, Stroke{Sym: 'c', Rune: 'c', Mods: ModCtrl}, "\x03"},
		{"other keys 1: unknown", Term{ModifyOther: 1}, Stroke{Sym: '1', Rune: '1', Mods: ModCtrl}, "\x1b[27;5;49~"},
		{"other keys 1: return", Term{ModifyOther: 1}, Stroke{Sym: Return, Mods: ModShift}, "\x1b[27;2;13~"},
		{"other keys 2", Term{ModifyOther: 2}, Stroke{Sym: 'c', Rune: 'c', Mods: ModCtrl}, "\x1b[27;5;99~"},
		{"other keys 1: shift", Term{ModifyOther: 1}, Stroke{Sym: 'A', Rune: 'A', Mods: ModShift}, "A"},
		{"other keys 1: control shift", Term{ModifyOther: 1}, Stroke{Sym: 'A', Rune: 'A', Mods: ModCtrl | ModShift}, "\x01"},
		{"other keys 2: plain", Term{ModifyOther: 2}, Stroke{Sym: 'a', Rune: 'a'}, "a"},
		{"other keys 2: shift", Term{ModifyOther: 2}, Stroke{Sym: 'A', Rune: 'A', Mods: ModShift}, "\x1b[27;2;65~"},
		{"other keys 2: back tab", Term{ModifyOther: 2}, Stroke{Sym: Tab, Mods: ModShift}, "\x1b[Z"},
		{"other keys 2: control tab", Term{ModifyOther: 2}, Stroke{Sym: Tab, Mods: ModCtrl}, "\x1b[27;5;9~"},
		{"other keys 2: control backspace", Term{ModifyOther: 2}, Stroke{Sym: BackSpace, Mods: ModCtrl}, "\b"},
		{"kitty: plain", Term{Kitty: 1}, Stroke{Sym: 'a', Rune: 'a'}, "a"},
		{"kitty: control", Term{Kitty: 1}, Stroke{Sym: 'c', Rune: 'c', Mods: ModCtrl}, "\x1b[99;5u"},
		{"kitty: escape", Term{Kitty: 1}, Stroke{Sym: Escape}, "\x1b[27u"},
		{"kitty: return", Term{Kitty: 1}, Stroke{Sym: Return}, "\r"},
		{"kitty: shift return", Term{Kitty: 1}, Stroke{Sym: Return, Mods: ModShift}, "\x1b[13;2u"},
		{"kitty: up", Term{Kitty: 1, AppCursor: true}, Stroke{Sym: up}, "\x1b[A"},
		{"kitty: F3", Term{Kitty: 1}, Stroke{Sym: 0xffc0}, "\x1b[13~"},
		{"kitty: up released", Term{Kitty: 3}, Stroke{Sym: up, Action: Release}, "\x1b[1;1:3A"},
		{"kitty: all keys", Term{Kitty: 8}, Stroke{Sym: 'a', Rune: 'a'}, "\x1b[97u"},
		{"kitty: shifted", Term{Kitty: 12}, Stroke{Sym: 'A', Rune: 'A', Mods: ModShift}, "\x1b[97:65;2u"},
		{"kitty: text", Term{Kitty: 24}, Stroke{Sym: 'a', Rune: 'a'}, "\x1b[97;;97u"},
		{"kitty: modifier", Term{Kitty: 8}, Stroke{Sym: ShiftL, Mods: ModShift}, "\x1b[57441;2u"},
		{"kitty: modifier not asked for", Term{Kitty: 1}, Stroke{Sym: ShiftL, Mods: ModShift}, ""},
		{"kitty: release not asked for", Term{Kitty: 9}, Stroke{Sym: 'a', Rune: 'a', Action: Release}, ""},
		{"kitty: control release", Term{Kitty: 3}, Stroke{Sym: 'c', Rune: 'c', Mods: ModCtrl, Action: Release}, "\x1b[99;5:3u"},
	} {
		if got := string(k.term.Bytes(k.in)); got != k.want {
			t.Errorf("%s: got %q, want %q", k.name, got, k.want)
		}
	}
}

func TestMouseBytes(t *testing.T) {
	for _, k := range []struct {
		name       string
		act        MouseAct
		mode, form uint16
		want       string
	}{
		{"off", MouseAct{}, 0, 0, ""},
		{"press", MouseAct{X: 2, Y: 4}, 1000, 0, "\x1b[M #%"},
		{"release", MouseAct{X: 2, Y: 4, Button: ButtonRight, Release: true}, 1000, 0, "\x1b[M##%"},
		{"too far", MouseAct{X: 223}, 1000, 0, ""},
		{"modifiers", MouseAct{Mods: ModShift | ModAlt | ModCtrl}, 1000, 1006, "\x1b[<28;1;1M"},
		{"SGR", MouseAct{Button: ButtonMiddle, X: 299, Y: 99}, 1000, 1006, "\x1b[<1;300;100M"},
		{"SGR release", MouseAct{Button: ButtonMiddle, Release: true}, 1000, 1006, "\x1b[<1;1;1m"},
		{"pixels", MouseAct{X: 1, Y: 1, PX: 14, PY: 31}, 1000, 1016, "\x1b[<0;15;32M"},
		{"urxvt", MouseAct{Button: ButtonRight, X: 9, Y: 9}, 1000, 1015, "\x1b[34;10;10M"},
		{"UTF-8", MouseAct{X: 299}, 1000, 1005, "\x1b[M \u014c!"},
		{"wheel", MouseAct{Button: ButtonWheelDown}, 1000, 1006, "\x1b[<65;1;1M"},
		{"wheel release", MouseAct{Button: ButtonWheelDown, Release: true}, 1000, 1006, ""},
		{"back", MouseAct{Button: ButtonBack}, 1000, 1006, "\x1b[<128;1;1M"},
		{"motion not asked for", MouseAct{Motion: true}, 1000, 1006, ""},
		{"drag", MouseAct{Motion: true}, 1002, 1006, "\x1b[<32;1;1M"},
		{"motion in drag mode", MouseAct{Motion: true, Button: NoButton}, 1002, 1006, ""},
		{"motion", MouseAct{Motion: true, Button: NoButton, X: 4}, 1003, 1006, "\x1b[<35;5;1M"},
		{"X10", MouseAct{Mods: ModCtrl}, 9, 0, "\x1b[M !!"},
		{"X10 release", MouseAct{Release: true}, 9, 0, ""},
	} {
		if got := string(MouseBytes(k.act, k.mode, k.form)); got != k.want {
			t.Errorf("%s: got %q, want %q", k.name, got, k.want)
		}
	}
}

func TestPasteBytes(t *testing.T) {
	for _, k := range []struct {
		text      string
		bracketed bool
		want      string
	}{
		{"a\nb\r\nc\td", false, "a\rb\rc\td"},
		{"rm \x1b[201~\x03\u009b\x7f", true, "\x1b[200~rm [201~\x1b[201~"},
		{"größe 日本", true, "\x1b[200~größe 日本\x1b[201~"},
	} {
		if got := string(PasteBytes(k.text, k.bracketed)); got != k.want {
			t.Errorf("%q: got %q, want %q", k.text, got, k.want)
		}
	}
	if string(FocusBytes(true)) != "\x1b[I" || string(FocusBytes(false)) != "\x1b[O" {
		t.Error("focus reports")
	}
}
