package rfb_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"runtime"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

// drip sends b a byte at a time, as a machine that wants to keep a viewer busy.
func drip(b []byte) func(*rfbtest.Conn) error {
	return func(c *rfbtest.Conn) error {
		for i := range b {
			if c.Send(b[i:i+1]) != nil {
				return nil // the client has had enough
			}
			time.Sleep(20 * time.Millisecond) // this is what the machine does
		}
		return c.Drain()
	}
}

// A machine that sends a byte now and then gets no more time for a step of the
// handshake than a silent one.
func TestSlowMachine(t *testing.T) {
	const stage = 150 * time.Millisecond
	reason := "\x00\x00\x00\x00\x20" + strings.Repeat("r", 32)
	x509 := []any{"RFB 003.008\n", 12, "\x01\x13", 1, "\x00\x02", 2, "\x00\x01\x00\x00\x01\x04", 4, "\x01"}
	init := smallInit.Bytes()
	hello := func(rest ...any) []any {
		return append([]any{"RFB 003.008\n", 12, "\x01\x01", 1, "\x00\x00\x00\x00", 1}, rest...)
	}
	for _, c := range []struct {
		name   string
		script []any
		drip   string
		kind   viewer.Kind
	}{
		{"greeting", nil, "RFB 003.008\n", viewer.Timeout},
		{"types", []any{"RFB 003.008\n", 12}, "\x20" + strings.Repeat("\x63", 31) + "\x01", viewer.Timeout},
		{"scheme of 3.3", []any{"RFB 003.003\n", 12}, "\x00", viewer.Timeout},
		{"reason", []any{"RFB 003.008\n", 12}, reason, viewer.Closed}, // what has come of it is shown
		{"challenge", []any{"RFB 003.008\n", 12, "\x01\x02", 1}, challenge, viewer.Timeout},
		{"result", []any{"RFB 003.008\n", 12, "\x01\x01", 1}, "\x00\x00\x00", viewer.Timeout},
		{"ServerInit", hello(), string(init), viewer.Timeout},
		{"name", hello(rfbtest.Init{Width: 9, Height: 9, Name: strings.Repeat("n", 200)}.Bytes()[:24]), strings.Repeat("n", 200), viewer.Timeout},
		{"VeNCrypt", []any{"RFB 003.008\n", 12, "\x01\x13", 1, "\x00\x02", 2, "\x00\x09"}, strings.Repeat("\x00\x00\x01\x04", 9), viewer.Timeout},
		{"TLS", x509, "\x16\x03\x03\x40\x00" + strings.Repeat("\x00", 100), viewer.Timeout},
		{"RA2", []any{"RFB 003.008\n", 12, "\x01\x05", 1}, "\x00\x00\x08\x00" + strings.Repeat("\xff", 100), viewer.Timeout},
		{"Apple", []any{"RFB 003.008\n", 12, "\x01\x1e", 1}, "\x00\x02\x00\x80" + strings.Repeat("\xff", 100), viewer.Timeout},
		{"MS-Logon II", []any{"RFB 003.008\n", 12, "\x01\x71", 1}, strings.Repeat("\x01", 23), viewer.Timeout},
		{"Tight", []any{"RFB 003.008\n", 12, "\x01\x10", 1}, "\x00\x00\x00\x02" + strings.Repeat("t", 32), viewer.Timeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, say(append(c.script, drip([]byte(c.drip)))...))
			target := s.Target()
			target.User = "u"
			_, err := viewertest.TryOpen(t, rfb.New(rfb.Options{StageTimeout: stage}), target, answer(t, "guess"), nil)
			if viewer.KindOf(err) != c.kind {
				t.Errorf("got %q: %v, want %q", viewer.KindOf(err), err, c.kind)
			}
		})
	}
}

// A session ends at once when it is closed, whatever the machine is about to
// send, slowly or without end.
func TestCloseWhileTheMachineSends(t *testing.T) {
	shape := rfbtest.Rect(0, 0, 500, 500, -239, make([]byte, 100)...)
	// Each fills a large screen anew, from 16 bytes.
	fills := bytes.Repeat(rfbtest.Rect(0, 0, 4096, 4096, 2, 0, 0, 0, 0, 1, 2, 3, 4), 1000)
	for _, c := range []struct {
		name string
		size int
		wire []byte
		slow bool
	}{
		{"half a rectangle", 100, []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 100, 0, 100, 0, 0, 0, 0}, true},
		{"half a text of 16 MiB", 100, []byte("\x03\x00\x00\x00\x01\x00\x00\x00abc"), true},
		{"half a shape", 100, append([]byte{0, 0, 0, 1}, shape...), true},
		{"fences without end", 100, bytes.Repeat(fence(1<<31, strings.Repeat("f", 64)), 1000), false},
		{"bells without end", 100, bytes.Repeat([]byte{2}, 50000), false},
		{"a large screen filled without end", 4096, append([]byte{0, 0, 0xff, 0xff}, fills...), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			begun := make(chan struct{})
			s := serve(t, func(conn *rfbtest.Conn) error {
				if err := conn.Hello(rfbtest.Init{Width: c.size, Height: c.size}); err != nil {
					return err
				}
				if _, err := conn.Until(rfbtest.UpdateRequest); err != nil {
					return err
				}
				if c.slow {
					close(begun)
					return drip(c.wire)(conn)
				}
				done := make(chan struct{})
				go func() {
					defer close(done)
					_ = conn.Drain()
				}()
				for n := 0; conn.Send(c.wire) == nil; n++ {
					if n == 0 {
						close(begun)
					}
				}
				<-done
				return nil
			})
			l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
			l.Session.(viewer.Desktop).Demand(true)
			<-begun
			start := time.Now()
			if err := l.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			t.Logf("closed within %v", time.Since(start).Round(time.Millisecond))
			l.Wait(t)
		})
	}
}

// Screens of every shape are shown, or refused with the bound in the words.
func TestScreenSizes(t *testing.T) {
	for _, c := range []struct {
		w, h int
		ok   bool
	}{
		{1, 1, true}, {65535, 1, true}, {1, 65535, true}, {0, 0, true}, {0, 9, true}, {3, 7, true},
		{16384, 16384, false}, {65535, 65535, false}, {8193, 8192, false}, {65535, 1025, false},
	} {
		t.Run(fmt.Sprintf("%d x %d", c.w, c.h), func(t *testing.T) {
			bound := func(err error) {
				t.Helper()
				if viewer.KindOf(err) != viewer.Limit || !strings.Contains(err.Error(), "64 Mpixel") || !strings.Contains(err.Error(), fmt.Sprintf("%d x %d", c.w, c.h)) {
					t.Errorf("got %v, want the size and the bound", err)
				}
			}
			s := serve(t, func(conn *rfbtest.Conn) error {
				if err := conn.Hello(rfbtest.Init{Width: c.w, Height: c.h}); err != nil {
					return err
				}
				if !c.ok {
					return conn.Drain()
				}
				if _, err := conn.Until(rfbtest.UpdateRequest); err != nil {
					return err
				}
				var update []byte
				if c.w*c.h > 0 {
					update = rfbtest.Update(fill(c.w-1, c.h-1, 1, 1, red))
				}
				return say(update, "\x02", live)(conn)
			})
			l, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), s.Target(), nil, nil)
			if !c.ok {
				bound(err)
			} else {
				if err != nil {
					t.Fatal(err)
				}
				l.Session.(viewer.Desktop).Demand(true)
				l.Event(t, "the bell", func(e viewer.Event) bool { _, ok := e.(viewer.Bell); return ok })
				if c.w*c.h > 0 {
					l.Until(t, "the last pixel", func() bool { return l.At(c.w-1, c.h-1) == red })
				}
			}
			// And the same when the size changes.
			for _, encoding := range []int32{-223, -308} {
				r := rfbtest.Rect(0, 0, c.w, c.h, encoding)
				if encoding == -308 {
					r = append(r, rfbtest.Screens([5]int{0, 0, 0, c.w, c.h})...)
				}
				l := machine(t, rfbtest.Update(r), "\x02", live)
				if !c.ok {
					l.Wait(t)
					bound(l.Err())
					continue
				}
				l.Event(t, "the bell", func(e viewer.Event) bool { _, ok := e.(viewer.Bell); return ok })
				if w, h := l.Frame.Size(); w != c.w || h != c.h {
					t.Errorf("encoding %d: the frame is %d x %d", encoding, w, h)
				}
			}
		})
	}
}

// Updates of as many rectangles as can be announced are read one by one.
func TestManyRectangles(t *testing.T) {
	var all bytes.Buffer
	all.Write([]byte{0, 0, 0xff, 0xff})
	for i := range 65535 {
		switch i % 4 {
		case 0:
			all.Write(fill(i%100, i/100%100, 1, 1, green))
		case 1:
			all.Write(rfbtest.Rect(0, 0, 0, 0, 0))
		case 2:
			all.Write(rfbtest.Rect(i%50, i%40, 9, 9, 1, 0, byte(i%30), 0, byte(i%20)))
		case 3:
			all.Write(rfbtest.Rect(0, 0, 9, 9, 2, 0, 0, 0, 0, 1, 2, 3, 4))
		}
	}
	l := machine(t, all.Bytes(), rfbtest.Update(fill(99, 99, 1, 1, red)), live)
	l.Until(t, "the update after it", func() bool { return l.At(99, 99) == red })
}

// A machine that changes its size all the time is followed, and leaves no
// memory behind.
func TestResizeStorm(t *testing.T) {
	const rounds = 2000
	l := machine(t, func(c *rfbtest.Conn) error {
		for i := range rounds {
			w, h := 1+i%640, 480-i%400
			if err := c.Send(rfbtest.Update(rfbtest.Rect(0, 0, w, h, -308, rfbtest.Screens([5]int{i, 0, 0, w, h})...))); err != nil {
				return err
			}
		}
		return c.Send(rfbtest.Update(rfbtest.Rect(0, 0, 30, 20, -223), fill(0, 0, 30, 20, red)))
	}, live)
	l.Until(t, "the last size", func() bool {
		w, h := l.Frame.Size()
		return w == 30 && h == 20 && l.At(29, 19) == red
	})
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	const bound = 100 << 20
	if m.HeapAlloc > bound {
		t.Errorf("%d MiB are held after it", m.HeapAlloc>>20)
	}
	if !l.Frame.Whole(image.Rectangle{}) {
		t.Error("the picture counts as not whole")
	}
}

// Maps of colours that reach out of a map end the session, or are taken for
// what fits; none is an index out of bounds.
func TestColourMapsOutOfBounds(t *testing.T) {
	entries := func(first, n, sent int) []byte {
		b := binary.BigEndian.AppendUint16([]byte{1, 0}, uint16(first))
		b = binary.BigEndian.AppendUint16(b, uint16(n))
		return append(b, bytes.Repeat([]byte{0x12, 0x34}, 3*sent)...)
	}
	for _, c := range [][2]int{{0, 0}, {255, 1}, {255, 2}, {256, 1}, {65535, 1}, {65535, 65535}, {0, 65535}, {1, 65535}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			l := machine(t, entries(c[0], c[1], c[1]), "\x02", live)
			l.Event(t, "the bell", func(e viewer.Event) bool { _, ok := e.(viewer.Bell); return ok })
		})
	}
}

// Every message that no machine may send, and every encoding that is not
// asked for, is named when it comes (C012, C034).
func TestUnknownMessagesAreNamed(t *testing.T) {
	known := map[int]bool{0: true, 1: true, 2: true, 3: true, 150: true, 248: true}
	for n := range 256 {
		if known[n] {
			continue
		}
		l := machine(t, append([]byte{byte(n)}, make([]byte, 64)...), live)
		l.Wait(t)
		if viewer.KindOf(l.Err()) != viewer.Malformed || !strings.Contains(l.Err().Error(), fmt.Sprintf("unknown server message %d", n)) {
			t.Errorf("got %v", l.Err())
		}
		l.Close()
	}
	for _, n := range []int32{3, 9, 50, 100, -1, -2, -222, -225, -306, -309, -999, 1 << 30, -1 << 31} {
		l := machine(t, rfbtest.Update(rfbtest.Rect(0, 0, 2, 2, n, make([]byte, 40)...)), live)
		l.Wait(t)
		if viewer.KindOf(l.Err()) != viewer.Malformed || !strings.Contains(l.Err().Error(), fmt.Sprintf("unsupported encoding %d", n)) {
			t.Errorf("got %v", l.Err())
		}
	}
}

// What a machine claims and does not send costs next to no memory (C026,
// C029).
func TestClaimsCostNothing(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff}
	reason := append([]byte("\x00"), huge...)
	for _, c := range []struct {
		name string
		wire []byte
	}{
		{"a text", append([]byte{3, 0, 0, 0}, 0x7f, 0xff, 0xff, 0xff)},
		{"a long text", []byte{3, 0, 0, 0, 0x00, 0xff, 0xff, 0xff}},
		{"an extended text", []byte{3, 0, 0, 0, 0x80, 0, 0, 0, 0x10, 0, 0, 1}},
		{"a name", rfbtest.Update(rfbtest.Rect(0, 0, 0, 0, -307, huge...))},
		{"RRE", rfbtest.Update(rfbtest.Rect(0, 0, 100, 100, 2, append(huge, 1, 2, 3, 4, 5, 6, 7, 8)...))},
		{"CoRRE", rfbtest.Update(rfbtest.Rect(0, 0, 100, 100, 4, 0x20, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8))},
		{"ZRLE", rfbtest.Update(rfbtest.Rect(0, 0, 100, 100, 16, huge...))},
		{"Zlib", rfbtest.Update(rfbtest.Rect(0, 0, 100, 100, 6, huge...))},
		{"Tight", rfbtest.Update(rfbtest.Rect(0, 0, 100, 100, 7, 0, 0xff, 0xff, 0x7f))},
		{"TightPNG", rfbtest.Update(rfbtest.Rect(0, 0, 100, 100, -260, 0xa0, 0xff, 0xff, 0x7f))},
		{"an alpha pointer", rfbtest.Update(rfbtest.Rect(0, 0, 1024, 1024, -314, huge...))},
		{"screens", rfbtest.Update(rfbtest.Rect(0, 0, 100, 100, -308, 0xff, 0, 0, 0))},
	} {
		t.Run(c.name, func(t *testing.T) {
			sent := make(chan struct{})
			var before, after runtime.MemStats
			l := machine(t, func(*rfbtest.Conn) error { runtime.GC(); runtime.ReadMemStats(&before); return nil }, c.wire, "\x00\x00\x00",
				func(*rfbtest.Conn) error { close(sent); return nil }, live)
			<-sent
			l.Session.(viewer.Inputter).Post(viewer.Key{Sym: 'a', Down: true}) // it may have ended
			l.Close()
			runtime.ReadMemStats(&after)
			if n := int64(after.TotalAlloc) - int64(before.TotalAlloc); n > 24<<20 {
				t.Errorf("%d MiB were allocated", n>>20)
			}
		})
	}
	// The reason of a refusal, before there is a session.
	tidy(t, "reason", 0, play(t, rfb.New(rfb.Options{}), append([]byte("RFB 003.008\n"), reason...)))
}
