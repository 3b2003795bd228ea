package look

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// A Pill is a button on a coloured ground.
type Pill struct {
	widget.BaseWidget
	do      func()
	hint    func(bool)
	text    *Text
	ground  *Ground
	content *fyne.Container
	fill    fyne.ThemeColorName
	over    fyne.ThemeColorName
}

var (
	_ fyne.Tappable      = (*Pill)(nil)
	_ desktop.Hoverable  = (*Pill)(nil)
	_ desktop.Cursorable = (*Pill)(nil)
)

// NewPill returns a button. Hint may be nil.
func NewPill(text string, do func(), hint func(bool)) *Pill {
	p := &Pill{do: do, hint: hint, fill: ColorTintButton, over: ColorTintOver}
	p.text = NewText(text, ColorOnTint, theme.SizeNameText, true)
	p.text.SetMinWidth(p.text.Natural())
	p.ground = NewPanel(p.fill, "", 6)
	p.content = container.NewStack(p.ground, container.New(Inset{-3, 6, -3, 6}, p.text))
	p.ExtendBaseWidget(p)
	return p
}

// CreateRenderer is called by the toolkit.
func (p *Pill) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(p.content) }

// Tapped is called by the toolkit.
func (p *Pill) Tapped(*fyne.PointEvent) { p.do() }

// MouseIn is called by the toolkit.
func (p *Pill) MouseIn(*desktop.MouseEvent) { p.hover(true) }

// MouseMoved is called by the toolkit.
func (p *Pill) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is called by the toolkit.
func (p *Pill) MouseOut() { p.hover(false) }

func (p *Pill) hover(on bool) {
	if on {
		p.ground.SetColors(p.over, "")
	} else {
		p.ground.SetColors(p.fill, "")
	}
	if p.hint != nil {
		p.hint(on)
	}
}

// Cursor is called by the toolkit.
func (p *Pill) Cursor() desktop.Cursor { return desktop.PointerCursor }
