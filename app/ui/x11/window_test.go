package x11

import (
	"context"
	"errors"
	"image"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"

	"deskvnc/app/ui/x11/xlab"
	"deskvnc/viewer"
)

// The pointer and its buttons are known outside the window too.
func TestPointer(t *testing.T) {
	display := xlab.Start(t)
	d := xlab.NewDriver(t, display)
	h := dial(t, display, d.W, Events{})
	move := func(x, y int) { d.Fake(xproto.MotionNotify, 0, x, y) }
	want := func(at image.Point, held viewer.Buttons) {
		t.Helper()
		p, b, known, ok := h.Pointer()
		if !ok || p != at || b&known != held {
			t.Errorf("pointer at %v holding %b (known %b, ok %v), want %v holding %b", p, b, known, ok, at, held)
		}
	}
	move(110, 60)
	want(image.Pt(10, 10), 0)
	for _, b := range []struct {
		n    byte
		mask viewer.Buttons
	}{{1, viewer.Left}, {2, viewer.Middle}, {3, viewer.Right}, {8, viewer.Back}, {9, viewer.Forward}} {
		d.Fake(xproto.ButtonPress, b.n, 0, 0)
		move(20, 500)
		want(image.Pt(-80, 450), b.mask)
		d.Fake(xproto.ButtonRelease, b.n, 0, 0)
		want(image.Pt(-80, 450), 0)
		move(110, 60)
	}
	h.xinput = 0 // a server without the extension
	d.Fake(xproto.ButtonPress, 3, 0, 0)
	want(image.Pt(10, 10), viewer.Right)
	d.Fake(xproto.ButtonRelease, 3, 0, 0)
}

func TestPicture(t *testing.T) {
	display := xlab.Start(t)
	d := xlab.NewDriver(t, display)
	h := dial(t, display, d.W, Events{})
	gc, err := xproto.NewGcontextId(d.C)
	d.Check(err)
	d.Check(xproto.CreateGCChecked(d.C, gc, xproto.Drawable(d.W), xproto.GcForeground, []uint32{0x123456}).Check())
	d.Check(xproto.PolyFillRectangleChecked(d.C, xproto.Drawable(d.W), gc, []xproto.Rectangle{{X: 10, Y: 20, Width: 30, Height: 40}}).Check())
	img, err := h.Picture()
	if err != nil {
		t.Fatal(err)
	}
	if img.Rect.Dx() != 300 || img.Rect.Dy() != 200 {
		t.Errorf("the picture is %v, want 300 x 200", img.Rect.Size())
	}
	if c := img.RGBAAt(15, 25); c.R != 0x12 || c.G != 0x34 || c.B != 0x56 || c.A != 0xff {
		t.Errorf("pixel 15,25 is %v", c)
	}
}

func TestVisible(t *testing.T) {
	display := xlab.Start(t)
	d := xlab.NewDriver(t, display)
	seen := make(chan bool, 8)
	dial(t, display, d.W, Events{Visible: func(on bool) { seen <- on }})
	d.Check(xproto.UnmapWindowChecked(d.C, d.W).Check())
	d.Check(xproto.MapWindowChecked(d.C, d.W).Check())
	for _, want := range []bool{false, true} {
		select {
		case got := <-seen:
			if got != want {
				t.Errorf("visible %v, want %v", got, want)
			}
		case <-time.After(xlab.Hang):
			t.Fatal("the window's coming and going was not told of")
		}
	}
}

// xclip puts data on the clipboard and serves it until the test ends.
func xclip(t *testing.T, display, data string, args ...string) {
	t.Helper()
	xlab.Need(t, "xclip")
	cmd := exec.Command("xclip", append([]string{"-selection", "clipboard", "-quiet", "-i"}, args...)...)
	cmd.Env = append(os.Environ(), "DISPLAY="+display)
	cmd.Stdin = strings.NewReader(data)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
}

func TestClipboard(t *testing.T) {
	display := xlab.Start(t)
	d := xlab.NewDriver(t, display)
	changed := make(chan struct{}, 8)
	h := dial(t, display, d.W, Events{Clipboard: func() { changed <- struct{}{} }})
	ctx, cancel := context.WithTimeout(context.Background(), xlab.Hang)
	defer cancel()
	if _, err := h.Clipboard(ctx, 1<<20); !errors.Is(err, ErrNoText) {
		t.Errorf("an empty clipboard gives %v", err)
	}
	copied := func(data string, args ...string) {
		t.Helper()
		xclip(t, display, data, args...)
		select {
		case <-changed:
		case <-time.After(xlab.Hang):
			t.Fatal("a new owner of the clipboard was not told of")
		}
	}
	for _, text := range []string{"café 日本語 😀", strings.Repeat("0123456789abcdef", 200000)} {
		copied(text)
		got, err := h.Clipboard(ctx, 8<<20)
		if err != nil || got != text {
			t.Errorf("read %d bytes and %v, want %d bytes", len(got), err, len(text))
		}
	}
	var large *TooLargeError
	if _, err := h.Clipboard(ctx, 1<<20); !errors.As(err, &large) || large.Limit != 1<<20 {
		t.Errorf("a text over the bound gives %v", err)
	}
	copied("after")
	if got, err := h.Clipboard(ctx, 1<<20); err != nil || got != "after" {
		t.Errorf("read %q and %v after a text over the bound", got, err)
	}
	copied("\x89PNG", "-t", "image/png")
	if _, err := h.Clipboard(ctx, 1<<20); !errors.Is(err, ErrNoText) {
		t.Errorf("a picture gives %v, want no text", err)
	}
}

func TestDialFails(t *testing.T) {
	if _, err := Dial(":9999", 1, Events{}); err == nil {
		t.Error("a display that is not there was connected to")
	}
	display := xlab.Start(t)
	if _, err := Dial(display, 0x7fffffff, Events{}); err == nil {
		t.Error("a window that is not there was watched")
	}
}

func TestWindowSize(t *testing.T) {
	display := xlab.Start(t)
	d := xlab.NewDriver(t, display)
	h := dial(t, display, d.W, Events{})
	if got := h.Window(); got != image.Pt(300, 200) {
		t.Errorf("the window is %v, want 300 x 200", got)
	}
	d.Resize(d.W, 411, 123)
	xlab.Until(t, "the new size", func() bool { return h.Window() == image.Pt(411, 123) })
}
