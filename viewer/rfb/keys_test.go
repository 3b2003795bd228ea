package rfb_test

import (
	"strings"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/key"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

// keyMachine is a machine of a name that offers scan codes and tells what
// keys it gets, once as many have come as are wanted.
func keyMachine(t *testing.T, name string, mode viewer.KeyMode, in []viewer.Input, want string) {
	t.Helper()
	got := make(chan string, 1)
	s := serve(t, func(c *rfbtest.Conn) error {
		init := smallInit
		init.Name = name
		if err := c.Hello(init); err != nil {
			return err
		}
		if _, err := c.Until(rfbtest.UpdateRequest); err != nil {
			return err
		}
		if err := c.Send(rfbtest.Update(rfbtest.Rect(0, 0, 0, 0, -258), fill(0, 0, 100, 100, red))); err != nil {
			return err
		}
		list, err := next(c, strings.Count(want, ",")+1, rfbtest.KeyEvent, rfbtest.QEMU)
		got <- strings.Join(list, ", ")
		if err != nil {
			return err
		}
		return c.Drain()
	})
	target := s.Target()
	target.Keys = mode
	l := viewertest.Open(t, rfb.New(rfb.Options{}), target, nil)
	l.Look(t)
	l.Post(t, in...)
	if g := <-got; g != want {
		t.Errorf("got  %s\nwant %s", g, want)
	}
}

func press(k viewer.Key) []viewer.Input {
	d, u := k, k
	d.Down = true
	return []viewer.Input{d, u}
}

func typed(text string) (in []viewer.Input) {
	for _, r := range text {
		k := key.FromRune(r)
		in = append(in, press(viewer.Key{Sym: k.Sym, Rune: r})...)
	}
	return in
}

// Scan codes are PC set 1, with the mark of the longer ones, and never X11's
// numbers (C107). By default only an emulator gets them (C108).
func TestKeyForms(t *testing.T) {
	umlaut := viewer.Key{Sym: 0xf6, Scan: 0x27, Rune: 'ö'}
	for _, c := range []struct {
		name, machine string
		mode          viewer.KeyMode
		in            []viewer.Input
		want          string
	}{
		{"a machine with a layout", "Xvnc", viewer.KeysAuto, press(umlaut), "key down 0xf6, key up 0xf6"},
		{"an emulator", "QEMU (vm1)", viewer.KeysAuto, press(umlaut), "scan down 0xf6 0x27, scan up 0xf6 0x27"},
		{"an emulator, by symbol", "QEMU", viewer.KeysBySymbol, press(umlaut), "key down 0xf6, key up 0xf6"},
		{"by position", "Xvnc", viewer.KeysByPosition, press(umlaut), "scan down 0xf6 0x27, scan up 0xf6 0x27"},
		{"arrow right", "QEMU", viewer.KeysAuto, press(viewer.Key{Sym: 0xff53, Scan: 0xe04d}), "scan down 0xff53 0xcd, scan up 0xff53 0xcd"},
		{"right Control", "QEMU", viewer.KeysAuto, press(viewer.Key{Sym: 0xffe4, Scan: 0xe01d}), "scan down 0xffe4 0x9d, scan up 0xffe4 0x9d"},
		{"right Alt", "QEMU", viewer.KeysAuto, press(viewer.Key{Sym: 0xffea, Scan: 0xe038}), "scan down 0xffea 0xb8, scan up 0xffea 0xb8"},
		{"Home", "QEMU", viewer.KeysAuto, press(viewer.Key{Sym: 0xff50, Scan: 0xe047}), "scan down 0xff50 0xc7, scan up 0xff50 0xc7"},
		{"Backspace", "QEMU", viewer.KeysAuto, press(viewer.Key{Sym: 0xff08, Scan: 0x0e}), "scan down 0xff08 0xe, scan up 0xff08 0xe"},
		{"a key of no symbol", "Xvnc", viewer.KeysAuto, press(viewer.Key{Scan: 0x70}), "scan down 0x0 0x70, scan up 0x0 0x70"},
		{"the release has the form of the press", "QEMU", viewer.KeysAuto,
			[]viewer.Input{viewer.Key{Sym: 'A', Scan: 0x1e, Down: true}, viewer.Key{Sym: 'a', Scan: 0x1e}}, "scan down 0x41 0x1e, scan up 0x41 0x1e"},
		// Typed by an agent: QEMU would leave out Shift (C104, C105).
		{"a capital letter", "QEMU", viewer.KeysAuto, typed("H"), "scan down 0xffe1 0x2a, scan down 0x48 0x23, scan up 0xffe1 0x2a, scan up 0x48 0x23"},
		{"a small letter", "QEMU", viewer.KeysAuto, typed("h"), "scan down 0x68 0x23, scan up 0x68 0x23"},
		{"punctuation", "QEMU", viewer.KeysAuto, typed("_"), "scan down 0xffe1 0x2a, scan down 0x5f 0xc, scan up 0xffe1 0x2a, scan up 0x5f 0xc"},
		{"by symbol too", "QEMU", viewer.KeysBySymbol, typed("#"), "key down 0xffe1, key down 0x23, key up 0xffe1, key up 0x23"},
		{"Shift is held", "QEMU", viewer.KeysAuto,
			append([]viewer.Input{viewer.Key{Sym: key.ShiftL, Scan: 0x2a, Down: true}}, typed("A")...), "scan down 0xffe1 0x2a, scan down 0x41 0x1e, scan up 0x41 0x1e"},
		{"not on the keyboard", "QEMU", viewer.KeysAuto, typed("é"), "key down 0xe9, key up 0xe9"},
		{"Latin-1 and others on a machine with a layout", "Xvnc", viewer.KeysAuto, typed("é€"), "key down 0xe9, key up 0xe9, key down 0x10020ac, key up 0x10020ac"},
	} {
		t.Run(c.name, func(t *testing.T) { keyMachine(t, c.machine, c.mode, c.in, c.want) })
	}
}

// A machine that has not offered scan codes gets none, and a key that is
// nothing but one is refused.
func TestKeysWithoutOffer(t *testing.T) {
	p := newDesktopPeer(t)
	target := p.Target(t)
	target.Keys = viewer.KeysByPosition
	l := viewertest.Open(t, rfb.New(rfb.Options{}), target, nil)
	l.Look(t)
	l.Post(t, press(viewer.Key{Sym: 'a', Scan: 0x1e})...)
	if got := strings.Join(p.d.Inputs(2), ", "); got != "key down 0x61, key up 0x61" {
		t.Errorf("got %s", got)
	}
	if err := l.Session.(viewer.Inputter).Post(viewer.Key{Scan: 0x70, Down: true}); viewer.KindOf(err) != viewer.Invalid {
		t.Errorf("got %v, want kind invalid", err)
	}
}

// Buttons 8 and 9 take the longer form of the message, of a machine that has
// offered it; another gets button 8 in the old one, and never bit 7 while it
// has not answered.
func TestMoreButtons(t *testing.T) {
	for _, offer := range []bool{true, false} {
		name := map[bool]string{true: "offered", false: "not offered"}[offer]
		t.Run(name, func(t *testing.T) {
			want := []string{"pointer 0 at 5,6", "pointer 128 at 5,6", "pointer 0 at 5,6", "pointer 1 at 5,6"}
			if offer {
				want = []string{"pointer 0 at 5,6", "pointer 128 and 1 at 5,6", "pointer 128 and 2 at 5,6", "pointer 1 at 5,6"}
			}
			asked, done := make(chan struct{}), make(chan struct{})
			l := machine(t, func(c *rfbtest.Conn) error {
				c.MoreButtons = offer
				close(asked)
				first := wants([]uint8{rfbtest.PointerEvent}, want[0])
				if err := first(c); err != nil {
					return err
				}
				update := rfbtest.Update(fill(0, 0, 100, 100, red))
				if offer {
					update = rfbtest.Update(rfbtest.Rect(0, 0, 0, 0, -316), fill(0, 0, 100, 100, red))
				}
				if err := c.Send(update); err != nil {
					return err
				}
				err := wants([]uint8{rfbtest.PointerEvent}, want[1:]...)(c)
				close(done)
				return err
			}, live)
			<-asked
			l.Post(t, viewer.Pointer{X: 5, Y: 6, Buttons: viewer.Back})
			l.Look(t)
			l.Post(t, viewer.Pointer{X: 5, Y: 6, Buttons: viewer.Back}, viewer.Pointer{X: 5, Y: 6, Buttons: viewer.Forward},
				viewer.Pointer{X: 5, Y: 6, Buttons: viewer.Left})
			<-done
		})
	}
}

// A machine that takes motion gets the way between two places, and the person
// is told.
func TestRelativePointer(t *testing.T) {
	done := make(chan struct{})
	l := machine(t, rfbtest.Update(rfbtest.Rect(0, 0, 0, 0, -257), fill(0, 0, 100, 100, red)),
		wants([]uint8{rfbtest.PointerEvent}, "pointer 0 at 32767,32767", "pointer 1 at 32777,32762",
			"pointer 9 at 32767,32767", "pointer 1 at 32767,32767", "pointer 0 at 32767,32767",
			"pointer 0 at 32764,32771", "pointer 2 at 32767,32767", "pointer 0 at 32767,32767"),
		rfbtest.Update(rfbtest.Rect(1, 0, 0, 0, -257), fill(0, 0, 100, 100, green)),
		wants([]uint8{rfbtest.PointerEvent}, "pointer 0 at 7,8"),
		func(*rfbtest.Conn) error { close(done); return nil }, live)
	l.Look(t)
	l.Event(t, "a notice", func(e viewer.Event) bool {
		n, ok := e.(viewer.Notice)
		return ok && strings.Contains(n.Text, "motion")
	})
	l.Post(t, viewer.Pointer{X: 50, Y: 50}, viewer.Pointer{X: 60, Y: 45, Buttons: viewer.Left},
		viewer.Pointer{X: 60, Y: 45, Buttons: viewer.Left, WheelY: -1}, viewer.Pointer{X: 60, Y: 45},
		viewer.Motion{DX: -3, DY: 4}, viewer.Motion{Buttons: viewer.Middle}, viewer.Motion{})
	l.Event(t, "the change of the pointer's mode", func(e viewer.Event) bool { return e == viewer.PointerMode{Relative: true} })
	l.Until(t, "the green picture", func() bool { return l.At(9, 9) == green })
	l.Event(t, "places again", func(e viewer.Event) bool { return e == viewer.PointerMode{} })
	l.Post(t, viewer.Pointer{X: 7, Y: 8})
	<-done
}
