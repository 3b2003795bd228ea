package pane

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
)

// cardWidth is how wide a card on the pane is when there is room.
const cardWidth = 440

// centred is a layout that puts one object in the middle, as wide as a card
// and as high as its content, or as there is room.
type centred struct{ content func() fyne.CanvasObject }

// Layout puts the object.
func (c centred) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	const margin = 12
	for _, o := range objects {
		w := max(min(cardWidth, size.Width-2*margin), 60)
		inner := c.content()
		inner.Resize(fyne.NewSize(w, inner.Size().Height)) // wrapped text knows its height only then
		h := min(inner.MinSize().Height, max(size.Height-2*margin, 40))
		o.Resize(fyne.NewSize(w, h))
		o.Move(fyne.NewPos((size.Width-w)/2, max((size.Height-h)*0.42, 0)))
	}
}

// MinSize asks for nothing.
func (centred) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(60, 40) }

// A card tells what happens with the session and offers what to do.
type card struct {
	box     *fyne.Container // the veil and the card in its middle
	veil    *look.Ground
	title   *look.Text
	text    *widget.RichText
	detail  *widget.RichText
	buttons *fyne.Container
}

// A choice is a button of a card.
type choice struct {
	label string
	main  bool
	do    func()
}

func newCard() *card {
	c := &card{
		veil:    look.NewGround(look.ColorVeil),
		title:   look.NewText("", theme.ColorNameForeground, theme.SizeNameSubHeadingText, true),
		text:    look.NewParagraph("", theme.ColorNameForeground, theme.SizeNameText),
		detail:  look.NewParagraph("", look.ColorMuted, theme.SizeNameText),
		buttons: container.NewHBox(),
	}
	body := look.NewCard(container.NewVBox(c.title, c.text, c.detail, container.New(look.Inset{6, 0, 0, 0}, c.buttons)))
	c.box = container.NewStack(c.veil, container.New(centred{func() fyne.CanvasObject { return body }}, container.NewVScroll(body)))
	c.box.Hide()
	return c
}

// show fills the card in. Empty texts take no room.
func (c *card) show(title, text, detail string, choices ...choice) {
	c.title.SetText(title)
	for _, p := range []struct {
		rt    *widget.RichText
		text  string
		color fyne.ThemeColorName
	}{{c.text, text, theme.ColorNameForeground}, {c.detail, detail, look.ColorMuted}} {
		look.SetParagraph(p.rt, p.text, p.color)
		if p.text == "" {
			p.rt.Hide()
		} else {
			p.rt.Show()
		}
	}
	c.buttons.RemoveAll()
	c.buttons.Add(layout.NewSpacer())
	for _, ch := range choices {
		importance := widget.MediumImportance
		if ch.main {
			importance = widget.HighImportance
		}
		c.buttons.Add(look.NewChoice(ch.label, importance, ch.do))
	}
	c.box.Show()
	c.box.Refresh()
}

func (c *card) hide() {
	if c.box.Visible() {
		c.box.Hide()
	}
}
