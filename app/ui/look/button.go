package look

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// A Button is a flat button of a bar that tells what it does while the pointer
// is on it.
type Button struct {
	widget.Button
	hint func(on bool)
}

// NewButton returns a flat button with a text, an icon or both. Hint is called
// when the pointer comes and goes; it may be nil.
func NewButton(text string, icon fyne.Resource, do func(), hint func(on bool)) *Button {
	b := &Button{hint: hint}
	b.Text, b.Icon, b.OnTapped, b.Importance = text, icon, do, widget.LowImportance
	b.ExtendBaseWidget(b)
	return b
}

// SetOn marks the button as the chosen one of a group.
func (b *Button) SetOn(on bool) {
	want := widget.LowImportance
	if on {
		want = widget.MediumImportance
	}
	if b.Importance != want {
		b.Importance = want
		b.Refresh()
	}
}

// MouseIn is called by the toolkit.
func (b *Button) MouseIn(ev *desktop.MouseEvent) {
	b.Button.MouseIn(ev)
	if b.hint != nil {
		b.hint(true)
	}
}

// MouseOut is called by the toolkit.
func (b *Button) MouseOut() {
	b.Button.MouseOut()
	if b.hint != nil {
		b.hint(false)
	}
}

// A Choice is a button of a card: Return presses it too, and Escape does what
// OnEscape says. With OnTab, Tab goes where that says and nowhere else.
type Choice struct {
	widget.Button
	OnEscape func()
	OnTab    func(back bool)
}

var _ fyne.Tabbable = (*Choice)(nil)

// AcceptsTab is called by the toolkit.
func (c *Choice) AcceptsTab() bool { return c.OnTab != nil }

// Back reports whether Tab goes back: Shift is held.
func Back() bool {
	d, ok := fyne.CurrentApp().Driver().(desktop.Driver)
	return ok && d.CurrentKeyModifiers()&fyne.KeyModifierShift != 0
}

// NewChoice returns a button.
func NewChoice(text string, importance widget.Importance, do func()) *Choice {
	c := &Choice{}
	c.Text, c.OnTapped, c.Importance = text, do, importance
	c.ExtendBaseWidget(c)
	return c
}

// Left tells the button that the pointer is not on it: of one that is hidden
// under the pointer the toolkit does not tell.
func (c *Choice) Left() { c.Button.MouseOut() }

// TypedKey is called by the toolkit.
func (c *Choice) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyReturn, fyne.KeyEnter:
		if !c.Disabled() && c.OnTapped != nil {
			c.OnTapped()
		}
	case fyne.KeyEscape:
		if c.OnEscape != nil {
			c.OnEscape()
		}
	case fyne.KeyTab:
		if c.OnTab != nil {
			c.OnTab(Back())
		}
	default:
		c.Button.TypedKey(ev)
	}
}
