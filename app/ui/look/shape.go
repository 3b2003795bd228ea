package look

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// A Ground is a plain coloured area that follows the theme.
type Ground struct {
	widget.BaseWidget
	fill, stroke fyne.ThemeColorName
	radius       float32
	rect         *canvas.Rectangle
}

// NewGround returns an area of a colour.
func NewGround(fill fyne.ThemeColorName) *Ground { return NewPanel(fill, "", 0) }

// NewPanel returns an area with a thin border and round corners. Without a fill
// it is the border alone.
func NewPanel(fill, stroke fyne.ThemeColorName, radius float32) *Ground {
	g := &Ground{fill: fill, stroke: stroke, radius: radius, rect: canvas.NewRectangle(color.Transparent)}
	g.ExtendBaseWidget(g)
	return g
}

// Framed is a widget with the border of an entry over it: the toolkit's selects
// have none.
func Framed(o fyne.CanvasObject) *fyne.Container {
	return container.NewStack(o, NewPanel("", theme.ColorNameInputBorder, theme.Size(theme.SizeNameInputRadius)))
}

// SetColors changes the colours.
func (g *Ground) SetColors(fill, stroke fyne.ThemeColorName) {
	if g.fill == fill && g.stroke == stroke {
		return
	}
	g.fill, g.stroke = fill, stroke
	g.Refresh()
}

// CreateRenderer is called by the toolkit.
func (g *Ground) CreateRenderer() fyne.WidgetRenderer {
	r := &groundRenderer{WidgetRenderer: widget.NewSimpleRenderer(g.rect), g: g}
	r.paint()
	return r
}

type groundRenderer struct {
	fyne.WidgetRenderer
	g *Ground
}

// Refresh takes the colours of the theme as it is now.
func (r *groundRenderer) Refresh() {
	r.paint()
	r.g.rect.Refresh()
}

func (r *groundRenderer) paint() {
	rect := r.g.rect
	rect.FillColor, rect.CornerRadius = color.Transparent, r.g.radius
	if r.g.fill != "" {
		rect.FillColor = Color(r.g.fill)
	}
	rect.StrokeWidth, rect.StrokeColor = 0, nil
	if r.g.stroke != "" {
		rect.StrokeWidth, rect.StrokeColor = 1, Color(r.g.stroke)
	}
}

// A Text is a line of text in a colour of the theme, cut with an ellipsis when
// there is no room.
type Text struct {
	widget.BaseWidget
	text  string
	color fyne.ThemeColorName
	size  fyne.ThemeSizeName
	bold  bool
	min   float32
	inner *widget.RichText
	seg   *widget.TextSegment
}

// NewText returns a line of text.
func NewText(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName, bold bool) *Text {
	t := &Text{text: text, color: color, size: size, bold: bold}
	t.seg = &widget.TextSegment{Text: text, Style: widget.RichTextStyle{
		ColorName: color, SizeName: size, TextStyle: fyne.TextStyle{Bold: bold}, Inline: true,
	}}
	t.inner = widget.NewRichText(t.seg)
	t.inner.Truncation = fyne.TextTruncateEllipsis
	t.ExtendBaseWidget(t)
	return t
}

// SetText changes the text.
func (t *Text) SetText(text string) {
	if t.text == text {
		return
	}
	t.text, t.seg.Text = text, text
	t.inner.Refresh()
	t.Refresh()
}

// SetColor changes the colour.
func (t *Text) SetColor(c fyne.ThemeColorName) {
	if t.color == c {
		return
	}
	t.color, t.seg.Style.ColorName = c, c
	t.inner.Refresh()
}

// Value is the text.
func (t *Text) Value() string { return t.text }

// SetMinWidth has the text take some width even when it could be cut.
func (t *Text) SetMinWidth(w float32) { t.min = w }

// CreateRenderer is called by the toolkit.
func (t *Text) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(t.inner) }

// MinSize is the height of the line; the width may be cut.
func (t *Text) MinSize() fyne.Size {
	return fyne.NewSize(t.min, t.inner.MinSize().Height)
}

// Natural is the width that shows the whole text.
func (t *Text) Natural() float32 {
	pad := t.inner.MinSize().Height - fyne.MeasureText("X", t.Theme().Size(t.size), t.seg.Style.TextStyle).Height
	return fyne.MeasureText(t.text, t.Theme().Size(t.size), t.seg.Style.TextStyle).Width + pad + 2
}

// NewParagraph returns text that wraps.
func NewParagraph(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) *widget.RichText {
	rt := widget.NewRichText(&widget.TextSegment{Text: text, Style: widget.RichTextStyle{ColorName: color, SizeName: size}})
	rt.Wrapping = fyne.TextWrapWord
	return rt
}

// SetParagraph changes the text and colour of a paragraph.
func SetParagraph(rt *widget.RichText, text string, color fyne.ThemeColorName) {
	seg := rt.Segments[0].(*widget.TextSegment)
	if seg.Text == text && seg.Style.ColorName == color {
		return
	}
	seg.Text, seg.Style.ColorName = text, color
	rt.Refresh()
}

// NewCard puts content on a raised panel with room around it.
func NewCard(content fyne.CanvasObject) *fyne.Container {
	return container.NewStack(NewPanel(ColorCard, ColorBorder, 10), container.New(Inset{16, 18, 16, 18}, content))
}

// Inset is a layout that leaves room around one object: top, right, bottom
// and left.
type Inset [4]float32

// Layout puts the objects inside the room.
func (i Inset) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Move(fyne.NewPos(i[3], i[0]))
		o.Resize(fyne.NewSize(max(size.Width-i[1]-i[3], 0), max(size.Height-i[0]-i[2], 0)))
	}
}

// MinSize is the largest object's with the room.
func (i Inset) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var m fyne.Size
	for _, o := range objects {
		if o.Visible() {
			m = m.Max(o.MinSize())
		}
	}
	return m.AddWidthHeight(i[1]+i[3], i[0]+i[2])
}

// Free is a layout that gives its objects the whole room and asks for little:
// what does not fit is cut, the window stays as small as the person made it.
type Free struct{ Min fyne.Size }

// Layout gives each object everything.
func (f Free) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Move(fyne.Position{})
		o.Resize(size)
	}
}

// MinSize is what was set.
func (f Free) MinSize([]fyne.CanvasObject) fyne.Size { return f.Min }
