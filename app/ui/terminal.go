package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"net/url"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/pane"
	"deskvnc/app/ui/term"
	"deskvnc/control/plane"
	"deskvnc/viewer"
)

const (
	// keyTerminal is the preference for what terminals look like.
	keyTerminal = "terminal.look"
	// keyCopies begins the preference to let the programs on a machine copy.
	keyCopies = "terminal.copies."
	// reflowTime is how long the pane keeps its size before the program is told:
	// a window is dragged through many sizes.
	reflowTime = 80 * time.Millisecond
)

// A terminalLook is what all terminals look like.
type terminalLook struct {
	Size   float32 `json:"size"`
	Scheme string  `json:"scheme"`
	Bell   bool    `json:"bell"` // rings, and is not only seen
}

var usualLook = terminalLook{Size: term.UsualSize, Scheme: term.Auto}

// copies says whether the programs on a machine may put text on the clipboard
// here.
type copies int

const (
	copiesAsk copies = iota
	copiesAlways
	copiesNever // a person has said no in this session
)

// A terminalTab is what a tab of a terminal has beside.
type terminalTab struct {
	asked  image.Point // columns and rows that the program was told of
	timer  *time.Timer // until the pane rests; nil for none
	copies copies
}

// screen is the terminal of a tab; nil for a desktop.
func (t *tab) screen() *term.Screen {
	if t.pane == nil {
		return nil
	}
	return t.pane.Terminal()
}

// terminalConfig is what a pane needs when its session is a terminal.
func (t *tab) terminalConfig() pane.TerminalConfig {
	w := t.w
	return pane.TerminalConfig{
		Copy: func(text string) {
			w.config.App.Clipboard().SetContent(text)
			w.status.say(fmt.Sprintf("Copied %d characters.", len([]rune(text))), false)
		},
		Clipboard: func(use func(string)) {
			w.readHere(func(text string) {
				if w.selected == t {
					use(text)
				}
			})
		},
		Open: func(address string) {
			u, err := url.Parse(address)
			if err == nil {
				err = w.config.App.OpenURL(u)
			}
			if err != nil {
				w.status.say("The address could not be opened: "+sentence(err.Error()), true)
			}
		},
		Said:  w.status.say,
		Sized: func(size float32) { w.setLook(func(l *terminalLook) { l.Size = size }) },
		Menu:  w.terminalMenu,
	}
}

// beginTerminal brings a new tab of a terminal to the look of all.
func (t *tab) beginTerminal() {
	s := t.screen()
	if s == nil {
		return
	}
	w := t.w
	s.SetTextSize(w.terminals.Size)
	s.SetScheme(w.terminals.Scheme)
	id := w.known(t.session.Target()).HostID
	if w.config.Library == nil || id == "" {
		return
	}
	var always bool
	w.screen().After(func(ctx context.Context) error {
		if raw, err := w.config.Library.Setting(ctx, keyCopies+id); err == nil && raw != nil {
			json.Unmarshal(raw, &always) // what is not understood counts as not set
		}
		return nil
	}, func(error) {
		if always && t.terminal.copies == copiesAsk {
			t.terminal.copies = copiesAlways
		}
	})
}

// setLook changes what all terminals look like, and remembers it.
func (w *Window) setLook(change func(*terminalLook)) {
	l := w.terminals
	change(&l)
	w.applyLook(l)
	if w.config.Library != nil {
		w.screen().Keep(keyTerminal, w.terminals)
	}
}

func (w *Window) applyLook(l terminalLook) {
	l.Size = min(max(l.Size, term.MinSize), term.MaxSize)
	w.terminals = l
	for _, t := range w.tabs {
		if s := t.screen(); s != nil {
			s.SetTextSize(l.Size)
			s.SetScheme(l.Scheme)
		}
	}
	w.status.update(w)
}

// resumeTerminals takes up the look of before.
func (w *Window) resumeTerminals() {
	l := w.terminals
	w.screen().After(func(ctx context.Context) error {
		if raw, err := w.config.Library.Setting(ctx, keyTerminal); err == nil && raw != nil {
			json.Unmarshal(raw, &l) // what is not understood counts as not set
		}
		return nil
	}, func(error) { w.applyLook(l) })
}

// reflow has the program in the terminal take the columns and rows that fit
// into the pane. Without a connection the text is laid out anew at once, so
// that the next program starts with the right size.
func (t *tab) reflow() {
	live := t.session.State().Phase == viewer.Connected
	switch {
	case !t.wantsReflow():
	case !live:
		t.stopReflow()
		t.doReflow()
	case t.terminal.timer == nil:
		t.terminal.timer = time.AfterFunc(reflowTime, func() {
			t.w.fence.Go(func() {
				t.terminal.timer = nil
				t.doReflow()
			})
		})
	}
}

func (t *tab) wantsReflow() bool {
	fit := t.screen().Cells()
	cols, rows := t.session.Grid().Size()
	return t.w.selected == t && fit != (image.Point{}) && (fit != t.terminal.asked || fit != image.Pt(cols, rows) && t.session.State().Phase != viewer.Connected)
}

func (t *tab) doReflow() {
	if !t.wantsReflow() {
		return
	}
	fit := t.screen().Cells()
	// View only, or an agent drives: it is tried again when that ends.
	if err := t.person.Resize(context.Background(), fit.X, fit.Y); err == nil {
		t.terminal.asked = fit
	}
}

func (t *tab) stopReflow() {
	if t.terminal.timer != nil {
		t.terminal.timer.Stop()
		t.terminal.timer = nil
	}
}

// copied takes text that a program in a terminal asks to put on the clipboard
// here. It is put there only when a person lets the machine.
func (t *tab) copied(text string) {
	w := t.w
	s := t.screen()
	if s == nil || t.terminal.copies == copiesNever || t.wheel.Holder == plane.HolderAgent || w.selected != t {
		return
	}
	clean := term.Clean(text)
	if clean == "" {
		return
	}
	if !fromRemote(t.sharing) {
		w.status.say("A program on "+t.title()+" wanted to copy text. Sharing what is copied there is off.", false)
		return
	}
	put := func() {
		w.config.App.Clipboard().SetContent(clean)
		w.status.say(t.title()+" has put text on the clipboard.", false)
	}
	if t.terminal.copies == copiesAlways {
		if t.focused {
			put()
		}
		return
	}
	always := "Always in this session"
	id := w.known(t.session.Target()).HostID
	if w.config.Library != nil && id != "" {
		always = "Always for this machine"
	}
	t.pane.Confirm(term.Question{
		Title: "Let " + t.title() + " copy this?", Text: term.Preview(clean), Detail: "A program in the terminal asks to put this on your clipboard, in place of what is there.",
		Yes: "Copy", Do: put, Always: always,
		DoAlways: func() {
			t.terminal.copies = copiesAlways
			if w.config.Library != nil && id != "" {
				w.screen().Keep(keyCopies+id, true)
			}
			put()
		},
		Refused: func() {
			t.terminal.copies = copiesNever
			w.status.say("Programs on "+t.title()+" are not asked about again until the tab is opened anew.", false)
		},
	})
}

// rang takes the bell of a session.
func (t *tab) rang() {
	s := t.screen()
	if s != nil {
		s.Flash()
	}
	if t.w.display != nil && t.w.selected == t && (s == nil || t.w.terminals.Bell) {
		t.w.display.Bell()
	}
}

// terminalMenu is the menu at the pointer.
func (w *Window) terminalMenu(at fyne.Position) {
	w.LetGo()
	m := fyne.NewMenu("", w.item("terminal.copy", ""), w.item("terminal.paste", ""), w.item("terminal.selectAll", ""), fyne.NewMenuItemSeparator(), w.item("terminal.find", ""))
	pop := widget.NewPopUpMenu(m, w.win.Canvas())
	pop.OnDismiss = func() {
		pop.Hide()
		w.FocusPane()
	}
	pop.ShowAtPosition(at)
}
