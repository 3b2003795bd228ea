package term

import (
	"fmt"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/viewer/grid"
)

const (
	// maxCounted bounds the matches that are counted, maxMarked those that are
	// marked in the view.
	maxCounted = 9999
	maxMarked  = 1000
	// findWidth is how wide the bar is when there is room.
	findWidth = 440
)

// A finder searches in the terminal, from a bar at its upper right corner.
type finder struct {
	s      *Screen
	object *fyne.Container
	entry  *findEntry
	count  *look.Text
	letter *look.Button // regard to case
	regex  *look.Button

	open              bool
	matchCase, regexp bool
	query             *grid.Query
	found             bool // current is the match gone to
}

// A findEntry is the line that is searched for. Return goes to the match
// before, with Shift to the one after; Escape ends the search.
type findEntry struct {
	widget.Entry
	f *finder
}

// TypedKey is called by the toolkit.
func (e *findEntry) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyEscape:
		e.f.close()
	case fyne.KeyReturn, fyne.KeyEnter:
		e.f.step(!look.Back())
	case fyne.KeyUp, fyne.KeyPageUp:
		e.f.step(true)
	case fyne.KeyDown, fyne.KeyPageDown:
		e.f.step(false)
	default:
		e.Entry.TypedKey(ev)
	}
}

func newFinder(s *Screen) *finder {
	f := &finder{s: s, count: look.NewText("", look.ColorMuted, theme.SizeNameCaptionText, false)}
	f.entry = &findEntry{f: f}
	f.entry.ExtendBaseWidget(f.entry)
	f.entry.SetPlaceHolder("Find")
	f.entry.OnChanged = func(string) { f.search() }
	f.count.SetMinWidth(74)
	f.letter = look.NewButton("Aa", nil, func() { f.matchCase = !f.matchCase; f.letter.SetOn(f.matchCase); f.search() }, nil)
	f.regex = look.NewButton(".*", nil, func() { f.regexp = !f.regexp; f.regex.SetOn(f.regexp); f.search() }, nil)
	up := look.NewButton("", theme.MoveUpIcon(), func() { f.step(true) }, nil)
	down := look.NewButton("", theme.MoveDownIcon(), func() { f.step(false) }, nil)
	end := look.NewButton("", theme.CancelIcon(), f.close, nil)
	buttons := container.NewHBox(container.NewCenter(f.count), f.letter, f.regex, up, down, end)
	f.object = container.NewStack(look.NewPanel(look.ColorCard, look.ColorBorder, 8), container.New(look.Inset{4, 4, 4, 6}, container.NewBorder(nil, nil, nil, buttons, f.entry)))
	f.object.Hide()
	return f
}

// place puts the bar into the corner.
func (f *finder) place(size fyne.Size) {
	w := max(min(findWidth, size.Width-look.ScrollThickness-16), 60)
	f.object.Resize(fyne.NewSize(w, f.object.MinSize().Height))
	f.object.Move(fyne.NewPos(size.Width-look.ScrollThickness-8-w, 8))
}

// Find opens the search; what is selected in one line is searched for.
func (s *Screen) Find() {
	f := s.finder
	f.open = true
	f.object.Show()
	f.place(s.Size())
	if text := s.Selected(); text != "" && len(text) < 200 && s.paint.chosen.From.Row == s.paint.chosen.To.Row {
		f.entry.SetText(text)
	}
	s.config.Canvas.Focus(f.entry)
	f.entry.TypedShortcut(&fyne.ShortcutSelectAll{})
	f.search()
}

// Finding reports whether the search is open.
func (s *Screen) Finding() bool { return s.finder.open }

// FindText searches for text, as if it had been typed.
func (s *Screen) FindText(text string) {
	s.Find()
	s.finder.entry.SetText(text)
}

func (f *finder) close() {
	f.open, f.query, f.found = false, nil, false
	f.object.Hide()
	f.mark(nil)
	f.s.paint.mark(f.s.paint.current)
	f.s.paint.current = grid.Span{}
	f.s.GrabFocus()
	f.s.show()
}

// search begins with the text as it is now: from the last row that can be
// seen upwards.
func (f *finder) search() {
	f.query, f.found = nil, false
	p := f.s.paint
	p.mark(p.current)
	p.current = grid.Span{}
	if f.entry.Text == "" {
		f.mark(nil)
		f.say("", false)
		f.s.show()
		return
	}
	q, err := grid.NewQuery(f.entry.Text, f.matchCase, f.regexp)
	if err != nil {
		f.mark(nil)
		f.say("No pattern", true)
		f.s.show()
		return
	}
	f.query = q
	f.goFrom(grid.Pos{Row: p.view.Top + int64(p.view.Rows)}, true)
}

// step goes to the match before or after.
func (f *finder) step(back bool) {
	p := f.s.paint
	switch {
	case f.query == nil:
	case f.found:
		f.goFrom(p.current.From, back)
	default:
		f.goFrom(grid.Pos{Row: p.view.Top + int64(p.view.Rows)}, back)
	}
}

// goFrom shows the match before or after a place; at the end it begins anew.
func (f *finder) goFrom(from grid.Pos, back bool) {
	s, p := f.s, f.s.paint
	p.update()
	epoch, all := s.grid.All()
	span, ok := s.grid.Find(f.query, epoch, from, back)
	if !ok {
		from = grid.Pos{Row: all.From.Row - 1}
		if back {
			from = grid.Pos{Row: all.To.Row + 1}
		}
		span, ok = s.grid.Find(f.query, epoch, from, back)
	}
	p.mark(p.current)
	f.found, p.current = ok, span
	if ok {
		if y := span.From.Row - p.view.Top; y < 0 || y >= int64(p.view.Rows) {
			p.view.Scroll(int(p.view.Top - (span.From.Row - int64(p.view.Rows/2))))
			p.update()
		}
		p.mark(p.current)
	}
	f.number(epoch, all)
	f.follow()
	s.show()
}

// number says which of the matches is shown.
func (f *finder) number(epoch uint64, all grid.Span) {
	spans := f.s.grid.Matches(f.query, epoch, all.From.Row, all.To.Row, maxCounted+1)
	total := fmt.Sprint(len(spans))
	if len(spans) > maxCounted {
		total = fmt.Sprintf("%d+", maxCounted)
	}
	i := slices.Index(spans, f.s.paint.current)
	switch {
	case len(spans) == 0:
		f.say("Not found", true)
	case i < 0:
		f.say(total+" found", false)
	default:
		f.say(fmt.Sprintf("%d of %s", i+1, total), false)
	}
}

func (f *finder) say(text string, trouble bool) {
	color := look.ColorMuted
	if trouble {
		color = theme.ColorNameError
	}
	f.count.SetColor(color)
	f.count.SetText(text)
}

// follow marks the matches that can be seen.
func (f *finder) follow() {
	if f.query == nil {
		return
	}
	v := &f.s.paint.view
	f.mark(f.s.grid.Matches(f.query, v.Epoch, v.Top, v.Top+int64(v.Rows)-1, maxMarked))
}

// mark has spans shown as found.
func (f *finder) mark(spans []grid.Span) {
	p := f.s.paint
	if slices.Equal(spans, p.found) {
		return
	}
	for _, s := range p.found {
		p.mark(s)
	}
	p.found = spans
	for _, s := range spans {
		p.mark(s)
	}
}
