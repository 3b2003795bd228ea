package picture

import "image"

// A Mode says how a picture is put into its view.
type Mode int

// The modes.
const (
	Fit    Mode = iota // as large as fits, centred
	Actual             // one remote pixel for each pixel of the screen
	Zoomed             // by a percentage; see Zoom
)

// A Place is where in its view a picture is shown. Everything is in pixels of
// the screen, counted from the view's upper left corner; remote pixels where
// it says so.
type Place struct {
	View   image.Point     // size of the view
	Remote image.Point     // size of the picture in remote pixels
	Rect   image.Rectangle // where the whole picture lies; larger than the view when scrolled
}

// The bounds of zooming, in percent.
const (
	MinZoom = 10
	MaxZoom = 800
)

// Put places a picture that is fitted, or in its actual size. Offset is the
// pixel of the shown picture that should be at the view's corner in [Actual]
// mode; it is brought into its bounds.
func Put(mode Mode, view, remote, offset image.Point) Place {
	if mode != Fit {
		return Zoom(100, view, remote, offset)
	}
	p := Place{View: view, Remote: remote}
	if remote.X <= 0 || remote.Y <= 0 || view.X <= 0 || view.Y <= 0 {
		return p
	}
	w, h := view.X, (remote.Y*view.X+remote.X/2)/remote.X
	if h > view.Y {
		w, h = (remote.X*view.Y+remote.Y/2)/remote.Y, view.Y
	}
	w, h = min(max(w, 1), view.X), min(max(h, 1), view.Y)
	x, y := (view.X-w)/2, (view.Y-h)/2
	p.Rect = image.Rect(x, y, x+w, y+h)
	return p
}

// Zoom places a picture at a percentage of its size. Offset is the pixel of the
// shown picture that should be at the view's corner; it is brought into its
// bounds.
func Zoom(percent int, view, remote, offset image.Point) Place {
	p := Place{View: view, Remote: remote}
	if remote.X <= 0 || remote.Y <= 0 || view.X <= 0 || view.Y <= 0 {
		return p
	}
	percent = min(max(percent, MinZoom), MaxZoom)
	w, h := max((remote.X*percent+50)/100, 1), max((remote.Y*percent+50)/100, 1)
	x, y := along(view.X, w, offset.X), along(view.Y, h, offset.Y)
	p.Rect = image.Rect(x, y, x+w, y+h)
	return p
}

// along is where one side starts: centred when it fits, else scrolled.
func along(view, shown, offset int) int {
	if shown <= view {
		return (view - shown) / 2
	}
	return -min(max(offset, 0), shown-view)
}

// Offset is the pixel of the shown picture at the view's corner, when it is
// scrolled.
func (p Place) Offset() image.Point {
	return image.Pt(max(-p.Rect.Min.X, 0), max(-p.Rect.Min.Y, 0))
}

// Overflow is by how much the picture is larger than the view.
func (p Place) Overflow() image.Point {
	return image.Pt(max(p.Rect.Dx()-p.View.X, 0), max(p.Rect.Dy()-p.View.Y, 0))
}

// Scale is the number of screen pixels a remote pixel takes.
func (p Place) Scale() float64 {
	if p.Remote.X == 0 {
		return 1
	}
	return float64(p.Rect.Dx()) / float64(p.Remote.X)
}

// At is the remote pixel shown at a point of the view. Outside the picture it
// is the nearest one; inside reports whether the point is on the picture.
//
// The last pixel of the screen is always the last remote pixel, so that the
// far corner can be reached also when several remote pixels share one.
func (p Place) At(v image.Point) (r image.Point, inside bool) {
	if p.Rect.Empty() {
		return image.Point{}, false
	}
	inside = v.In(p.Rect)
	return image.Pt(
		at(v.X-p.Rect.Min.X, p.Rect.Dx(), p.Remote.X),
		at(v.Y-p.Rect.Min.Y, p.Rect.Dy(), p.Remote.Y),
	), inside
}

func at(d, shown, remote int) int {
	switch {
	case d <= 0:
		return 0
	case d >= shown-1:
		return remote - 1
	}
	return d * remote / shown
}

// Halvings is how often the picture is halved before it is drawn, so that the
// graphics card never has to leave out more than every other pixel.
func (p Place) Halvings() int {
	n := 0
	for w := p.Remote.X; p.Rect.Dx() > 0 && p.Rect.Dx()*2 < w && w > 1; w = (w + 1) / 2 {
		n++
	}
	return n
}
