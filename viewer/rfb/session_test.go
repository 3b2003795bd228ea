package rfb_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

var (
	red   = color.RGBA{0xff, 0, 0, 0xff}
	green = color.RGBA{0, 0xff, 0, 0xff}
)

// machine is a 100 x 100 machine that waits for a request and runs a script;
// with look, somebody looks at it.
func machine(t *testing.T, script ...any) *viewertest.Live {
	t.Helper()
	s := serve(t, func(c *rfbtest.Conn) error {
		if err := c.Hello(smallInit); err != nil {
			return err
		}
		if _, err := c.Until(rfbtest.UpdateRequest); err != nil {
			return err
		}
		return say(script...)(c)
	})
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
	l.Session.(viewer.Desktop).Demand(true)
	return l
}

// fill is a Raw rectangle of one colour.
func fill(x, y, w, h int, c color.RGBA) []byte {
	return rfbtest.Rect(x, y, w, h, 0, rfbtest.Fill(w*h, c)...)
}

func TestFaultsEndTheSession(t *testing.T) {
	for _, c := range []struct {
		name   string
		script []any
		kind   viewer.Kind
		reason string
	}{
		{"unknown message", []any{append([]byte{0x9a}, bytes.Repeat([]byte{0}, 64)...), live}, viewer.Malformed, "unknown server message 154"},
		{"unknown encoding", []any{rfbtest.Update(rfbtest.Rect(0, 0, 2, 2, -999, make([]byte, 40)...)), live}, viewer.Malformed, "unsupported encoding -999"},
		{"extended clipboard text without flags", []any{"\x03\x00\x00\x00\xff\xff\xff\xffslow", live}, viewer.Malformed, "message of 1 bytes"},
		{"name of 4 GiB", []any{rfbtest.Update(rfbtest.Rect(0, 0, 0, 0, -307, 0xff, 0xff, 0xff, 0xff)), live}, viewer.Limit, "name of 4294967295 bytes"},
		{"pointer shape of 65535 x 65535", []any{rfbtest.Update(rfbtest.Rect(0, 0, 65535, 65535, -239)), live}, viewer.Limit, "pointer shape of 65535 x 65535"},
		{"screen of 65535 x 65535", []any{rfbtest.Update(rfbtest.Rect(0, 0, 65535, 65535, -223)), live}, viewer.Limit, "65535 x 65535"},
		{"rectangle out of the screen", []any{rfbtest.Update(fill(90, 90, 20, 5, red)), live}, viewer.Malformed, "reaches out of the screen"},
		{"end in mid-update", []any{rfbtest.Update(fill(0, 0, 20, 20, red))[:200]}, viewer.Closed, "the connection"},
		{"end between updates", []any{rfbtest.Update(fill(0, 0, 20, 20, red))}, viewer.Closed, "the connection"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := machine(t, c.script...)
			l.Wait(t)
			if got := viewer.KindOf(l.Err()); got != c.kind || !strings.Contains(viewer.Reason(l.Err()), c.reason) {
				t.Errorf("got %q: %v, want %q with %q", got, l.Err(), c.kind, c.reason)
			}
		})
	}
}

func TestUpdates(t *testing.T) {
	noise := rfbtest.Fill(100*100, green)
	for _, c := range []struct {
		name string
		wire []byte
		at   image.Point // is red afterwards
	}{
		{"rectangles without area, then one with", rfbtest.Update(
			rfbtest.Rect(0, 0, 0, 50, 0), rfbtest.Rect(0, 0, 50, 0, 0), rfbtest.Rect(0, 0, 0, 0, 0), fill(40, 40, 3, 3, red)), image.Pt(42, 42)},
		{"the mark of the last rectangle after two of 65535", append(append([]byte{0, 0, 0xff, 0xff}, fill(0, 0, 100, 100, green)...),
			append(fill(7, 8, 1, 1, red), rfbtest.Rect(0, 0, 0, 0, -224)...)...), image.Pt(7, 8)},
		{"another size and pixels for its new part in one update", rfbtest.Update(
			rfbtest.Rect(0, 0, 200, 200, -223), fill(150, 150, 50, 50, red)), image.Pt(199, 199)},
		{"no size at all, then one", append(rfbtest.Update(rfbtest.Rect(0, 0, 0, 0, -223)),
			rfbtest.Update(rfbtest.Rect(0, 0, 800, 600, -223), fill(799, 599, 1, 1, red))...), image.Pt(799, 599)},
		{"no screens in a layout", rfbtest.Update(rfbtest.Rect(0, 0, 100, 100, -308, rfbtest.Screens()...), fill(0, 0, 1, 1, red)), image.Pt(0, 0)},
		{"a screen that lies outside", rfbtest.Update(rfbtest.Rect(0, 0, 100, 100, -308, rfbtest.Screens([5]int{1, 5000, 5000, 100, 100})...),
			fill(0, 0, 1, 1, red)), image.Pt(0, 0)},
		{"a whole picture, a copy and a pixel", rfbtest.Update(rfbtest.Rect(0, 0, 100, 100, 0, noise...), fill(0, 0, 2, 2, red),
			rfbtest.Rect(50, 50, 2, 2, 1, 0, 0, 0, 0)), image.Pt(51, 51)},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := machine(t, c.wire, live)
			l.Until(t, "the red pixel", func() bool { return l.At(c.at.X, c.at.Y) == red })
			for _, e := range l.Events() {
				if r, ok := e.(viewer.Resized); ok && r.Screens != nil {
					t.Errorf("got screens that are not inside the picture: %v", r.Screens)
				}
			}
		})
	}
}

func TestScreens(t *testing.T) {
	two := rfbtest.Screens([5]int{11, 0, 0, 60, 100}, [5]int{12, 60, 0, 40, 100})
	l := machine(t,
		rfbtest.Update(rfbtest.Rect(0, 0, 100, 100, -308, two...)),
		rfbtest.Update(rfbtest.Rect(0, 0, 100, 100, -308, two...)), // the same again
		rfbtest.Update(fill(0, 0, 1, 1, red)), live)
	l.Until(t, "the red pixel", func() bool { return l.At(0, 0) == red })
	var got []viewer.Resized
	for _, e := range l.Events() {
		if r, ok := e.(viewer.Resized); ok {
			got = append(got, r)
		}
	}
	want := []viewer.Screen{{ID: 11, Bounds: image.Rect(0, 0, 60, 100), Primary: true}, {ID: 12, Bounds: image.Rect(60, 0, 100, 100)}}
	if len(got) != 2 || fmt.Sprint(got[1].Screens) != fmt.Sprint(want) {
		t.Errorf("got %v, want the size at first and then once %v", got, want)
	}
	if got := l.Frame.Generations().Geometry; got != 3 {
		t.Errorf("the geometry generation is %d, want 3: reset, then one layout", got)
	}
}

// requests counts the requests for a whole picture while a script answers
// each request with an update.
func requests(t *testing.T, answers ...[]byte) (whole int) {
	t.Helper()
	done := make(chan int, 1)
	s := serve(t, func(c *rfbtest.Conn) error {
		if err := c.Hello(smallInit); err != nil {
			return err
		}
		n := 0
		for _, a := range answers {
			m, err := c.Until(rfbtest.UpdateRequest)
			if err != nil {
				return err
			}
			if !m.Incremental() {
				n++
			}
			if err := c.Send(a); err != nil {
				return err
			}
		}
		done <- n
		return c.Drain()
	})
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
	l.Session.(viewer.Desktop).Demand(true)
	return <-done
}

func TestSameSizeAsksForNothingMore(t *testing.T) {
	same := rfbtest.Update(rfbtest.Rect(0, 0, 100, 100, -308, rfbtest.Screens([5]int{1, 0, 0, 100, 100})...), fill(0, 0, 9, 9, red))
	if got := requests(t, same, same, same, same, same); got != 1 {
		t.Errorf("got %d requests for the whole picture, want the first alone", got)
	}
}

func TestNewSizeAsksForTheWhole(t *testing.T) {
	next := rfbtest.Update(fill(0, 0, 9, 9, red))
	if got := requests(t, next, rfbtest.Update(rfbtest.Rect(0, 0, 120, 90, -223)), next, next, next); got != 2 {
		t.Errorf("got %d requests for the whole picture, want one at first and one after the new size", got)
	}
	if got := requests(t, next, rfbtest.Update(rfbtest.Rect(0, 0, 20, 10, -223), fill(0, 0, 20, 10, red)), next, next, next); got != 1 {
		t.Errorf("got %d requests for the whole picture of a machine that sent it with the new size, want 1", got)
	}
}

func TestResizeAnswers(t *testing.T) {
	offered := rfbtest.Update(rfbtest.Rect(0, 0, 100, 100, -308, rfbtest.Screens([5]int{42, 0, 0, 100, 100})...), fill(0, 0, 1, 1, red))
	for _, c := range []struct {
		name   string
		status int
		want   string // of the refusal; empty: it is done
	}{
		{"done", 0, ""},
		{"prohibited", 1, "prohibited"},
		{"no resources", 2, "resources"},
		{"bad layout", 3, "cannot show"},
		{"unknown", 77, "status 77"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := machine(t, offered, func(conn *rfbtest.Conn) error {
				m, err := conn.Until(rfbtest.SetDesktopSize)
				if err != nil {
					return err
				}
				want := []byte{0, 0, 120, 0, 90, 1, 0, 0, 0, 0, 42, 0, 0, 0, 0, 0, 120, 0, 90, 0, 0, 0, 0}
				if !bytes.Equal(m.Body, want) {
					return fmt.Errorf("got %v, want %v", m.Body, want)
				}
				w, h := 120, 90
				if c.status != 0 {
					w, h = 100, 100
				}
				answer := rfbtest.Update(rfbtest.Rect(1, c.status, w, h, -308, rfbtest.Screens([5]int{42, 0, 0, w, h})...))
				return conn.Send(answer)
			}, live)
			r := l.Session.(viewer.Resizer)
			ctx := context.Background()
			// The offer comes with the first update.
			l.Until(t, "the first update", func() bool { return l.At(0, 0) == red })
			if got := l.Session.(viewer.Signaller).Signals()[viewer.SignalResize].Availability; got != viewer.Live {
				t.Errorf("the signal is %q, want %q", got, viewer.Live)
			}
			if err := r.Resize(ctx, 120, 90); err != nil {
				t.Fatal(err)
			}
			e := l.Event(t, "an answer", func(e viewer.Event) bool {
				s, ok := e.(viewer.Resized)
				_, no := e.(viewer.Refusal)
				return no || ok && s.Width == 120 && s.Height == 90
			})
			if no, ok := e.(viewer.Refusal); ok != (c.want != "") || ok && !strings.Contains(no.Text, c.want) {
				t.Errorf("got %v, want a refusal with %q", e, c.want)
			}
			if w, _ := l.Frame.Size(); (w == 120) != (c.want == "") {
				t.Errorf("the frame is %d wide", w)
			}
		})
	}
}

func TestResizeIsNotSentBeforeItIsOffered(t *testing.T) {
	l := machine(t, rfbtest.Update(fill(0, 0, 5, 5, red)), live)
	l.Until(t, "the first update", func() bool { return l.At(0, 0) == red })
	if err := l.Session.(viewer.Resizer).Resize(context.Background(), 120, 90); viewer.KindOf(err) != viewer.Unsupported {
		t.Errorf("got %v, want the kind %q", err, viewer.Unsupported)
	}
	if err := l.Session.(viewer.Resizer).Resize(context.Background(), 0, 90); viewer.KindOf(err) != viewer.Invalid {
		t.Errorf("no width: got %v, want the kind %q", err, viewer.Invalid)
	}
}

func TestPointerShapes(t *testing.T) {
	shape := func(hotX, hotY int) []byte {
		body := append(rfbtest.Fill(16*16, red), bytes.Repeat([]byte{0x80, 0x01}, 16)...)
		return rfbtest.Rect(hotX, hotY, 16, 16, -239, body...)
	}
	l := machine(t, rfbtest.Update(
		shape(65535, 65535), shape(15, 15), shape(3, 4),
		rfbtest.Rect(0, 0, 0, 0, -239), rfbtest.Rect(0, 0, 0, 16, -239), rfbtest.Rect(5, 0, 0, 0, -239), rfbtest.Rect(0, 0, 7, 0, -239),
		shape(1, 1), fill(0, 0, 1, 1, green)), live)
	l.Until(t, "the end of the update", func() bool { return l.At(0, 0) == green })
	var got []string
	for _, e := range l.Events() {
		if c, ok := e.(viewer.Cursor); ok && c.Image == nil {
			got = append(got, "hidden")
		} else if ok {
			if c.Image.NRGBAAt(0, 0) != color.NRGBA(red) || c.Image.NRGBAAt(1, 0).A != 0 || c.Image.NRGBAAt(15, 15) != color.NRGBA(red) {
				t.Errorf("the shape is not the one that was sent")
			}
			got = append(got, c.Hot.String())
		}
	}
	want := "[(15,15) (15,15) (3,4) hidden hidden hidden hidden (1,1)]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Machines that send UTF-8 where Latin-1 belongs are understood (C082).
func TestTextInEitherCode(t *testing.T) {
	for wire, want := range map[string]string{
		"\xe4": "ä", "\xe4?": "ä?", "\xff": "ÿ", "caf\xe9": "café", "caf\xc3\xa9 \xe6\xbc\xa2": "café 漢", "\xc3": "Ã", "plain": "plain",
	} {
		l := machine(t, rfbtest.CutText([]byte(wire)), live)
		gotText(t, l, want)
	}
}

func TestTextFromTheMachine(t *testing.T) {
	l := machine(t, rfbtest.CutText([]byte("caf\xe9\nzwei")), rfbtest.CutText(nil), rfbtest.CutText(bytes.Repeat([]byte("x"), 1<<20)), "\x02", live)
	l.Event(t, "the bell", func(e viewer.Event) bool { _, ok := e.(viewer.Bell); return ok })
	var got []string
	for _, e := range l.Events() {
		if c, ok := e.(viewer.CutText); ok {
			got = append(got, c.Text)
		}
	}
	if len(got) != 2 || got[0] != "café\nzwei" || len(got[1]) != 1<<20 {
		t.Errorf("got %d texts, %.40q", len(got), got)
	}
}

func TestTextThatLatin1CannotCarry(t *testing.T) {
	p := newDesktopPeer(t)
	l := viewertest.Open(t, rfb.New(rfb.Options{}), p.Target(t), nil)
	c := l.Session.(viewer.Clipboard)
	lost, err := c.SetClipboard(context.Background(), "5 € für 東京\r\n")
	if err != nil || lost != 3 {
		t.Errorf("got %d lost, %v, want 3", lost, err)
	}
	p.Clip(t, "5 ? für ??\n")
	_, err = c.SetClipboard(context.Background(), strings.Repeat("x", 16<<20+1))
	if viewer.KindOf(err) != viewer.Limit {
		t.Errorf("got %v, want the kind %q", err, viewer.Limit)
	}
}

// A machine that answers each request at once with one pixel is not asked
// more often than a hundred times a second and a burst.
func TestRequestRateIsBounded(t *testing.T) {
	counted := make(chan int, 1)
	s := serve(t, func(c *rfbtest.Conn) error {
		if err := c.Hello(smallInit); err != nil {
			return err
		}
		start, n := time.Now(), 0
		for time.Since(start) < time.Second {
			if _, err := c.Until(rfbtest.UpdateRequest); err != nil {
				return err
			}
			n++
			if err := c.Send(rfbtest.Update(fill(n%100, 0, 1, 1, red))); err != nil {
				return err
			}
		}
		counted <- n
		return c.Drain()
	})
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
	l.Session.(viewer.Desktop).Demand(true)
	if n := <-counted; n > 130 {
		t.Errorf("asked %d times within a second", n)
	}
}

// Input is written while an update that never ends is being read.
func TestInputDoesNotWaitForAnUpdate(t *testing.T) {
	sent, arrived := make(chan struct{}), make(chan struct{})
	l := machine(t, []byte{0, 0, 0, 1}, rfbtest.Rect(0, 0, 100, 100, 0, rfbtest.Fill(100, red)...), func(c *rfbtest.Conn) error {
		close(sent)
		_, err := c.Until(rfbtest.KeyEvent)
		close(arrived)
		return err
	}, live)
	<-sent
	l.Post(t, viewer.Key{Sym: 'a', Down: true})
	<-arrived
	// And the session ends at once, although the update does not.
	l.Close()
	if w, _ := l.Frame.Size(); w != 100 {
		t.Errorf("the frame is %d wide", w)
	}
}

func TestEncodingsThatAreAskedFor(t *testing.T) {
	asked := make(chan []int32, 1)
	s := serve(t, func(c *rfbtest.Conn) error {
		if err := c.Hello(smallInit); err != nil {
			return err
		}
		m, err := c.Until(rfbtest.SetEncodings)
		if err != nil {
			return err
		}
		if n := int(binary.BigEndian.Uint16(m.Body[1:])); n != len(m.Encodings()) {
			return fmt.Errorf("%d encodings are announced and %d sent", n, len(m.Encodings()))
		}
		asked <- m.Encodings()
		return c.Drain()
	})
	viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
	if got, want := fmt.Sprint(<-asked), "[7 16 15 5 6 -260 8 4 2 1 0 -314 1464686180 -239 -240 -232 1464686182 -308 -223 -224 -307 -261 1464686184 -258 -257 -312 -313 -1063131698]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
