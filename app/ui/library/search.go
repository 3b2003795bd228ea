package library

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// A searchEntry is the line that finds machines as it is typed into.
type searchEntry struct {
	widget.Entry
	screen *Screen
}

func newSearchEntry(s *Screen) *searchEntry {
	e := &searchEntry{screen: s}
	e.ExtendBaseWidget(e)
	e.SetPlaceHolder("Search")
	e.Icon = theme.SearchIcon()
	e.OnChanged = func(text string) { s.model.search(text) }
	return e
}

// TypedKey is called by the toolkit.
func (e *searchEntry) TypedKey(ev *fyne.KeyEvent) {
	s := e.screen
	switch ev.Name {
	case fyne.KeyEscape:
		if e.Text != "" {
			e.SetText("")
		} else {
			s.config.HeadFocus()
		}
	case fyne.KeyDown:
		if len(s.shelf.entries) > 0 {
			s.config.Canvas.Focus(s.shelf)
		}
	case fyne.KeyReturn, fyne.KeyEnter:
		// What is shown may still be that of the letter before.
		if s.view.query != e.Text || len(s.shelf.entries) == 0 {
			return
		}
		if c, ok := s.shelf.chosen(); ok && e.Text == "" {
			s.open(c)
		} else if e.Text != "" {
			s.open(s.shelf.entries[0])
		}
	default:
		e.Entry.TypedKey(ev)
	}
}

// TypedShortcut is called by the toolkit: the viewer's chords work here too.
func (e *searchEntry) TypedShortcut(c fyne.Shortcut) {
	if !e.screen.config.Chord(c) {
		e.Entry.TypedShortcut(c)
	}
}
