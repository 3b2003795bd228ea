package grid

import (
	"strings"
	"unicode/utf8"
)

// An EventKind names what happened.
type EventKind uint8

// The kinds of event.
const (
	// Title: the program named the window; Text is the title.
	Title EventKind = iota + 1
	// Bell rang.
	Bell
	// Clipboard: the program asks to put Text on the clipboard that Name says
	// ("c" the clipboard, "p" the selection). Nothing was done; whoever takes
	// the event decides. What is on the clipboard is never told to a program.
	Clipboard
	// Directory: the program says that Text is its working directory, as a
	// file URL.
	Directory
	// Notify: the program asks to show Text to a person.
	Notify
)

// An Event is something that a program did besides drawing. Its Text is
// cleaned of control characters, but for that of Clipboard.
type Event struct {
	Kind EventKind
	Name string
	Text string
}

// The bounds of what waits to be taken.
const (
	maxEvents  = 256
	maxReplies = 64 << 10
	// maxClipboard bounds the text of one clipboard request, decoded.
	maxClipboard = 768 << 10
	// maxTitle bounds a title, in bytes.
	maxTitle = 1024
)

// event keeps an event to be taken. Of bells, titles and directories that
// wait only one does, the last; over the bound events are dropped.
func (t *Terminal) event(e Event) {
	if e.Kind != Notify {
		for i := len(t.events) - 1; i >= 0; i-- {
			if o := &t.events[i]; o.Kind == e.Kind && o.Name == e.Name {
				o.Text = e.Text
				return
			}
		}
	}
	if len(t.events) < maxEvents {
		t.events = append(t.events, e)
	}
}

// Events takes what happened since it was last called.
func (t *Terminal) Events() []Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.events
	t.events = nil
	return e
}

// cleanTitle is text without controls and direction marks, valid, and cut.
func cleanTitle(b []byte) string {
	if len(b) > 4*maxTitle {
		b = b[:4*maxTitle]
	}
	s := strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || bidi(r) || r == 0x2028 || r == 0x2029 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(b), "\ufffd"))
	for len(s) > maxTitle {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
		if len(s) > maxTitle+utf8.UTFMax {
			s = s[:maxTitle+utf8.UTFMax]
			s = strings.ToValidUTF8(s, "")
		}
	}
	return s
}

func (t *Terminal) setTitle(s string) {
	if s == t.title {
		return
	}
	t.title = s
	t.event(Event{Kind: Title, Text: s})
}

// maxTitles is the number of titles kept of those pushed.
const maxTitles = 10

func (t *Terminal) pushTitle() {
	if len(t.titles) == maxTitles {
		t.titles = append(t.titles[:0], t.titles[1:]...)
	}
	t.titles = append(t.titles, t.title)
}

func (t *Terminal) popTitle() {
	if n := len(t.titles); n > 0 {
		t.setTitle(t.titles[n-1])
		t.titles = t.titles[:n-1]
	}
}
