package ui

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/control/command"
)

// keyNames are the toolkit's names of the keys of chords, where they differ.
var keyNames = map[string]fyne.KeyName{"Space": fyne.KeySpace, "End": fyne.KeyEnd, "Insert": fyne.KeyInsert}

// toolkitShortcut is a chord as the toolkit names it.
func toolkitShortcut(c command.Chord) *desktop.CustomShortcut {
	s := &desktop.CustomShortcut{KeyName: fyne.KeyName(c.Key)}
	if n, ok := keyNames[c.Key]; ok {
		s.KeyName = n
	}
	if c.Ctrl {
		s.Modifier |= fyne.KeyModifierControl
	}
	if c.Alt {
		s.Modifier |= fyne.KeyModifierAlt
	}
	if c.Shift {
		s.Modifier |= fyne.KeyModifierShift
	}
	return s
}

// shortcutOf is the first chord of a command for a person, or "".
func shortcutOf(c *command.Command) string {
	if len(c.Shortcuts) == 0 {
		return ""
	}
	chord, err := command.ParseChord(c.Shortcuts[0].Chord)
	if err != nil {
		return ""
	}
	return chord.String()
}

// chord runs the command of a key pressed with the viewer's prefix while a
// session has the keyboard; see [keyboard.Config].
func (w *Window) chord(cap string, run bool) bool {
	c, p, ok := w.commands.Chord(command.ViewerChord(cap))
	if ok && run {
		w.invoke(c.ID, p)
	}
	return ok
}

// typedChord runs the command of a toolkit shortcut, if there is one.
func (w *Window) typedChord(s fyne.Shortcut) bool {
	for _, c := range w.commands.Commands() {
		for _, sc := range c.Shortcuts {
			chord, err := command.ParseChord(sc.Chord)
			if err == nil && toolkitShortcut(chord).ShortcutName() == s.ShortcutName() {
				w.invoke(c.ID, sc.Params)
				return true
			}
		}
	}
	return false
}

// addShortcuts makes the chords work also while no session has the keyboard.
func (w *Window) addShortcuts() {
	for _, c := range w.commands.Commands() {
		for _, sc := range c.Shortcuts {
			chord, err := command.ParseChord(sc.Chord)
			if err != nil {
				continue
			}
			w.win.Canvas().AddShortcut(toolkitShortcut(chord), func(fyne.Shortcut) { w.invoke(c.ID, sc.Params) })
		}
	}
}

// menu is the menu of all commands that have a place in it, with what cannot
// be done now greyed and what is on ticked. Each word of a place is a menu in
// the one before.
func (w *Window) menu() *fyne.Menu {
	m := fyne.NewMenu("")
	for _, c := range w.commands.Commands() {
		if len(c.Menu) == 0 {
			continue
		}
		if c.Bare() {
			in := w.submenu(m, c.Menu)
			in.Items = append(in.Items, w.menuItem(c))
		}
		for _, v := range w.variants(c) {
			in := w.submenu(m, c.Menu)
			item := fyne.NewMenuItem(v.label, func() { w.invoke(c.ID, v.params) })
			item.Disabled, item.Checked = w.commands.Enabled(c.ID, nil) != nil, v.on
			in.Items = append(in.Items, item)
		}
	}
	return m
}

// submenu is the menu at a place, made when it is not there.
func (w *Window) submenu(m *fyne.Menu, place []string) *fyne.Menu {
	for _, name := range place {
		i := slices.IndexFunc(m.Items, func(o *fyne.MenuItem) bool { return o.ChildMenu != nil && o.Label == name })
		if i < 0 {
			i = len(m.Items)
			item := fyne.NewMenuItem(name, nil)
			item.ChildMenu = fyne.NewMenu(name)
			m.Items = append(m.Items, item)
		}
		m = m.Items[i].ChildMenu
	}
	return m
}

// menuOf is the menu at one place alone.
func (w *Window) menuOf(place string) *fyne.Menu { return w.submenu(w.menu(), []string{place}) }

// menuItem is a command in a menu.
func (w *Window) menuItem(c *command.Command) *fyne.MenuItem {
	item := fyne.NewMenuItem(c.Label, func() { w.invoke(c.ID, nil) })
	item.Disabled = w.commands.Enabled(c.ID, nil) != nil
	item.Checked = c.On != nil && c.On()
	if len(c.Shortcuts) > 0 {
		if chord, err := command.ParseChord(c.Shortcuts[0].Chord); err == nil {
			item.Shortcut = toolkitShortcut(chord)
		}
	}
	return item
}

// showMenu opens the menu under a button.
func (w *Window) showMenu(under fyne.CanvasObject) { w.popUp(w.menu(), under) }

// popUp opens a menu under a button. The session lets go of the keyboard
// meanwhile.
func (w *Window) popUp(m *fyne.Menu, under fyne.CanvasObject) {
	w.LetGo()
	c := w.win.Canvas()
	pop := widget.NewPopUpMenu(m, c)
	pop.OnDismiss = func() {
		pop.Hide()
		w.FocusPane()
	}
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(under)
	min := pop.MinSize()
	pop.ShowAtPosition(fyne.NewPos(max(at.X+under.Size().Width-min.Width-4, 0), at.Y+under.Size().Height))
}

// showModal shows a card over the window until it is closed, with more buttons
// beside the one that closes it.
func (w *Window) showModal(title string, content fyne.CanvasObject, more ...*look.Choice) {
	w.LetGo()
	w.closeModal()
	end := look.NewChoice("Close", widget.HighImportance, func() { w.closeModal(); w.FocusPane() })
	end.OnEscape = end.OnTapped
	head := look.NewText(title, theme.ColorNameForeground, theme.SizeNameSubHeadingText, true)
	head.SetMinWidth(min(head.Natural(), 480))
	buttons := container.NewHBox(spacer())
	for _, b := range more {
		b.OnEscape = end.OnTapped
		buttons.Add(b)
	}
	buttons.Add(end)
	pop := widget.NewModalPopUp(container.New(look.Inset{8, 12, 8, 12}, container.NewBorder(head, buttons, nil, nil, content)), w.win.Canvas())
	w.modal = pop
	w.fitModal()
	pop.Show()
	w.win.Canvas().Focus(end)
}

// fitModal gives the card the size of what is in it, as far as there is room.
func (w *Window) fitModal() {
	size, want := w.win.Canvas().Size(), w.modal.MinSize()
	w.modal.Resize(fyne.NewSize(min(max(want.Width, 320), size.Width-24), min(want.Height, size.Height-24)))
}

// A cardEntry is a line on a card: Escape closes the card.
type cardEntry struct {
	widget.Entry
	escape func()
}

func newCardEntry(escape func()) *cardEntry {
	e := &cardEntry{escape: escape}
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey is called by the toolkit.
func (e *cardEntry) TypedKey(ev *fyne.KeyEvent) {
	if ev.Name == fyne.KeyEscape {
		e.escape()
		return
	}
	e.Entry.TypedKey(ev)
}

// column is a layout of things below each other, of a width.
type column float32

// Layout is called by the toolkit.
func (c column) Layout(objects []fyne.CanvasObject, size fyne.Size) { c.lay(objects, size.Width) }

// lay puts the objects and returns how high they are.
func (c column) lay(objects []fyne.CanvasObject, width float32) (y float32) {
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		o.Resize(fyne.NewSize(width, o.Size().Height)) // wrapped text knows its height only then
		h := o.MinSize().Height
		o.Resize(fyne.NewSize(width, h))
		o.Move(fyne.NewPos(0, y))
		y += h + theme.Padding()
	}
	return y
}

// MinSize is called by the toolkit.
func (c column) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(float32(c), c.lay(objects, float32(c)))
}

// closeModal takes the card away, if there is one.
func (w *Window) closeModal() {
	if w.modal != nil {
		w.modal.Hide()
		w.modal = nil
		if w.modalEnd != nil {
			w.modalEnd()
			w.modalEnd = nil
		}
	}
}

// showAbout tells what the program is.
func (w *Window) showAbout() {
	icon := canvas.NewImageFromResource(Icon)
	icon.FillMode = canvas.ImageFillContain
	icon.SetMinSize(fyne.NewSize(64, 64))
	line := func(s string, c fyne.ThemeColorName) *look.Text {
		t := look.NewText(s, c, theme.SizeNameText, false)
		t.SetMinWidth(t.Natural())
		return t
	}
	w.showModal("DeskVNC "+w.config.Version, container.NewBorder(nil, nil, container.NewVBox(icon), nil, container.NewVBox(
		line("A viewer for machines reached over the network,", theme.ColorNameForeground),
		line("shared by a person and an agent.", theme.ColorNameForeground),
		line("Apache License 2.0", look.ColorMuted),
	)))
}

// A shortcutLine is one chord and what it does.
type shortcutLine struct {
	Chord   string `json:"chord"`
	Command string `json:"command"`
	Label   string `json:"label"`
}

// shortcutList lists the chords.
func (w *Window) shortcutList() []shortcutLine {
	out := []shortcutLine{}
	for _, c := range w.commands.Commands() {
		for i, sc := range c.Shortcuts {
			chord, err := command.ParseChord(sc.Chord)
			if err != nil || i > 0 && c.ID == "session.select" {
				continue
			}
			text := chord.String()
			if c.ID == "session.select" {
				text = strings.TrimSuffix(text, "1") + "1 to 9"
			}
			out = append(out, shortcutLine{text, c.ID, c.Label})
		}
	}
	return out
}

// showShortcuts lists the chords for a person.
func (w *Window) showShortcuts() {
	grid := container.New(pairs{})
	for _, l := range w.shortcutList() {
		key := look.NewText(strings.TrimPrefix(l.Chord, "Ctrl+Alt+Shift+"), theme.ColorNameForeground, theme.SizeNameText, true)
		what := look.NewText(l.Label, theme.ColorNameForeground, theme.SizeNameText, false)
		key.SetMinWidth(key.Natural())
		what.SetMinWidth(what.Natural())
		grid.Add(key)
		grid.Add(what)
	}
	head := look.NewText("Hold Ctrl+Alt+Shift and press:", look.ColorMuted, theme.SizeNameText, false)
	head.SetMinWidth(head.Natural())
	scroll := container.NewVScroll(grid)
	scroll.SetMinSize(fyne.NewSize(grid.MinSize().Width+12, min(grid.MinSize().Height, max(w.win.Canvas().Size().Height-150, 60))))
	w.showModal("Keyboard shortcuts", container.NewBorder(head, nil, nil, nil, scroll))
}

// pairs is a layout of rows of two.
type pairs struct{}

// Layout is called by the toolkit.
func (pairs) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	left := pairsLeft(objects)
	var y float32
	for i := 0; i+1 < len(objects); i += 2 {
		h := objects[i].MinSize().Height - pairsOverlap
		objects[i].Move(fyne.NewPos(0, y))
		objects[i].Resize(fyne.NewSize(left, h+pairsOverlap))
		objects[i+1].Move(fyne.NewPos(left+8, y))
		objects[i+1].Resize(fyne.NewSize(max(size.Width-left-8, 0), h+pairsOverlap))
		y += h
	}
}

const pairsOverlap = 5

func pairsLeft(objects []fyne.CanvasObject) (left float32) {
	for i := 0; i < len(objects); i += 2 {
		left = max(left, objects[i].MinSize().Width)
	}
	return left
}

// MinSize is called by the toolkit.
func (pairs) MinSize(objects []fyne.CanvasObject) (m fyne.Size) {
	left := pairsLeft(objects)
	for i := 0; i+1 < len(objects); i += 2 {
		m.Width = max(m.Width, left+8+objects[i+1].MinSize().Width)
		m.Height += objects[i].MinSize().Height - pairsOverlap
	}
	m.Height += pairsOverlap
	return m
}
