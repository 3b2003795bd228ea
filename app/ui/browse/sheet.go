package browse

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
)

// A question is asked on a card over the browser.
type question struct {
	title, text string
	danger      bool              // the main answer does harm
	input       string            // what stands in the line; with line only
	line        bool              // something is to be typed
	until       int               // runes of input to be selected; 0: all
	more        fyne.CanvasObject // below the text; nil for nothing
	all         string            // a tick: the answer is for all; "" for none
	answers     []choice          // the last one is the main one
	refused     func()            // Escape
	check       func(text string) error
}

// A choice is an answer.
type choice struct {
	label string
	do    func(text string, all bool)
}

// A sheet asks one question after the other.
type sheet struct {
	b       *Browser
	box     *fyne.Container
	body    *fyne.Container
	title   *look.Text
	text    *widget.RichText
	entry   *pathEntry
	fault   *widget.RichText
	more    *fyne.Container
	all     *widget.Check
	buttons *fyne.Container
	choices []*look.Choice

	now     *question // nil for none
	waiting []*question
}

func newSheet(b *Browser) *sheet {
	s := &sheet{
		b:     b,
		title: look.NewText("", theme.ColorNameForeground, theme.SizeNameSubHeadingText, true),
		text:  look.NewParagraph("", look.ColorMuted, theme.SizeNameText),
		fault: look.NewParagraph("", theme.ColorNameError, theme.SizeNameText),
		more:  container.NewStack(), buttons: container.NewHBox(),
	}
	s.entry = newPathEntry(b.config.Chord)
	s.entry.done, s.entry.leave = func(string) { s.main() }, s.cancel
	s.entry.OnChanged = func(string) { s.look() }
	s.all = widget.NewCheck("", nil)
	s.body = look.NewCard(container.NewVBox(s.title, s.text, s.more, s.entry, s.fault, s.all, container.New(look.Inset{6, 0, 0, 0}, s.buttons)))
	s.box = container.NewStack(look.NewVeil(), container.New(centred{s.body}, container.NewVScroll(s.body)))
	s.box.Hide()
	return s
}

func (s *sheet) shown() bool { return s.now != nil }

// ask shows a question when those before it are answered.
func (s *sheet) ask(q *question) {
	if s.b.closed {
		if q.refused != nil {
			q.refused()
		}
		return
	}
	s.waiting = append(s.waiting, q)
	if s.now == nil {
		s.next()
	}
}

// next shows the next question, or gives the keyboard back.
func (s *sheet) next() {
	if len(s.waiting) == 0 {
		s.box.Hide()
		if !s.b.closed && s.b.object.Visible() {
			s.b.active.grab()
		}
		return
	}
	q := s.waiting[0]
	s.waiting = s.waiting[1:]
	s.now = q
	s.title.SetText(q.title)
	look.SetParagraph(s.text, q.text, look.ColorMuted)
	show(s.text, q.text != "")
	s.more.RemoveAll()
	if q.more != nil {
		s.more.Add(q.more)
	}
	show(s.more, q.more != nil)
	show(s.entry, q.line)
	s.entry.SetText(q.input)
	s.fault.Hide()
	s.all.Text = q.all
	s.all.SetChecked(false)
	show(s.all, q.all != "")
	s.buttons.RemoveAll()
	s.choices = nil
	s.buttons.Add(layout.NewSpacer())
	for i, c := range append([]choice{{"Cancel", nil}}, q.answers...) {
		importance := widget.MediumImportance
		if i == len(q.answers) {
			importance = widget.HighImportance
			if q.danger {
				importance = widget.DangerImportance
			}
		}
		b := look.NewChoice(c.label, importance, func() { s.answer(c) })
		b.OnEscape = s.cancel
		s.choices = append(s.choices, b)
		s.buttons.Add(b)
	}
	s.box.Show()
	s.look()
	s.fault.Hide()
	s.box.Refresh()
	s.take()
}

// take gives the keyboard to the question: to its line, or to the answer that
// does no harm.
func (s *sheet) take() {
	c := s.b.config.Canvas
	switch {
	case s.now.line:
		c.Focus(s.entry)
		s.entry.SelectFirst(s.now.until)
	case s.now.danger:
		c.Focus(s.choices[0])
	default:
		c.Focus(s.choices[len(s.choices)-1])
	}
}

// look says what is wrong with what is typed.
func (s *sheet) look() {
	if s.now == nil || s.now.check == nil || len(s.choices) == 0 {
		return
	}
	main := s.choices[len(s.choices)-1]
	err := s.now.check(s.entry.Text)
	if err == nil {
		s.fault.Hide()
		main.Enable()
		return
	}
	main.Disable()
	look.SetParagraph(s.fault, sentence(err.Error()), theme.ColorNameError)
	s.fault.Show()
	s.box.Refresh()
}

// main gives the main answer, if it can be given.
func (s *sheet) main() {
	if s.now == nil {
		return
	}
	if q := s.now; q.check == nil || q.check(s.entry.Text) == nil {
		s.answer(q.answers[len(q.answers)-1])
	}
}

func (s *sheet) answer(c choice) {
	q := s.now
	if q == nil {
		return
	}
	if c.do == nil {
		s.cancel()
		return
	}
	text, all := s.entry.Text, q.all != "" && s.all.Checked
	s.end()
	c.do(text, all)
}

// cancel answers nothing.
func (s *sheet) cancel() {
	q := s.now
	if q == nil {
		return
	}
	s.end()
	if q.refused != nil {
		q.refused()
	}
}

func (s *sheet) end() {
	for _, c := range s.choices {
		c.Left()
	}
	s.now = nil
	s.next()
}

// withdraw takes a question away that nobody waits for any more.
func (s *sheet) withdraw(q *question) {
	if s.now == q {
		s.end()
		return
	}
	for i, w := range s.waiting {
		if w == q {
			s.waiting = append(s.waiting[:i:i], s.waiting[i+1:]...)
			return
		}
	}
}

// drop takes all questions away without an answer.
func (s *sheet) drop() {
	waiting := s.waiting
	if s.now != nil {
		waiting = append(waiting, s.now)
	}
	s.waiting, s.now = nil, nil
	s.box.Hide()
	for _, q := range waiting {
		if q.refused != nil {
			q.refused()
		}
	}
}

// SelectFirst selects the first runes of the line; 0 selects all.
func (e *pathEntry) SelectFirst(n int) {
	if n <= 0 || n >= len([]rune(e.Text)) {
		e.TypedShortcut(&fyne.ShortcutSelectAll{})
		return
	}
	e.CursorColumn = n
	e.Refresh()
}

// cardWidth is how wide a question is when there is room.
const cardWidth = 460

// centred puts a card in the middle, as high as it is or as there is room.
type centred struct{ body fyne.CanvasObject }

// Layout is called by the toolkit.
func (c centred) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	const margin = 10
	for _, o := range objects {
		w := max(min(cardWidth, size.Width-2*margin), 60)
		c.body.Resize(fyne.NewSize(w, c.body.Size().Height)) // wrapped text knows its height only then
		h := min(c.body.MinSize().Height, max(size.Height-2*margin, 40))
		o.Resize(fyne.NewSize(w, h))
		o.Move(fyne.NewPos((size.Width-w)/2, max((size.Height-h)*0.4, 0)))
	}
}

// MinSize is called by the toolkit.
func (centred) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(60, 40) }
