package pane

import (
	"image"
	"image/color"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"deskvnc/viewer"
)

// visible counts the pixels of a pointer that can be seen.
func visible(c desktop.Cursor) (n int) {
	img, _, _ := c.Image()
	if img == nil {
		return 0
	}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			if _, _, _, a := img.At(x, y).RGBA(); a != 0 {
				n++
			}
		}
	}
	return n
}

// Without a shape from the machine a dot points from the first moment (C067),
// as large on a screen of twice the density.
func TestDotWithoutAShape(t *testing.T) {
	b := newBench(t, true)
	c := b.Cursor()
	if c == desktop.HiddenCursor || visible(c) < 20 {
		t.Fatalf("%d pixels point", visible(c))
	}
	img, x, y := c.Image()
	if x != img.Bounds().Dx()/2 || y != img.Bounds().Dy()/2 {
		t.Errorf("the hot spot of a dot of %v is %d,%d", img.Bounds(), x, y)
	}
	if once, twice := visible(dot(1)), visible(dot(2)); twice < 3*once {
		t.Errorf("%d pixels at scale 1, %d at scale 2", once, twice)
	}
	b.setCursor(viewer.Cursor{Image: filled(8, 8)})
	if visible(b.Cursor()) != 64 {
		t.Error("the machine's shape is not shown")
	}
	b.unsetCursor()
	if visible(b.Cursor()) != visible(c) {
		t.Error("without the shape there is no dot again")
	}
}

func filled(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = 0xff
	}
	return img
}

// A pointer that the machine hides is hidden, or a dot, as is wished for; the
// wish counts at once, in the session that runs (C071).
func TestDotForAHiddenPointer(t *testing.T) {
	b := newBench(t, true)
	for name, hidden := range map[string]viewer.Cursor{"no image": {}, "a blank one": {Image: image.NewNRGBA(image.Rect(0, 0, 16, 16))}} {
		b.setDotted(false)
		b.setCursor(hidden)
		if b.Cursor() != desktop.Cursor(desktop.HiddenCursor) {
			t.Errorf("%s: the pointer is shown", name)
		}
		b.setDotted(true)
		if b.Cursor() == desktop.Cursor(desktop.HiddenCursor) || visible(b.Cursor()) == 0 {
			t.Errorf("%s: there is no dot", name)
		}
		b.setDotted(false)
		if b.Cursor() != desktop.Cursor(desktop.HiddenCursor) {
			t.Errorf("%s: the dot stays", name)
		}
	}
	b.setDotted(true)
	b.setCursor(viewer.Cursor{Image: filled(5, 5), Hot: image.Pt(1, 2)})
	if img, x, y := b.Cursor().Image(); img.Bounds().Dx() != 5 || x != 1 || y != 2 {
		t.Error("a shape that can be seen is replaced")
	}
}

// The hot spot is the machine's to the pixel, at any scale of the screen and of
// the picture; one outside is brought in, and a large shape is cut around it
// (C070).
func TestHotSpot(t *testing.T) {
	mark := color.NRGBA{1, 2, 3, 255}
	for _, scale := range []float32{1, 2} {
		b := newBench(t, true)
		b.canvas.(interface{ SetScale(float32) }).SetScale(scale)
		b.Resize(fyne.NewSize(800/scale, 600/scale))
		for _, c := range []struct {
			w, h      int
			hot, want image.Point
		}{
			{16, 16, image.Pt(15, 15), image.Pt(15, 15)},
			{16, 16, image.Pt(0, 0), image.Pt(0, 0)},
			{16, 16, image.Pt(65535, 65535), image.Pt(15, 15)},
			{16, 16, image.Pt(-5, 3), image.Pt(0, 3)},
			{400, 300, image.Pt(350, 20), image.Pt(78, 20)},
		} {
			img := filled(c.w, c.h)
			img.SetNRGBA(min(max(c.hot.X, 0), c.w-1), min(max(c.hot.Y, 0), c.h-1), mark)
			b.setCursor(viewer.Cursor{Image: img, Hot: c.hot})
			got, x, y := b.Cursor().Image()
			if image.Pt(x, y) != c.want || got.At(x, y) != mark {
				t.Errorf("scale %v: the hot spot %v of %dx%d is at %d,%d, where the shape is %v", scale, c.hot, c.w, c.h, x, y, got.At(x, y))
			}
			if got.Bounds().Dx() > maxCursor || got.Bounds().Dy() > maxCursor {
				t.Errorf("a shape of %v", got.Bounds())
			}
		}
	}
}
