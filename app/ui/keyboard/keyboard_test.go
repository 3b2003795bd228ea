package keyboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/key"
)

// board is a keyboard with a US layout, and what came out of it.
type board struct {
	*Keyboard
	got    []string
	later  []func()
	chords map[string]bool
	ran    []string
	sym    map[int]uint32
	lost   bool
	down   map[uint32]bool
}

// Key codes of the tests.
const (
	shiftL, shiftR, ctrlL, altL, altR, superL, caps_, aKey, cKey, fKey, oneKey, deadKey, eKey, ruKey = 50, 62, 37, 64, 108, 133, 66, 38, 54, 41, 10, 21, 26, 40
)

func newBoard(inputMethod bool) *board {
	b := &board{
		chords: map[string]bool{"F": true, "1": true},
		down:   map[uint32]bool{},
		sym: map[int]uint32{
			shiftL: key.ShiftL, shiftR: key.ShiftR, ctrlL: key.ControlL, altL: key.AltL, altR: key.ISOLevel3, superL: key.SuperL,
			caps_: key.CapsLock, aKey: 'a', cKey: 'c', fKey: 'f', oneKey: '1', deadKey: 0xfe51, eKey: 'e', ruKey: 0x06d7,
		},
	}
	b.Keyboard = New(Config{
		Source: b, InputMethod: inputMethod,
		Send: func(k viewer.Key) { b.got = append(b.got, spell(k)) },
		Chord: func(name string, run bool) bool {
			if run {
				b.ran = append(b.ran, name)
			}
			return b.chords[name]
		},
		Later: func(fn func()) { b.later = append(b.later, fn) },
	})
	return b
}

func spell(k viewer.Key) string {
	name := fmt.Sprintf("%x", k.Sym)
	if k.Sym > ' ' && k.Sym < 0x7f {
		name = string(rune(k.Sym))
	}
	for n, s := range map[string]uint32{"ShiftL": key.ShiftL, "ShiftR": key.ShiftR, "Ctrl": key.ControlL, "Alt": key.AltL, "Super": key.SuperL, "AltGr": key.ISOLevel3} {
		if s == k.Sym {
			name = n
		}
	}
	if k.Down {
		return "+" + name
	}
	return "-" + name
}

func (b *board) Press(code int) (Stroke, bool) {
	sym := b.sym[code]
	s := Stroke{Sym: sym, Cap: sym, Lost: b.lost}
	s.Plain = !b.down[key.ControlL] && !b.down[key.AltL] && !b.down[key.SuperL] && !modifier(sym)
	if (b.down[key.ShiftL] || b.down[key.ShiftR]) && sym >= 'a' && sym <= 'z' {
		s.Sym = sym - 'a' + 'A'
	}
	return s, sym != 0
}

// press plays a key as Fyne tells of it: down, typed, and a character when
// there is one.
func (b *board) press(code int, r rune) {
	b.Down("", code)
	b.Typed("", code)
	if r != 0 {
		b.Rune(r)
	}
	b.settle()
	if modifier(b.sym[code]) {
		b.down[b.sym[code]] = true
	}
}

func (b *board) up(code int) {
	b.Up(code)
	delete(b.down, b.sym[code])
}

func (b *board) repeat(r rune) {
	b.Typed("", 0)
	if r != 0 {
		b.Rune(r)
	}
	b.settle()
}

// settle runs what was put off, as Fyne does after each poll of events.
func (b *board) settle() {
	for _, fn := range b.later {
		fn()
	}
	b.later = nil
}

func (b *board) want(t *testing.T, want string) {
	t.Helper()
	if got := strings.Join(b.got, " "); got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	b.got = nil
}

func TestPlainKeys(t *testing.T) {
	b := newBoard(false)
	b.press(aKey, 'a')
	b.up(aKey)
	b.want(t, "+a -a")
	b.press(shiftL, 0)
	b.press(aKey, 'A')
	b.up(shiftL)
	b.up(aKey)
	b.want(t, "+ShiftL +A -ShiftL -A")
	b.press(aKey, 'a')
	b.repeat('a')
	b.repeat('a')
	b.up(aKey)
	b.want(t, "+a +a +a -a")
	b.up(cKey) // was pressed elsewhere
	b.want(t, "")
	b.press(aKey, 'a')
	b.press(aKey, 'a') // its release was lost
	b.up(aKey)
	b.want(t, "+a -a +a -a")
}

func TestShortcutsGoToTheRemote(t *testing.T) {
	b := newBoard(false)
	b.press(ctrlL, 0)
	b.press(cKey, 0)
	b.repeat(0)
	b.up(cKey)
	b.up(ctrlL)
	b.want(t, "+Ctrl +c +c -c -Ctrl")
	b.press(superL, 0)
	b.press(eKey, 'e') // the toolkit tells a character all the same
	b.up(eKey)
	b.up(superL)
	b.want(t, "+Super +e -e -Super")
}

func TestTwoShifts(t *testing.T) {
	for _, order := range [][4]int{{shiftL, shiftR, shiftL, shiftR}, {shiftL, shiftR, shiftR, shiftL}, {shiftR, shiftL, shiftL, shiftR}, {shiftR, shiftL, shiftR, shiftL}} {
		b := newBoard(false)
		b.press(order[0], 0)
		b.press(order[1], 0)
		b.up(order[2])
		b.up(order[3])
		ups, downs := 0, 0
		for _, g := range b.got {
			if g[0] == '+' {
				downs++
			} else {
				ups++
			}
		}
		sorted := slices.Sorted(slices.Values(b.got))
		if downs != 2 || ups != 2 || len(slices.Compact(sorted)) != 4 || b.Held() != 0 {
			t.Errorf("order %v sent %v", order, b.got)
		}
	}
}

// Dead keys go to the remote side as they are, and what they make here does not.
func TestDeadKeys(t *testing.T) {
	b := newBoard(false)
	b.press(deadKey, 0)
	b.up(deadKey)
	b.press(eKey, 'é')
	b.up(eKey)
	b.press(aKey, 'a')
	b.up(aKey)
	b.want(t, "+fe51 -fe51 +e -e +a -a")
	b.press(deadKey, 0)
	b.up(deadKey)
	b.press(cKey, 0) // makes nothing
	b.up(cKey)
	b.press(aKey, 'a')
	b.up(aKey)
	b.want(t, "+fe51 -fe51 +c -c +a -a")
}

// What the source says of a key counts; the toolkit may look its character up
// too late, when the layout has changed again.
func TestSourceCounts(t *testing.T) {
	b := newBoard(false)
	b.press(aKey, 'λ')
	b.up(aKey)
	b.want(t, "+a -a")
}

func TestInputMethod(t *testing.T) {
	b := newBoard(true)
	b.press(aKey, 0) // into the method
	b.up(aKey)
	b.press(cKey, 0)
	b.up(cKey)
	b.want(t, "")
	b.Rune('中')
	b.Rune('文')
	b.want(t, "+1004e2d -1004e2d +1006587 -1006587")
	b.press(aKey, 0)
	b.Rune('a') // the method let it through, later
	b.up(aKey)
	b.want(t, "+a -a")
	b.press(ctrlL, 0)
	b.press(cKey, 0)
	b.up(cKey)
	b.up(ctrlL)
	b.want(t, "+Ctrl +c -c -Ctrl")
}

func TestTextWithoutKeys(t *testing.T) {
	b := newBoard(false)
	b.Rune('€')
	b.Rune('\n')
	b.want(t, "+10020ac -10020ac +ff0d -ff0d")
}

func TestChord(t *testing.T) {
	b := newBoard(false)
	b.press(ctrlL, 0)
	b.press(altL, 0)
	b.press(shiftL, 0)
	b.want(t, "+Ctrl +Alt +ShiftL")
	for range 4 { // C112: held prefix, key pressed again and again
		b.press(fKey, 0)
		b.repeat(0)
		b.up(fKey)
	}
	b.want(t, "-ShiftL -Alt -Ctrl")
	if strings.Join(b.ran, "") != "FFFF" {
		t.Errorf("ran %v, want F four times", b.ran)
	}
	b.press(cKey, 0) // not a chord of ours: to the remote side, modifiers and all
	b.up(cKey)
	b.want(t, "+Ctrl +Alt +ShiftL +C -C")
	b.up(shiftL)
	b.up(altL)
	b.up(ctrlL)
	b.want(t, "-ShiftL -Alt -Ctrl")
	b.press(fKey, 'f')
	b.up(fKey)
	b.want(t, "+f -f")
}

// After the chord two of its modifiers stay down: the next key gets them.
func TestModifiersStayAfterChord(t *testing.T) {
	b := newBoard(false)
	b.press(ctrlL, 0)
	b.press(altL, 0)
	b.press(shiftL, 0)
	b.press(oneKey, 0)
	b.up(oneKey)
	b.up(shiftL)
	b.got = nil
	b.press(aKey, 0)
	b.up(aKey)
	b.up(altL)
	b.up(ctrlL)
	b.want(t, "+Ctrl +Alt +a -a -Alt -Ctrl")
}

// Keys that come past the toolkit under a grab.
func TestGrabbedKeys(t *testing.T) {
	b := newBoard(false)
	tap := func(code int, down ...bool) {
		s, _ := b.Press(code)
		for _, d := range down {
			b.Key(code, s, d)
			if modifier(b.sym[code]) {
				b.down[b.sym[code]] = d
			}
		}
	}
	tap(altL, true)
	tap(aKey, true, true, true, false)
	tap(altL, false)
	b.want(t, "+Alt +a +a +a -a -Alt")
	tap(ctrlL, true)
	tap(altL, true)
	tap(shiftL, true)
	tap(fKey, true, true, false)
	tap(shiftL, false)
	tap(altL, false)
	tap(ctrlL, false)
	b.want(t, "+Ctrl +Alt +ShiftL -ShiftL -Alt -Ctrl")
	if strings.Join(b.ran, "") != "F" {
		t.Errorf("ran %v, want F once", b.ran)
	}
}

// While an agent drives, modifiers wait for the key after them: a chord of the
// viewer sends nothing, any other key comes with them.
func TestPatient(t *testing.T) {
	b := newBoard(false)
	patient := true
	b.config.Patient = func() bool { return patient }
	b.press(ctrlL, 0)
	b.press(altL, 0)
	b.press(shiftL, 0)
	b.press(fKey, 0)
	b.up(fKey)
	b.up(shiftL)
	b.want(t, "")
	b.press(cKey, 0)
	b.up(cKey)
	b.up(altL)
	b.up(ctrlL)
	b.want(t, "+Ctrl +Alt +c -c -Alt -Ctrl")
	patient = false
	b.press(ctrlL, 0)
	b.up(ctrlL)
	b.want(t, "+Ctrl -Ctrl")
}

// A modifier that was down when the window manager took the keyboard, and of
// which the toolkit tells only then, is not pressed: nobody would release it.
// Another key is pressed and released.
func TestLostKey(t *testing.T) {
	b := newBoard(false)
	b.lost = true
	b.press(altL, 0)
	b.lost = false
	delete(b.down, key.AltL)
	b.press(aKey, 'a')
	b.up(aKey)
	b.want(t, "+a -a")
	// The toolkit thinks it is down and takes the next press for repetition.
	b.Typed("LeftAlt", altL)
	b.settle()
	b.down[key.AltL] = true
	b.press(aKey, 0)
	b.Typed("A", aKey)
	b.up(aKey)
	b.up(altL)
	b.want(t, "+Alt +a +a -a -Alt")
	// What was typed a moment before is typed.
	b.down = map[uint32]bool{}
	b.lost = true
	b.press(aKey, 'a')
	b.want(t, "+a -a")
	if b.Held() != 0 {
		t.Errorf("%d keys are held", b.Held())
	}
	// Its release, told of by the grab that took the keyboard, changes nothing.
	b.Key(aKey, Stroke{}, false)
	b.want(t, "")
}

func TestReset(t *testing.T) {
	b := newBoard(false)
	b.press(ctrlL, 0)
	b.Down("", aKey)
	b.Reset()
	b.settle()
	b.got = nil
	b.up(aKey)
	b.up(ctrlL)
	b.want(t, "")
	if b.Held() != 0 {
		t.Error("something is held after Reset")
	}
}

// Without a source the toolkit's names have to do.
func TestWithoutSource(t *testing.T) {
	b := newBoard(false)
	b.Keyboard.config.Source = nil
	for _, tt := range []struct {
		name string
		r    rune
		want string
	}{
		{"A", 'a', "+a -a"}, {"A", 'A', "+A -A"}, {"", 'ß', "+df -df"}, {"Return", 0, "+ff0d -ff0d"}, {"KP_Enter", 0, "+ff8d -ff8d"},
		{"Prior", 0, "+ff55 -ff55"}, {"Space", ' ', "+20 -20"}, {"1", '!', "+! -!"}, {"LeftSuper", 0, "+Super -Super"}, {"F11", 0, "+ffc8 -ffc8"},
	} {
		b.Down(tt.name, 38)
		b.Typed(tt.name, 38)
		if tt.r != 0 {
			b.Rune(tt.r)
		}
		b.settle()
		b.Up(38)
		if got := strings.Join(b.got, " "); got != tt.want {
			t.Errorf("%q %q sent %q, want %q", tt.name, tt.r, got, tt.want)
		}
		b.got = nil
	}
	b.Down("LeftControl", 37)
	b.Down("C", 54)
	b.settle()
	b.Up(54)
	b.Up(37)
	b.want(t, "+Ctrl +c -c -Ctrl")
}

func TestCapNames(t *testing.T) {
	tests := []struct {
		printed uint32
		code    int
		want    []string
	}{
		{'f', 41, []string{"F"}},
		{'z', 29, []string{"Z"}},                 // German: what is printed counts
		{'&', 10, []string{"&", "1"}},            // French digit row
		{0x06c6, 38, []string{"A"}},              // Russian
		{0xff57, 115, []string{"End"}},           //
		{' ', 65, []string{"Space"}},             //
		{']', 35, []string{"]"}},                 //
		{'\'', 24, []string{"'"}},                // Dvorak: no Q in its place
		{0xffc8, 95, []string{"F11"}},            //
		{0xfc, 34, []string{"["}},                // German ü stands where [ is
		{0xffe1, shiftL, nil},                    //
		{key.Return, 36, []string{"Enter"}},      //
		{0xffb1, 87, []string{"1"}},              // keypad
		{0xff9c, 87, []string{"End"}},            // keypad without NumLock
		{0x010020ac, 26, []string{"E"}},          //
		{key.FromRune('日').Sym, 300, []string{}}, // no such place
	}
	for _, tt := range tests {
		if got := capNames(tt.printed, tt.code); !slices.Equal(got, tt.want) {
			t.Errorf("capNames(%#x, %d) = %q, want %q", tt.printed, tt.code, got, tt.want)
		}
	}
}
