package look

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// A Veil covers what is behind a card or a question, for the mouse too.
type Veil struct{ Ground }

// NewVeil returns a veil in the colour of [ColorVeil].
func NewVeil() *Veil {
	v := &Veil{Ground: *NewGround(ColorVeil)}
	v.ExtendBaseWidget(v)
	return v
}

// MouseDown is called by the toolkit: nothing behind is clicked.
func (*Veil) MouseDown(*desktop.MouseEvent) {}

// MouseUp is called by the toolkit.
func (*Veil) MouseUp(*desktop.MouseEvent) {}

// Tapped is called by the toolkit.
func (*Veil) Tapped(*fyne.PointEvent) {}

// DoubleTapped is called by the toolkit.
func (*Veil) DoubleTapped(*fyne.PointEvent) {}

// TappedSecondary is called by the toolkit.
func (*Veil) TappedSecondary(*fyne.PointEvent) {}

// Scrolled is called by the toolkit.
func (*Veil) Scrolled(*fyne.ScrollEvent) {}

// Dragged is called by the toolkit.
func (*Veil) Dragged(*fyne.DragEvent) {}

// DragEnd is called by the toolkit.
func (*Veil) DragEnd() {}

// MouseIn is called by the toolkit.
func (*Veil) MouseIn(*desktop.MouseEvent) {}

// MouseMoved is called by the toolkit.
func (*Veil) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is called by the toolkit.
func (*Veil) MouseOut() {}
