package browse

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
)

// A head is the name of a column, which sorts by it.
type head struct {
	widget.BaseWidget
	name  string
	right bool
	do    func()
	text  *canvas.Text
	over  bool
	state [2]bool
}

var (
	_ fyne.Tappable     = (*head)(nil)
	_ desktop.Hoverable = (*head)(nil)
)

func newHead(name string, right bool, do func()) *head {
	h := &head{name: name, right: right, do: do, text: canvas.NewText("", color.Transparent)}
	if right {
		h.text.Alignment = fyne.TextAlignTrailing
	}
	h.ExtendBaseWidget(h)
	return h
}

// set tells whether the listing is sorted by it.
func (h *head) set(on, down bool) {
	h.state = [2]bool{on, down}
	h.Refresh()
}

// Tapped is called by the toolkit.
func (h *head) Tapped(*fyne.PointEvent) { h.do() }

// MouseIn is called by the toolkit.
func (h *head) MouseIn(*desktop.MouseEvent) { h.over = true; h.Refresh() }

// MouseMoved is called by the toolkit.
func (h *head) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is called by the toolkit.
func (h *head) MouseOut() { h.over = false; h.Refresh() }

// CreateRenderer is called by the toolkit.
func (h *head) CreateRenderer() fyne.WidgetRenderer { return &headRenderer{h} }

type headRenderer struct{ h *head }

// Layout is called by the toolkit.
func (r *headRenderer) Layout(size fyne.Size) {
	r.h.text.Move(fyne.NewPos(cellGap, 0))
	r.h.text.Resize(fyne.NewSize(max(size.Width-2*cellGap, 0), size.Height))
	if r.h.right {
		r.h.text.Move(fyne.NewPos(0, 0))
		r.h.text.Resize(fyne.NewSize(max(size.Width-cellGap, 0), size.Height))
	}
}

// MinSize is called by the toolkit.
func (r *headRenderer) MinSize() fyne.Size { return fyne.NewSize(20, rowHeight) }

// Refresh is called by the toolkit.
func (r *headRenderer) Refresh() {
	h := r.h
	h.text.Text, h.text.TextSize = h.name, textSize()-1
	h.text.TextStyle.Bold = h.state[0]
	h.text.Color = look.Color(look.ColorMuted)
	if h.over {
		h.text.Color = look.Color("foreground")
	}
	if h.state[0] {
		h.text.Text += " ↑"
		if h.state[1] {
			h.text.Text = h.name + " ↓"
		}
	}
	h.text.Refresh()
}

// Objects is called by the toolkit.
func (r *headRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.h.text} }

// Destroy is called by the toolkit.
func (r *headRenderer) Destroy() {}
