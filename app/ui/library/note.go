package library

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
)

// A note is a bar that says what happened, with something that can be done
// about it and a cross.
type note struct {
	object *fyne.Container
	text   *widget.RichText
	color  fyne.ThemeColorName
	closed func() // by the person; may be nil
	said   string
}

func newNote(color fyne.ThemeColorName, label string, do func()) *note {
	n := &note{text: look.NewParagraph("", color, theme.SizeNameText), color: color}
	end := look.NewButton("", theme.CancelIcon(), func() {
		n.hide("")
		if n.closed != nil {
			n.closed()
		}
	}, nil)
	buttons := container.NewHBox()
	if do != nil {
		buttons.Add(widget.NewButton(label, do))
	}
	buttons.Add(end)
	n.object = container.New(look.Inset{6, 0, 0, 0}, container.NewStack(
		look.NewPanel(look.ColorCard, look.ColorBorder, 8),
		container.New(look.Inset{2, 4, 2, 6}, container.NewBorder(nil, nil, nil, container.NewVBox(spacer(), buttons, spacer()), n.text)),
	))
	n.object.Hide()
	return n
}

func (n *note) show(text string) {
	n.said = text
	look.SetParagraph(n.text, text, n.color)
	n.object.Show()
	n.object.Refresh()
}

// hide takes the bar away; with a text only if that is what it says.
func (n *note) hide(only string) {
	if only == "" || only == n.said {
		n.said = ""
		n.object.Hide()
	}
}
