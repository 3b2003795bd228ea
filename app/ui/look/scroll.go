package look

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// ScrollThickness is the thickness of a scroll bar in units of the canvas.
const ScrollThickness = 12

// A Scroll is a bar that scrolls what is larger than its view.
type Scroll struct {
	widget.BaseWidget
	vertical bool
	scroll   func(to int)

	// After is called when the person lets go of the bar; it may be nil.
	After func()

	view, whole, offset int // in whatever unit the caller counts
	track, thumb        *canvas.Rectangle
	grip                float32 // where in the thumb it was taken hold of
	dragging, hovered   bool
}

var (
	_ fyne.Draggable    = (*Scroll)(nil)
	_ desktop.Mouseable = (*Scroll)(nil)
	_ desktop.Hoverable = (*Scroll)(nil)
)

// NewScroll returns a bar, hidden; scroll is called with where to scroll to.
func NewScroll(vertical bool, scroll func(int)) *Scroll {
	b := &Scroll{vertical: vertical, scroll: scroll, track: canvas.NewRectangle(color.Transparent), thumb: canvas.NewRectangle(color.Transparent)}
	b.thumb.CornerRadius = 4
	b.ExtendBaseWidget(b)
	b.Hide()
	return b
}

// Set tells what part is shown, and of how much.
func (b *Scroll) Set(needed bool, view, whole, offset int) {
	if needed != b.Visible() {
		if needed {
			b.Show()
		} else {
			b.Hide()
		}
	}
	if needed && (view != b.view || whole != b.whole || offset != b.offset) {
		b.view, b.whole, b.offset = view, whole, offset
		b.Refresh()
	}
}

// length is the bar's, and the thumb's, and where the thumb is.
func (b *Scroll) length() (all, thumb, at float32) {
	all = b.Size().Width
	if b.vertical {
		all = b.Size().Height
	}
	if b.whole <= b.view || b.whole == 0 {
		return all, all, 0
	}
	thumb = min(max(all*float32(b.view)/float32(b.whole), 24), all)
	at = (all - thumb) * float32(b.offset) / float32(b.whole-b.view)
	return all, thumb, at
}

func (b *Scroll) along(p fyne.Position) float32 {
	if b.vertical {
		return p.Y
	}
	return p.X
}

// to scrolls so that the thumb is at a place.
func (b *Scroll) to(at float32) {
	all, thumb, _ := b.length()
	if all <= thumb {
		return
	}
	b.scroll(int(min(max(at/(all-thumb), 0), 1)*float32(b.whole-b.view) + 0.5))
}

// MouseDown is called by the toolkit: beside the thumb it brings it there.
func (b *Scroll) MouseDown(ev *desktop.MouseEvent) {
	_, thumb, at := b.length()
	p := b.along(ev.Position)
	if p < at || p > at+thumb {
		b.to(p - thumb/2)
		_, _, at = b.length()
	}
	b.grip = p - at
}

// MouseUp is called by the toolkit.
func (b *Scroll) MouseUp(*desktop.MouseEvent) { b.after() }

func (b *Scroll) after() {
	if b.After != nil {
		b.After()
	}
}

// Dragged is called by the toolkit.
func (b *Scroll) Dragged(ev *fyne.DragEvent) {
	b.dragging = true
	b.to(b.along(ev.Position) - b.grip)
}

// DragEnd is called by the toolkit.
func (b *Scroll) DragEnd() { b.dragging = false; b.Refresh(); b.after() }

// MouseIn is called by the toolkit.
func (b *Scroll) MouseIn(*desktop.MouseEvent) { b.hovered = true; b.Refresh() }

// MouseMoved is called by the toolkit.
func (b *Scroll) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is called by the toolkit.
func (b *Scroll) MouseOut() { b.hovered = false; b.Refresh() }

// MinSize is the bar's thickness.
func (b *Scroll) MinSize() fyne.Size { return fyne.NewSize(ScrollThickness, ScrollThickness) }

// CreateRenderer is called by the toolkit.
func (b *Scroll) CreateRenderer() fyne.WidgetRenderer { return &scrollRenderer{b} }

type scrollRenderer struct{ b *Scroll }

// Layout is called by the toolkit.
func (r *scrollRenderer) Layout(size fyne.Size) {
	b := r.b
	b.track.Resize(size)
	const margin = 2
	_, thumb, at := b.length()
	if b.vertical {
		b.thumb.Move(fyne.NewPos(margin, at))
		b.thumb.Resize(fyne.NewSize(size.Width-2*margin, thumb))
	} else {
		b.thumb.Move(fyne.NewPos(at, margin))
		b.thumb.Resize(fyne.NewSize(thumb, size.Height-2*margin))
	}
}

// MinSize is called by the toolkit.
func (r *scrollRenderer) MinSize() fyne.Size { return r.b.MinSize() }

// Refresh is called by the toolkit.
func (r *scrollRenderer) Refresh() {
	b := r.b
	b.track.FillColor = Color(ColorBar)
	b.thumb.FillColor = Color(theme.ColorNameScrollBar)
	if b.hovered || b.dragging {
		b.thumb.FillColor = Color(ColorMuted)
	}
	r.Layout(b.Size())
	b.track.Refresh()
	b.thumb.Refresh()
}

// Objects is called by the toolkit.
func (r *scrollRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.b.track, r.b.thumb}
}

// Destroy is called by the toolkit.
func (r *scrollRenderer) Destroy() {}
