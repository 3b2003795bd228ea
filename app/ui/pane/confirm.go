package pane

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/app/ui/term"
)

// A confirm asks a person before something is done at a terminal. What is
// shown stays until it is answered: nothing else can take its place under the
// pointer.
type confirm struct {
	box     *fyne.Container
	canvas  fyne.Canvas
	title   *look.Text
	text    *widget.Label // as it is, so monospaced
	detail  *widget.RichText
	yes, no *look.Choice
	always  *look.Choice
	after   func() // gives the keyboard back

	asked *term.Question // nil when nothing is
}

func newConfirm(c fyne.Canvas, after func()) *confirm {
	q := &confirm{
		canvas: c, after: after,
		title:  look.NewText("", theme.ColorNameForeground, theme.SizeNameSubHeadingText, true),
		text:   widget.NewLabel(""),
		detail: look.NewParagraph("", look.ColorMuted, theme.SizeNameText),
	}
	q.text.TextStyle.Monospace = true
	q.text.Wrapping = fyne.TextWrapBreak
	q.yes = look.NewChoice("", widget.HighImportance, func() { q.end(func(a *term.Question) func() { return a.Do }) })
	q.always = look.NewChoice("", widget.MediumImportance, func() { q.end(func(a *term.Question) func() { return a.DoAlways }) })
	q.no = look.NewChoice("Cancel", widget.MediumImportance, q.cancel)
	for _, c := range []*look.Choice{q.yes, q.always, q.no} {
		c.OnEscape = q.cancel
	}
	quote := container.NewStack(look.NewPanel(theme.ColorNameInputBackground, look.ColorBorder, 6), q.text)
	body := look.NewCard(container.NewVBox(q.title, quote, q.detail, container.New(look.Inset{6, 0, 0, 0}, container.NewHBox(layout.NewSpacer(), q.no, q.always, q.yes))))
	q.box = container.NewStack(look.NewGround(look.ColorVeil), container.New(centred{func() fyne.CanvasObject { return body }}, container.NewVScroll(body)))
	q.box.Hide()
	return q
}

// ask shows a question; it reports false while another one is shown. With take
// it gets the keyboard, as one does that answers what the person has just
// done.
func (q *confirm) ask(a term.Question, take bool) bool {
	if q.asked != nil {
		return false
	}
	q.asked = &a
	q.title.SetText(a.Title)
	q.text.SetText(a.Text)
	look.SetParagraph(q.detail, a.Detail, look.ColorMuted)
	show(q.detail, a.Detail != "")
	q.yes.SetText(a.Yes)
	q.always.SetText(a.Always)
	show(q.always, a.Always != "")
	q.box.Show()
	q.box.Refresh()
	if take {
		q.canvas.Focus(q.yes)
	}
	return true
}

func (q *confirm) cancel() { q.end(nil) }

// end takes the question away and does what was chosen.
func (q *confirm) end(choice func(*term.Question) func()) {
	a := q.asked
	if a == nil {
		return
	}
	q.asked = nil
	for _, c := range []*look.Choice{q.yes, q.always, q.no} {
		c.Left()
	}
	q.box.Hide()
	q.after()
	if choice == nil {
		if a.Refused != nil {
			a.Refused()
		}
		return
	}
	if do := choice(a); do != nil {
		do()
	}
}
