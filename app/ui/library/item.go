package library

import (
	"image"
	"image/color"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/viewer"
)

// Sizes of the two forms of an item.
const (
	cardMin    = 168 // least width
	cardText   = 52  // height of the texts below the picture
	rowHeight  = 42
	itemRadius = 8
	dotSize    = 8
)

// cardHeight is the height of a card of some width.
func cardHeight(w float32) float32 { return w*10/16 + cardText }

// An item shows one entry, as a card or as a row. It is used again for another
// entry when the screen scrolls.
type item struct {
	widget.BaseWidget
	shelf *shelf
	place int // among the entries of the shelf
	entry Entry

	cards    bool
	selected bool
	hovered  bool
	live     fyne.ThemeColorName // colour of an open session; "" for none
	thumb    image.Image

	ground  *look.Ground
	stage   *canvas.Rectangle
	picture *canvas.Image
	icon    *widget.Icon
	dot     *canvas.Circle
	star    *widget.Icon
	name    *look.Text
	about   *look.Text
	extra   *look.Text // protocol; in a row the tags as well
}

var (
	_ desktop.Mouseable      = (*item)(nil)
	_ desktop.Hoverable      = (*item)(nil)
	_ fyne.DoubleTappable    = (*item)(nil)
	_ fyne.SecondaryTappable = (*item)(nil)
)

func newItem(s *shelf) *item {
	it := &item{
		shelf: s, place: -1,
		ground:  look.NewPanel(look.ColorCard, look.ColorBorder, itemRadius),
		stage:   canvas.NewRectangle(color.Transparent),
		picture: &canvas.Image{FillMode: canvas.ImageFillContain},
		icon:    widget.NewIcon(theme.NewColoredResource(theme.ComputerIcon(), theme.ColorNameDisabled)),
		dot:     canvas.NewCircle(color.Transparent),
		star:    widget.NewIcon(starIcon),
		name:    look.NewText("", theme.ColorNameForeground, theme.SizeNameText, true),
		about:   look.NewText("", look.ColorMuted, theme.SizeNameCaptionText, false),
		extra:   look.NewText("", look.ColorMuted, theme.SizeNameCaptionText, false),
	}
	it.stage.CornerRadius = itemRadius - 3
	it.ExtendBaseWidget(it)
	return it
}

// show puts an entry into the item.
func (it *item) show(place int, e Entry) {
	s := it.shelf
	it.place, it.entry = place, e
	it.cards = s.cards
	it.live = s.live(e.Target)
	it.thumb = nil
	if it.cards && e.Saved && e.Host.LastPicture {
		it.thumb = s.thumb(e.Host.ID)
	}
	it.name.SetText(e.Name())
	about := e.About
	if about == "" {
		about = address(e.Target)
		if u := e.Target.User; u != "" {
			about = u + "@" + about
		}
	}
	it.about.SetText(about)
	extra := strings.ToUpper(string(e.Target.Protocol))
	if e.Host.ViewOnly && it.cards {
		extra = "View only"
	} else if e.Host.ViewOnly {
		extra = "View only · " + extra
	}
	if !it.cards && len(e.Host.Tags) > 0 {
		extra = strings.Join(e.Host.Tags, ", ") + " · " + extra
	}
	it.extra.SetText(extra)
	it.selected = s.selected == place && s.hasSelected
	it.Refresh()
}

// address is where a machine is, without the port that goes without saying.
func address(t viewer.Target) string {
	if t.Port == t.Protocol.DefaultPort() {
		return t.Address
	}
	return t.HostPort()
}

// MouseDown is called by the toolkit: a click chooses.
func (it *item) MouseDown(*desktop.MouseEvent) { it.shelf.choose(it.place, true) }

// MouseUp is called by the toolkit.
func (it *item) MouseUp(*desktop.MouseEvent) {}

// DoubleTapped is called by the toolkit.
func (it *item) DoubleTapped(*fyne.PointEvent) { it.shelf.open(it.entry) }

// TappedSecondary is called by the toolkit.
func (it *item) TappedSecondary(ev *fyne.PointEvent) {
	it.shelf.choose(it.place, true)
	it.shelf.menu(it.entry, ev.AbsolutePosition)
}

// MouseIn is called by the toolkit.
func (it *item) MouseIn(*desktop.MouseEvent) { it.hover(true) }

// MouseMoved is called by the toolkit.
func (it *item) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is called by the toolkit.
func (it *item) MouseOut() { it.hover(false) }

func (it *item) hover(on bool) {
	it.hovered = on
	it.paintGround()
}

func (it *item) paintGround() {
	fill, stroke := look.ColorCard, look.ColorBorder
	if it.hovered {
		fill = theme.ColorNameButton
	}
	if it.selected {
		stroke = theme.ColorNamePrimary
		if it.shelf.hasFocus {
			fill = theme.ColorNameButton
		}
	}
	it.ground.SetColors(fill, stroke)
}

// CreateRenderer is called by the toolkit.
func (it *item) CreateRenderer() fyne.WidgetRenderer {
	r := &itemRenderer{it: it, objects: []fyne.CanvasObject{it.ground, it.stage, it.picture, it.icon, it.dot, it.star, it.name, it.about, it.extra}}
	r.paint()
	return r
}

type itemRenderer struct {
	it      *item
	objects []fyne.CanvasObject
}

// Layout is called by the toolkit.
func (r *itemRenderer) Layout(size fyne.Size) {
	it := r.it
	it.ground.Resize(size)
	put := func(o fyne.CanvasObject, x, y, w, h float32) {
		o.Move(fyne.NewPos(x, y))
		o.Resize(fyne.NewSize(max(w, 0), h))
	}
	nameH, aboutH := it.name.MinSize().Height, it.about.MinSize().Height
	inset := theme.Size(theme.SizeNameInnerPadding)
	left, right := float32(10), size.Width-6
	if it.live != "" {
		left += dotSize + 6
	}
	if it.entry.Host.Favourite {
		right -= 18
	}
	if it.cards {
		const edge = 4
		h := size.Height - cardText
		put(it.stage, edge, edge, size.Width-2*edge, h-edge)
		put(it.picture, edge, edge, size.Width-2*edge, h-edge)
		put(it.icon, (size.Width-34)/2, (h-34)/2+2, 34, 34)
		top := h + 1
		put(it.name, left-inset, top, right-left+2*inset, nameH)
		put(it.dot, 10, top+(nameH-dotSize)/2, dotSize, dotSize)
		put(it.star, right+1, top+(nameH-14)/2, 14, 14)
		low := top + 19
		w := min(it.extra.Natural(), size.Width/2)
		put(it.extra, size.Width-w-4, low, w, aboutH)
		put(it.about, 10-inset, low, size.Width-w-10+inset, aboutH)
		return
	}
	put(it.icon, 10, (size.Height-20)/2, 20, 20)
	left += 26
	w := min(it.extra.Natural(), size.Width*0.35)
	put(it.extra, size.Width-w-4, (size.Height-aboutH)/2, w, aboutH)
	end := size.Width - w - 4
	if it.entry.Host.Favourite {
		end -= 20
	}
	put(it.star, end+2, (size.Height-14)/2, 14, 14)
	put(it.dot, 36, (size.Height-dotSize)/2, dotSize, dotSize)
	if end-left > 420 { // side by side, in columns
		middle := size.Width * 0.42
		put(it.name, left-inset, (size.Height-nameH)/2, middle-left, nameH)
		put(it.about, middle, (size.Height-aboutH)/2, end-middle, aboutH)
		return
	}
	put(it.name, left-inset, -1, end-left+inset, nameH)
	put(it.about, left-inset, 16, end-left+inset, aboutH)
}

// MinSize is called by the toolkit.
func (r *itemRenderer) MinSize() fyne.Size { return fyne.NewSize(80, rowHeight) }

func (r *itemRenderer) paint() {
	it := r.it
	it.paintGround()
	show := func(o fyne.CanvasObject, on bool) {
		if on {
			o.Show()
		} else {
			o.Hide()
		}
	}
	it.stage.FillColor = look.Color(look.ColorStage)
	show(it.stage, it.cards)
	show(it.icon, it.thumb == nil)
	show(it.picture, it.thumb != nil)
	if it.picture.Image != it.thumb {
		it.picture.Image = it.thumb
		it.picture.Refresh()
	}
	if it.live != "" {
		it.dot.FillColor = look.Color(it.live)
	}
	show(it.dot, it.live != "")
	show(it.star, it.entry.Host.Favourite)
}

// Refresh is called by the toolkit.
func (r *itemRenderer) Refresh() {
	r.paint()
	r.Layout(r.it.Size())
	r.it.stage.Refresh()
	r.it.dot.Refresh()
	canvas.Refresh(r.it)
}

// Objects is called by the toolkit.
func (r *itemRenderer) Objects() []fyne.CanvasObject { return r.objects }

// Destroy is called by the toolkit.
func (r *itemRenderer) Destroy() {}
