package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
)

// A fullBar is the way out of full screen: a thin grip at the middle of the
// upper edge that opens under the pointer, and stays open while the pointer is
// on it. It is open from the start, until the person does something else.
type fullBar struct {
	w      *Window
	object *fyne.Container // grip and bar, one of them shown
	grip   *grip
	bar    *fyne.Container
	name   *look.Text
	open   bool
	inside bool

	note    *fyne.Container // what the status line would say
	message *look.Text
}

func newFullBar(w *Window) *fullBar {
	f := &fullBar{w: w, name: look.NewText("", theme.ColorNameForeground, theme.SizeNameText, true)}
	f.grip = newGrip(f.hover)
	on := func(id, text string, icon fyne.Resource) *look.Button {
		b := look.NewButton(text, icon, func() { w.invoke(id, nil); w.FocusPane() }, f.hover)
		return b
	}
	c, _ := w.commands.Command("view.fullscreen")
	leave := on("view.fullscreen", "Leave  ("+shortcutOf(c)+")", theme.ViewRestoreIcon())
	menu := look.NewButton("", theme.MenuIcon(), nil, f.hover)
	menu.OnTapped = func() { w.showMenu(menu) }
	buttons := container.NewHBox(on("view.fit", "Fit", nil), on("view.actualSize", "1:1", nil), menu, leave)
	f.message = look.NewText("", theme.ColorNameForeground, theme.SizeNameText, false)
	f.note = container.NewStack(look.NewPanel(look.ColorBar, look.ColorBorder, 8), container.New(look.Inset{0, 6, 0, 6}, f.message))
	f.note.Hide()
	f.bar = container.NewStack(newHoverGround(f.hover), container.New(look.Inset{3, 6, 3, 6}, container.NewBorder(nil, nil, nil, buttons, container.NewVBox(spacer(), f.name, spacer()))))
	f.object = container.NewWithoutLayout(f.grip, f.bar, f.note)
	f.object.Hide()
	return f
}

// place puts the bar at the upper edge of the window.
func (f *fullBar) place(size fyne.Size) {
	f.object.Move(fyne.Position{})
	f.object.Resize(fyne.NewSize(size.Width, 1))
	const gripWidth, gripHeight = 120, 6
	f.grip.Move(fyne.NewPos((size.Width-gripWidth)/2, 0))
	f.grip.Resize(fyne.NewSize(gripWidth, gripHeight))
	least := f.bar.MinSize()
	width := min(max(least.Width+min(f.name.Natural(), 260), least.Width), size.Width)
	f.bar.Move(fyne.NewPos((size.Width-width)/2, 0))
	f.bar.Resize(fyne.NewSize(width, least.Height))
	if f.note.Visible() {
		wide, at := min(f.message.Natural()+14, size.Width), float32(4)
		if f.open {
			at += least.Height
		}
		f.note.Resize(fyne.NewSize(wide, f.note.MinSize().Height))
		f.note.Move(fyne.NewPos((size.Width-wide)/2, at))
	}
}

// say shows in full screen what the status line says, until the person does
// something.
func (f *fullBar) say(text string, trouble bool) {
	if !f.w.full || text == "" {
		f.note.Hide()
		return
	}
	f.message.SetText(text)
	f.message.SetColor(theme.ColorNameForeground)
	if trouble {
		f.message.SetColor(theme.ColorNameError)
	}
	f.note.Show()
	f.update()
}

// enter shows the bar at the beginning of full screen.
func (f *fullBar) enter() { f.inside = false; f.set(true) }

func (f *fullBar) set(open bool) {
	f.open = open
	f.update()
}

func (f *fullBar) update() {
	if !f.w.full || f.w.selected == nil {
		f.object.Hide()
		return
	}
	f.name.SetText(f.w.selected.title())
	f.object.Show()
	if f.open {
		f.grip.Hide()
		f.bar.Show()
	} else {
		f.bar.Hide()
		f.grip.Show()
	}
	f.place(f.w.chrome.Size())
	f.object.Refresh()
}

// hover follows the pointer over the bar and its buttons. Going from one to
// the other leaves the first before it enters the second, so what counts is
// how it stands after that.
func (f *fullBar) hover(on bool) {
	f.inside = on
	f.w.fence.Go(func() {
		if f.w.full && f.open != f.inside {
			f.set(f.inside)
		}
	})
}

// used says that the person does something at the session.
func (f *fullBar) used() {
	if f.note.Visible() {
		f.note.Hide()
	}
	if f.open && !f.inside {
		f.set(false)
	}
}

// A grip is a thin line that opens the bar.
type grip struct {
	widget.BaseWidget
	hover func(bool)
	rect  *canvas.Rectangle
}

func newGrip(hover func(bool)) *grip {
	g := &grip{hover: hover, rect: canvas.NewRectangle(look.Color(look.ColorMuted))}
	g.rect.CornerRadius = 3
	g.ExtendBaseWidget(g)
	return g
}

// MouseIn is called by the toolkit.
func (g *grip) MouseIn(*desktop.MouseEvent) { g.hover(true) }

// MouseMoved is called by the toolkit.
func (g *grip) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is called by the toolkit.
func (g *grip) MouseOut() { g.hover(false) }

// CreateRenderer is called by the toolkit.
func (g *grip) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(g.rect) }

// A hoverGround is the ground of the bar, which knows when the pointer is on
// it.
type hoverGround struct {
	look.Ground
	hover func(bool)
}

func newHoverGround(hover func(bool)) *hoverGround {
	g := &hoverGround{Ground: *look.NewPanel(look.ColorBar, look.ColorBorder, 8), hover: hover}
	g.ExtendBaseWidget(g)
	return g
}

// MouseIn is called by the toolkit.
func (g *hoverGround) MouseIn(*desktop.MouseEvent) { g.hover(true) }

// MouseMoved is called by the toolkit.
func (g *hoverGround) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is called by the toolkit.
func (g *hoverGround) MouseOut() { g.hover(false) }

// MouseDown is called by the toolkit: a click on the bar is not for the
// picture under it.
func (g *hoverGround) MouseDown(*desktop.MouseEvent) {}

// MouseUp is called by the toolkit.
func (g *hoverGround) MouseUp(*desktop.MouseEvent) {}

// setFull goes to full screen and back.
func (w *Window) setFull(on bool) {
	if w.full == on {
		return
	}
	w.full = on
	if on {
		w.top.Hide()
		w.status.object.Hide()
		w.panel.Object().Hide()
	} else {
		w.top.Show()
		w.status.object.Show()
		w.handle.say("", false)
		if w.panelOn {
			w.panel.Object().Show()
		}
	}
	w.win.SetFullScreen(on)
	w.handle.enter()
	w.update()
	w.updateAgents()
}
