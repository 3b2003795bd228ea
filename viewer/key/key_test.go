package key

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	tests := []struct {
		name  string
		sym   uint32
		scan  uint16
		alias bool
	}{
		{"Enter", 0xff0d, 0x1c, false},
		{"enter", 0xff0d, 0x1c, false},
		{"return", 0xff0d, 0x1c, true},
		{"Delete", 0xffff, 0xe053, false},
		{"win", 0xffeb, 0xe05b, true},
		{"altgr", 0xffea, 0xe038, true},
		{"F12", 0xffc9, 0x58, false},
		{"Numpad7", 0xffb7, 0x47, false},
		{"KeyR", 'r', 0x13, false},
		{"Digit0", '0', 0x0b, false},
		{"BracketLeft", '[', 0x1a, false},
		{"r", 'r', 0x13, false},
		{"R", 'R', 0x13, false},
		{"\\", '\\', 0x2b, false},
		{"ß", 0xdf, 0, false},
		{"€", 0x010020ac, 0, false},
	}
	for _, tt := range tests {
		k, alias, ok := Lookup(tt.name)
		if !ok || k.Sym != tt.sym || k.Scan != tt.scan || alias != tt.alias {
			t.Errorf("Lookup(%q) = %+v, alias %v, ok %v; want sym %#x scan %#x alias %v", tt.name, k, alias, ok, tt.sym, tt.scan, tt.alias)
		}
	}
	for _, name := range []string{"", "Entr", "hyperspace", "\x01", "ab"} {
		if k, _, ok := Lookup(name); ok {
			t.Errorf("Lookup(%q) = %+v, want none", name, k)
		}
	}
	for _, name := range Names() {
		if k, _, ok := Lookup(strings.ToUpper(name)); !ok || k.Name != name {
			t.Errorf("Lookup(%q) = %+v, %v", strings.ToUpper(name), k, ok)
		}
	}
}

func TestParseChord(t *testing.T) {
	tests := []struct {
		in       string
		syms     []uint32
		resolved []string
	}{
		{"Enter", []uint32{Return}, nil},
		{"ctrl+c", []uint32{ControlL, 'c'}, []string{"ctrl => ControlLeft"}},
		{"ctrl+C", []uint32{ControlL, 'c'}, []string{"ctrl => ControlLeft"}},
		{"shift+a", []uint32{ShiftL, 'A'}, []string{"shift => ShiftLeft"}},
		{"ctrl+shift+1", []uint32{ControlL, ShiftL, '!'}, []string{"ctrl => ControlLeft", "shift => ShiftLeft"}},
		{"alt+F4", []uint32{AltL, 0xffc1}, []string{"alt => AltLeft"}},
		{"ctrl+alt+Delete", []uint32{ControlL, AltL, Delete}, []string{"ctrl => ControlLeft", "alt => AltLeft"}},
		{"super+r", []uint32{SuperL, 'r'}, []string{"super => MetaLeft"}},
		{"+", []uint32{'+'}, nil},
		{"ctrl++", []uint32{ControlL, '+'}, []string{"ctrl => ControlLeft"}},
		{" ctrl + l ", []uint32{ControlL, 'l'}, []string{"ctrl => ControlLeft"}},
		{"A", []uint32{'A'}, nil},
	}
	for _, tt := range tests {
		keys, resolved, err := ParseChord(tt.in)
		var syms []uint32
		for _, k := range keys {
			syms = append(syms, k.Sym)
		}
		if err != nil || !slices.Equal(syms, tt.syms) || !slices.Equal(resolved, tt.resolved) {
			t.Errorf("ParseChord(%q) = %#x, %q, %v; want %#x, %q", tt.in, syms, resolved, err, tt.syms, tt.resolved)
		}
	}
	for _, in := range []string{"", "  ", "ctrl+", "+a", "ctrl++a"} {
		if _, _, err := ParseChord(in); !errors.Is(err, ErrNone) {
			t.Errorf("ParseChord(%q) error %v, want ErrNone", in, err)
		}
	}
	var unknown *UnknownError
	if _, _, err := ParseChord("ctrl+blub"); !errors.As(err, &unknown) || unknown.Name != "blub" {
		t.Errorf("ParseChord(ctrl+blub) error %v", err)
	}
	if _, _, err := ParseChord(strings.Repeat("a+", 20) + "b"); err == nil {
		t.Error("a chord of 21 keys was accepted")
	}
}

func TestFromRune(t *testing.T) {
	tests := []struct {
		r   rune
		sym uint32
	}{
		{'a', 'a'}, {'~', '~'}, {'\n', Return}, {'\r', Return}, {'\t', Tab}, {'\b', BackSpace}, {0x1b, Escape},
		{'é', 0xe9}, {'ÿ', 0xff}, {'Ā', 0x01000100}, {'日', 0x010065e5}, {'😀', 0x0101f600}, {0x01, 0}, {0x85, 0}, {0xd800, 0},
	}
	for _, tt := range tests {
		if got := FromRune(tt.r).Sym; got != tt.sym {
			t.Errorf("FromRune(%#x).Sym = %#x, want %#x", tt.r, got, tt.sym)
		}
		if r := Rune(tt.sym); tt.sym > 0x20 && tt.sym < 0x7f && r != tt.r {
			t.Errorf("Rune(%#x) = %q, want %q", tt.sym, r, tt.r)
		}
	}
}

func TestScanFromX11(t *testing.T) {
	for code, want := range map[byte]uint16{9: 0x01, 10: 0x02, 38: 0x1e, 66: 0x3a, 94: 0x56, 95: 0x57, 105: 0xe01d, 108: 0xe038, 111: 0xe048, 119: 0xe053, 127: 0xe046, 133: 0xe05b, 0: 0, 255: 0} {
		if got := ScanFromX11(code); got != want {
			t.Errorf("ScanFromX11(%d) = %#x, want %#x", code, got, want)
		}
	}
}

func FuzzParseChord(f *testing.F) {
	for _, s := range []string{"ctrl+c", "+", "ctrl++", "é+ß", "", "+++"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		keys, _, err := ParseChord(s)
		if err == nil && len(keys) == 0 {
			t.Errorf("ParseChord(%q): no keys and no error", s)
		}
		for _, k := range keys {
			if k.Sym == 0 {
				t.Errorf("ParseChord(%q): key %+v has no keysym", s, k)
			}
		}
	})
}
