package look

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Sizes of a tab.
const (
	tabHeight = 32
	tabMin    = 64
	tabMax    = 210
)

// Tabs is a row of tabs, each with a mark of its state and a cross to close
// it. Tabs get narrower as they become more; then the row scrolls.
type Tabs struct {
	row    *fyne.Container
	scroll *container.Scroll
	tabs   []*Tab
}

// NewTabs returns an empty row.
func NewTabs() *Tabs {
	t := &Tabs{}
	t.row = container.New(tabRow{})
	t.scroll = container.NewHScroll(t.row)
	return t
}

// Object is what to put on the canvas.
func (t *Tabs) Object() fyne.CanvasObject { return container.New(tabRoom{t}, t.scroll) }

// Add adds a tab at the end.
func (t *Tabs) Add(tab *Tab) {
	t.tabs = append(t.tabs, tab)
	t.row.Add(tab)
}

// Remove takes a tab out.
func (t *Tabs) Remove(tab *Tab) {
	for i, o := range t.tabs {
		if o == tab {
			t.tabs = append(t.tabs[:i:i], t.tabs[i+1:]...)
			t.row.Remove(tab)
			return
		}
	}
}

// Select marks one tab as the shown one, or none for nil, and brings it into
// view.
func (t *Tabs) Select(tab *Tab) {
	for _, o := range t.tabs {
		o.setOn(o == tab)
	}
	if tab == nil {
		return
	}
	x, w := tab.Position().X, tab.Size().Width
	switch view := t.scroll.Size().Width; {
	case x < t.scroll.Offset.X:
		t.scroll.ScrollToOffset(fyne.NewPos(x, 0))
	case x+w > t.scroll.Offset.X+view:
		t.scroll.ScrollToOffset(fyne.NewPos(x+w-view, 0))
	}
}

// tabRoom gives the row its width and asks for little.
type tabRoom struct{ t *Tabs }

// Layout gives the tabs an equal share of the room within their bounds.
func (r tabRoom) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	if n := len(r.t.tabs); n > 0 {
		w := min(max(size.Width/float32(n), tabMin), tabMax)
		for _, tab := range r.t.tabs {
			tab.width = w
		}
		r.t.row.Refresh()
	}
	objects[0].Resize(size)
}

// MinSize is called by the toolkit.
func (tabRoom) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(tabMin, tabHeight) }

// tabRow puts tabs beside each other.
type tabRow struct{}

// Layout is called by the toolkit.
func (tabRow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	var x float32
	for _, o := range objects {
		w := o.(*Tab).width
		o.Move(fyne.NewPos(x, 0))
		o.Resize(fyne.NewSize(w, size.Height))
		x += w
	}
}

// MinSize is called by the toolkit.
func (tabRow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var x float32
	for _, o := range objects {
		x += o.(*Tab).width
	}
	return fyne.NewSize(x, tabHeight)
}

// A Tab is one tab.
type Tab struct {
	widget.BaseWidget
	choose, end func()

	width   float32
	on      bool
	hovered bool
	title   *Text
	mark    *canvas.Circle
	ground  *canvas.Rectangle
	line    *canvas.Rectangle
	state   fyne.ThemeColorName
	cross   *cross
}

var (
	_ fyne.Tappable     = (*Tab)(nil)
	_ desktop.Hoverable = (*Tab)(nil)
	_ desktop.Mouseable = (*Tab)(nil)
)

// NewTab returns a tab that calls choose when it is clicked and end when it is
// to be closed.
func NewTab(choose, end func()) *Tab {
	t := &Tab{
		choose: choose, end: end, width: tabMax, state: ColorMuted,
		title:  NewText("", ColorMuted, theme.SizeNameText, false),
		mark:   canvas.NewCircle(color.Transparent),
		ground: canvas.NewRectangle(color.Transparent),
		line:   canvas.NewRectangle(color.Transparent),
	}
	t.cross = newCross(end, func(on bool) { t.hover(on || t.hovered) })
	t.ExtendBaseWidget(t)
	return t
}

// Set gives the tab its title and the colour of its state.
func (t *Tab) Set(title string, state fyne.ThemeColorName) {
	t.title.SetText(title)
	if t.state != state {
		t.state = state
		t.Refresh()
	}
}

// Title is the tab's title.
func (t *Tab) Title() string { return t.title.Value() }

// State is the colour of the tab's state.
func (t *Tab) State() fyne.ThemeColorName { return t.state }

// On reports whether the tab is the shown one.
func (t *Tab) On() bool { return t.on }

func (t *Tab) setOn(on bool) {
	if t.on == on {
		return
	}
	t.on = on
	if on {
		t.title.SetColor(theme.ColorNameForeground)
	} else {
		t.title.SetColor(ColorMuted)
	}
	t.Refresh()
}

func (t *Tab) hover(on bool) {
	if t.hovered != on {
		t.hovered = on
		t.Refresh()
	}
}

// Tapped is called by the toolkit.
func (t *Tab) Tapped(*fyne.PointEvent) { t.choose() }

// MouseDown is called by the toolkit: the middle button closes the tab.
func (t *Tab) MouseDown(ev *desktop.MouseEvent) {
	if ev.Button == desktop.MouseButtonTertiary {
		t.end()
	}
}

// MouseUp is called by the toolkit.
func (t *Tab) MouseUp(*desktop.MouseEvent) {}

// MouseIn is called by the toolkit.
func (t *Tab) MouseIn(*desktop.MouseEvent) { t.hover(true) }

// MouseMoved is called by the toolkit.
func (t *Tab) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is called by the toolkit.
func (t *Tab) MouseOut() { t.hover(false) }

// MinSize is called by the toolkit.
func (t *Tab) MinSize() fyne.Size { return fyne.NewSize(tabMin, tabHeight) }

// CreateRenderer is called by the toolkit.
func (t *Tab) CreateRenderer() fyne.WidgetRenderer {
	r := &tabRenderer{t: t}
	r.paint()
	return r
}

type tabRenderer struct{ t *Tab }

// Layout is called by the toolkit.
func (r *tabRenderer) Layout(size fyne.Size) {
	t := r.t
	const dot, side = 8, 10
	t.ground.Resize(size)
	t.line.Move(fyne.NewPos(0, size.Height-2))
	t.line.Resize(fyne.NewSize(size.Width, 2))
	t.mark.Move(fyne.NewPos(side, (size.Height-dot)/2))
	t.mark.Resize(fyne.NewSize(dot, dot))
	c := float32(22)
	t.cross.Move(fyne.NewPos(size.Width-c-4, (size.Height-c)/2))
	t.cross.Resize(fyne.NewSize(c, c))
	h := t.title.MinSize().Height
	left := float32(side + dot)
	t.title.Move(fyne.NewPos(left, (size.Height-h)/2))
	t.title.Resize(fyne.NewSize(max(size.Width-left-c-4, 8), h))
}

// MinSize is called by the toolkit.
func (r *tabRenderer) MinSize() fyne.Size { return r.t.MinSize() }

func (r *tabRenderer) paint() {
	t := r.t
	t.mark.FillColor = Color(t.state)
	t.ground.FillColor, t.line.FillColor = color.Transparent, color.Transparent
	switch {
	case t.on:
		t.ground.FillColor, t.line.FillColor = Color(theme.ColorNameBackground), Color(theme.ColorNamePrimary)
	case t.hovered:
		t.ground.FillColor = Color(theme.ColorNameHover)
	}
	if t.on || t.hovered {
		t.cross.Show()
	} else {
		t.cross.Hide()
	}
}

// Refresh is called by the toolkit.
func (r *tabRenderer) Refresh() {
	r.paint()
	for _, o := range r.Objects() {
		o.Refresh()
	}
}

// Objects is called by the toolkit.
func (r *tabRenderer) Objects() []fyne.CanvasObject {
	t := r.t
	return []fyne.CanvasObject{t.ground, t.mark, t.title, t.line, t.cross}
}

// Destroy is called by the toolkit.
func (r *tabRenderer) Destroy() {}

// A cross closes something.
type cross struct {
	widget.BaseWidget
	do     func()
	hover  func(bool)
	icon   *widget.Icon
	ground *canvas.Rectangle
	on     bool
}

func newCross(do func(), hover func(bool)) *cross {
	c := &cross{do: do, hover: hover, icon: widget.NewIcon(theme.CancelIcon()), ground: canvas.NewRectangle(color.Transparent)}
	c.ground.CornerRadius = 4
	c.ExtendBaseWidget(c)
	return c
}

// Tapped is called by the toolkit.
func (c *cross) Tapped(*fyne.PointEvent) { c.do() }

// MouseIn is called by the toolkit.
func (c *cross) MouseIn(*desktop.MouseEvent) { c.on = true; c.hover(true); c.Refresh() }

// MouseMoved is called by the toolkit.
func (c *cross) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is called by the toolkit.
func (c *cross) MouseOut() { c.on = false; c.hover(false); c.Refresh() }

// CreateRenderer is called by the toolkit.
func (c *cross) CreateRenderer() fyne.WidgetRenderer { return &crossRenderer{c} }

type crossRenderer struct{ c *cross }

// Layout is called by the toolkit.
func (r *crossRenderer) Layout(size fyne.Size) {
	r.c.ground.Resize(size)
	r.c.icon.Move(fyne.NewPos(4, 4))
	r.c.icon.Resize(fyne.NewSize(size.Width-8, size.Height-8))
}

// MinSize is called by the toolkit.
func (r *crossRenderer) MinSize() fyne.Size { return fyne.NewSize(22, 22) }

// Refresh is called by the toolkit.
func (r *crossRenderer) Refresh() {
	r.c.ground.FillColor = color.Transparent
	if r.c.on {
		r.c.ground.FillColor = Color(theme.ColorNamePressed)
	}
	r.c.ground.Refresh()
	r.c.icon.Refresh()
}

// Objects is called by the toolkit.
func (r *crossRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.c.ground, r.c.icon}
}

// Destroy is called by the toolkit.
func (r *crossRenderer) Destroy() {}
