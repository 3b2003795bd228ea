package pane

import (
	"image"
	"image/color"

	"fyne.io/fyne/v2/driver/desktop"

	"deskvnc/viewer"
)

// A cursor is a pointer shape. Each new shape is a new value: the toolkit
// compares addresses.
type cursor struct {
	img *image.NRGBA
	hot image.Point
}

// Image gives the shape and its hot spot, in pixels of the screen.
func (c *cursor) Image() (image.Image, int, int) { return c.img, c.hot.X, c.hot.Y }

// dotRadius is the radius of the dot's rim in units of the canvas.
const dotRadius = 3.2

// dot is what points before, and unless, the far side sends a shape: small
// enough not to hide what is under it, since the far side may draw its own.
// Unit is the number of screen pixels in one of the canvas.
func dot(unit float32) *cursor {
	rim := dotRadius * float64(max(unit, 1))
	half := int(rim)
	n := 2*half + 1
	img := image.NewNRGBA(image.Rect(0, 0, n, n))
	for y := range n {
		for x := range n {
			dx, dy := float64(x-half), float64(y-half)
			switch d := dx*dx + dy*dy; {
			case d <= rim*rim*0.45:
				img.SetNRGBA(x, y, color.NRGBA{0, 0, 0, 255})
			case d <= rim*rim:
				img.SetNRGBA(x, y, color.NRGBA{255, 255, 255, 255})
			}
		}
	}
	return &cursor{img, image.Pt(half, half)}
}

// maxCursor bounds the side of a pointer shape: a larger one is cut around its
// hot spot, since window systems refuse it.
const maxCursor = 128

// shape makes a pointer of what the far side sent. One without a visible pixel
// hides the pointer.
func shape(c viewer.Cursor) desktop.Cursor {
	if c.Image == nil || blank(c.Image) {
		return desktop.HiddenCursor
	}
	b := c.Image.Rect
	hot := image.Pt(min(max(c.Hot.X, 0), b.Dx()-1), min(max(c.Hot.Y, 0), b.Dy()-1))
	from := image.Pt(min(max(hot.X-maxCursor/2, 0), max(b.Dx()-maxCursor, 0)), min(max(hot.Y-maxCursor/2, 0), max(b.Dy()-maxCursor, 0)))
	img := image.NewNRGBA(image.Rect(0, 0, min(b.Dx(), maxCursor), min(b.Dy(), maxCursor)))
	for y := range img.Rect.Dy() {
		i := c.Image.PixOffset(b.Min.X+from.X, b.Min.Y+from.Y+y)
		copy(img.Pix[y*img.Stride:(y+1)*img.Stride], c.Image.Pix[i:])
	}
	return &cursor{img, hot.Sub(from)}
}

func blank(img *image.NRGBA) bool {
	for y := img.Rect.Min.Y; y < img.Rect.Max.Y; y++ {
		for x := img.Rect.Min.X; x < img.Rect.Max.X; x++ {
			if img.Pix[img.PixOffset(x, y)+3] != 0 {
				return false
			}
		}
	}
	return true
}

// setCursor shows the far side's pointer shape.
func (s *surface) setCursor(c viewer.Cursor) {
	if s.shapeSet && s.shapeOf == c {
		return
	}
	s.shapeSet, s.shapeOf = true, c
	s.point()
}

// unsetCursor goes back to the pointer of before a shape came.
func (s *surface) unsetCursor() {
	if s.shapeSet {
		s.shapeSet, s.shapeOf = false, viewer.Cursor{}
		s.point()
	}
}

// setDotted shows the dot in place of a pointer that the far side hides, or
// not.
func (s *surface) setDotted(on bool) {
	if s.dotted != on {
		s.dotted = on
		s.point()
	}
}

// point makes the pointer: the far side's, or the dot where there is none.
func (s *surface) point() {
	s.dotUnit = 0
	if s.shapeSet {
		if s.pointer = shape(s.shapeOf); s.pointer != desktop.HiddenCursor || !s.dotted {
			return
		}
	}
	s.dotUnit = s.unit()
	s.pointer = dot(s.dotUnit)
}
