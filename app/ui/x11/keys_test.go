package x11

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"

	"deskvnc/app/ui/keyboard"
	"deskvnc/app/ui/x11/xlab"
	"deskvnc/viewer/key"
)

// Key codes.
const (
	escKey, qKey, eKey, aKey, shiftL, ctrlL, altL, altR, capsKey, numKey, superL, kp1 = 9, 24, 26, 38, 50, 37, 64, 108, 66, 77, 133, 87
)

var keysymOf = regexp.MustCompile(`keycode (\d+) \(keysym 0x([0-9a-f]+),`)

// presses are the keysyms of xev's key presses, in order.
func presses(all []string) (out []string) {
	for i, l := range all {
		if strings.HasPrefix(l, "KeyPress event") && i+2 < len(all) {
			if m := keysymOf.FindStringSubmatch(all[i+2]); m != nil && m[1] != "0" { // 0: composed text
				out = append(out, m[1]+":"+m[2])
			}
		}
	}
	return out
}

// Every key of the keyboard, under every usual combination of modifiers, on
// several layouts, has the keysym that a native X client sees. With
// DESKVNC_EXHAUSTIVE set it walks all layouts of the list.
func TestKeysymsAreThoseOfAnXClient(t *testing.T) {
	display := xlab.Start(t)
	layouts := [][]string{
		{"-layout", "us"}, {"-layout", "de"}, {"-layout", "fr"}, {"-layout", "es"}, {"-layout", "se"}, {"-layout", "br"},
		{"-layout", "ru"}, {"-layout", "jp"}, {"-layout", "us", "-variant", "intl"}, {"-layout", "us", "-variant", "dvorak"},
		{"-layout", "de", "-variant", "neo"}, {"-layout", "gr"}, {"-layout", "pl"}, {"-layout", "us,ru"},
	}
	if os.Getenv("DESKVNC_EXHAUSTIVE") == "" { // a layout takes half a minute
		layouts = [][]string{{"-layout", "de"}, {"-layout", "ru"}}
	}
	mods := [][]int{nil, {shiftL}, {altR}, {shiftL, altR}, {ctrlL}, {altL}, {ctrlL, altR}, {superL}}
	d := xlab.NewDriver(t, display)
	d.Pause = 0
	for _, layout := range layouts {
		t.Run(strings.Join(layout, " "), func(t *testing.T) {
			xlab.Layout(t, display, layout...)
			win, out := xlab.StartXev(t, display, "-event", "keyboard")
			h, err := Dial(display, uint32(win), Events{})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			d.T = t
			d.Focus(win)
			var want int
			var got []string
			press := func(code int) {
				d.Key(code, true)
				s, ok := h.Press(code)
				if !ok {
					t.Fatalf("key %d is not known", code)
				}
				got = append(got, fmt.Sprintf("%d:%x", code, s.Sym))
				want++
			}
			for _, locks := range [][]int{nil, {capsKey}, {numKey}} {
				for _, l := range locks {
					press(l)
					d.Key(l, false)
				}
				for _, m := range mods {
					for _, code := range m {
						press(code)
					}
					state, err := h.state()
					if err != nil {
						t.Fatal(err)
					}
					for code := 9; code <= 255; code++ {
						switch code {
						case shiftL, altR, ctrlL, altL, superL, capsKey, numKey, 78:
							continue // held, or changes a lock
						}
						sym, plain := h.layout.sym(byte(code), state)
						if plain>>4 == 0xfe0 || plain == 0 || plain == key.NumLock || sym>>8 == 0xfe && sym>>4 != 0xfe5 || sym >= 0x1008fe00 && sym <= 0x1008feff {
							continue // a modifier or group switch; nothing; a key that the server keeps
						}
						press(code)
						d.Key(code, false)
					}
					for _, code := range m {
						d.Key(code, false)
					}
				}
				for _, l := range locks {
					press(l)
					d.Key(l, false)
				}
			}
			// The lines only grow: each is looked at once.
			at, count := 0, 0
			all := out.Wait(t, "xev's key presses", func(l []string) bool {
				if end := len(l) - 2; end > at {
					count += len(presses(l[at : end+2]))
					at = end
				}
				return count >= want
			})
			seen := presses(all)
			wrong := 0
			for i := range got {
				if seen[i] != got[i] && !sameCapital(got[i], seen[i]) {
					if wrong++; wrong <= 10 {
						t.Errorf("press %d: helper says %s, an X client sees %s", i, got[i], seen[i])
					}
				}
			}
			if wrong > 10 {
				t.Errorf("%d of %d presses differ", wrong, len(got))
			}
		})
	}
}

// sameCapital reports whether two keysyms under Caps Lock are the same
// character. The X library gives some capitals that are no keysyms of the
// protocol: U+039C for the micro sign as 0x39c, U+1E9E for the sharp s.
func sameCapital(ours, theirs string) bool {
	sym := func(s string) uint32 {
		_, hex, _ := strings.Cut(s, ":")
		n, _ := strconv.ParseUint(hex, 16, 32)
		return uint32(n)
	}
	o, x := sym(ours), sym(theirs)
	return o == 0xb5 && x == 0x39c || o == 0xdf && x == 0x1e9e || key.Rune(o) != 0 && key.Rune(o) == rune(x-0x01000000)
}

// Locks and the plain state come with the key.
func TestLocksAndPlain(t *testing.T) {
	display := xlab.Start(t)
	xlab.Layout(t, display, "-layout", "us")
	d := xlab.NewDriver(t, display)
	h := dial(t, display, d.W, Events{})
	press := func(code int) keyboard.Stroke {
		t.Helper()
		d.Key(code, true)
		s, ok := h.Press(code)
		d.Key(code, false)
		if !ok {
			t.Fatalf("key %d is not known", code)
		}
		return s
	}
	if s := press(aKey); s.Sym != 'a' || s.Cap != 'a' || !s.Plain || !s.Locks.Known || s.Locks.Caps || s.Locks.Num {
		t.Errorf("a gives %+v", s)
	}
	press(capsKey)
	press(numKey)
	if s := press(aKey); s.Sym != 'A' || s.Cap != 'a' || !s.Locks.Caps || !s.Locks.Num {
		t.Errorf("a under Caps and Num Lock gives %+v", s)
	}
	if s := press(kp1); s.Sym != 0xffb1 {
		t.Errorf("the keypad's 1 under Num Lock gives %+v", s)
	}
	press(capsKey)
	press(numKey)
	if s := press(kp1); s.Sym != 0xff9c {
		t.Errorf("the keypad's 1 gives %+v, want KP_End", s)
	}
	for _, m := range []int{ctrlL, altL, superL} {
		d.Key(m, true)
		if s := press(eKey); s.Plain || s.Sym != 'e' {
			t.Errorf("e with modifier %d gives %+v", m, s)
		}
		d.Key(m, false)
	}
}

// The toolkit tells of keys later than the server: what counts is the state at
// the press, in the order of the presses.
func TestPressesAreMatchedInOrder(t *testing.T) {
	display := xlab.Start(t)
	xlab.Layout(t, display, "-layout", "us")
	d := xlab.NewDriver(t, display)
	h := dial(t, display, d.W, Events{})
	d.Tap(aKey)
	d.Key(shiftL, true)
	d.Tap(aKey)
	d.Key(shiftL, false)
	d.Tap(qKey) // told to somebody else
	d.Tap(aKey)
	settle(t, h, 5)
	var got []uint32
	for _, code := range []int{aKey, shiftL, aKey, aKey} {
		s, ok := h.Press(code)
		if !ok {
			t.Fatalf("key %d is not known", code)
		}
		got = append(got, s.Sym)
	}
	if want := []uint32{'a', key.ShiftL, 'A', 'a'}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("keysyms %x, want %x", got, want)
	}
	d.Key(shiftL, true)
	d.Tap(aKey)
	d.Key(shiftL, false)
	settle(t, h, 2)
	h.Forget()
	d.Tap(aKey)
	settle(t, h, 1)
	if s, _ := h.Press(aKey); s.Sym != 'a' {
		t.Errorf("after Forget the key gives %x, want a: an older press was taken for it", s.Sym)
	}
	// Not told of by the server, for example under a grab: the state of now.
	d.Key(shiftL, true)
	h.Press(shiftL)
	if s, ok := h.Press(aKey); !ok || s.Sym != 'A' {
		t.Errorf("a key without a press gives %x, %v, want A by the state of now", s.Sym, ok)
	}
	d.Key(shiftL, false)
	for _, code := range []int{0, 7, 256, -1} {
		if _, ok := h.Press(code); ok {
			t.Errorf("code %d is known", code)
		}
	}
}

// settle waits until the helper has n presses.
func settle(t *testing.T, h *Helper, n int) {
	t.Helper()
	limit := time.After(xlab.Hang)
	for {
		h.mu.Lock()
		have, arrived := len(h.strokes), h.arrived
		h.mu.Unlock()
		if have >= n {
			return
		}
		select {
		case <-arrived:
		case <-limit:
			t.Fatalf("%d presses have come, want %d", have, n)
		}
	}
}

func dial(t *testing.T, display string, w xproto.Window, ev Events) *Helper {
	t.Helper()
	h, err := Dial(display, uint32(w), ev)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// A layout changed while we run is followed.
func TestLayoutChange(t *testing.T) {
	display := xlab.Start(t)
	xlab.Layout(t, display, "-layout", "us")
	d := xlab.NewDriver(t, display)
	h := dial(t, display, d.W, Events{})
	want := func(code int, sym uint32) {
		t.Helper()
		limit := time.Now().Add(xlab.Hang)
		for {
			h.mu.Lock()
			got, _ := h.layout.sym(byte(code), 0)
			h.mu.Unlock()
			if got == sym {
				return
			}
			if time.Now().After(limit) {
				t.Fatalf("key %d is %x, want %x", code, got, sym)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	want(29, 'y')
	xlab.Layout(t, display, "-layout", "de")
	want(29, 'z')
	xlab.Layout(t, display, "-layout", "fr")
	want(24, 'a')
}

// A character put on a spare key for the moment of its press, as programs do
// that type what the layout has not, is read while it is there.
func TestSpareKey(t *testing.T) {
	display := xlab.Start(t)
	xlab.Layout(t, display, "-layout", "us")
	d := xlab.NewDriver(t, display)
	h := dial(t, display, d.W, Events{})
	const spare = 251
	syms := []xproto.Keysym{0xe4, 0x010065e5, 0x20ac, 0x0101f600}
	for i, sym := range append(slices.Clone(syms), syms...) {
		xproto.ChangeKeyboardMapping(d.C, 1, spare, 2, []xproto.Keysym{sym, sym})
		d.Tap(spare)
		settle(t, h, i+1)
		xproto.ChangeKeyboardMapping(d.C, 1, spare, 1, []xproto.Keysym{0})
	}
	for _, sym := range append(slices.Clone(syms), syms...) {
		if s, ok := h.Press(spare); !ok || s.Sym != uint32(sym) {
			t.Errorf("the spare key gave %x, want %x", s.Sym, sym)
		}
	}
}

// A grab gets all keys, and ends; somebody else's grab is told of.
func TestGrabs(t *testing.T) {
	display := xlab.Start(t)
	xlab.Layout(t, display, "-layout", "us")
	d := xlab.NewDriver(t, display)
	taken := make(chan struct{}, 8)
	keys := make(chan string, 64)
	h := dial(t, display, d.W, Events{
		Taken: func() { taken <- struct{}{} },
		Key:   func(code int, s keyboard.Stroke, down bool) { keys <- fmt.Sprintf("%x %v", s.Sym, down) },
	})
	if !h.Grab(true) {
		t.Fatal("the keyboard could not be grabbed")
	}
	d.Key(altL, true)
	d.Key(23, true)
	d.Key(23, false)
	d.Key(altL, false)
	for _, want := range []string{"ffe9 true", "ff09 true", "ff09 false", "ffe9 false"} {
		select {
		case got := <-keys:
			if got != want {
				t.Errorf("key %s, want %s", got, want)
			}
		case <-time.After(xlab.Hang):
			t.Fatalf("waited too long for key %s", want)
		}
	}
	h.Grab(false)
	select {
	case <-taken:
		t.Error("our own grab counted as somebody else's")
	default:
	}
	// Now another client grabs, as a window manager does for Alt+Tab.
	other := xlab.NewDriver(t, display)
	d.Focus(d.W)
	h.Forget()
	d.Tap(aKey)
	d.Key(altL, true)
	settle(t, h, 2)
	r, err := xproto.GrabKeyboard(other.C, false, other.W, xproto.TimeCurrentTime, xproto.GrabModeAsync, xproto.GrabModeAsync).Reply()
	if err != nil || r.Status != xproto.GrabStatusSuccess {
		t.Fatalf("the other client could not grab: %v", err)
	}
	select {
	case <-taken:
	case <-time.After(xlab.Hang):
		t.Error("the grab of another client was not told of")
	}
	for _, want := range []struct {
		code int
		lost bool
	}{{aKey, false}, {altL, true}} {
		if s, ok := h.Press(want.code); !ok || s.Lost != want.lost {
			t.Errorf("key %d, pressed before the grab: lost %v, want %v", want.code, s.Lost, want.lost)
		}
	}
}

func TestParseLayoutOfBrokenReplies(t *testing.T) {
	display := xlab.Start(t)
	d := xlab.NewDriver(t, display)
	h := dial(t, display, d.W, Events{})
	q := make([]byte, 28)
	q[0], q[1], q[2], q[5], q[6] = h.xkb, xkbGetMap, 7, 1, 7
	r, err := ask(h.keys, q)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseLayout(r); err != nil {
		t.Fatalf("the whole reply: %v", err)
	}
	for _, n := range []int{0, 10, 39, 40, 41, 47, 100, 1000, len(r) / 2} {
		if l, err := parseLayout(r[:min(n, len(r))]); err == nil {
			t.Errorf("a reply of %d bytes gave a layout of %d keys", n, len(l.keys))
		}
	}
	if _, err := strconv.Atoi(display[1:]); err != nil {
		t.Fatal(err)
	}
}
