package picture

import (
	"image"
	"math"
	"testing"
)

// Every corner and the centre of the remote screen can be pointed at, at any
// scale, and one remote pixel to the right is never to the left on the screen.
func TestPointing(t *testing.T) {
	remote := image.Pt(1920, 1080)
	for _, scale := range []float64{0.2, 0.5, 0.73, 1, 1.37, 2} {
		w, h := int(math.Round(1920*scale)), int(math.Round(1080*scale))
		for _, mode := range []Mode{Fit, Actual} {
			if mode == Actual && scale != 1 {
				continue
			}
			p := Put(mode, image.Pt(w+40, h), remote, image.Point{})
			// The height decides; the width follows to the nearest pixel.
			if d := p.Rect.Dx() - w; d < -1 || d > 1 || p.Rect.Dy() != h {
				t.Fatalf("scale %v: picture at %v, want %d x %d", scale, p.Rect, w, h)
			}
			left, w := p.Rect.Min.X, p.Rect.Dx()
			for _, tt := range []struct{ at, want image.Point }{
				{image.Pt(left, 0), image.Pt(0, 0)},
				{image.Pt(left+w-1, 0), image.Pt(1919, 0)},
				{image.Pt(left, h-1), image.Pt(0, 1079)},
				{image.Pt(left+w-1, h-1), image.Pt(1919, 1079)},
			} {
				if got, inside := p.At(tt.at); got != tt.want || !inside {
					t.Errorf("scale %v: %v points at %v (inside %v), want %v", scale, tt.at, got, inside, tt.want)
				}
			}
			centre, _ := p.At(image.Pt(left+w/2, h/2))
			if d := centre.Sub(image.Pt(960, 540)); math.Abs(float64(d.X)) > max(1, 1/scale) || math.Abs(float64(d.Y)) > max(1, 1/scale) {
				t.Errorf("scale %v: the centre points at %v", scale, centre)
			}
			if scale == 0.5 || scale == 1 || scale == 2 {
				if centre != image.Pt(960, 540) {
					t.Errorf("scale %v: the centre points at %v, want exactly 960,540", scale, centre)
				}
			}
			last := -1
			for x := range w {
				r, _ := p.At(image.Pt(left+x, 0))
				if r.X < last || (scale >= 1 && r.X > last+1) {
					t.Fatalf("scale %v: screen pixel %d points at %d after %d", scale, x, r.X, last)
				}
				last = r.X
			}
		}
	}
}

func TestOutsideIsNearest(t *testing.T) {
	p := Put(Fit, image.Pt(300, 100), image.Pt(100, 100), image.Point{})
	for _, tt := range []struct {
		at, want image.Point
		inside   bool
	}{
		{image.Pt(0, 50), image.Pt(0, 50), false},
		{image.Pt(299, 50), image.Pt(99, 50), false},
		{image.Pt(-500, -500), image.Pt(0, 0), false},
		{image.Pt(5000, 5000), image.Pt(99, 99), false},
		{image.Pt(150, 50), image.Pt(50, 50), true},
	} {
		if got, inside := p.At(tt.at); got != tt.want || inside != tt.inside {
			t.Errorf("%v points at %v, inside %v; want %v, %v", tt.at, got, inside, tt.want, tt.inside)
		}
	}
	if got, inside := (Place{}).At(image.Pt(3, 3)); inside || got != (image.Point{}) {
		t.Errorf("no picture: points at %v, inside %v", got, inside)
	}
}

func TestPut(t *testing.T) {
	tests := []struct {
		name           string
		mode           Mode
		view, remote   image.Point
		offset         image.Point
		rect           image.Rectangle
		over, offsetTo image.Point
		halvings       int
	}{
		{"fit wide", Fit, image.Pt(800, 600), image.Pt(1600, 800), image.Point{}, image.Rect(0, 100, 800, 500), image.Point{}, image.Point{}, 0},
		{"fit tall", Fit, image.Pt(800, 600), image.Pt(300, 600), image.Point{}, image.Rect(250, 0, 550, 600), image.Point{}, image.Point{}, 0},
		{"fit enlarges", Fit, image.Pt(800, 600), image.Pt(400, 300), image.Point{}, image.Rect(0, 0, 800, 600), image.Point{}, image.Point{}, 0},
		{"fit small", Fit, image.Pt(400, 300), image.Pt(1920, 1080), image.Point{}, image.Rect(0, 37, 400, 262), image.Point{}, image.Point{}, 2},
		{"actual centred", Actual, image.Pt(800, 600), image.Pt(400, 300), image.Pt(50, 50), image.Rect(200, 150, 600, 450), image.Point{}, image.Point{}, 0},
		{"actual scrolled", Actual, image.Pt(800, 600), image.Pt(3840, 2160), image.Pt(100, 50), image.Rect(-100, -50, 3740, 2110), image.Pt(3040, 1560), image.Pt(100, 50), 0},
		{"actual scrolled too far", Actual, image.Pt(800, 600), image.Pt(3840, 2160), image.Pt(9999, 9999), image.Rect(-3040, -1560, 800, 600), image.Pt(3040, 1560), image.Pt(3040, 1560), 0},
		{"a line of pixels", Fit, image.Pt(100, 100), image.Pt(5000, 1), image.Point{}, image.Rect(0, 49, 100, 50), image.Point{}, image.Point{}, 5},
	}
	for _, tt := range tests {
		p := Put(tt.mode, tt.view, tt.remote, tt.offset)
		if p.Rect != tt.rect || p.Overflow() != tt.over || p.Offset() != tt.offsetTo || p.Halvings() != tt.halvings {
			t.Errorf("%s: rect %v overflow %v offset %v halvings %d; want %v %v %v %d", tt.name, p.Rect, p.Overflow(), p.Offset(), p.Halvings(), tt.rect, tt.over, tt.offsetTo, tt.halvings)
		}
	}
	for _, p := range []Place{Put(Fit, image.Point{}, image.Pt(5, 5), image.Point{}), Put(Actual, image.Pt(5, 5), image.Point{}, image.Point{})} {
		if !p.Rect.Empty() || p.Halvings() != 0 {
			t.Errorf("nothing to show gave %+v", p)
		}
	}
}

// Zooming keeps to whole pixels, to its bounds and to what can be scrolled.
func TestZoom(t *testing.T) {
	view, remote := image.Pt(800, 600), image.Pt(1920, 1080)
	for _, c := range []struct {
		percent int
		offset  image.Point
		want    image.Rectangle
	}{
		{100, image.Pt(10, 20), image.Rect(-10, -20, 1910, 1060)},
		{25, image.Pt(0, 0), image.Rect(160, 165, 640, 435)},
		{50, image.Pt(1000, -5), image.Rect(-160, 30, 800, 570)},
		{137, image.Pt(99999, 99999), image.Rect(-1830, -880, 800, 600)},
		{1, image.Pt(0, 0), image.Rect(304, 246, 496, 354)},      // as 10
		{9999, image.Pt(0, 0), image.Rect(0, 0, 8*1920, 8*1080)}, // as 800
	} {
		p := Zoom(c.percent, view, remote, c.offset)
		if p.Rect != c.want {
			t.Errorf("%d %%: got %v, want %v", c.percent, p.Rect, c.want)
		}
	}
	p := Zoom(200, view, remote, image.Pt(99999, 99999))
	if at, ok := p.At(view.Sub(image.Pt(1, 1))); !ok || at != image.Pt(1919, 1079) {
		t.Errorf("the last pixel of the view is %v, %v", at, ok)
	}
	if p := Zoom(50, image.Point{}, remote, image.Point{}); !p.Rect.Empty() {
		t.Errorf("without a view the picture is at %v", p.Rect)
	}
}
