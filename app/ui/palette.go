package ui

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/control/command"
)

// A palette lists all commands to a person, who types some of a name and
// presses Return.
type palette struct {
	w     *Window
	pop   *widget.PopUp
	entry *paletteEntry
	list  *widget.List
	found []*command.Command
	at    int
}

// paletteEntry is the line that is typed into; the keys that choose are the
// list's.
type paletteEntry struct {
	widget.Entry
	key func(fyne.KeyName) bool
}

// TypedKey is called by the toolkit.
func (e *paletteEntry) TypedKey(ev *fyne.KeyEvent) {
	if !e.key(ev.Name) {
		e.Entry.TypedKey(ev)
	}
}

// AcceptsTab is called by the toolkit: there is nowhere else to go.
func (e *paletteEntry) AcceptsTab() bool { return true }

// paletteRow is the height of a line of the list.
const paletteRow = 30

// showPalette opens the list.
func (w *Window) showPalette() {
	w.LetGo()
	w.closeModal()
	p := &palette{w: w, entry: &paletteEntry{}}
	p.entry.ExtendBaseWidget(p.entry)
	p.entry.SetPlaceHolder("What do you want to do?")
	p.entry.key, p.entry.OnChanged = p.key, func(string) { p.find() }
	p.entry.OnSubmitted = func(string) { p.run() }
	p.list = widget.NewList(func() int { return len(p.found) }, newPaletteLine, p.line)
	p.list.HideSeparators = true
	p.list.OnSelected = func(id widget.ListItemID) {
		if id != p.at { // clicked
			p.at = id
			p.run()
		}
	}
	size := w.win.Canvas().Size()
	width, height := min(size.Width-24, 520), min(size.Height-48, 12*paletteRow)
	content := container.New(look.Inset{6, 6, 6, 6}, container.NewBorder(p.entry, nil, nil, nil, p.list))
	p.pop = widget.NewModalPopUp(content, w.win.Canvas())
	p.pop.Resize(fyne.NewSize(width, height))
	p.pop.Show()
	w.modal = p.pop
	p.find()
	w.win.Canvas().Focus(p.entry)
}

// key takes the keys that choose.
func (p *palette) key(name fyne.KeyName) bool {
	switch name {
	case fyne.KeyEscape:
		p.w.closeModal()
		p.w.FocusPane()
	case fyne.KeyDown:
		p.choose(p.at + 1)
	case fyne.KeyUp:
		p.choose(p.at - 1)
	case fyne.KeyPageDown:
		p.choose(p.at + 8)
	case fyne.KeyPageUp:
		p.choose(p.at - 8)
	default:
		return false
	}
	return true
}

// choose marks a line.
func (p *palette) choose(i int) {
	if len(p.found) == 0 {
		return
	}
	p.at = min(max(i, 0), len(p.found)-1)
	p.list.Select(p.at)
}

// run runs the marked command.
func (p *palette) run() {
	if p.at >= len(p.found) {
		return
	}
	c := p.found[p.at]
	p.w.closeModal()
	p.w.FocusPane()
	p.w.invoke(c.ID, nil)
}

// find lists what has all the typed words, what can be done now first.
func (p *palette) find() {
	words := strings.Fields(strings.ToLower(p.entry.Text))
	var now, later []*command.Command
	for _, c := range p.w.commands.Commands() {
		text := strings.ToLower(c.Label + " " + strings.Join(c.Menu, " ") + " " + c.ID)
		silent := c.Kind == command.Query && len(c.Menu) == 0 // its answer is for programs
		if !c.Bare() || silent || slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) }) {
			continue
		}
		if p.w.commands.Enabled(c.ID, nil) == nil {
			now = append(now, c)
		} else {
			later = append(later, c)
		}
	}
	p.found = append(now, later...)
	p.list.UnselectAll()
	p.list.Refresh()
	p.at = 0
	if len(p.found) > 0 {
		p.list.Select(0)
		p.list.ScrollToTop()
	}
}

func newPaletteLine() fyne.CanvasObject {
	chord := look.NewText("", look.ColorMuted, theme.SizeNameCaptionText, false)
	label := look.NewText("", theme.ColorNameForeground, theme.SizeNameText, false)
	return container.New(look.Inset{-4, 0, -4, 0}, container.NewBorder(nil, nil, nil, chord, label))
}

// line fills a line in: what is done, and how else it can be reached, or why
// not now.
func (p *palette) line(i widget.ListItemID, o fyne.CanvasObject) {
	if i >= len(p.found) {
		return
	}
	c := p.found[i]
	box := o.(*fyne.Container).Objects[0].(*fyne.Container)
	label, chord := box.Objects[0].(*look.Text), box.Objects[1].(*look.Text)
	text := c.Label
	if len(c.Menu) > 0 {
		text = strings.Join(c.Menu, " › ") + " › " + c.Label
	}
	right := shortcutOf(c)
	label.SetColor(theme.ColorNameForeground)
	if err := p.w.commands.Enabled(c.ID, nil); err != nil {
		right = err.Error()
		label.SetColor(theme.ColorNameDisabled)
	} else if c.On != nil && c.On() {
		text += "  ✓"
	}
	label.SetText(text)
	chord.SetText(right)
	chord.SetMinWidth(min(chord.Natural(), 240))
	box.Refresh()
}
