package browse

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/look"
	"deskvnc/viewer"
	"deskvnc/viewer/files"
)

// Config is what a Browser is made of. Functions are called on the goroutine of
// the widgets, except where it is said.
type Config struct {
	Fence  *fence.Fence
	Canvas fyne.Canvas
	Name   string // of the machine
	// Files opens the files of the machine for looking at them, and Own for
	// moving them; what Own gives is closed here. Both are called from any
	// goroutine.
	Files, Own func(context.Context) (*files.FS, error)
	// Home is the folder of this computer that is shown first; empty: home.
	Home string
	// ReadOnly tells why nothing may be changed on the machine, or nil.
	ReadOnly func() error
	// Chord runs the viewer's command of a shortcut, if there is one.
	Chord func(fyne.Shortcut) bool
	// Hint makes the function that tells what a button does.
	Hint func(text string) func(on bool)
	// Say tells the person something.
	Say func(text string, trouble bool)
	// Close takes the browser away.
	Close func()
	// Tunnels shows the tunnels of the session; nil: there are none.
	Tunnels func()
}

// A Browser shows this computer beside a machine.
type Browser struct {
	config Config
	here   *side
	there  *side
	active *side
	queue  *files.Queue
	strip  *strip
	sheet  *sheet

	copyTo, moveTo *look.Button
	rename, folder *look.Button
	remove, rights *look.Button
	object         *fyne.Container
	carried        *fyne.Container // what is dragged, under the pointer
	label          *look.Text
	closed         bool
	started        bool
	moves          map[int]move // jobs that end with removing what was copied
	within         func() (context.Context, context.CancelFunc)
	stop           context.CancelFunc
	work           sync.WaitGroup
	ended          chan struct{}
	changed        *fence.Target
	over           map[int]bool // jobs whose end has been seen
}

// New returns a browser that reads nothing until it is opened.
func New(c Config) *Browser {
	b := &Browser{config: c, moves: map[int]move{}, over: map[int]bool{}, ended: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	b.within = func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }
	b.stop = stop
	b.changed = c.Fence.Target(b.jobsChanged)
	b.queue = files.NewQueue(c.Own, files.QueueOptions{Changed: b.changed.Post})
	b.sheet = newSheet(b)
	b.strip = newStrip(b)
	b.here = newSide(b, local{}, false, "This computer")
	b.there = newSide(b, remote{c.Files}, true, c.Name)
	b.active = b.there
	button := func(text, hint string, icon fyne.Resource, do func()) *look.Button {
		return look.NewButton(text, icon, do, c.Hint(hint))
	}
	b.copyTo = button("Copy", "Copy to the other side  (F5)", theme.ContentCopyIcon(), func() { b.do(fyne.KeyF5) })
	b.moveTo = button("Move", "Move to the other side  (F6)", theme.MailForwardIcon(), func() { b.do(fyne.KeyF6) })
	b.rename = button("Rename", "Rename  (F2)", theme.DocumentCreateIcon(), func() { b.do(fyne.KeyF2) })
	b.folder = button("New folder", "New folder  (F7)", theme.FolderNewIcon(), func() { b.do(fyne.KeyF7) })
	b.remove = button("Delete", "Delete  (F8 or Del)", theme.DeleteIcon(), func() { b.do(fyne.KeyF8) })
	b.rights = button("Permissions", "Permissions  (F9)", theme.AccountIcon(), func() { b.do(fyne.KeyF9) })
	bar := container.NewHBox(b.copyTo, b.moveTo, b.folder, b.rename, b.remove, b.rights)
	if c.Tunnels != nil {
		bar.Add(button("Tunnels", "Tunnels of this session", theme.ComputerIcon(), c.Tunnels))
	}
	end := button("", "Close the files  (Ctrl+W)", theme.CancelIcon(), c.Close)
	tools := container.NewStack(look.NewGround(look.ColorBar), container.NewBorder(nil, thinLine(), nil, end, container.NewHScroll(bar)))
	middle := container.New(halves{}, container.New(look.Inset{2, 4, 2, 6}, b.here.object), look.NewGround(look.ColorBorder), container.New(look.Inset{2, 4, 2, 6}, b.there.object))
	b.label = look.NewText("", theme.ColorNameForeground, theme.SizeNameText, true)
	b.carried = container.NewStack(look.NewPanel(look.ColorCard, theme.ColorNamePrimary, 6), container.New(look.Inset{-2, 6, -2, 2}, b.label))
	b.carried.Hide()
	b.object = container.NewStack(look.NewGround(theme.ColorNameBackground), container.NewBorder(tools, b.strip.object, nil, nil, middle),
		container.NewWithoutLayout(b.carried), b.sheet.box)
	b.updateTools()
	return b
}

func thinLine() fyne.CanvasObject { return container.New(hair{}, look.NewGround(look.ColorBorder)) }

// hair is the layout of the thinnest line.
type hair struct{ thin }

// MinSize is called by the toolkit.
func (hair) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(1, 1) }

// built reports whether both sides are there.
func (b *Browser) built() bool { return b.there != nil && b.rights != nil }

// Object is what to put on the canvas.
func (b *Browser) Object() fyne.CanvasObject { return b.object }

// Open reads the first folders, once.
func (b *Browser) Open() {
	if b.started || b.closed {
		return
	}
	b.started = true
	b.here.load(b.config.Home, false, "")
	b.there.load("", false, "")
}

// Focus gives the keyboard to the browser.
func (b *Browser) Focus() {
	if b.sheet.shown() {
		b.sheet.take()
		return
	}
	b.active.grab()
}

// Connected tells that the session is connected, again perhaps: what could not
// be read is read now.
func (b *Browser) Connected() {
	if !b.started || b.closed || b.there.failed == nil {
		return
	}
	switch viewer.KindOf(b.there.failed) {
	case viewer.Closed, viewer.Timeout, viewer.Unreachable:
		b.there.reload()
	}
}

// Busy is how many transfers are not over.
func (b *Browser) Busy() int { return b.strip.busy }

// Close ends the browser and what it moves. Ended tells when nothing runs any
// more.
func (b *Browser) Close() {
	if b.closed {
		return
	}
	b.closed = true
	b.stop()
	b.sheet.drop()
	go func() {
		b.queue.Close()
		b.work.Wait()
		close(b.ended)
	}()
}

// Ended is closed when nothing of the browser runs any more after Close.
func (b *Browser) Ended() <-chan struct{} { return b.ended }

func (b *Browser) other(s *side) *side {
	if s == b.here {
		return b.there
	}
	return b.here
}

// activate marks the side that has the keyboard.
func (b *Browser) activate(s *side) {
	b.active = s
	if !b.built() {
		return
	}
	for _, o := range []*side{b.here, b.there} {
		color := look.ColorBorder
		if o == s {
			color = theme.ColorNamePrimary
		}
		o.line.SetColors(color, "")
	}
	b.updateTools()
}

// updateTools enables what can be done.
func (b *Browser) updateTools() {
	if !b.built() {
		return
	}
	s := b.active
	some := s.ready() && len(s.table.picked()) > 0
	locked := b.config.ReadOnly() != nil
	enable(b.copyTo, some && b.other(s).ready() && (s.far || !locked))
	enable(b.moveTo, some && b.other(s).ready() && !locked)
	change := !s.far || !locked
	enable(b.rename, some && change)
	enable(b.remove, some && change)
	enable(b.rights, some && change)
	enable(b.folder, s.ready() && change)
	text := "Upload"
	if s.far {
		text = "Download"
	}
	if b.copyTo.Text != text {
		b.copyTo.SetText(text)
	}
}

// ready reports whether the side shows a folder.
func (s *side) ready() bool { return s.read && s.failed == nil }

// do does what a key stands for to the side that has the keyboard.
func (b *Browser) do(k fyne.KeyName) {
	s := b.active
	if !b.key(s, k) || !b.sheet.shown() {
		s.grab()
	}
}

// key takes the keys for what is done to entries.
func (b *Browser) key(s *side, k fyne.KeyName) bool {
	switch k {
	case fyne.KeyF5, fyne.KeyF6:
		b.transfer(s, s.table.picked(), k == fyne.KeyF6)
	case fyne.KeyF2:
		b.askName(s)
	case fyne.KeyF7:
		b.askFolder(s)
	case fyne.KeyF8, fyne.KeyDelete:
		b.askRemove(s)
	case fyne.KeyF9:
		b.askRights(s)
	case "Ctrl+W":
		b.config.Close()
	default:
		return false
	}
	return true
}

// may reports whether a side may be changed, and says why not.
func (b *Browser) may(s *side) bool {
	if !s.ready() {
		return false
	}
	if s.far {
		if err := b.config.ReadOnly(); err != nil {
			b.config.Say(sentence(viewer.Reason(err)), true)
			return false
		}
	}
	return true
}

// change does something to a side beside the widgets, and reads it again.
// named is where the cursor goes.
func (b *Browser) change(s *side, named string, do func(context.Context) error) {
	ctx, cancel := b.within()
	b.work.Go(func() {
		defer cancel()
		err := do(ctx)
		b.config.Fence.Go(func() {
			if b.closed {
				return
			}
			if err != nil {
				b.config.Say(sentence(viewer.Reason(err)), true)
			}
			if s.ready() {
				if err != nil {
					named = ""
				}
				s.load(s.path, false, named)
			}
		})
	})
}

// menu shows what can be done, at a place.
func (b *Browser) menu(s *side, at fyne.Position) {
	item := func(text string, k fyne.KeyName, off bool) *fyne.MenuItem {
		i := fyne.NewMenuItem(text, func() { b.do(k) })
		i.Disabled = off
		return i
	}
	b.activate(s)
	widget.ShowPopUpMenuAtPosition(fyne.NewMenu("",
		item(b.copyTo.Text, fyne.KeyF5, b.copyTo.Disabled()), item("Move to the other side", fyne.KeyF6, b.moveTo.Disabled()), fyne.NewMenuItemSeparator(),
		item("Rename", fyne.KeyF2, b.rename.Disabled()), item("New folder", fyne.KeyF7, b.folder.Disabled()), item("Permissions", fyne.KeyF9, b.rights.Disabled()),
		fyne.NewMenuItemSeparator(), item("Delete", fyne.KeyF8, b.remove.Disabled())), b.config.Canvas, at)
}

// carry shows what is dragged under the pointer.
func (b *Browser) carry(s *side, at fyne.Position) {
	list := s.table.picked()
	text := ""
	if len(list) == 1 {
		text = list[0].Shown
	} else {
		text = fmt.Sprintf("%d items", len(list))
	}
	b.label.SetText(fit(text, 260, textSize()))
	origin := fyne.CurrentApp().Driver().AbsolutePositionForObject(b.object)
	b.carried.Resize(fyne.NewSize(min(b.label.Natural(), 280)+10, b.label.MinSize().Height-2))
	b.carried.Move(at.Subtract(origin).AddXY(12, 8))
	b.carried.Show()
}

// letGo copies what was dragged when it is let go over the other side.
func (b *Browser) letGo(s *side, at fyne.Position) {
	b.carried.Hide()
	if b.covers(b.other(s).object, at) {
		b.transfer(s, s.table.picked(), false)
	}
}

// covers reports whether a place of the canvas is on an object.
func (b *Browser) covers(o fyne.CanvasObject, at fyne.Position) bool {
	p := at.Subtract(fyne.CurrentApp().Driver().AbsolutePositionForObject(o))
	return p.X >= 0 && p.Y >= 0 && p.X < o.Size().Width && p.Y < o.Size().Height
}

var errNotShown = errors.New("the folder of the machine is not shown yet: wait until it is, then drop the files again")
