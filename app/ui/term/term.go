package term

import (
	"image"
	"math"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/keyboard"
	"deskvnc/app/ui/look"
	"deskvnc/viewer"
	"deskvnc/viewer/grid"
)

// Config is what a Screen is made of. Functions are called on the goroutine of
// the widgets and may be nil where it says so.
type Config struct {
	Grid   *grid.Terminal
	Fence  *fence.Fence
	Canvas fyne.Canvas // that the screen is put on
	// Input sends what a person does; Leave lets go of all they hold.
	Input func(in viewer.Input)
	Leave func()
	// Keys, InputMethod, Chord and Patient are as in [keyboard.Config]; Forget
	// drops the keys told of so far. Forget may be nil.
	Keys        keyboard.Source
	InputMethod bool
	Chord       func(cap string, run bool) bool
	Patient     func() bool
	Forget      func()
	// Focused tells that the screen has got or lost the keyboard.
	Focused func(on bool)
	// Placed is called when another number of cells fits.
	Placed func()
	// Copy puts text on the clipboard here; Clipboard reads it for use.
	Copy      func(text string)
	Clipboard func(use func(text string))
	// Ask has a person say yes before something is done.
	Ask func(q Question)
	// Refuse says no to what is asked, if anything is, and reports whether it
	// was: Escape does it. It may be nil.
	Refuse func() bool
	// Open shows an address in a browser.
	Open func(address string)
	// Said is called with what a person should know.
	Said func(text string, trouble bool)
	// Sized is called when a person changes the size of the text with a key.
	Sized func(size float32)
	// Menu shows a menu at a place of the canvas; it may be nil.
	Menu func(at fyne.Position)
}

// A Question is asked before something is done that a person may not have
// meant. Text may be the words of a stranger.
type Question struct {
	Title, Text, Detail string
	Yes                 string // what the button says that does it
	Always              string // of a second one; empty for none
	Do                  func()
	DoAlways            func()
	Refused             func() // may be nil
}

// The sizes of text, in units of the canvas.
const (
	UsualSize = 14
	MinSize   = 6
	MaxSize   = 48
)

// margin is the room around the cells, in units of the canvas.
const margin = 4

// A Screen shows a terminal and takes a person's input to it.
type Screen struct {
	widget.BaseWidget

	config  Config
	grid    *grid.Terminal
	watch   *grid.Watch
	paint   *painter
	keys    *keyboard.Keyboard
	strokes *strokes

	size    float32 // of the text, in units of the canvas
	scheme  string
	unit    float32     // screen pixels a unit that the glyphs are made for
	cells   image.Point // that fit
	shown   bool
	focused bool
	closed  bool
	quiet   bool // a change of size is not a person's

	ground *canvas.Rectangle
	box    *fyne.Container // holds the rows
	clip   *container.Clip
	rows   []*canvas.Image
	bar    *look.Scroll
	finder *finder
	label  *sizeLabel
	flash  *canvas.Rectangle
	stats  Stats

	held  time.Duration // see [Screen.Held]
	blink blink
	mouse mouse
	local localKeys
	fonts *fence.Target // takes the fonts of the system in
}

// Stats count what a screen has had drawn.
type Stats struct {
	Redraws int   // times something was refreshed
	Rows    int   // rows refreshed
	Bytes   int64 // bytes of them: what is uploaded to the graphics card
}

// New returns a screen, hidden, for a terminal.
func New(c Config) *Screen {
	s := &Screen{
		config: c, grid: c.Grid, size: UsualSize, scheme: Auto, watch: c.Grid.Watch(), box: container.NewWithoutLayout(),
		ground: canvas.NewRectangle(nil), flash: canvas.NewRectangle(nil),
	}
	s.flash.Hide()
	s.clip = container.NewClip(s.box)
	s.bar = look.NewScroll(true, s.scrollTo)
	s.bar.After = s.GrabFocus
	s.label = newSizeLabel(c.Fence)
	s.finder = newFinder(s)
	s.fonts = c.Fence.Target(s.complement)
	s.unit = s.scale()
	s.paint = newPainter(c.Grid, newGlyphs(float64(s.size*s.unit), s.fonts.Post), schemeOf(Auto, dark()))
	s.strokes = &strokes{source: c.Keys}
	kc := keyboard.Config{
		InputMethod: c.InputMethod, Chord: c.Chord, Patient: c.Patient, Later: func(fn func()) { c.Fence.Go(fn) },
		Send: s.send,
	}
	if c.Keys != nil {
		kc.Source = s.strokes
	}
	s.keys = keyboard.New(kc)
	s.told()
	s.ExtendBaseWidget(s)
	return s
}

// dark tells whether the window's look is the dark one.
func dark() bool {
	return fyne.CurrentApp().Settings().ThemeVariant() != theme.VariantLight
}

func (s *Screen) scale() float32 {
	if u := s.config.Canvas.Scale(); u > 0 {
		return u
	}
	return 1
}

// Wake gets a value when there is something to redraw.
func (s *Screen) Wake() <-chan struct{} { return s.watch.Wake() }

// Stats are the counts so far.
func (s *Screen) Stats() Stats { return s.stats }

// Cells is how many columns and rows fit; zero before the screen has a size.
func (s *Screen) Cells() image.Point { return s.cells }

// SetQuiet says that the size changes for another reason than a person.
func (s *Screen) SetQuiet(on bool) { s.quiet = on }

// Title is what the program calls itself.
func (s *Screen) Title() string { return s.paint.view.Title }

// Held is how long the program still holds back what it draws; the screen is
// to be redrawn after it. 0: it does not.
func (s *Screen) Held() time.Duration { return s.held }

// Keyboard is the keyboard here.
func (s *Screen) Keyboard() *keyboard.Keyboard { return s.keys }

// TextSize is the size of the text in units of the canvas.
func (s *Screen) TextSize() float32 { return s.size }

// SetTextSize changes the size of the text.
func (s *Screen) SetTextSize(size float32) {
	size = min(max(size, MinSize), MaxSize)
	if size == s.size {
		return
	}
	s.size = size
	s.newGlyphs()
}

// Scheme is the id of the colours.
func (s *Screen) Scheme() string { return s.scheme }

// SetScheme changes the colours.
func (s *Screen) SetScheme(id string) {
	s.scheme = id
	s.recolor()
}

// recolor takes the colours of the scheme, and of the look as it is now.
func (s *Screen) recolor() {
	if sc := schemeOf(s.scheme, dark()); sc != s.paint.scheme {
		s.paint.setScheme(sc)
		s.told()
		s.show()
	}
}

// told tells the terminal what it is painted with, for programs that ask.
func (s *Screen) told() {
	s.grid.SetScheme(s.paint.scheme.told())
	s.grid.SetCellSize(s.paint.glyphs.cell.X, s.paint.glyphs.cell.Y)
}

func (s *Screen) newGlyphs() {
	s.unit = s.scale()
	s.paint.setGlyphs(newGlyphs(float64(s.size*s.unit), s.fonts.Post))
	s.told()
	s.place()
	s.show()
}

// complement draws characters anew that the system has fonts for.
func (s *Screen) complement() {
	if !s.closed && s.paint.glyphs.complement(false) {
		s.paint.all()
		s.show()
	}
}

// SetShown tells whether the screen can be seen. Nothing is drawn while it
// cannot.
func (s *Screen) SetShown(on bool) {
	s.shown = on
	if on {
		s.Redraw()
		return
	}
	s.stopBlinking()
	s.stopDragging()
}

// Close ends the screen.
func (s *Screen) Close() {
	s.SetShown(false)
	s.closed = true
	s.label.stop()
	s.watch.Close()
	s.box.RemoveAll()
	s.rows = nil
}

// Redraw shows what has changed in the terminal.
func (s *Screen) Redraw() {
	if s.closed || !s.shown {
		return
	}
	caret := s.paint.view.Caret
	changed := s.paint.update()
	s.held = s.paint.view.Held
	if now := s.paint.view.Caret; now.X != caret.X || now.Y != caret.Y {
		s.stir()
	}
	if changed {
		s.finder.follow()
	}
	s.show()
}

// show has the rows drawn that are not as they should be.
func (s *Screen) show() {
	if s.closed || !s.shown {
		return
	}
	v := &s.paint.view
	if v.Rows == 0 {
		return
	}
	var drawn []int
	anew := s.paint.paint(func(y int) { drawn = append(drawn, y) })
	size := int64(s.paint.image.Stride * s.paint.glyphs.cell.Y)
	if len(drawn) > 0 {
		s.stats.Redraws++
		s.stats.Rows += len(drawn)
		s.stats.Bytes += size * int64(len(drawn))
	}
	if anew || len(s.rows) != v.Rows {
		s.layRows()
	} else {
		for _, y := range drawn {
			s.rows[y].Refresh()
		}
	}
	if c := s.paint.colors.ground; s.ground.FillColor != c.color() {
		s.ground.FillColor = c.color()
		s.ground.Refresh()
	}
	s.bar.Set(v.Scrollback > 0, v.Rows, v.Scrollback+v.Rows, v.Scrollback-v.Back)
	s.beginBlinking()
}

// layRows makes the images that show the rows.
func (s *Screen) layRows() {
	cell, unit := s.paint.glyphs.cell, s.unit
	s.rows = s.rows[:0]
	s.box.Objects = s.box.Objects[:0]
	w, h := float32(s.paint.image.Rect.Dx())/unit, float32(cell.Y)/unit
	for y := range s.paint.view.Rows {
		row := canvas.NewImageFromImage(s.paint.pixels(y))
		row.FillMode = canvas.ImageFillStretch
		row.ScaleMode = canvas.ImageScaleFastest
		row.Move(fyne.NewPos(0, float32(y*cell.Y)/unit))
		row.Resize(fyne.NewSize(w, h))
		s.rows = append(s.rows, row)
		s.box.Objects = append(s.box.Objects, row)
	}
	s.box.Refresh()
}

// place puts everything into the screen as large as it is now.
func (s *Screen) place() {
	size := s.Size()
	s.ground.Resize(size)
	s.flash.Resize(size)
	s.clip.Move(fyne.NewPos(margin, margin))
	s.clip.Resize(fyne.NewSize(max(size.Width-margin, 0), max(size.Height-margin, 0)))
	s.box.Resize(s.clip.Size())
	s.bar.Move(fyne.NewPos(size.Width-look.ScrollThickness, 0))
	s.bar.Resize(fyne.NewSize(look.ScrollThickness, size.Height))
	s.finder.place(size)
	s.label.place(size)
	cell := s.paint.glyphs.cell
	fit := func(room float32, cell int) int { return int(math.Floor(float64(room*s.unit)+0.01)) / cell }
	cells := image.Pt(max(fit(size.Width-2*margin-look.ScrollThickness, cell.X), 2), max(fit(size.Height-2*margin, cell.Y), 1))
	if size.Width < 40 || size.Height < 30 || cells == s.cells {
		return
	}
	first := s.cells == image.Point{}
	s.cells = cells
	if !first && !s.quiet {
		s.label.show(cells)
	}
	s.config.Placed()
}

// scrollTo shows the rows from one of the scrollback on.
func (s *Screen) scrollTo(row int) {
	v := &s.paint.view
	s.scroll(v.Scrollback - row - v.Back)
}

// scroll moves back by n rows, or forward.
func (s *Screen) scroll(n int) {
	s.paint.view.Scroll(n)
	s.Redraw()
}

// bottom shows what the program shows now.
func (s *Screen) bottom() {
	if s.paint.view.Back > 0 {
		s.scroll(-grid.MaxScrollback)
	}
}

// Flash shows that the bell has rung.
func (s *Screen) Flash() {
	if s.closed || !s.shown || s.flash.Visible() {
		return
	}
	c := s.paint.colors.text.color()
	c.A = 0x48
	s.flash.FillColor = c
	s.flash.Show()
	time.AfterFunc(flashTime, func() {
		s.config.Fence.Go(func() { s.flash.Hide() })
	})
}

// flashTime is how long the bell is seen.
const flashTime = 120 * time.Millisecond

// GrabFocus takes the keyboard.
func (s *Screen) GrabFocus() {
	if s.Visible() && s.config.Canvas.Overlays().Top() == nil && s.config.Canvas.Focused() != fyne.Focusable(s) {
		s.config.Canvas.Focus(s)
	}
}

// Drop gives the keyboard up: there is nothing to type to any more. What is
// shown can still be read, selected and copied.
func (s *Screen) Drop() { s.LetGo() }

// LetGo releases everything held.
func (s *Screen) LetGo() {
	s.stopDragging()
	held := s.mouse.held != 0 || s.keys.Held() > 0
	s.mouse.held = 0
	s.keys.Reset()
	s.local.reset()
	if held {
		s.config.Leave()
	}
}

// FocusGained is called by the toolkit.
func (s *Screen) FocusGained() {
	if s.config.Forget != nil {
		s.config.Forget()
	}
	s.setFocused(true)
}

// FocusLost is called by the toolkit.
func (s *Screen) FocusLost() {
	s.LetGo()
	s.setFocused(false)
}

func (s *Screen) setFocused(on bool) {
	s.focused, s.paint.focused = on, on
	if !on {
		s.stopBlinking()
	}
	s.stir()
	if s.paint.view.Modes.Focus {
		s.config.Input(viewer.Focus{In: on})
	}
	s.config.Focused(on)
	s.show()
}

// MinSize is small: the terminal takes what there is.
func (s *Screen) MinSize() fyne.Size { return fyne.NewSize(80, 60) }

// CreateRenderer is called by the toolkit.
func (s *Screen) CreateRenderer() fyne.WidgetRenderer {
	return &renderer{s, []fyne.CanvasObject{s.ground, s.clip, s.bar, s.flash, s.label.object, s.finder.object}}
}

type renderer struct {
	s       *Screen
	objects []fyne.CanvasObject
}

// Layout is called by the toolkit.
func (r *renderer) Layout(fyne.Size) { r.Refresh() }

// MinSize is called by the toolkit.
func (r *renderer) MinSize() fyne.Size { return r.s.MinSize() }

// Refresh is called by the toolkit, for example when the scale or the look has
// changed.
func (r *renderer) Refresh() {
	if r.s.scale() != r.s.unit {
		r.s.newGlyphs()
	}
	r.s.recolor()
	r.s.place()
}

// Objects is called by the toolkit.
func (r *renderer) Objects() []fyne.CanvasObject { return r.objects }

// Destroy is called by the toolkit.
func (r *renderer) Destroy() {}
