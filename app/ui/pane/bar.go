package pane

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
)

// barThickness is the thickness of a scroll bar in units of the canvas.
const barThickness = 12

// A bar scrolls a picture that is larger than its view.
type bar struct {
	widget.BaseWidget
	vertical bool
	scroll   func(to int)

	view, whole, offset int // remote pixels
	track, thumb        *canvas.Rectangle
	grip                float32 // where in the thumb it was taken hold of
	dragging, hovered   bool
}

var (
	_ fyne.Draggable    = (*bar)(nil)
	_ desktop.Mouseable = (*bar)(nil)
	_ desktop.Hoverable = (*bar)(nil)
)

func newBar(vertical bool, scroll func(int)) *bar {
	b := &bar{vertical: vertical, scroll: scroll, track: canvas.NewRectangle(color.Transparent), thumb: canvas.NewRectangle(color.Transparent)}
	b.thumb.CornerRadius = 4
	b.ExtendBaseWidget(b)
	b.Hide()
	return b
}

// set tells what part is shown.
func (b *bar) set(needed bool, view, whole, offset int) {
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
func (b *bar) length() (all, thumb, at float32) {
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

func (b *bar) along(p fyne.Position) float32 {
	if b.vertical {
		return p.Y
	}
	return p.X
}

// to scrolls so that the thumb is at a place.
func (b *bar) to(at float32) {
	all, thumb, _ := b.length()
	if all <= thumb {
		return
	}
	b.scroll(int(min(max(at/(all-thumb), 0), 1)*float32(b.whole-b.view) + 0.5))
}

// MouseDown is called by the toolkit: beside the thumb it brings it there.
func (b *bar) MouseDown(ev *desktop.MouseEvent) {
	_, thumb, at := b.length()
	p := b.along(ev.Position)
	if p < at || p > at+thumb {
		b.to(p - thumb/2)
		_, _, at = b.length()
	}
	b.grip = p - at
}

// MouseUp is called by the toolkit.
func (b *bar) MouseUp(*desktop.MouseEvent) {}

// Dragged is called by the toolkit.
func (b *bar) Dragged(ev *fyne.DragEvent) {
	b.dragging = true
	b.to(b.along(ev.Position) - b.grip)
}

// DragEnd is called by the toolkit.
func (b *bar) DragEnd() { b.dragging = false; b.Refresh() }

// MouseIn is called by the toolkit.
func (b *bar) MouseIn(*desktop.MouseEvent) { b.hovered = true; b.Refresh() }

// MouseMoved is called by the toolkit.
func (b *bar) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is called by the toolkit.
func (b *bar) MouseOut() { b.hovered = false; b.Refresh() }

// MinSize is the bar's thickness.
func (b *bar) MinSize() fyne.Size { return fyne.NewSize(barThickness, barThickness) }

// CreateRenderer is called by the toolkit.
func (b *bar) CreateRenderer() fyne.WidgetRenderer { return &barRenderer{b} }

type barRenderer struct{ b *bar }

// Layout is called by the toolkit.
func (r *barRenderer) Layout(size fyne.Size) {
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
func (r *barRenderer) MinSize() fyne.Size { return r.b.MinSize() }

// Refresh is called by the toolkit.
func (r *barRenderer) Refresh() {
	b := r.b
	b.track.FillColor = look.Color(look.ColorBar)
	b.thumb.FillColor = look.Color(theme.ColorNameScrollBar)
	if b.hovered || b.dragging {
		b.thumb.FillColor = look.Color(look.ColorMuted)
	}
	r.Layout(b.Size())
	b.track.Refresh()
	b.thumb.Refresh()
}

// Objects is called by the toolkit.
func (r *barRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.b.track, r.b.thumb}
}

// Destroy is called by the toolkit.
func (r *barRenderer) Destroy() {}
