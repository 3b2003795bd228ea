// Package ui is the window: the library to connect from, a tab for every
// running session, the commands behind every button, menu and key, and what a
// person is told about agents that drive.
//
// All of it belongs to the goroutine of the widgets, except where a method
// says otherwise. It decides nothing about input: that is the control plane's.
package ui

import (
	"context"
	"errors"
	"strings"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/agents"
	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/keyboard"
	"deskvnc/app/ui/library"
	"deskvnc/app/ui/look"
	"deskvnc/app/ui/pane"
	"deskvnc/control/command"
	"deskvnc/control/door"
	"deskvnc/control/plane"
	"deskvnc/keychain"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// A Display is the window system under the window, where there is one that
// tells more than the toolkit.
type Display interface {
	keyboard.Source
	pane.PointerSource
	// Forget drops the keys told of so far.
	Forget()
	// Bell rings the bell of the screen.
	Bell()
	// Grab takes the keyboard, so that the window manager's own keys come
	// here too, or gives it back, and reports whether it is taken.
	Grab(on bool) bool
	// Clipboard reads the text on the clipboard, at most limit bytes. It may
	// take long and is not called on the goroutine of the widgets.
	Clipboard(ctx context.Context, limit int) (string, error)
}

// A TabKeeper remembers which sessions a window shows.
type TabKeeper interface {
	Tabs(ctx context.Context) (map[string][]keychain.Tab, error)
	SetTabs(ctx context.Context, window string, tabs []keychain.Tab) error
}

// Config is what a window is made of.
type Config struct {
	App     fyne.App
	Window  fyne.Window
	Fence   *fence.Fence
	Engine  *engine.Engine
	Plane   *plane.Plane
	Samples []viewer.Target // sample machines, shown in the library
	// Library is the saved machines; nil without, and LibraryFault may say
	// why.
	Library      library.Store
	LibraryFault error
	// Saved are the machines that can be connected to: the saved ones and the
	// samples. It may be called from any goroutine.
	Saved func() []viewer.Target
	// Machines is how the saved machines are to be treated; it may be nil.
	Machines Machines
	// Tabs remembers the open sessions; it may be nil.
	Tabs TabKeeper
	// Keeping tells whether a password can be kept; it may take its time, is
	// called from any goroutine, and may be nil.
	Keeping func(context.Context) pane.Keeping
	// Door lets agents in; nil: none come.
	Door    *door.Door
	Version string
	// Listen waits for machines that call; nil: none can.
	Listen ListenFunc
	// InputMethod says that a program composes text from keys.
	InputMethod bool
	// Quit ends the program.
	Quit func()
}

// A Window is the program's window.
type Window struct {
	config   Config
	win      fyne.Window
	engine   *engine.Engine
	plane    *plane.Plane
	fence    *fence.Fence
	display  Display // nil until it is there
	commands *command.Registry

	tabs      []*tab // in order of opening
	selected  *tab   // nil: the start page
	start     *startPage
	reopen    bool // sessions are opened again at the next start
	dotted    bool // a hidden pointer is shown as a dot
	terminals terminalLook
	keptTabs  []keychain.Tab // as they are remembered
	closing   bool
	// background is work that the window's end waits for.
	background sync.WaitGroup

	strip   *look.Tabs
	home    *look.Button
	top     *fyne.Container // tabs and their buttons
	tools   *toolbar
	wheel   *wheelBar
	stage   *fyne.Container // the start page and the panes, one of them shown
	status  *statusLine
	chrome  *fyne.Container // the whole
	handle  *fullBar
	full    bool
	grabbed bool          // the keyboard is
	grabber *tab          // has it, or was the last to; nil for none
	modal   *widget.PopUp // the card over the window; nil for none
	// modalEnd ends what the card keeps going; nil for nothing.
	modalEnd func()
	panel    *agents.Panel
	panelOn  bool         // the panel is wanted; full screen hides it all the same
	people   *look.Button // shows the panel
	sharing  sharing
	unsub    func()
	unplane  func() // ends following the agents
	follow   func() // ends following the sessions for the library
	control  string // what is said about the control socket
	trouble  bool   // with it
	calls    *calls
}

// New builds the window's content and puts it into the window.
func New(c Config) (*Window, error) {
	w := &Window{config: c, win: c.Window, engine: c.Engine, plane: c.Plane, fence: c.Fence, terminals: usualLook}
	w.commands = command.New(w.atHome)
	if err := w.commands.Add(append(w.libraryCommands(), w.commandTable()...)...); err != nil {
		return nil, err
	}
	w.strip = look.NewTabs()
	w.status = newStatusLine()
	w.tools = newToolbar(w)
	w.wheel = newWheelBar(w)
	w.handle = newFullBar(w)
	w.status.also = w.handle.say
	w.start = newStartPage(w)
	w.calls = newCalls(w)
	w.home = w.bareButton("view.library", "", theme.HomeIcon())
	add := look.NewButton("", theme.ContentAddIcon(), func() { w.invoke("view.library", nil); w.start.focus() }, w.hint("New connection"))
	w.people = w.bareButton("agents.togglePlane", "", theme.AccountIcon())
	menu := look.NewButton("", theme.MenuIcon(), nil, w.hint("Menu"))
	menu.OnTapped = func() { w.showMenu(menu) }
	w.top = container.NewStack(look.NewGround(look.ColorBar), container.NewBorder(nil, nil, w.home, container.NewHBox(add, w.people, menu), w.strip.Object()))
	w.stage = container.New(look.Free{Min: fyne.NewSize(260, 160)}, w.start.object)
	w.newAgents()
	w.chrome = container.New(&frameLayout{w}, w.top, w.tools.object, w.wheel.object, w.stage, w.panel.Object(), w.status.object, w.handle.object, w.calls.object)
	w.win.SetContent(w.chrome)
	w.win.SetPadded(false)
	w.win.SetOnDropped(w.dropped)
	w.addShortcuts()
	w.addLibraryKeys()
	w.follow = w.followSessions()
	w.unsub = c.Engine.Subscribe(w.engineChanged)
	for _, s := range c.Engine.Sessions() {
		w.addTab(s)
	}
	w.choose(nil)
	return w, nil
}

// Commands are the window's commands.
func (w *Window) Commands() *command.Registry { return w.commands }

// SetDisplay gives the window the window system under it, before the first
// session is opened.
func (w *Window) SetDisplay(d Display) { w.display = d }

// atHome runs fn on the goroutine of the widgets; see [command.Home]. It is
// called from other goroutines.
func (w *Window) atHome(ctx context.Context, fn func()) error {
	const (
		queued = iota
		running
		withdrawn
	)
	var state atomicState
	done := make(chan struct{})
	if !w.fence.Go(func() {
		defer close(done)
		if state.to(queued, running) {
			fn()
		}
	}) {
		return errClosing
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		if state.to(queued, withdrawn) {
			return errors.New("the window was busy; the command was not started")
		}
		return errors.New("the command is still running and may finish; look before you repeat it")
	}
}

var errClosing = errors.New("the viewer is closing")

// Asker answers the questions of a session by its person; it may be called
// from any goroutine.
func (w *Window) Asker(s *engine.Session) viewer.Asker {
	return viewer.AskFunc(func(ctx context.Context, q viewer.Question) (viewer.Answer, error) {
		return pane.Ask(ctx, w.fence, func() *pane.Pane {
			t := w.tabOf(s)
			if t == nil {
				return nil
			}
			if w.selected == nil || w.selected == t {
				w.choose(t)
			} else { // what is typed into another session is not for this question
				w.status.say(t.title()+" asks you something; its tab is amber.", false)
			}
			return t.pane
		}, q, w.config.Keeping)
	})
}

// invoke runs a command for a person and tells them when it fails.
func (w *Window) invoke(id string, p command.Params) (ok bool) {
	w.closeModal()
	w.status.setHint("") // the pointer may be on something else now, untold
	if _, err := w.commands.Invoke(id, p); err != nil {
		w.status.say(reason(err), true)
		return false
	}
	return true
}

// reason is an error for a person, without the command's id.
func reason(err error) string {
	if e := errors.Unwrap(err); e != nil {
		return sentence(viewer.Reason(e))
	}
	return sentence(err.Error())
}

// Open starts a session to a machine and shows it; what is wrong is said in
// the status line.
func (w *Window) Open(t viewer.Target) {
	if _, err := w.open(t, command.Params{"wait": false}); err != nil {
		w.status.say(reason(err), true)
	}
}

// FocusPane gives the keyboard to the shown session.
func (w *Window) FocusPane() {
	if w.selected != nil {
		w.selected.pane.Focus()
	}
}

// LetGo releases what the person holds in the shown session: the window
// system has taken the keyboard.
func (w *Window) LetGo() {
	w.grab(false)
	if w.selected != nil {
		w.selected.pane.LetGo()
	}
}

// SetVisible tells whether the window can be seen at all; nothing is drawn
// and no pixels are asked for while it cannot.
func (w *Window) SetVisible(on bool) {
	if w.selected != nil {
		w.selected.pane.SetShown(on)
	}
}

// SetControl tells about the control socket in the status line; trouble is
// shown until it is dealt with.
func (w *Window) SetControl(text string, trouble bool) {
	w.control, w.trouble = text, trouble
	w.sayControl()
}

// sayControl says at the right of the status line who may come: agents, and
// machines that call.
func (w *Window) sayControl() {
	text := w.control
	if w.calls.listener != nil {
		text = strings.TrimSuffix("Calls "+w.calls.where()+"  ·  "+text, "  ·  ")
	}
	w.status.setControl(text, w.trouble)
}

// Close takes the window's parts apart. Sessions are not touched.
func (w *Window) Close() {
	w.unsub()
	w.unplane()
	w.follow()
	w.closing = true
	w.closeModal()
	w.grab(false)
	w.sharing.end()
	w.calls.stop()
	if w.selected != nil {
		w.keepPicture(w.selected)
	}
	for _, t := range w.tabs {
		t.close()
	}
	w.tabs, w.selected = nil, nil
	w.screen().Close()
	w.background.Wait()
	w.fence.Close()
}

// minStage is how much room the stage keeps beside the panel.
const minStage = 320

// frameLayout stacks the bars, the stage and the status line; in full screen
// there is only the stage.
type frameLayout struct{ w *Window }

// Layout is called by the toolkit.
func (l *frameLayout) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	w := l.w
	w.tools.adapt(size.Width)
	y, bottom := float32(0), size.Height
	for _, o := range []fyne.CanvasObject{w.top, w.tools.object, w.wheel.object} {
		if !o.Visible() {
			continue
		}
		h := o.MinSize().Height
		o.Move(fyne.NewPos(0, y))
		o.Resize(fyne.NewSize(size.Width, h))
		y += h
	}
	if s := w.status.object; s.Visible() {
		h := s.MinSize().Height
		bottom -= h
		s.Move(fyne.NewPos(0, bottom))
		s.Resize(fyne.NewSize(size.Width, h))
	}
	// The panel stands at the right; without room for both it covers the stage.
	stage := size.Width
	if p := w.panel.Object(); p.Visible() {
		at := size.Width - agents.Width
		if at < minStage {
			at = 0
		} else {
			stage = at
		}
		p.Move(fyne.NewPos(at, y))
		p.Resize(fyne.NewSize(size.Width-at, max(bottom-y, 0)))
	}
	w.stage.Move(fyne.NewPos(0, y))
	w.stage.Resize(fyne.NewSize(stage, max(bottom-y, 0)))
	w.calls.place(w.stage.Position(), w.stage.Size())
	w.handle.place(size)
}

// MinSize is called by the toolkit.
func (l *frameLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(360, 240) }
