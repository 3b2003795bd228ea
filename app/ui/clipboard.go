package ui

import (
	"context"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"deskvnc/control/plane"
	"deskvnc/viewer"
)

// Bounds of sharing the clipboard.
const (
	// maxShared bounds a text that is sent to a machine, in bytes.
	maxShared = 8 << 20
	// shareWait bounds how long the owner of the clipboard may take.
	shareWait = 5 * time.Second
)

// sharing is the reading of the clipboard that goes on for the shown session,
// at most one: the newest text wins.
type sharing struct {
	mu      sync.Mutex // guards below
	running bool
	again   bool // asked for while running
	closed  bool
	stops   map[*context.CancelFunc]struct{} // of all readings
	wg      sync.WaitGroup
}

// begin starts a reading; done must be called after it. It reports false when
// there are to be no more. The caller holds mu.
func (s *sharing) begin() (ctx context.Context, done func(), ok bool) {
	if s.closed {
		return nil, nil, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), shareWait)
	if s.stops == nil {
		s.stops = map[*context.CancelFunc]struct{}{}
	}
	s.stops[&cancel] = struct{}{}
	return ctx, func() {
		cancel()
		s.mu.Lock()
		delete(s.stops, &cancel)
		s.mu.Unlock()
	}, true
}

// end stops every reading and waits for it.
func (s *sharing) end() {
	s.mu.Lock()
	s.closed = true
	for cancel := range s.stops {
		(*cancel)()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

// share gives the text on the clipboard here to the shown session, when it is
// another one than before. Text is read past the goroutine of the widgets,
// since its owner may be slow.
func (w *Window) share() {
	t := w.selected
	if t == nil || !t.focused || t.screen() != nil || !toRemote(t.sharing) || t.session.State().Phase != viewer.Connected {
		return
	}
	if w.display == nil {
		t.give(w.config.App.Clipboard().Content(), nil)
		return
	}
	s := &w.sharing
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if s.running {
		s.again = true
		return
	}
	s.running = true
	s.wg.Go(w.readClipboard)
}

// readClipboard reads until nothing new is asked for.
func (w *Window) readClipboard() {
	s := &w.sharing
	for {
		s.mu.Lock()
		s.again = false
		ctx, done, ok := s.begin()
		s.mu.Unlock()
		if ok {
			text, err := w.display.Clipboard(ctx, maxShared)
			w.fence.Go(func() {
				if t := w.selected; t != nil && t.focused && toRemote(t.sharing) {
					t.give(text, err)
				}
			})
			done()
		}
		s.mu.Lock()
		if s.closed || !s.again {
			s.running = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
	}
}

// readHere reads the text on the clipboard here for a command; fn is called on
// the goroutine of the widgets, unless there is no text that can be used: then
// that is said.
func (w *Window) readHere(fn func(text string)) {
	use := func(text string, err error) {
		l, large := err.(tooLarge)
		switch {
		case large && l.TooLarge(), len(text) > maxShared:
			w.status.say(largeText, true)
		case err != nil:
			w.status.say("The clipboard could not be read: "+sentence(err.Error()), true)
		case text == "" || !utf8.ValidString(text):
			w.status.say("There is no text on the clipboard.", true)
		default:
			fn(text)
		}
	}
	if w.display == nil {
		use(w.config.App.Clipboard().Content(), nil)
		return
	}
	s := &w.sharing
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, done, ok := s.begin()
	if !ok {
		return
	}
	s.wg.Go(func() {
		defer done()
		text, err := w.display.Clipboard(ctx, maxShared)
		w.fence.Go(func() { use(text, err) })
	})
}

// Shared says that somebody here has put something on the clipboard.
func (w *Window) Shared() { w.share() }

// A tooLarge error says that a text is over a bound.
type tooLarge interface{ TooLarge() bool }

var largeText = fmt.Sprintf("The text on the clipboard is larger than %d MiB and was not sent.", maxShared>>20)

// give sends a text to the session's machine, when it is a new one.
func (t *tab) give(text string, err error) {
	if l, ok := err.(tooLarge); ok && l.TooLarge() || len(text) > maxShared {
		t.w.status.say(largeText, true)
		return
	}
	if err != nil || text == "" || text == t.shared || !utf8.ValidString(text) || t.person.ViewOnly() {
		return
	}
	if t.wheel.Holder == plane.HolderAgent {
		return // not while an agent drives; when it is free again
	}
	t.put(text, false)
}

// send sends a text because a person said so.
func (t *tab) send(text string) { t.put(text, true) }

// put puts a text on the machine's clipboard. What came of it is said when a
// person asked for it, or when something was lost.
func (t *tab) put(text string, asked bool) {
	t.shared = text
	person, w := t.person, t.w
	w.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), shareWait)
		defer cancel()
		lost, err := person.SetClipboard(ctx, text)
		w.fence.Go(func() {
			switch {
			case err != nil:
				if t.shared == text && viewer.KindOf(err) != viewer.Unsupported {
					t.shared = "" // tried again when the picture gets the keyboard
				}
				if asked {
					w.status.say("The clipboard was not sent: "+sentence(viewer.Reason(err)), true)
				}
			case lost > 0:
				w.status.say(fmt.Sprintf("%s cannot take %d of the characters on the clipboard; they were replaced.", t.title(), lost), true)
			case asked:
				w.status.say("The clipboard was sent to "+t.title()+".", false)
			}
		})
	})
}

// remoteText takes what the far side has put on its clipboard. It goes on the
// clipboard here only while a person works at that session: otherwise a machine
// could replace what they copied for something else, and they are told instead.
// What came while an agent drove is the agent's.
func (w *Window) remoteText(t *tab, text string) {
	if text == "" || !fromRemote(t.sharing) {
		return
	}
	t.remote = text
	switch {
	case t.wheel.Holder == plane.HolderAgent:
	case w.selected == t && t.focused:
		t.takeRemote()
	case w.selected == t:
		c, _ := w.commands.Command("clipboard.take")
		w.status.say("Something was copied on "+t.title()+". "+shortcutOf(c)+" takes it.", false)
	}
}

// takeRemote puts the machine's text on the clipboard here.
func (t *tab) takeRemote() {
	t.shared = t.remote // it is not to go back there
	t.w.config.App.Clipboard().SetContent(t.remote)
}
