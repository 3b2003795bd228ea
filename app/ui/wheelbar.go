package ui

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"deskvnc/app/ui/look"
	"deskvnc/control/plane"
)

// A wheelBar says who drives the shown session when it is not simply the
// person: the agent, with a button to take over; or after that the person,
// with one to hand back.
type wheelBar struct {
	w      *Window
	object *fyne.Container
	ground *look.Ground
	text   *look.Text
	take   *look.Button
	back   *look.Button
}

func newWheelBar(w *Window) *wheelBar {
	b := &wheelBar{
		w: w, ground: look.NewGround(look.ColorAgent),
		text: look.NewText("", look.ColorOnTint, theme.SizeNameText, true),
	}
	b.take = w.bareButton("control.takeWheel", "Take the wheel", nil)
	b.back = w.bareButton("control.handBack", "Hand back", nil)
	b.object = container.NewStack(b.ground, container.NewBorder(nil, nil, nil, container.New(look.Inset{3, 4, 3, 4}, container.NewStack(b.take, b.back)), container.New(look.Inset{0, 0, 0, 6}, container.NewVBox(spacer(), b.text, spacer()))))
	b.object.Hide()
	return b
}

// update shows the wheel of the selected session.
func (b *wheelBar) update() {
	t := b.w.selected
	if t == nil {
		b.object.Hide()
		return
	}
	switch st := t.wheel; {
	case st.Holder == plane.HolderAgent:
		text := st.Label + " is driving"
		if st.Reason != "" {
			text += ": " + oneLine(st.Reason)
		}
		b.text.SetText(text + "  ·  since " + st.Since.Format("15:04"))
		b.ground.SetColors(look.ColorAgent, "")
		b.text.SetColor(look.ColorOnTint)
		b.take.Show()
		b.back.Hide()
		b.object.Show()
	case len(st.Revoked) > 0:
		b.text.SetText("You took over from " + strings.Join(st.Revoked, ", "))
		b.ground.SetColors(look.ColorCard, look.ColorBorder)
		b.text.SetColor(theme.ColorNameForeground)
		b.take.Hide()
		b.back.Show()
		b.object.Show()
	default:
		b.object.Hide()
	}
	b.object.Refresh()
}

// oneLine makes a text that an agent gave fit for a bar.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
