package ui

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"deskvnc/app/ui/look"
	"deskvnc/control/plane"
)

// A wheelText says who drives the shown session when it is not simply the
// person: the agent, with a button to take over; or after that the person,
// with one to hand back. It stands in the toolbar's place, so that nothing of
// the picture is covered or moves; in full screen it has a bar of its own.
type wheelText struct {
	object *fyne.Container
	ground *look.Ground
	text   *look.Text
	take   *look.Pill
	back   *look.Pill
}

func newWheelText(w *Window) *wheelText {
	b := &wheelText{ground: look.NewGround(look.ColorAgent), text: look.NewText("", look.ColorOnTint, theme.SizeNameText, true)}
	pill := func(id, text string) *look.Pill {
		c, _ := w.commands.Command(id)
		return look.NewPill(text, func() { w.invoke(id, nil); w.FocusPane() }, w.hint(c.Label+"  ("+shortcutOf(c)+")"))
	}
	b.take, b.back = pill("control.takeWheel", "Take the wheel"), pill("control.handBack", "Hand back")
	button := container.New(look.Inset{4, 6, 4, 6}, container.NewStack(b.take, b.back))
	b.object = container.NewStack(b.ground, container.NewBorder(nil, nil, nil, button, container.New(look.Inset{0, 0, 0, 6}, container.NewVBox(spacer(), b.text, spacer()))))
	return b
}

// show tells of a wheel and reports whether there is anything to tell.
func (b *wheelText) show(st plane.WheelState) bool {
	switch {
	case st.Holder == plane.HolderAgent:
		text := st.Label + " is driving"
		if st.Reason != "" {
			text += ": " + oneLine(st.Reason)
		}
		b.text.SetText(text + "  ·  since " + st.Since.Format("15:04"))
		b.ground.SetColors(look.ColorAgent, "")
		b.take.Show()
		b.back.Hide()
	case len(st.Revoked) > 0:
		b.text.SetText("You took over from " + strings.Join(st.Revoked, ", "))
		b.ground.SetColors(look.ColorHand, "")
		b.take.Hide()
		b.back.Show()
	default:
		return false
	}
	return true
}

// A wheelBar is the bar of full screen.
type wheelBar struct {
	w      *Window
	text   *wheelText
	object fyne.CanvasObject
}

func newWheelBar(w *Window) *wheelBar {
	t := newWheelText(w)
	t.object.Hide()
	return &wheelBar{w: w, text: t, object: t.object}
}

// update shows the wheel of the selected session.
func (b *wheelBar) update() {
	if t := b.w.selected; t != nil && b.w.full && b.text.show(t.wheel) {
		b.object.Show()
		b.object.Refresh()
		return
	}
	b.object.Hide()
}

// oneLine makes a text that an agent gave fit for a bar.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
