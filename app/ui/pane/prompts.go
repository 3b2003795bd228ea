package pane

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/viewer"
)

// newArt returns a label for the drawing of a fingerprint, in letters of one
// width.
func newArt() *widget.Label {
	l := widget.NewLabel("")
	l.TextStyle.Monospace = true
	return l
}

// askPrompts puts a line for each question of the machine in place of those
// before, whose answers are forgotten.
func (s *sheet) askPrompts(prompts []viewer.Prompt) {
	for _, e := range s.lines {
		e.SetText("")
	}
	s.lines = nil
	s.prompts.RemoveAll()
	for i, p := range prompts {
		e := newEntry(s.user.canvas, s.cancel)
		if !p.Echo {
			e.Password = true
			e.ActionItem = canvas.NewRectangle(color.Transparent)
		}
		e.OnSubmitted = func(string) {
			if i+1 < len(s.lines) {
				s.lines[i+1].focus()
			} else {
				s.submit()
			}
		}
		s.lines = append(s.lines, e)
		s.prompts.Add(look.NewParagraph(p.Text, theme.ColorNameForeground, theme.SizeNameText))
		s.prompts.Add(fyne.CanvasObject(e))
	}
	show(s.prompts, len(prompts) > 0)
}

// answers are what was typed into the lines, in their order.
func (s *sheet) answers() (out []viewer.Secret) {
	for _, e := range s.lines {
		out = append(out, viewer.SecretString(e.Text))
	}
	return out
}
