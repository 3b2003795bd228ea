package library

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/keychain"
	"deskvnc/viewer"
)

// A formLine is something of the form with a place of its own for what is wrong
// with it.
type formLine struct {
	form  *form
	what  fyne.Focusable
	box   *fyne.Container
	fault *widget.RichText
	more  bool // it is in the folded part
	// put writes what was typed into a host; nil for what cannot be wrong.
	put func(h *keychain.Host) error
}

func newLine(f *form, what fyne.Focusable, put func(*keychain.Host) error) *formLine {
	l := &formLine{form: f, what: what, put: put, fault: look.NewParagraph("", theme.ColorNameError, theme.SizeNameCaptionText)}
	l.fault.Hide()
	l.box = container.NewVBox(what.(fyne.CanvasObject), l.fault)
	f.lines = append(f.lines, l)
	return l
}

// wrong says what is wrong with what stands in the line, by itself.
func (l *formLine) wrong() error {
	if l.put == nil {
		return nil
	}
	h := keychain.Host{Name: "x", Protocol: l.form.protocol(), Address: "x", Port: 1}
	if err := l.put(&h); err != nil {
		return err
	}
	_, err := h.Checked()
	return err
}

// check shows what is wrong, or takes it away, and reports whether all is
// well.
func (l *formLine) check() bool {
	err := l.wrong()
	if err == nil {
		l.say("")
		return true
	}
	l.say(Reason(err))
	return false
}

// say shows a text under the line; "" takes it away.
func (l *formLine) say(text string) {
	if text == "" && !l.fault.Visible() {
		return
	}
	look.SetParagraph(l.fault, text, theme.ColorNameError)
	if text == "" {
		l.fault.Hide()
	} else {
		l.fault.Show()
	}
	l.form.box.Refresh()
	if text != "" && l.form.screen.config.Canvas.Focused() == l.what {
		l.form.bring(l.fault)
	}
}

// A field is a line that is typed into: Escape cancels, Return saves.
type field struct {
	widget.Entry
	form *form
	line *formLine
	tab  func(back bool) // where Tab goes; nil: to the next line
}

// newField returns a field; put writes its text into a host, and may be nil.
func newField(f *form, hint string, lines bool, put func(h *keychain.Host, text string) error) *field {
	e := &field{form: f}
	e.MultiLine = lines
	if lines {
		e.Wrapping = fyne.TextWrapWord
		e.SetMinRowsVisible(2)
	}
	e.ExtendBaseWidget(e)
	e.SetPlaceHolder(hint)
	if put == nil {
		e.line = newLine(f, e, nil)
	} else {
		e.line = newLine(f, e, func(h *keychain.Host) error { return put(h, e.Text) })
	}
	e.OnChanged = func(string) { f.typed(e.line) }
	if !lines {
		e.OnSubmitted = func(string) { f.save() }
	}
	return e
}

// TypedKey is called by the toolkit.
func (e *field) TypedKey(ev *fyne.KeyEvent) {
	switch {
	case ev.Name == fyne.KeyEscape:
		e.form.cancel()
	case ev.Name == fyne.KeyTab && e.tab != nil:
		e.tab(look.Back())
	default:
		e.Entry.TypedKey(ev)
	}
}

// TypedShortcut is called by the toolkit: the viewer's chords work here too.
func (e *field) TypedShortcut(c fyne.Shortcut) {
	if !e.form.screen.config.Chord(c) {
		e.Entry.TypedShortcut(c)
	}
}

// AcceptsTab is called by the toolkit: Tab is never typed.
func (e *field) AcceptsTab() bool { return e.tab != nil }

// FocusGained is called by the toolkit.
func (e *field) FocusGained() {
	e.Entry.FocusGained()
	e.form.bring(e)
}

// A combo is a field that offers texts as well.
type combo struct {
	widget.SelectEntry
	form *form
	line *formLine
}

func newCombo(f *form, hint string, put func(h *keychain.Host, text string) error) *combo {
	c := &combo{form: f}
	c.ExtendBaseWidget(c)
	c.SetPlaceHolder(hint)
	c.line = newLine(f, c, func(h *keychain.Host) error { return put(h, c.Text) })
	c.OnChanged = func(string) { f.typed(c.line) }
	c.OnSubmitted = func(string) { f.save() }
	return c
}

// TypedKey is called by the toolkit.
func (c *combo) TypedKey(ev *fyne.KeyEvent) {
	if ev.Name == fyne.KeyEscape {
		c.form.cancel()
		return
	}
	c.SelectEntry.TypedKey(ev)
}

// TypedShortcut is called by the toolkit: the viewer's chords work here too.
func (c *combo) TypedShortcut(s fyne.Shortcut) {
	if !c.form.screen.config.Chord(s) {
		c.SelectEntry.TypedShortcut(s)
	}
}

// FocusGained is called by the toolkit.
func (c *combo) FocusGained() {
	c.SelectEntry.FocusGained()
	c.form.bring(c)
}

// An option is one of a few words that a setting can be.
type option[T comparable] struct {
	value T
	name  string
	about string // one line, or ""
}

// A choice is a setting of a few words, with a line about the chosen one.
type choice[T comparable] struct {
	*box
	options []option[T]
	about   *look.Text
	object  *fyne.Container
}

// A box is the toolkit's select with the keys of the form.
type box struct {
	widget.Select
	form *form
}

func newChoice[T comparable](f *form, options ...option[T]) *choice[T] {
	c := &choice[T]{box: &box{form: f}, options: options}
	explained := false
	for _, o := range options {
		c.Options = append(c.Options, o.name)
		explained = explained || o.about != ""
	}
	c.ExtendBaseWidget(c.box)
	framed := look.Framed(c.box)
	c.object = container.NewVBox(framed)
	if explained {
		c.about = look.NewText("", look.ColorMuted, theme.SizeNameCaptionText, false)
		c.object = container.New(&close2{}, framed, c.about)
	}
	c.OnChanged = func(string) {
		if i := c.SelectedIndex(); c.about != nil && i >= 0 {
			c.about.SetText(c.options[i].about)
		}
		f.changed()
	}
	return c
}

// close2 is a layout of a widget and a caption right under it.
type close2 struct{}

const captionOverlap = 6

// Layout is called by the toolkit.
func (close2) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	h := objects[0].MinSize().Height
	objects[0].Move(fyne.Position{})
	objects[0].Resize(fyne.NewSize(size.Width, h))
	objects[1].Move(fyne.NewPos(0, h-captionOverlap/2))
	objects[1].Resize(fyne.NewSize(size.Width, objects[1].MinSize().Height))
}

// MinSize is called by the toolkit.
func (close2) MinSize(objects []fyne.CanvasObject) fyne.Size {
	m := objects[0].MinSize()
	return fyne.NewSize(m.Width, m.Height+objects[1].MinSize().Height-captionOverlap)
}

// set chooses a value. One that is not known, of a newer program, leaves
// nothing chosen, and is kept.
func (c *choice[T]) set(v T) {
	i := slices.IndexFunc(c.options, func(o option[T]) bool { return o.value == v })
	if i < 0 {
		c.ClearSelected()
		return
	}
	c.SetSelectedIndex(i)
}

// get is the chosen value, or the one given when nothing is chosen.
func (c *choice[T]) get(was T) T {
	if i := c.SelectedIndex(); i >= 0 {
		return c.options[i].value
	}
	return was
}

// TypedKey is called by the toolkit.
func (b *box) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyEscape:
		b.form.cancel()
	case fyne.KeyReturn, fyne.KeyEnter:
		b.form.save()
	default:
		b.Select.TypedKey(ev)
	}
}

// FocusGained is called by the toolkit.
func (b *box) FocusGained() {
	b.Select.FocusGained()
	b.form.bring(b)
}

// A tick is a check with the keys of the form.
type tick struct {
	widget.Check
	form *form
}

func newTick(f *form, text string) *tick {
	c := &tick{form: f}
	c.Text = text
	c.OnChanged = func(bool) { f.changed() }
	c.ExtendBaseWidget(c)
	return c
}

// TypedKey is called by the toolkit.
func (c *tick) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyEscape:
		c.form.cancel()
	case fyne.KeyReturn, fyne.KeyEnter:
		c.form.save()
	default:
		c.Check.TypedKey(ev)
	}
}

// FocusGained is called by the toolkit.
func (c *tick) FocusGained() {
	c.Check.FocusGained()
	c.form.bring(c)
}

// words splits a list of words at commas and spaces.
func words(text string) (out []string) {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

// qualities, and so on, are what the settings can be and what they are called.
var (
	qualities = []option[viewer.Quality]{
		{viewer.QualityAuto, "Auto", "Follows the connection; sharp as soon as nothing moves."},
		{viewer.QualityLossless, "Lossless", "Every pixel as it is, for fast networks."},
		{viewer.QualityBest, "High", "Losses that are hard to see."},
		{viewer.QualityBalanced, "Medium", "Some losses, for usual networks."},
		{viewer.QualityFast, "Low", "Quick and coarse, for slow connections."},
		{viewer.QualityGrey, "Grey", "Without colours, where the machine can."},
	}
	colorChoices = []option[viewer.Colors]{
		{viewer.ColorsFull, "Full (24 bits)", ""},
		{viewer.ColorsHigh, "High (16 bits)", ""},
		{viewer.ColorsLow, "Low (8 bits)", ""},
		{viewer.ColorsServer, "As the machine sends them", ""},
	}
	sizes = []option[keychain.SizePolicy]{
		{keychain.SizeKeep, "The machine's own", ""},
		{keychain.SizeOnce, "The window's, when connecting", ""},
		{keychain.SizeFollow, "Follows the window", ""},
	}
	keyboards = []option[keychain.KeyboardWay]{
		{keychain.KeyboardAuto, "Automatic", "By character; to emulators by key."},
		{keychain.KeyboardSymbols, "By character", "What is typed here, whatever the machine's layout."},
		{keychain.KeyboardScancode, "By key", "The machine's layout says what a key means."},
	}
	sharings = []option[keychain.Sharing]{
		{keychain.ShareBoth, "Both ways", ""},
		{keychain.ShareToRemote, "Only to the machine", ""},
		{keychain.ShareFromRemote, "Only from the machine", ""},
		{keychain.ShareOff, "Off", ""},
	}
)
