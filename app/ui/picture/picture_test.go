package picture

import (
	"bytes"
	"image"
	"image/color"
	"math/rand/v2"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"deskvnc/viewer/frame"
)

// draw paints a rectangle of the frame and ends the update.
func draw(f *frame.Frame, r image.Rectangle, c color.RGBA) {
	px := f.Lock()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			p := px.Pix[y*px.Stride+x*4:]
			p[0], p[1], p[2] = c.B, c.G, c.R
		}
	}
	f.Touch(r.Min.X, r.Min.Y, r.Dx(), r.Dy(), frame.Painted)
	f.Unlock()
	f.EndUpdate()
}

func newFrame(t *testing.T, w, h int) *frame.Frame {
	t.Helper()
	f := frame.New()
	if err := f.Reset(w, h, frame.BGRX); err != nil {
		t.Fatal(err)
	}
	return f
}

// A small change uploads little: the promise is 13 % of a 1080p picture for
// 64 x 64 pixels wherever they are, and one repaint.
func TestSmallChangeUploadsLittle(t *testing.T) {
	test.NewTempApp(t)
	const w, h = 1920, 1080
	for _, view := range []image.Point{{w, h}, {1280, 720}, {700, 400}, {300, 200}} {
		f := newFrame(t, w, h)
		p := New(f)
		p.Redraw()
		p.Lay(Put(Fit, view, image.Pt(w, h), image.Point{}), 1)
		for _, at := range []image.Point{{0, 0}, {1000, 0}, {30, 33}, {1856, 1016}, {900, 63}} {
			p.Redraw()
			before := p.Stats()
			draw(f, image.Rect(at.X, at.Y, at.X+64, at.Y+64), color.RGBA{R: 200, A: 255})
			p.Redraw()
			after := p.Stats()
			shown := p.Shown().Rect
			share := float64(after.Bytes-before.Bytes) / float64(w*h*4)
			if share > 0.13 || after.Redraws != before.Redraws+1 {
				t.Errorf("view %v, change at %v (image of %v): uploaded %.1f %% in %d redraws, want at most 13 %% in 1", view, at, shown.Size(), 100*share, after.Redraws-before.Redraws)
			}
			p.Redraw()
			if p.Stats() != after {
				t.Errorf("a redraw without a change refreshed something")
			}
		}
		p.Close()
	}
}

// The bands together show exactly the frame, after any number of changes, and
// with the picture halved exactly the halved frame.
func TestBandsShowTheFrame(t *testing.T) {
	test.NewTempApp(t)
	const w, h = 333, 217
	rng := rand.New(rand.NewPCG(1, 2))
	for _, view := range []image.Point{{w, h}, {200, 200}, {120, 100}, {50, 40}, {700, 600}} {
		f := newFrame(t, w, h)
		p := New(f)
		p.Redraw()
		p.Lay(Put(Fit, view, image.Pt(w, h), image.Point{}), 1)
		for range 40 {
			x, y := rng.IntN(w-1), rng.IntN(h-1)
			r := image.Rect(x, y, x+1+rng.IntN(w-x), y+1+rng.IntN(h-y))
			draw(f, r, color.RGBA{uint8(rng.Uint32()), uint8(rng.Uint32()), uint8(rng.Uint32()), 255})
			p.Redraw()
		}
		view2, _ := f.Snapshot(image.Rectangle{}, nil)
		want := view2.Image
		for range Put(Fit, view, image.Pt(w, h), image.Point{}).Halvings() {
			want = halvedSlowly(want)
		}
		var got []byte
		for _, b := range p.bands {
			got = append(got, b.Image.(*image.RGBA).Pix...)
		}
		if !bytes.Equal(got, want.Pix) {
			t.Errorf("view %v: the bands differ from the frame", view)
		}
		p.Close()
	}
}

// halvedSlowly is the 2x2 mean by the book.
func halvedSlowly(src *image.RGBA) *image.RGBA {
	w, h := src.Rect.Dx(), src.Rect.Dy()
	dst := image.NewRGBA(image.Rect(0, 0, (w+1)/2, (h+1)/2))
	for y := range dst.Rect.Dy() {
		for x := range dst.Rect.Dx() {
			for c := range 4 {
				sum := 0
				for _, o := range []image.Point{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
					sx, sy := min(2*x+o.X, w-1), min(2*y+o.Y, h-1)
					sum += int(src.Pix[sy*src.Stride+sx*4+c])
				}
				dst.Pix[y*dst.Stride+x*4+c] = uint8((sum + 2) / 4)
			}
		}
	}
	return dst
}

// The painted pane, by Fyne's own painter, is the frame at 1:1 without a seam.
func TestPaintedExactly(t *testing.T) {
	test.NewTempApp(t)
	const w, h = 150, 150
	f := newFrame(t, w, h)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		x, y := rng.IntN(w), rng.IntN(h)
		draw(f, image.Rect(x, y, min(x+20, w), min(y+20, h)), color.RGBA{uint8(rng.Uint32()), uint8(rng.Uint32()), uint8(rng.Uint32()), 255})
	}
	p := New(f)
	defer p.Close()
	p.Redraw()
	p.Lay(Put(Actual, image.Pt(w, h), image.Pt(w, h), image.Point{}), 1)
	win := test.NewTempWindow(t, p.Object())
	win.SetPadded(false)
	win.Resize(fyne.NewSize(w, h))
	p.Lay(p.Place(), 1)
	got := win.Canvas().Capture()
	want, _ := f.Snapshot(image.Rectangle{}, nil)
	for y := range h {
		for x := range w {
			gr, gg, gb, _ := got.At(x, y).RGBA()
			wr, wg, wb, _ := want.Image.At(x, y).RGBA()
			if gr != wr || gg != wg || gb != wb {
				t.Fatalf("pixel %d,%d is %v, want %v", x, y, got.At(x, y), want.Image.At(x, y))
			}
		}
	}
}

func TestResize(t *testing.T) {
	test.NewTempApp(t)
	f := newFrame(t, 200, 100)
	p := New(f)
	defer p.Close()
	if !p.Redraw() {
		t.Error("the first redraw did not report a size")
	}
	p.Lay(Put(Fit, image.Pt(400, 400), p.Size(), image.Point{}), 1)
	if n := len(p.bands); n != 2 {
		t.Errorf("%d bands for 100 rows, want 2", n)
	}
	if err := f.Resize(100, 300); err != nil {
		t.Fatal(err)
	}
	if !p.Redraw() || p.Size() != image.Pt(100, 300) {
		t.Errorf("size is %v after the remote resize, want 100 x 300", p.Size())
	}
	p.Lay(Put(Fit, image.Pt(400, 400), p.Size(), image.Point{}), 1)
	if n := len(p.bands); n != 5 {
		t.Errorf("%d bands for 300 rows, want 5", n)
	}
	if err := f.Resize(0, 0); err != nil {
		t.Fatal(err)
	}
	p.Redraw()
	p.Lay(Put(Fit, image.Pt(400, 400), p.Size(), image.Point{}), 1)
	if len(p.bands) != 0 {
		t.Error("an empty picture has bands")
	}
}

// Bands meet at whole pixels of the screen, whatever the scale.
func TestBandEdges(t *testing.T) {
	test.NewTempApp(t)
	f := newFrame(t, 640, 480)
	p := New(f)
	defer p.Close()
	p.Redraw()
	for _, unit := range []float32{1, 1.3, 2} {
		for _, view := range []image.Point{{640, 480}, {467, 350}, {877, 658}, {1280, 960}, {320, 240}, {101, 77}} {
			place := Put(Fit, view, p.Size(), image.Point{})
			p.Lay(place, unit)
			edge := place.Rect.Min.Y
			for i, b := range p.bands {
				top, bottom := b.Position().Y*unit, (b.Position().Y+b.Size().Height)*unit
				if d := top - float32(edge); d > 0.01 || d < -0.01 {
					t.Errorf("unit %v view %v: band %d begins at %v, want %d", unit, view, i, top, edge)
				}
				edge = int(bottom + 0.5)
				if b.ScaleMode != canvas.ImageScaleFastest {
					t.Fatal("a band is resampled on the processor")
				}
			}
			if edge != place.Rect.Max.Y {
				t.Errorf("unit %v view %v: the last band ends at %d, want %d", unit, view, edge, place.Rect.Max.Y)
			}
		}
	}
}
