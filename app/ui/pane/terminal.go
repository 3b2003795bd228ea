package pane

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"deskvnc/app/ui/keyboard"
	"deskvnc/app/ui/look"
	"deskvnc/app/ui/term"
	"deskvnc/viewer"
	"deskvnc/viewer/grid"
)

// TerminalConfig is what a pane needs when its session is a terminal; see
// [term.Config].
type TerminalConfig struct {
	Copy      func(text string)
	Clipboard func(use func(text string))
	Open      func(address string)
	Said      func(text string, trouble bool)
	Sized     func(size float32)
	Menu      func(at fyne.Position)
}

// newTerminal makes the screen of a terminal and what lies around it.
func (p *Pane) newTerminal(g *grid.Terminal) {
	c := p.config
	p.confirm = newConfirm(c.Canvas, p.Focus)
	p.lost = newLost()
	p.term = term.New(term.Config{
		Grid: g, Fence: c.Fence, Canvas: c.Canvas, Input: c.Input, Leave: c.Leave, Keys: c.Keys, InputMethod: c.InputMethod, Chord: c.Chord, Patient: c.Patient,
		Forget: c.Forget, Focused: c.Focused, Placed: c.Placed, Copy: c.Terminal.Copy, Clipboard: c.Terminal.Clipboard, Open: c.Terminal.Open, Said: c.Terminal.Said,
		Sized: c.Terminal.Sized, Menu: c.Terminal.Menu,
		Ask: func(q term.Question) { p.confirm.ask(q, true) },
		Refuse: func() bool {
			asked := p.confirm.asked != nil
			p.confirm.cancel()
			return asked
		},
	})
	p.root = container.NewStack(container.NewBorder(nil, p.lost.object, nil, nil, container.New(look.Free{Min: p.term.MinSize()}, p.term)),
		p.over, p.confirm.box, p.card.box, p.sheet.box, p.notice.object)
}

// Terminal is the screen of a terminal; nil for a desktop.
func (p *Pane) Terminal() *term.Screen { return p.term }

// Confirm asks a person about something that they did not begin, without
// taking the keyboard. It reports false while something else is asked.
func (p *Pane) Confirm(q term.Question) bool {
	return p.confirm != nil && !p.closed && p.confirm.ask(q, false)
}

// Key takes a key that comes past the toolkit, while the keyboard is grabbed.
func (p *Pane) Key(code int, s keyboard.Stroke, down bool) {
	if p.term != nil {
		p.term.Key(code, s, down)
		return
	}
	p.surface.keys.Key(code, s, down)
}

// wake gets a value when there is something to redraw.
func (p *Pane) wake() <-chan struct{} {
	if p.term != nil {
		return p.term.Wake()
	}
	return p.picture.Wake()
}

// redrawTerminal shows what has changed, and looks again when a program that
// holds its output back has had its time.
func (p *Pane) redrawTerminal() {
	p.term.Redraw()
	if d := p.term.Held(); d > 0 && p.holding == nil {
		p.holding = time.AfterFunc(d, func() {
			p.config.Fence.Go(func() {
				p.holding = nil
				p.redraw()
			})
		})
	}
}

func (p *Pane) grabFocus() {
	if p.term != nil {
		p.term.GrabFocus()
		return
	}
	p.surface.grabFocus()
}

// drop gives the keyboard up: there is nothing to type to any more.
func (p *Pane) drop() {
	if p.term != nil {
		p.term.Drop()
		return
	}
	p.surface.drop()
}

// tell says what happens with the connection: on a card, or for a terminal
// that has text to be read, in a bar below it.
func (p *Pane) tell(title, text, detail string, choices ...choice) {
	if p.term == nil || !p.live {
		p.card.show(title, text, detail, choices...)
		return
	}
	p.card.hide()
	p.term.SetQuiet(true)
	// The tab has the name; the bar has little room.
	switch st := p.session.State(); {
	case st.Phase == viewer.Disconnected && st.Kind == viewer.Exited:
		title = "The program has ended"
	case st.Phase == viewer.Disconnected:
		title = "The connection has ended"
	case st.Phase == viewer.Reconnecting && !st.NextRetry.IsZero():
		title = "The connection is lost"
	}
	p.lost.show(title, text, detail, choices...)
	p.root.Refresh()
	p.term.SetQuiet(false)
}

// told takes away what was told.
func (p *Pane) told() {
	p.card.hide()
	if p.lost != nil && p.lost.object.Visible() {
		p.term.SetQuiet(true)
		p.lost.object.Hide()
		p.root.Refresh()
		p.term.SetQuiet(false)
	}
}
