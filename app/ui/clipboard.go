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

// sharing is the reading of the clipboard that goes on, at most one: the
// newest text wins.
type sharing struct {
	mu      sync.Mutex // guards below
	running bool
	again   bool // asked for while running
	closed  bool
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

// end stops a reading and waits for it.
func (s *sharing) end() {
	s.mu.Lock()
	s.closed = true
	if s.cancel != nil {
		s.cancel()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

// share gives the text on the clipboard here to the shown session, when it is
// another one than before. Text is read past the goroutine of the widgets,
// since its owner may be slow.
func (w *Window) share() {
	t := w.selected
	if t == nil || !t.focused || t.session.State().Phase != viewer.Connected {
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
	s, d := &w.sharing, w.display
	for {
		ctx, cancel := context.WithTimeout(context.Background(), shareWait)
		s.mu.Lock()
		s.again, s.cancel = false, cancel
		closed := s.closed
		s.mu.Unlock()
		if !closed {
			text, err := d.Clipboard(ctx, maxShared)
			w.fence.Go(func() {
				if t := w.selected; t != nil && t.focused {
					t.give(text, err)
				}
			})
		}
		cancel()
		s.mu.Lock()
		if closed || s.closed || !s.again {
			s.running, s.cancel = false, nil
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
	}
}

// Shared says that somebody here has put something on the clipboard.
func (w *Window) Shared() { w.share() }

// A tooLarge error says that a text is over a bound.
type tooLarge interface{ TooLarge() bool }

// give sends a text to the session's machine.
func (t *tab) give(text string, err error) {
	if l, ok := err.(tooLarge); ok && l.TooLarge() || len(text) > maxShared {
		t.w.status.say(fmt.Sprintf("The text on the clipboard is larger than %d MiB and was not sent.", maxShared>>20), true)
		return
	}
	if err != nil || text == "" || text == t.shared || !utf8.ValidString(text) {
		return
	}
	if t.wheel.Holder == plane.HolderAgent {
		return // not while an agent drives; when it is free again
	}
	t.shared = text
	person, w := t.person, t.w
	ctx, cancel := context.WithTimeout(context.Background(), shareWait)
	go func() {
		defer cancel()
		lost, err := person.SetClipboard(ctx, text)
		if err == nil && lost > 0 {
			w.fence.Go(func() {
				w.status.say(fmt.Sprintf("%s cannot take %d of the characters on the clipboard; they were replaced.", t.title(), lost), true)
			})
		}
	}()
}

// remoteText takes what the far side has put on its clipboard: the shown
// session's goes on the clipboard here, unless an agent put it there.
func (w *Window) remoteText(t *tab, text string) {
	if w.selected != t || text == "" || t.wheel.Holder == plane.HolderAgent {
		return
	}
	t.shared = text
	w.config.App.Clipboard().SetContent(text)
}
