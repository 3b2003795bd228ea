package main

import (
	"fmt"
	"strings"
	"testing"

	"deskvnc/app/ui/x11/xlab"
)

// want checks what has reached the machine since the last look.
func (s *stage) want(what, want string) {
	s.t.Helper()
	if got := spell(s.drain()); got != want {
		s.t.Errorf("%s: the machine got %q, want %q", what, got, want)
	}
}

// typed is the text that the machine has read since the last look. Lock keys
// may come in between, when one side's locks follow the other's.
func (s *stage) typed() string {
	s.t.Helper()
	text := ""
	for _, e := range s.drain() {
		if e.down {
			text += e.text
		}
	}
	return text
}

// chord holds keys down in order, and lets them go the other way round.
func (s *stage) chord(codes ...int) {
	for _, c := range codes {
		s.here.Key(c, true)
	}
	for i := len(codes) - 1; i >= 0; i-- {
		s.here.Key(codes[i], false)
	}
}

// Keysyms as they are spelled here.
const (
	shiftL, shiftR, ctrlL, altL, superL = "ffe1", "ffe2", "ffe3", "ffe9", "ffeb"
)

// The keyboard from end to end: a person's keys at the window, and what an X
// client on the machine gets.
func TestKeyboard(t *testing.T) {
	s := raise(t, "800x600", nil)

	t.Run("every key", func(t *testing.T) { // C099
		s.t, s.here.T = t, t
		keymap := s.here.Keymap()
		skip := map[uint32]bool{0xffe5: true, 0xff7f: true, 0xff14: true} // locks, in pairs below
		var codes []int
		for code := 9; code <= 255; code++ {
			sym := keymap[code]
			if sym == 0 || skip[sym] || code == codeMark || sym >= 0x1008fe00 && sym <= 0x1008feff || sym>>8 == 0xfe {
				continue
			}
			codes = append(codes, code)
			s.here.Tap(code)
		}
		var got []event
		for _, e := range s.drain() {
			if e.sym != 0xff7f { // the VNC server's own, around a key of the keypad
				got = append(got, e)
			}
		}
		if len(got) != 2*len(codes) {
			t.Fatalf("%d keys made %d events: %v", len(codes), len(got), got)
		}
		for i, code := range codes {
			down, up := got[2*i], got[2*i+1]
			if !down.down || up.down || down.sym != keymap[code] || up.sym != keymap[code] {
				t.Errorf("key %d: the machine got %v %v, want %x", code, down, up, keymap[code])
			}
		}
	})

	t.Run("locks", func(t *testing.T) { // C102
		s.t, s.here.T = t, t
		for _, lock := range []int{codeCaps, 77} {
			s.here.Tap(lock)
		}
		s.drain()
		s.here.Tap(codeA)
		s.here.Tap(87) // the keypad's 1
		if typed := s.typed(); typed != "A1" {
			t.Errorf("under Caps and Num Lock the machine read %q, want A1", typed)
		}
		for _, lock := range []int{codeCaps, 77} {
			s.here.Tap(lock)
		}
		s.drain()
		s.here.Tap(codeA)
		if typed := s.typed(); typed != "a" {
			t.Errorf("after the locks the machine read %q, want a", typed)
		}
		s.drain()
	})

	t.Run("shortcuts", func(t *testing.T) { // C100, C101
		s.t, s.here.T = t, t
		keymap := s.here.Keymap()
		var want []string
		for _, mod := range []struct {
			code int
			sym  string
		}{{codeLeftCtrl, ctrlL}, {codeLeftAlt, altL}, {codeSuper, superL}} {
			for code := 10; code <= 61; code++ {
				sym := keymap[code]
				if sym == 0 || sym > 0xff && sym != 0xff09 || mod.code != codeLeftCtrl && sym == 0xff09 || mod.code != codeLeftCtrl && (sym < 'a' || sym > 'z') || mod.code == codeSuper && (sym == 'e' || sym == 'd') {
					continue // the window manager's own, such as Alt+Tab
				}
				s.chord(mod.code, code)
				want = append(want, fmt.Sprintf("+%s +%x -%x -%s", mod.sym, sym, sym, mod.sym))
			}
		}
		for code := 67; code <= 76; code++ { // F1 to F10
			s.here.Tap(code)
			want = append(want, fmt.Sprintf("+%x -%x", keymap[code], keymap[code]))
		}
		s.here.Tap(codeTab)
		s.chord(codeLeftShift, codeTab)
		want = append(want, "+ff09 -ff09", "+"+shiftL+" +fe20 -fe20 -"+shiftL)
		s.want("shortcuts", strings.Join(want, " "))
	})

	t.Run("both Shift keys", func(t *testing.T) { // C095
		s.t, s.here.T = t, t
		for _, order := range [][4]int{{codeLeftShift, codeRightShift, codeLeftShift, codeRightShift}, {codeLeftShift, codeRightShift, codeRightShift, codeLeftShift},
			{codeRightShift, codeLeftShift, codeLeftShift, codeRightShift}, {codeRightShift, codeLeftShift, codeRightShift, codeLeftShift}} {
			s.here.Key(order[0], true)
			s.here.Key(order[1], true)
			s.here.Key(order[2], false)
			s.here.Key(order[3], false)
			name := map[int]string{codeLeftShift: shiftL, codeRightShift: shiftR}
			s.want("Shift", fmt.Sprintf("+%s +%s -%s -%s", name[order[0]], name[order[1]], name[order[2]], name[order[3]]))
		}
	})

	t.Run("fast typing", func(t *testing.T) { // C120 for keys
		s.t, s.here.T = t, t
		var want []string
		for range 50 {
			s.here.Tap(codeA)
			s.chord(codeLeftShift, codeS)
			want = append(want, "+61 -61 +"+shiftL+" +53 -53 -"+shiftL)
		}
		s.want("typing", strings.Join(want, " "))
	})

	t.Run("own chords", func(t *testing.T) { // C112, C255
		s.t, s.here.T = t, t
		for _, c := range []int{codeLeftCtrl, codeLeftAlt, codeLeftShift} {
			s.here.Key(c, true)
		}
		for range 4 {
			s.here.Tap(codeO)
			s.here.Tap(codeZero)
		}
		for _, c := range []int{codeLeftShift, codeLeftAlt, codeLeftCtrl} {
			s.here.Key(c, false)
		}
		got := s.drain()
		// Alt under Shift may be Meta; what matters is that all are let go and
		// nothing else came.
		if len(got) != 6 || !got[0].down || !got[1].down || !got[2].down || got[3].down || got[4].down || got[5].down {
			t.Errorf("chords of the viewer sent %q", spell(got))
		}
		s.here.Tap(codeA)
		if got := s.drain(); len(got) != 2 || got[0].sym != 'a' || got[0].state&^0x10 != 0 {
			t.Errorf("after the chords a is %v with state %x", got, got[0].state)
		}
	})

	t.Run("the window manager takes Alt+Tab", func(t *testing.T) { // C094
		s.t, s.here.T = t, t
		s.here.Key(codeLeftAlt, true) // to the next window, and to this one again
		s.here.Tap(codeTab)
		s.here.Tap(codeTab)
		s.here.Key(codeLeftAlt, false)
		xlab.Until(t, "the release of Alt", func() bool {
			held := false
			for _, e := range s.events() {
				if e.sym == 0xffe9 {
					held = e.down
				}
			}
			return !held
		})
		s.here.Focus(s.window) // wherever the window manager has left it
		s.ready()
		s.here.Tap(codeA)
		if got := s.drain(); len(got) != 2 || got[0].state&0x8 != 0 {
			t.Errorf("after Alt+Tab a is %v with state %x", got, got[0].state)
		}
	})

	t.Run("focus leaves with keys held", func(t *testing.T) { // C093
		s.t, s.here.T = t, t
		for _, code := range []int{codeLeftAlt, codeLeftCtrl, codeSuper} {
			s.here.Key(code, true)
		}
		s.here.Key(codeA, true)
		s.here.Focus(s.here.W) // another program's window
		xlab.Until(t, "all releases", func() bool {
			down := map[uint32]bool{}
			for _, e := range s.events() {
				if e.code != 0 {
					if e.down {
						down[e.sym] = true
					} else {
						delete(down, e.sym)
					}
				}
			}
			return len(s.events()) >= 8 && len(down) == 0
		})
		for _, code := range []int{codeA, codeSuper, codeLeftCtrl, codeLeftAlt} {
			s.here.Key(code, false)
		}
		s.here.Focus(s.window)
		xlab.Until(t, "the keyboard's return", func() bool { s.here.Tap(codeEscape); return anySym(s.events(), 0xff1b) })
		s.drain()
		s.here.Tap(codeA)
		if got := s.drain(); len(got) != 2 || got[0].state&^0x10 != 0 {
			t.Errorf("after the return a is %v with state %x", got, got[0].state)
		}
	})

	t.Run("layouts here only", func(t *testing.T) { // C097, C098
		s.t, s.here.T = t, t
		for _, tt := range []struct {
			layout string
			keys   [][]int // chords
			want   string  // keysyms pressed, without the modifiers
		}{
			{"de", [][]int{{codeRightAlt, codeQ}, {codeRightAlt, codeE}, {codeRightAlt, 16}, {codeRightAlt, 35}, {codeRightAlt, 94}, {20}, {34}, {29}, {codeLeftShift, 47}}, "40 20ac 7b 7e 7c df fc 7a d6"},
			{"fr", [][]int{{codeRightAlt, 19}, {codeRightAlt, 11}, {codeRightAlt, 13}, {10}, {11}, {codeLeftShift, 10}, {codeQ}}, "40 7e 7b 26 e9 31 61"},
			{"es", [][]int{{codeRightAlt, 11}, {codeRightAlt, 34}, {47}, {49}}, "40 5b f1 ba"},
			{"se", [][]int{{codeRightAlt, 11}, {codeRightAlt, 16}, {34}, {codeRightAlt, 20}}, "40 7b e5 5c"},
			{"ru", [][]int{{38}, {codeLeftShift, 38}, {codeLeftCtrl, 38}}, "6c6 6e6 6c6"},
			{"de", [][]int{{21}, {codeE}, {49}, {32}}, "fe51 65 fe52 6f"}, // dead acute + e, dead circumflex + o
		} {
			xlab.Layout(t, s.display, "-layout", tt.layout)
			s.settleLayout(tt.layout)
			for _, k := range tt.keys {
				s.chord(k...)
			}
			var got []string
			evs := s.drain()
			down := map[uint32]int{}
			for _, e := range evs {
				if e.down {
					down[e.sym]++
				} else {
					down[e.sym]--
				}
				if e.down && e.sym>>4 != 0xffe && e.sym != 0xfe03 {
					got = append(got, fmt.Sprintf("%x", e.sym))
				}
			}
			// The machine's server may name a Unicode keysym for an older one.
			if g := strings.ReplaceAll(strings.Join(got, " "), "10020ac", "20ac"); g != tt.want {
				t.Errorf("%s: the machine got %s, want %s", tt.layout, g, tt.want)
			}
			s.here.Tap(codeEscape)
			if e := s.drain(); len(e) == 0 || e[0].state&^0x10 != 0 {
				t.Errorf("%s: a modifier is left down: %v", tt.layout, e)
			}
		}
		xlab.Layout(t, s.display, "-layout", "us")
		s.settleLayout("us")
	})
}

func anySym(evs []event, sym uint32) bool {
	for _, e := range evs {
		if e.sym == sym {
			return true
		}
	}
	return false
}

// settleLayout waits until a change of the layout has come through to the
// window: the server tells of it in its own time.
func (s *stage) settleLayout(layout string) {
	s.t.Helper()
	code, sym := 29, map[string]uint32{"us": 'y', "de": 'z', "fr": 'y', "es": 'y', "se": 'y', "ru": 0x6ce}[layout]
	if layout == "fr" {
		code, sym = codeQ, 'a'
	}
	if layout == "es" || layout == "se" {
		code, sym = 47, map[string]uint32{"es": 0xf1, "se": 0xf6}[layout]
	}
	xlab.Until(s.t, "the layout "+layout, func() bool {
		s.here.Tap(code)
		evs := s.drain()
		return len(evs) > 0 && evs[0].sym == sym
	})
}
