package library

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"deskvnc/app/ui/look"
)

// label is what stands before a field.
func label(text string) *look.Text {
	t := look.NewText(text, look.ColorMuted, theme.SizeNameText, false)
	t.SetMinWidth(t.Natural())
	return t
}

// heading stands above a group of fields.
func heading(text string) *look.Text {
	t := look.NewText(text, theme.ColorNameForeground, theme.SizeNameCaptionText, true)
	t.SetMinWidth(t.Natural())
	return t
}

// labelled is a layout of rows: a label and what it belongs to.
type labelled struct{}

const (
	fieldGap = 4
	labelGap = 4
)

// Layout is called by the toolkit.
func (labelled) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	left := leftOf(objects)
	var y float32
	for i := 0; i+1 < len(objects); i += 2 {
		l, o := objects[i], objects[i+1]
		w := max(size.Width-left-labelGap, 40)
		o.Resize(fyne.NewSize(w, o.Size().Height)) // wrapped text knows its height only then
		h := o.MinSize().Height
		lh := l.MinSize().Height
		l.Move(fyne.NewPos(0, y+(min(h, 34)-lh)/2))
		l.Resize(fyne.NewSize(left, lh))
		o.Move(fyne.NewPos(left+labelGap, y))
		o.Resize(fyne.NewSize(w, h))
		y += h + fieldGap
	}
}

func leftOf(objects []fyne.CanvasObject) (left float32) {
	for i := 0; i < len(objects); i += 2 {
		left = max(left, objects[i].MinSize().Width)
	}
	return max(left, labelWidth)
}

// labelWidth is the least width of the labels, so that the parts of the form
// line up.
const labelWidth = 84

// MinSize is called by the toolkit.
func (labelled) MinSize(objects []fyne.CanvasObject) (m fyne.Size) {
	left := leftOf(objects)
	for i := 0; i+1 < len(objects); i += 2 {
		s := objects[i+1].MinSize()
		m.Width = max(m.Width, left+labelGap+min(s.Width, 200))
		m.Height += s.Height + fieldGap
	}
	return m
}

// addressRow is a layout of an address, a label and a port.
type addressRow struct{}

const portWidth = 74

// Layout is called by the toolkit.
func (addressRow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	lw, lh := objects[1].MinSize().Width, objects[1].MinSize().Height
	rest := max(size.Width-portWidth-lw-8, 60)
	objects[0].Move(fyne.Position{})
	objects[0].Resize(fyne.NewSize(rest, size.Height))
	objects[2].Move(fyne.NewPos(size.Width-portWidth, 0))
	objects[2].Resize(fyne.NewSize(portWidth, size.Height))
	objects[1].Move(fyne.NewPos(rest+4, (34-lh)/2))
	objects[1].Resize(fyne.NewSize(lw, lh))
}

// MinSize is called by the toolkit.
func (addressRow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(180, max(objects[0].MinSize().Height, objects[2].MinSize().Height))
}

// middle puts the form in the middle, as high as its fields or as there is
// room.
type middle struct{ f *form }

// Layout is called by the toolkit.
func (m *middle) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	const width, margin = 500, 10
	w := min(width, size.Width-2*margin)
	for _, o := range objects {
		o.Resize(fyne.NewSize(w, o.Size().Height)) // wrapped text knows its height only then
		want := o.MinSize().Height - m.f.scroll.MinSize().Height + m.f.scroll.Content.MinSize().Height
		h := min(want, size.Height-2*margin)
		o.Resize(fyne.NewSize(w, h))
		o.Move(fyne.NewPos((size.Width-w)/2, max((size.Height-h)*0.4, margin)))
	}
}

// MinSize is called by the toolkit.
func (*middle) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(100, 60) }
