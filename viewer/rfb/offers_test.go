package rfb_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

// fence is a ServerFence.
func fence(flags uint32, payload string) []byte {
	b := binary.BigEndian.AppendUint32([]byte{rfbtest.Fence, 0, 0, 0}, flags)
	return append(append(b, byte(len(payload))), payload...)
}

var endOfContinuous = []byte{rfbtest.ContinuousUpdates}

// A fence is answered with its payload and the flags that are kept, without
// the request; one that does not ask gets no answer (C010).
func TestFencesAreAnswered(t *testing.T) {
	got := make(chan []string, 1)
	l := machine(t, fence(0, ""), fence(1<<31|7|1<<20, "payload"), fence(1<<31|1, strings.Repeat("x", 64)), func(c *rfbtest.Conn) error {
		var list []string
		for range 2 {
			m, err := c.Until(rfbtest.Fence)
			if err != nil {
				return err
			}
			list = append(list, fmt.Sprintf("%x %s", m.Body[3:7], m.Body[8:]))
		}
		got <- list
		return nil
	}, live)
	want := []string{"00000003 payload", "00000001 " + strings.Repeat("x", 64)}
	if list := <-got; !slices.Equal(list, want) {
		t.Errorf("got %q, want %q", list, want)
	}
	if a := l.Session.(viewer.Signaller).Signals()[viewer.SignalFence].Availability; a != viewer.Live {
		t.Errorf("the signal is %q", a)
	}
}

// next tells the next messages of the given types.
func next(c *rfbtest.Conn, n int, types ...uint8) ([]string, error) {
	var list []string
	for len(list) < n {
		m, err := c.Next()
		if err != nil {
			return list, err
		}
		if slices.Contains(types, m.Type) {
			list = append(list, m.String())
		}
	}
	return list, nil
}

// wants is a step of a script that fails unless these are the next messages
// of their types.
func wants(types []uint8, want ...string) func(*rfbtest.Conn) error {
	return func(c *rfbtest.Conn) error {
		got, err := next(c, len(want), types...)
		if err != nil || !slices.Equal(got, want) {
			return fmt.Errorf("got %q, %v, want %q", got, err, want)
		}
		return nil
	}
}

// Continuous updates go on only after the machine has offered them, follow
// the screen's size, and end when nobody looks (C011).
func TestContinuousUpdates(t *testing.T) {
	both := []uint8{rfbtest.ContinuousUpdates, rfbtest.UpdateRequest}
	off, seen, asked := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := serve(t, func(c *rfbtest.Conn) error {
		if err := c.Hello(smallInit); err != nil {
			return err
		}
		return say(
			wants(both, "request incremental=false"),
			// Not offered: request and response.
			rfbtest.Update(fill(0, 0, 100, 100, red)), wants(both, "request incremental=true"),
			fence(0, ""), endOfContinuous, wants(both, "continuous 1 100 x 100"),
			// No requests for changes from here on; a new size moves the area.
			rfbtest.Update(fill(0, 0, 9, 9, green)), rfbtest.Update(fill(0, 0, 9, 9, red)),
			rfbtest.Update(rfbtest.Rect(0, 0, 120, 90, -223)),
			wants(both, "continuous 1 120 x 90", "request incremental=false"),
			rfbtest.Update(fill(0, 0, 120, 90, green)),
			func(*rfbtest.Conn) error { close(off); return nil },
			wants(both, "continuous 0 120 x 90"), endOfContinuous,
			func(*rfbtest.Conn) error { close(seen); return nil },
			wants(both, "continuous 1 120 x 90", "request incremental=false"),
			// The machine ends them by itself: back to requests.
			endOfContinuous, rfbtest.Update(fill(0, 0, 120, 90, red)), wants(both, "request incremental=true"),
			func(*rfbtest.Conn) error { close(asked); return nil },
			live)(c)
	})
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
	d := l.Session.(viewer.Desktop)
	d.Demand(true)
	<-off
	l.Until(t, "the green picture", func() bool { return l.At(119, 89) == green })
	d.Demand(false)
	<-seen
	d.Demand(true)
	l.Until(t, "the red picture", func() bool { return l.At(119, 89) == red })
	<-asked
}

// A machine that offers continuous updates and knows no fences has no brake:
// it is asked as any other.
func TestContinuousUpdatesNeedFences(t *testing.T) {
	both := []uint8{rfbtest.ContinuousUpdates, rfbtest.UpdateRequest}
	done := make(chan struct{})
	machine(t, endOfContinuous, rfbtest.Update(fill(0, 0, 100, 100, red)), wants(both, "request incremental=true"),
		func(*rfbtest.Conn) error { close(done); return nil }, live)
	<-done
}

// The lock keys are told, and brought into step with the local keyboard before
// a key that they matter to; the local keyboard is left alone (C102, C103).
func TestLockKeys(t *testing.T) {
	keys := []uint8{rfbtest.KeyEvent}
	caps := []string{"key down 0xffe5", "key up 0xffe5"}
	l := machine(t, rfbtest.Update(rfbtest.Rect(0, 0, 0, 0, -261, 2), rfbtest.Rect(0, 0, 0, 0, 0x574d5668, 0, 0, 0, 5)),
		// The machine has Caps and Scroll on, the keyboard only Num.
		wants(keys, append(caps, "key down 0xff7f", "key up 0xff7f", "key down 0x61", "key up 0x61", "key down 0x62")...),
		rfbtest.Update(rfbtest.Rect(0, 0, 0, 0, -261, 0)), // Num was not taken
		live)
	l.Event(t, "the second report", func(e viewer.Event) bool {
		s, ok := e.(viewer.LockState)
		return ok && s.Locks == viewer.Locks{Caps: true, Scroll: true, Known: true}
	})
	local := viewer.Locks{Num: true, Known: true}
	l.Post(t, viewer.Key{Sym: 'a', Down: true, Locks: local}, viewer.Key{Sym: 'a', Locks: local}, viewer.Key{Sym: 'b', Down: true, Locks: local})
	first := l.Event(t, "the first report", func(e viewer.Event) bool { _, ok := e.(viewer.LockState); return ok })
	if got := first.(viewer.LockState).Locks; got != (viewer.Locks{Num: true, Known: true}) {
		t.Errorf("got %+v", got)
	}
	if a := l.Session.(viewer.Signaller).Signals()[viewer.SignalLEDState].Availability; a != viewer.Live {
		t.Errorf("the signal is %q", a)
	}
}

// A person's own Caps Lock is not undone by the keys after it, although the
// machine has not told its new state yet.
func TestOwnLockKeyIsNotUndone(t *testing.T) {
	done := make(chan struct{})
	l := machine(t, rfbtest.Update(rfbtest.Rect(0, 0, 0, 0, -261, 0)),
		wants([]uint8{rfbtest.KeyEvent}, "key down 0xffe5", "key up 0xffe5", "key down 0x41", "key up 0x41"),
		func(*rfbtest.Conn) error { close(done); return nil }, live)
	l.Event(t, "the report", func(e viewer.Event) bool { _, ok := e.(viewer.LockState); return ok })
	off, on := viewer.Locks{Known: true}, viewer.Locks{Caps: true, Known: true}
	l.Post(t, viewer.Key{Sym: 0xffe5, Down: true, Locks: off}, viewer.Key{Sym: 0xffe5, Locks: on},
		viewer.Key{Sym: 'A', Down: true, Locks: on}, viewer.Key{Sym: 'A', Locks: on})
	<-done
}

// Every kind of pointer shape comes out in its colours (C066, C069, C070).
func TestPointerShapeKinds(t *testing.T) {
	type pixel = color.NRGBA
	px := func(r, g, b, a uint8) pixel { return pixel{R: r, G: g, B: b, A: a} }
	for _, c := range []struct {
		name string
		rect []byte
		want []pixel // of a shape of 2 x 1
	}{
		{"two colours", rfbtest.Rect(1, 0, 2, 1, -240, 1, 2, 3, 4, 5, 6, 0x80, 0xc0), []pixel{px(1, 2, 3, 255), px(4, 5, 6, 255)}},
		{"two colours, masked", rfbtest.Rect(1, 0, 2, 1, -240, 1, 2, 3, 4, 5, 6, 0x80, 0x40), []pixel{{}, px(4, 5, 6, 255)}},
		{"alpha, multiplied", rfbtest.Rect(1, 0, 2, 1, -314, 0, 0, 0, 0, 128, 64, 0, 128, 9, 9, 9, 0), []pixel{px(255, 128, 0, 128), {}}},
		{"alpha, more colour than alpha", rfbtest.Rect(1, 0, 2, 1, -314, 0, 0, 0, 0, 255, 0, 0, 1, 0, 0, 0, 255), []pixel{px(255, 0, 0, 1), px(0, 0, 0, 255)}},
		{"alpha in RRE", rfbtest.Rect(1, 0, 2, 1, -314, 0, 0, 0, 2, 0, 0, 0, 1, 9, 9, 9, 0, 128, 64, 0, 128, 0, 0, 0, 0, 0, 1, 0, 1), []pixel{px(255, 128, 0, 128), {}}},
		{"alpha in Hextile", rfbtest.Rect(1, 0, 2, 1, -314, 0, 0, 0, 5, 1, 128, 64, 0, 128, 9, 9, 9, 0), []pixel{px(255, 128, 0, 128), {}}},
		{"alpha in Tight", rfbtest.Rect(1, 0, 2, 1, -314, 0, 0, 0, 7, 0x80, 128, 64, 0, 128), []pixel{px(255, 128, 0, 128), px(255, 128, 0, 128)}},
		{"alpha in Tight, with a palette", rfbtest.Rect(1, 0, 2, 1, -314, 0, 0, 0, 7, 0x40, 1, 1, 128, 64, 0, 128, 0, 0, 0, 0, 0x40), []pixel{px(255, 128, 0, 128), {}}},
		{"alpha in ZRLE", rfbtest.Rect(1, 0, 2, 1, -314, alphaZRLE()...), []pixel{px(255, 128, 0, 128), {}}},
		{"VMware's masks", rfbtest.Rect(1, 0, 2, 1, 0x574d5664, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 3, 2, 1, 0, 0, 0, 0, 0), []pixel{px(1, 2, 3, 255), {}}},
		{"VMware's inverse is black", rfbtest.Rect(1, 0, 2, 1, 0x574d5664, 0, 0, 255, 255, 255, 0, 255, 255, 255, 0, 255, 255, 255, 0, 255, 255, 255, 0), []pixel{px(0, 0, 0, 255), px(0, 0, 0, 255)}},
		{"VMware's alpha", rfbtest.Rect(1, 0, 2, 1, 0x574d5664, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8), []pixel{px(1, 2, 3, 4), px(5, 6, 7, 8)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			hidden := append(bytes.Clone(c.rect[:4]), 0, 0, 0, 5)
			hidden = append(hidden, c.rect[8:12]...)
			switch int32(binary.BigEndian.Uint32(c.rect[8:])) { // what a shape without pixels still has
			case -314:
				hidden = append(hidden, 0, 0, 0, 0)
			case 0x574d5664:
				hidden = append(hidden, c.rect[12:14]...)
			}
			l := machine(t, rfbtest.Update(c.rect, hidden, fill(0, 0, 1, 1, red)), live)
			l.Until(t, "the update", func() bool { return l.At(0, 0) == red })
			var shapes []viewer.Cursor
			for _, e := range l.Events() {
				if s, ok := e.(viewer.Cursor); ok {
					shapes = append(shapes, s)
				}
			}
			if len(shapes) != 2 || shapes[0].Image == nil || shapes[1].Image != nil || shapes[0].Hot != image.Pt(1, 0) {
				t.Fatalf("got %+v, want a shape and a hidden pointer", shapes)
			}
			if got := []pixel{shapes[0].Image.NRGBAAt(0, 0), shapes[0].Image.NRGBAAt(1, 0)}; !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// alphaZRLE is a raw tile of ZRLE in a shape with alpha: four bytes a pixel,
// since its depth is 32.
func alphaZRLE() []byte {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write([]byte{0, 128, 64, 0, 128, 9, 9, 9, 0}) // a buffer takes everything
	_ = w.Flush()
	return append(binary.BigEndian.AppendUint32([]byte{0, 0, 0, 16}, uint32(z.Len())), z.Bytes()...)
}

func TestPointerShapeFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		rect []byte
		kind viewer.Kind
		want string
	}{
		{"alpha in a copy", rfbtest.Rect(0, 0, 2, 1, -314, 0, 0, 0, 1, 0, 0, 0, 0), viewer.Unsupported, "encoding copyrect"},
		{"an unknown kind", rfbtest.Rect(0, 0, 2, 1, 0x574d5664, 7, 0), viewer.Malformed, "kind 7"},
		{"too large, two colours", rfbtest.Rect(0, 0, 65535, 65535, -240), viewer.Limit, "65535 x 65535"},
		{"too large, alpha", rfbtest.Rect(0, 0, 65535, 1, -314), viewer.Limit, "65535 x 1"},
		{"too large, VMware", rfbtest.Rect(0, 0, 1, 65535, 0x574d5664), viewer.Limit, "1 x 65535"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := machine(t, rfbtest.Update(c.rect), live)
			l.Wait(t)
			if viewer.KindOf(l.Err()) != c.kind || !strings.Contains(l.Err().Error(), c.want) {
				t.Errorf("got %v, want %q of kind %q", l.Err(), c.want, c.kind)
			}
		})
	}
}

func TestPointerMovedByTheMachine(t *testing.T) {
	l := machine(t, rfbtest.Update(rfbtest.Rect(7, 8, 0, 0, -232), rfbtest.Rect(99, 65535, 0, 0, 0x574d5666), fill(0, 0, 1, 1, red)), live)
	l.Until(t, "the update", func() bool { return l.At(0, 0) == red })
	var got []image.Point
	for _, e := range l.Events() {
		if m, ok := e.(viewer.CursorMoved); ok {
			got = append(got, m.At)
		}
	}
	if !slices.Equal(got, []image.Point{{X: 7, Y: 8}, {X: 99, Y: 99}}) {
		t.Errorf("got %v", got)
	}
	if a := l.Session.(viewer.Signaller).Signals()[viewer.SignalCursorPosition].Availability; a != viewer.Live {
		t.Errorf("the signal is %q", a)
	}
}

// One rectangle of a very large screen is drawn (C142).
func TestOneRawRectangleOfALargeScreen(t *testing.T) {
	const w, h = 6016, 3384
	s := serve(t, func(c *rfbtest.Conn) error {
		if err := c.Hello(rfbtest.Init{Width: w, Height: h}); err != nil {
			return err
		}
		if _, err := c.Until(rfbtest.UpdateRequest); err != nil {
			return err
		}
		return say([]byte{0, 0, 0, 1}, rfbtest.Rect(0, 0, w, h, 0), bytes.Repeat([]byte{0, 0, 0xff, 0}, w*h), live)(c)
	})
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
	l.Look(t)
	if l.At(0, 0) != red || l.At(w-1, h-1) != red {
		t.Error("it is not red")
	}
}
