// Package pane shows one session in the window: its picture, a person's mouse
// and keyboard on it, what the machine asks, and what happened to the
// connection.
//
// A Pane belongs to the goroutine of the widgets, except where a method says
// otherwise. What a person does goes out through [Config.Input]; whether it
// may is decided there.
package pane

import (
	"image"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/keyboard"
	"deskvnc/app/ui/picture"
	"deskvnc/app/ui/term"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// Config is what a Pane is made of. Functions are called on the goroutine of
// the widgets.
type Config struct {
	Session *engine.Session
	Fence   *fence.Fence
	Canvas  fyne.Canvas // that the pane is put on
	// Input sends what a person does; Leave lets go of all they hold.
	Input func(in viewer.Input)
	Leave func()
	// Keys and Pointer are the window system, when there is one that tells;
	// Forget drops the keys told of so far.
	Keys        keyboard.Source
	Pointer     PointerSource
	Forget      func()
	InputMethod bool // see [keyboard.Config]
	// Chord runs the viewer's command for a key; see [keyboard.Config].
	Chord func(cap string, run bool) bool
	// Patient tells that an agent drives; see [keyboard.Config].
	Patient func() bool
	// Changed is called after the session's state, name or size has changed.
	Changed func()
	// Placed is called when the picture is shown elsewhere or in another size.
	Placed func()
	// Event is called for the events that are not the pane's own: bells,
	// texts of the remote clipboard, notices, refusals.
	Event func(viewer.Event)
	// Focused tells that the picture has got or lost the keyboard.
	Focused func(on bool)
	// Retry, Edit and Close are the buttons of a failed session.
	Retry, Edit, Close func()
	// Terminal is for a session that is one.
	Terminal TerminalConfig
}

// A Pane shows one session.
type Pane struct {
	config  Config
	session *engine.Session

	picture *picture.Picture
	surface *surface
	card    *card
	sheet   *sheet
	notice  *notice
	over    *fyne.Container // what a window puts on top
	covered func()          // gives what covers the pane the keyboard; nil when nothing does
	root    *fyne.Container

	// Of a terminal; nil for a desktop.
	term    *term.Screen
	confirm *confirm
	lost    *lost
	holding *time.Timer // to the next redraw of a program that holds its output back

	refused string // what the machine said to the login before
	live    bool   // was connected at some time
	visible bool
	release func() // ends the watching; nil while nobody looks
	failed  error  // why the picture cannot be watched
	closed  bool

	shown    atomic.Bool // visible, for the loop
	posted   atomic.Int64
	drawn    chan time.Duration // one place: how long the loop is to pause
	done     chan struct{}
	ended    chan struct{} // the loop has ended
	draw     *fence.Target
	changed  *fence.Target
	unsub    func()
	count    *fence.Target // counts down to the next attempt
	counting *time.Timer   // to the next of them; nil when nothing counts
	restless bool          // was connected when last looked at
	made     int           // connections until then
}

// New returns a pane, hidden, for a session.
func New(c Config) *Pane {
	p := &Pane{
		config: c, session: c.Session, picture: picture.New(c.Session.Frame()), card: newCard(), sheet: newSheet(c.Canvas), notice: newNotice(c.Fence),
		drawn: make(chan time.Duration, 1), done: make(chan struct{}), ended: make(chan struct{}), over: container.NewStack(),
	}
	s := newSurface(p.picture, c.Canvas)
	s.fence, s.source, s.leave, s.focused, s.forget, s.placed = c.Fence, c.Pointer, c.Leave, c.Focused, c.Forget, c.Placed
	later := func(fn func()) { c.Fence.Go(fn) }
	s.mouse = mouse{later: later, send: func(in viewer.Pointer) { c.Input(in) }}
	s.keys = keyboard.New(keyboard.Config{
		Source: c.Keys, InputMethod: c.InputMethod, Chord: c.Chord, Patient: c.Patient, Later: later,
		Send: func(in viewer.Key) { c.Input(in) },
	})
	p.surface = s
	if g := c.Session.Grid(); g != nil {
		p.newTerminal(g)
	} else {
		p.root = container.NewStack(s, p.over, p.card.box, p.sheet.box, p.notice.object)
	}
	p.draw = c.Fence.Target(p.redraw)
	p.changed = c.Fence.Target(p.update)
	p.count = c.Fence.Target(p.countdown)
	p.unsub = c.Session.Subscribe(p.event)
	go p.loop()
	p.update()
	return p
}

// Object is what to put on the canvas.
func (p *Pane) Object() fyne.CanvasObject { return p.root }

// Over is where the window puts what it shows above the picture.
func (p *Pane) Over() *fyne.Container { return p.over }

// Session is the session shown.
func (p *Pane) Session() *engine.Session { return p.session }

// Mode is how the picture is put into the pane.
func (p *Pane) Mode() picture.Mode { return p.surface.mode }

// SetMode changes between fit and actual size.
func (p *Pane) SetMode(m picture.Mode) { p.surface.setMode(m, 100) }

// Zoom shows the picture at a percentage of its actual size.
func (p *Pane) Zoom(percent int) {
	if percent == 100 {
		p.surface.setMode(picture.Actual, 100)
		return
	}
	p.surface.setMode(picture.Zoomed, min(max(percent, picture.MinZoom), picture.MaxZoom))
}

// SetDotted shows a dot in place of a pointer that the machine hides, or not.
func (p *Pane) SetDotted(on bool) { p.surface.setDotted(on) }

// Place is where the picture is in the pane.
func (p *Pane) Place() picture.Place { return p.picture.Place() }

// View is the size of the pane in pixels of the screen.
func (p *Pane) View() image.Point { return p.surface.view() }

// Stats counts what has been drawn.
func (p *Pane) Stats() picture.Stats { return p.picture.Stats() }

// Focus gives the keyboard to whatever can use it here.
func (p *Pane) Focus() {
	switch {
	case !p.visible:
	case p.sheet.reply != nil:
		p.sheet.take()
	case p.covered != nil:
		p.covered()
	case p.term != nil && p.live: // also one that has ended: its text can be copied
		p.grabFocus()
	case p.session.State().Phase == viewer.Connected:
		p.grabFocus()
	}
}

// LetGo releases what the person holds down: the window lost the keyboard, a
// menu opened.
func (p *Pane) LetGo() {
	if p.term != nil {
		p.term.LetGo()
		return
	}
	p.surface.letGo()
}

// SetShown tells whether the pane can be seen. A pane that cannot asks for no
// pixels and draws nothing.
func (p *Pane) SetShown(on bool) {
	if p.closed || p.visible == on {
		return
	}
	p.visible = on
	p.shown.Store(on)
	if !on {
		p.stopCounting()
		p.LetGo()
		if p.term != nil {
			p.term.SetShown(false)
		}
		if p.release != nil {
			p.release()
			p.release = nil
		}
		return
	}
	p.release, p.failed = p.session.Watch()
	if p.term != nil {
		p.term.SetShown(true)
	}
	p.redraw()
	p.update()
}

// Close ends the pane. The session is not touched.
func (p *Pane) Close() {
	if p.closed {
		return
	}
	p.SetShown(false)
	p.closed = true
	p.unsub()
	p.notice.hide()
	close(p.done)
	if p.term != nil {
		p.term.Close()
		p.confirm.cancel()
		if p.holding != nil {
			p.holding.Stop()
		}
	}
	p.picture.Close()
	p.sheet.done(answer{err: errClosed})
}

// Ended is closed when nothing of the pane runs any more after Close.
func (p *Pane) Ended() <-chan struct{} { return p.ended }

// The pauses between two redraws: at least the time of a screen's refresh, so
// that many small updates become one; and as long as the toolkit took to get
// to the last one, so that it always has time for the person.
const (
	minPause = 8 * time.Millisecond
	maxPause = 100 * time.Millisecond
)

// loop asks for a redraw whenever the picture has changed.
func (p *Pane) loop() {
	defer close(p.ended)
	pause := time.NewTimer(0)
	<-pause.C
	defer pause.Stop()
	wake := p.wake()
	for {
		select {
		case <-p.done:
			return
		case <-wake:
		}
		if !p.shown.Load() {
			continue // SetShown draws what was missed
		}
		p.posted.Store(time.Now().UnixNano())
		p.draw.Post()
		select {
		case <-p.done:
			return
		case d := <-p.drawn:
			pause.Reset(d)
		}
		select {
		case <-p.done:
			return
		case <-pause.C:
		}
	}
}

// redraw shows what has changed.
func (p *Pane) redraw() {
	if posted := p.posted.Swap(0); posted != 0 {
		defer func() {
			late := time.Duration(time.Now().UnixNano() - posted)
			p.drawn <- min(max(late, minPause), maxPause)
		}()
	}
	if p.closed || !p.visible {
		return
	}
	if p.term != nil {
		p.redrawTerminal()
		return
	}
	if p.picture.Redraw() {
		p.surface.place()
		p.config.Changed()
	}
}

// event takes what the session reports, on any goroutine.
func (p *Pane) event(ev viewer.Event) {
	switch ev := ev.(type) {
	case viewer.StateChanged, viewer.Named, viewer.Resized, viewer.Cursor:
		p.changed.Post()
	case viewer.Notice:
		p.config.Fence.Go(func() { p.Tell(sentence(ev.Text), false) })
	case viewer.Bell, viewer.CutText, viewer.Refusal, viewer.ClipboardAsked, viewer.Notified:
		p.config.Fence.Go(func() {
			if !p.closed {
				p.config.Event(ev)
			}
		})
	}
}
