package ui

import (
	"fmt"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"deskvnc/app/ui/look"
	"deskvnc/app/ui/picture"
	"deskvnc/viewer"
)

// A statusLine is the line at the bottom: what a button would do, what went
// wrong last, or else what is shown; and at the right the control socket.
type statusLine struct {
	object  *fyne.Container
	text    *look.Text
	control *look.Text

	base    string // what is shown
	tail    string // and what it takes
	message string // what happened last
	trouble bool
	hint    string                          // what the button under the pointer does
	bad     bool                            // the control socket has trouble
	also    func(text string, trouble bool) // where else a message is shown
}

func newStatusLine() *statusLine {
	s := &statusLine{
		text:    look.NewText("", look.ColorMuted, theme.SizeNameCaptionText, false),
		control: look.NewText("", look.ColorMuted, theme.SizeNameCaptionText, false),
	}
	s.object = container.NewStack(look.NewGround(look.ColorBar), container.NewBorder(line(), nil, nil, nil, container.New(&ends{}, s.text, s.control)))
	return s
}

// ends is the layout of the line: the second text at the right as wide as it
// is, the first in what is left.
type ends struct{}

const statusHeight = 22

// Layout is called by the toolkit.
func (ends) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	first, second := objects[0].(*look.Text), objects[1].(*look.Text)
	w := float32(0)
	if second.Value() != "" {
		w = min(second.Natural(), size.Width*0.6)
	}
	h := first.MinSize().Height
	y := (size.Height - h) / 2
	first.Move(fyne.NewPos(4, y))
	first.Resize(fyne.NewSize(max(size.Width-w-4, 0), h))
	second.Move(fyne.NewPos(size.Width-w, y))
	second.Resize(fyne.NewSize(w, h))
}

// MinSize is called by the toolkit.
func (ends) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(100, statusHeight) }

// say shows what happened until something else is done.
func (s *statusLine) say(text string, trouble bool) {
	s.message, s.trouble = text, trouble
	s.paint()
	if s.also != nil {
		s.also(text, trouble)
	}
}

// setHint shows what the thing under the pointer does; "" ends it.
func (s *statusLine) setHint(text string) {
	s.hint = text
	s.paint()
}

func (s *statusLine) setControl(text string, trouble bool) {
	s.bad = trouble
	s.control.SetText(text)
	if trouble {
		s.control.SetColor(theme.ColorNameError)
	} else {
		s.control.SetColor(look.ColorMuted)
	}
	s.object.Refresh()
}

func (s *statusLine) paint() {
	text, color := s.base+s.tail, look.ColorMuted
	switch {
	case s.hint != "":
		text = s.hint
	case s.message != "":
		text = s.message
		if s.trouble {
			color = theme.ColorNameError
		}
	}
	s.text.SetText(text)
	s.text.SetColor(color)
}

// hint makes the function that shows what something does while the pointer is
// on it.
func (w *Window) hint(text string) func(bool) {
	return func(on bool) {
		if on {
			w.status.setHint(text)
		} else if w.status.hint == text {
			w.status.setHint("")
		}
	}
}

// update says what is shown.
func (s *statusLine) update(w *Window) {
	base, tail := "", ""
	if t := w.selected; t != nil {
		base = t.describe()
		if !t.focused && t.session.State().Phase == viewer.Connected && (t.screen() != nil || t.pane.Place().Remote.X > 0) {
			tail = "  ·  click the picture to type there"
			if t.screen() != nil {
				tail = "  ·  click the terminal to type there"
			}
		}
		if t.person.ViewOnly() {
			tail = "  ·  view only"
		}
	} else if n := len(w.tabs); n == 1 {
		base = "1 session is open"
	} else if n > 1 {
		base = itoa(n) + " sessions are open"
	}
	if base != s.base {
		s.base, s.message = base, ""
	}
	s.tail = tail
	s.paint()
}

// describe is the shown session on one line.
func (t *tab) describe() string {
	if t.session.State().Phase != viewer.Connected {
		return ""
	}
	if s := t.screen(); s != nil {
		cols, rows := t.session.Grid().Size()
		return fmt.Sprintf("%d columns, %d rows", cols, rows)
	}
	p := t.pane.Place()
	if p.Remote.X == 0 {
		return "Waiting for the picture"
	}
	text := size(p.Remote.X, p.Remote.Y)
	if t.pane.Mode() != picture.Actual {
		if percent := math.Round(100 * p.Scale()); percent != 100 {
			text += fmt.Sprintf(" at %.0f %%", percent)
		}
	}
	return text
}
