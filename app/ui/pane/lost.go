package pane

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
)

// A lost is a bar under a terminal whose connection has ended. The text above
// stays as it was, to be read, searched and copied.
type lost struct {
	object  *fyne.Container
	title   *look.Text
	text    *widget.RichText
	detail  *widget.RichText
	buttons *fyne.Container
}

func newLost() *lost {
	l := &lost{
		title:   look.NewText("", theme.ColorNameForeground, theme.SizeNameText, true),
		text:    look.NewParagraph("", theme.ColorNameForeground, theme.SizeNameText),
		detail:  look.NewParagraph("", look.ColorMuted, theme.SizeNameText),
		buttons: container.NewHBox(),
	}
	words := container.New(look.Inset{6, 8, 6, 12}, container.New(tight{}, l.title, l.text, l.detail))
	l.object = container.NewStack(look.NewPanel(look.ColorCard, look.ColorBorder, 0), container.NewBorder(nil, nil, nil, container.New(look.Inset{0, 12, 0, 0}, container.NewCenter(l.buttons)), words))
	l.object.Hide()
	return l
}

// tight is a layout of lines under each other without room between them.
type tight struct{}

// Layout is called by the toolkit.
func (tight) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	y := float32(0)
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		o.Resize(fyne.NewSize(size.Width, o.Size().Height)) // wrapped text knows its height only then
		h := o.MinSize().Height
		o.Resize(fyne.NewSize(size.Width, h))
		o.Move(fyne.NewPos(0, y))
		y += h
	}
}

// MinSize is called by the toolkit.
func (tight) MinSize(objects []fyne.CanvasObject) fyne.Size {
	m := fyne.NewSize(60, 0)
	for _, o := range objects {
		if o.Visible() {
			m.Height += o.MinSize().Height
		}
	}
	return m
}

func (l *lost) show(title, text, detail string, choices ...choice) {
	l.title.SetText(title)
	look.SetParagraph(l.text, text, theme.ColorNameForeground)
	show(l.text, text != "")
	look.SetParagraph(l.detail, detail, look.ColorMuted)
	show(l.detail, detail != "")
	l.buttons.RemoveAll()
	for _, ch := range choices {
		importance := widget.MediumImportance
		if ch.main {
			importance = widget.HighImportance
		}
		l.buttons.Add(look.NewChoice(ch.label, importance, ch.do))
	}
	l.object.Show()
}
