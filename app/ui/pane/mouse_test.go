package pane

import (
	"fmt"
	"image"
	"strings"
	"testing"

	"fyne.io/fyne/v2/driver/desktop"

	"deskvnc/viewer"
)

// A hand is a mouse whose events are written down.
type hand struct {
	mouse
	got   []string
	later []func()
}

func newHand() *hand {
	h := &hand{}
	h.mouse = mouse{
		send: func(p viewer.Pointer) {
			s := fmt.Sprintf("%d,%d:%d", p.X, p.Y, p.Buttons)
			if p.WheelX != 0 || p.WheelY != 0 {
				s += fmt.Sprintf(" wheel %d,%d", p.WheelX, p.WheelY)
			}
			h.got = append(h.got, s)
		},
		later: func(fn func()) { h.later = append(h.later, fn) },
	}
	return h
}

func (h *hand) settle() {
	for _, fn := range h.later {
		fn()
	}
	h.later = nil
}

func (h *hand) want(t *testing.T, want ...string) {
	t.Helper()
	if got, want := strings.Join(h.got, " | "), strings.Join(want, " | "); got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	h.got = nil
}

func TestMotionIsGathered(t *testing.T) {
	h := newHand()
	for i := range 100 {
		h.move(image.Pt(i, 2*i))
	}
	h.want(t)
	h.settle()
	h.want(t, "99,198:0")
	h.move(image.Pt(99, 198)) // not a move
	h.settle()
	h.want(t)
}

// The first motion counts also when it goes to the corner.
func TestFirstMotion(t *testing.T) {
	h := newHand()
	h.move(image.Pt(0, 0))
	h.move(image.Pt(0, 0))
	h.settle()
	h.move(image.Pt(0, 0))
	h.settle()
	h.want(t, "0,0:0")
}

func TestMotionComesBeforeWhatFollows(t *testing.T) {
	h := newHand()
	h.move(image.Pt(5, 5))
	h.press(viewer.Left, image.Pt(6, 6))
	h.move(image.Pt(9, 9))
	h.release(viewer.Left, image.Pt(9, 9))
	h.settle()
	h.want(t, "5,5:0", "6,6:1", "9,9:0")
	h.move(image.Pt(1, 1))
	h.scroll(0, 1, image.Pt(1, 1))
	h.settle()
	h.want(t, "1,1:0 wheel 0,1")
}

// Pressed and released again and again at one spot: every pair arrives, in
// order (C120).
func TestQuickClicks(t *testing.T) {
	h := newHand()
	h.move(image.Pt(3, 3))
	h.settle()
	h.got = nil
	for range 300 {
		h.press(viewer.Left, image.Pt(3, 3))
		h.release(viewer.Left, image.Pt(3, 3))
	}
	if len(h.got) != 600 {
		t.Fatalf("%d events, want 600", len(h.got))
	}
	for i, g := range h.got {
		if want := []string{"3,3:1", "3,3:0"}[i%2]; g != want {
			t.Fatalf("event %d is %s, want %s", i, g, want)
		}
	}
}

func TestButtonsTogether(t *testing.T) {
	h := newHand()
	p := image.Pt(0, 0)
	h.press(viewer.Left, p)
	h.press(viewer.Right, p)
	h.press(viewer.Left, p) // told twice
	h.release(viewer.Left, p)
	h.release(viewer.Left, p)
	h.release(viewer.Right, p)
	h.want(t, "0,0:1", "0,0:5", "0,0:4", "0,0:0")
	h.press(viewer.Left|viewer.Right, p)
	h.set(viewer.Right, viewer.Left|viewer.Middle|viewer.Right, p)
	h.set(0, viewer.Left, p) // tells nothing of the right button
	h.settle()
	h.want(t, "0,0:5", "0,0:4")
}

// Fractions of a click add up, and one notch is one click (C116).
func TestWheel(t *testing.T) {
	h := newHand()
	for range 25 {
		h.scroll(0, 0.1, image.Pt(0, 0))
	}
	h.want(t, "0,0:0 wheel 0,1", "0,0:0 wheel 0,1")
	for range 5 {
		h.scroll(0, 0.1, image.Pt(0, 0))
	}
	h.scroll(-1, 0, image.Pt(0, 0))
	h.scroll(0, -3, image.Pt(0, 0))
	h.want(t, "0,0:0 wheel 0,1", "0,0:0 wheel -1,0", "0,0:0 wheel 0,-3")
}

func TestReset(t *testing.T) {
	h := newHand()
	h.press(viewer.Left, image.Pt(0, 0))
	h.move(image.Pt(5, 5))
	h.reset()
	h.settle()
	h.want(t, "0,0:1")
	h.release(viewer.Left, image.Pt(5, 5)) // its press is over
	h.settle()
	h.want(t)
	h.move(image.Pt(6, 6))
	h.settle()
	h.want(t, "6,6:0")
}

func TestShapes(t *testing.T) {
	arrow := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	for i := range arrow.Pix {
		arrow.Pix[i] = 0xff
	}
	large := image.NewNRGBA(image.Rect(0, 0, 400, 300))
	for i := range large.Pix {
		large.Pix[i] = 0xff
	}
	tests := []struct {
		name   string
		in     viewer.Cursor
		hidden bool
		size   image.Point
		hot    image.Point
	}{
		{"nothing", viewer.Cursor{}, true, image.Point{}, image.Point{}},
		{"empty", viewer.Cursor{Image: image.NewNRGBA(image.Rect(0, 0, 0, 16))}, true, image.Point{}, image.Point{}},
		{"transparent", viewer.Cursor{Image: image.NewNRGBA(image.Rect(0, 0, 16, 16))}, true, image.Point{}, image.Point{}},
		{"arrow", viewer.Cursor{Image: arrow, Hot: image.Pt(15, 15)}, false, image.Pt(16, 16), image.Pt(15, 15)},
		{"hot spot outside", viewer.Cursor{Image: arrow, Hot: image.Pt(65535, -3)}, false, image.Pt(16, 16), image.Pt(15, 0)},
		{"large", viewer.Cursor{Image: large, Hot: image.Pt(390, 10)}, false, image.Pt(128, 128), image.Pt(118, 10)},
	}
	for _, tt := range tests {
		c := shape(tt.in)
		if tt.hidden {
			if c != desktop.HiddenCursor {
				t.Errorf("%s: shown as %v, want hidden", tt.name, c)
			}
			continue
		}
		img, x, y := c.Image()
		if img == nil || img.Bounds().Size() != tt.size || image.Pt(x, y) != tt.hot {
			t.Errorf("%s: %v with the hot spot at %d,%d, want %v at %v", tt.name, img.Bounds(), x, y, tt.size, tt.hot)
		}
	}
	if img, x, y := dot(1).Image(); !image.Pt(x, y).In(img.Bounds()) {
		t.Error("the dot's hot spot is outside it")
	}
}
