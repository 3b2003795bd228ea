package ui

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/app/ui/picture"
	"deskvnc/viewer"
)

// A toolbar is the row under the tabs: what the shown session is, and the
// buttons for it.
type toolbar struct {
	w           *Window
	object      *fyne.Container
	name        *look.Text
	about       *look.Text
	plain       *look.Text // the mark of a connection that is not encrypted
	fit, actual *look.Button
	keys, view  *look.Button
	files       *look.Button
	shot, full  *look.Button
	extra       *fyne.Container // the buttons that the menu has too
	names       *fyne.Container // what the session is
	wheel       *wheelText      // or who drives it
}

func newToolbar(w *Window) *toolbar {
	t := &toolbar{
		w:     w,
		name:  look.NewText("", theme.ColorNameForeground, theme.SizeNameText, true),
		about: look.NewText("", look.ColorMuted, theme.SizeNameText, false),
		plain: look.NewText("Not encrypted", theme.ColorNameWarning, theme.SizeNameCaptionText, false),
	}
	t.fit = w.bareButton("view.fit", "Fit", nil)
	t.actual = w.bareButton("view.actualSize", "1:1", nil)
	t.keys = look.NewButton("Keys", theme.MenuDropDownIcon(), nil, w.hint("Send keys"))
	t.keys.IconPlacement = widget.ButtonIconTrailingText
	t.keys.OnTapped = func() { w.popUp(w.menuOf("Keys"), t.keys) }
	t.view = w.bareButton("session.viewOnly", "", theme.VisibilityIcon())
	t.files = w.bareButton("session.files", "Files", nil)
	t.shot = w.bareButton("session.screenshot", "", theme.MediaPhotoIcon())
	t.full = w.bareButton("view.fullscreen", "", theme.ViewFullScreenIcon())
	t.extra = container.NewHBox(t.fit, t.actual, separator(), t.files, t.keys, t.view, t.shot)
	right := container.NewHBox(t.extra, t.full)
	t.names = container.New(names{}, t.name, t.about, t.plain)
	t.wheel = newWheelText(w)
	left := container.NewStack(t.names, t.wheel.object)
	t.object = container.NewStack(look.NewGround(theme.ColorNameBackground), container.NewBorder(nil, line(), nil, container.New(look.Inset{2, 2, 2, 2}, right), left))
	return t
}

// separator is a thin upright line between groups of buttons.
func separator() fyne.CanvasObject {
	return container.New(look.Inset{7, 3, 7, 3}, container.New(fixed{1, 12}, look.NewGround(look.ColorBorder)))
}

// line is a thin line under a bar.
func line() fyne.CanvasObject { return container.New(fixed{1, 1}, look.NewGround(look.ColorBorder)) }

// fixed is a layout with a least width and height.
type fixed [2]float32

// Layout is called by the toolkit.
func (f fixed) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Resize(size)
	}
}

// MinSize is called by the toolkit.
func (f fixed) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(f[0], f[1]) }

// names is the layout of the toolbar's texts: name, what it is, and the mark,
// each as wide as it is; with little room the middle goes first.
type names struct{}

// Layout is called by the toolkit.
func (names) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	name, about, mark := objects[0].(*look.Text), objects[1].(*look.Text), objects[2].(*look.Text)
	const left = 6
	room := max(size.Width-left, 0)
	markW := float32(0)
	if mark.Visible() {
		markW = mark.Natural()
	}
	nameW := min(name.Natural(), max(room-markW, 40))
	if nameW+markW > room { // not even these: the mark goes
		markW = max(room-nameW, 0)
	}
	aboutW := min(about.Natural(), max(room-nameW-markW, 0))
	if aboutW < 50 {
		aboutW = 0
	}
	x := float32(left)
	for _, p := range []struct {
		t *look.Text
		w float32
	}{{name, nameW}, {about, aboutW}, {mark, markW}} {
		h := p.t.MinSize().Height
		p.t.Move(fyne.NewPos(x, (size.Height-h)/2))
		p.t.Resize(fyne.NewSize(p.w, h))
		x += p.w
	}
}

// MinSize is called by the toolkit.
func (names) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(60, objects[0].MinSize().Height)
}

// bareButton is a flat button that runs a command.
func (w *Window) bareButton(id, text string, icon fyne.Resource) *look.Button {
	c, _ := w.commands.Command(id)
	hint := c.Label
	if r := shortcutOf(c); r != "" {
		hint += "  (" + r + ")"
	}
	return look.NewButton(text, icon, func() { w.invoke(id, nil); w.FocusPane() }, w.hint(hint))
}

// update shows the selected session.
func (t *toolbar) update() {
	s := t.w.selected
	if s == nil || t.w.full {
		t.object.Hide()
		return
	}
	t.object.Show()
	t.name.SetText(s.title())
	about := s.session.Target().HostPort()
	if about == s.title() {
		about = ""
	}
	if s.person.ViewOnly() {
		about = strings.TrimPrefix(about+"  ·  View only", "  ·  ")
	}
	t.about.SetText(about)
	live := s.session.State().Phase == viewer.Connected
	if t.wheel.show(s.wheel) {
		t.wheel.object.Show()
		t.names.Hide()
	} else {
		t.wheel.object.Hide()
		t.names.Show()
	}
	if live && !s.session.Encrypted() {
		t.plain.Show()
	} else {
		t.plain.Hide()
	}
	t.fit.SetOn(s.pane.Mode() == picture.Fit)
	t.actual.SetOn(s.pane.Mode() == picture.Actual)
	t.view.SetOn(s.person.ViewOnly())
	t.files.SetOn(s.files.shown)
	for _, b := range []*look.Button{t.fit, t.actual, t.shot} { // of a picture
		if s.screen() != nil {
			b.Hide()
		} else {
			b.Show()
		}
	}
	for _, b := range []*look.Button{t.keys, t.shot} {
		if live {
			b.Enable()
		} else {
			b.Disable()
		}
	}
	t.object.Refresh()
}

// adapt makes room for who drives when the window is narrow.
func (t *toolbar) adapt(width float32) {
	const narrow = 560
	if width < narrow && t.wheel.object.Visible() {
		t.extra.Hide()
	} else {
		t.extra.Show()
	}
}

// spacer takes what room is left.
func spacer() fyne.CanvasObject { return layout.NewSpacer() }
