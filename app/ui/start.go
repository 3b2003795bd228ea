package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/control/command"
	"deskvnc/viewer"
)

// startWidth is how wide the start page is when there is room.
const startWidth = 560

// A startPage is what is shown without a session: the connect bar, the sample
// machines and the machines of before.
type startPage struct {
	w      *Window
	object *fyne.Container
	bar    *connectEntry
	fault  *widget.RichText
	list   *fyne.Container // samples and recent machines
}

// column is a layout of one object in a column of bounded width.
type column struct{}

// Layout is called by the toolkit.
func (column) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	w := min(startWidth, size.Width)
	for _, o := range objects {
		o.Move(fyne.NewPos((size.Width-w)/2, 0))
		o.Resize(fyne.NewSize(w, size.Height))
	}
}

// MinSize is called by the toolkit.
func (column) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(200, objects[0].MinSize().Height)
}

func newStartPage(w *Window) *startPage {
	s := &startPage{w: w, fault: look.NewParagraph("", theme.ColorNameError, theme.SizeNameText), list: container.NewVBox()}
	s.bar = newConnectEntry(w.typedChord)
	s.bar.SetPlaceHolder("Address of a machine")
	s.bar.OnSubmitted = func(string) { s.connect() }
	s.bar.OnChanged = func(string) { s.fault.Hide() }
	s.fault.Hide()
	connect := widget.NewButton("Connect", s.connect)
	connect.Importance = widget.HighImportance
	icon := canvas.NewImageFromResource(Icon)
	icon.FillMode = canvas.ImageFillContain
	icon.SetMinSize(fyne.NewSize(44, 44))
	head := container.NewBorder(nil, nil, icon, nil, container.New(look.Inset{2, 0, 2, 6}, container.NewVBox(
		look.NewText("DeskVNC", theme.ColorNameForeground, theme.SizeNameHeadingText, true),
	)))
	hint := look.NewParagraph("host · host:1 for display 1 · host::5901 for a port · [::1]:5901 · vnc://user@host", look.ColorMuted, theme.SizeNameCaptionText)
	body := container.NewVBox(head, gap(8), container.NewBorder(nil, nil, nil, connect, s.bar), s.fault, hint, gap(10), s.list)
	s.object = container.NewStack(look.NewGround(theme.ColorNameBackground), container.NewVScroll(container.New(column{}, container.New(look.Inset{36, 16, 24, 16}, body))))
	return s
}

func gap(h float32) fyne.CanvasObject {
	r := canvas.NewRectangle(color.Transparent)
	r.SetMinSize(fyne.NewSize(1, h))
	return r
}

// connect opens what was typed; what is wrong with it is said under the bar.
func (s *startPage) connect() {
	if _, err := s.w.commands.Invoke("session.quickConnect", command.Params{"target": s.bar.Text}); err != nil {
		s.fail(reason(err))
		return
	}
	s.bar.SetText("")
}

func (s *startPage) fail(text string) {
	look.SetParagraph(s.fault, text, theme.ColorNameError)
	s.fault.Show()
	s.object.Refresh()
	s.focus()
}

// fill puts a target into the bar for a person to change.
func (s *startPage) fill(t viewer.Target) {
	s.bar.SetText(targetText(t))
	s.bar.CursorColumn = len([]rune(s.bar.Text))
	s.bar.Refresh()
	s.focus()
}

// targetText is a target as a person would type it.
func targetText(t viewer.Target) string {
	text := t.HostPort()
	if t.Protocol == viewer.VNC && t.Port < 100 {
		text = (&viewer.Target{Address: t.Address, Port: t.Port}).HostPort()
		text = text[:len(text)-len(itoa(t.Port))-1] + "::" + itoa(t.Port) // a port, not a display
	}
	if t.User != "" || t.Protocol != viewer.VNC {
		user := ""
		if t.User != "" {
			user = t.User + "@"
		}
		text = string(t.Protocol) + "://" + user + text
	}
	return text
}

// focus gives the connect bar the keyboard.
func (s *startPage) focus() {
	if c := s.w.win.Canvas(); c != nil && s.object.Visible() && c.Content() != nil {
		c.Focus(s.bar)
	}
}

// update lists the sample machines and the recent ones.
func (s *startPage) update() {
	s.list.RemoveAll()
	if n := len(s.w.config.Samples); n > 0 {
		s.list.Add(look.NewText("Try it", look.ColorMuted, theme.SizeNameText, true))
		for _, t := range s.w.config.Samples {
			name := "Sample desktop"
			if n > 1 {
				name = t.Label()
			}
			s.list.Add(newRow(theme.ComputerIcon(), name, "A desktop drawn by this program, to look around without a machine", func() { s.open(t) }))
		}
		s.list.Add(gap(8))
	}
	if len(s.w.recent) > 0 {
		s.list.Add(look.NewText("Recent", look.ColorMuted, theme.SizeNameText, true))
		for _, t := range s.w.recent {
			s.list.Add(newRow(theme.HistoryIcon(), t.Label(), targetText(t), func() { s.open(t) }))
		}
	}
	s.list.Refresh()
}

// open goes to a machine of the list: to its session when one is open.
func (s *startPage) open(t viewer.Target) {
	for _, tab := range s.w.tabs {
		if same(tab.session.Target(), t) {
			s.w.choose(tab)
			return
		}
	}
	if _, err := s.w.open(t, command.Params{"wait": false}); err != nil {
		s.fail(reason(err))
	}
}

// A connectEntry is the line an address is typed into.
type connectEntry struct {
	widget.Entry
	chord func(fyne.Shortcut) bool
}

func newConnectEntry(chord func(fyne.Shortcut) bool) *connectEntry {
	e := &connectEntry{chord: chord}
	e.ExtendBaseWidget(e)
	return e
}

// TypedShortcut is called by the toolkit: the viewer's chords work here too.
func (e *connectEntry) TypedShortcut(s fyne.Shortcut) {
	if !e.chord(s) {
		e.Entry.TypedShortcut(s)
	}
}

// A row is a machine of the list, to be clicked.
type row struct {
	widget.BaseWidget
	do      func()
	content fyne.CanvasObject
	ground  *look.Ground
}

var _ desktop.Hoverable = (*row)(nil)

func newRow(icon fyne.Resource, name, about string, do func()) *row {
	r := &row{do: do, ground: look.NewPanel(look.ColorCard, look.ColorBorder, 8)}
	i := widget.NewIcon(icon)
	text := container.New(tight{}, look.NewText(name, theme.ColorNameForeground, theme.SizeNameText, true), look.NewText(about, look.ColorMuted, theme.SizeNameCaptionText, false))
	r.content = container.NewStack(r.ground, container.New(look.Inset{4, 8, 6, 12}, container.NewBorder(nil, nil, container.NewVBox(spacer(), i, spacer()), nil, text)))
	r.ExtendBaseWidget(r)
	return r
}

// tight puts lines of text close under each other.
type tight struct{}

const tightOverlap = 9

// Layout is called by the toolkit.
func (tight) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	var y float32
	for _, o := range objects {
		h := o.MinSize().Height
		o.Move(fyne.NewPos(0, y))
		o.Resize(fyne.NewSize(size.Width, h))
		y += h - tightOverlap
	}
}

// MinSize is called by the toolkit.
func (tight) MinSize(objects []fyne.CanvasObject) fyne.Size {
	m := fyne.NewSize(60, tightOverlap)
	for _, o := range objects {
		m.Height += o.MinSize().Height - tightOverlap
	}
	return m
}

// CreateRenderer is called by the toolkit.
func (r *row) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(r.content) }

// Tapped is called by the toolkit.
func (r *row) Tapped(*fyne.PointEvent) { r.do() }

// MouseIn is called by the toolkit.
func (r *row) MouseIn(*desktop.MouseEvent) {
	r.ground.SetColors(theme.ColorNameButton, look.ColorBorder)
}

// MouseMoved is called by the toolkit.
func (r *row) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is called by the toolkit.
func (r *row) MouseOut() { r.ground.SetColors(look.ColorCard, look.ColorBorder) }

// Cursor is called by the toolkit.
func (r *row) Cursor() desktop.Cursor { return desktop.PointerCursor }
