package browse

import (
	"image/color"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"

	"deskvnc/app/ui/look"
	"deskvnc/viewer"
)

// A row is what one entry is drawn with.
type row struct {
	ground *canvas.Rectangle
	icon   *canvas.Image
	cells  [columns]*canvas.Text
}

// tableRenderer draws a table.
type tableRenderer struct {
	t     *table
	heads [columns]*head
	line  *canvas.Rectangle
	rows  []*row
	all   []fyne.CanvasObject
}

func newTableRenderer(t *table) *tableRenderer {
	r := &tableRenderer{t: t, line: canvas.NewRectangle(color.Transparent)}
	for c := range r.heads {
		r.heads[c] = newHead(columnNames[c], c == int(bySize), func() { t.sort(column(c)) })
	}
	return r
}

// widths are the columns that there is room for; 0: none.
func widths(room float32) (w [columns]float32) {
	const size, time, mode, name = 74, 128, 92, 150
	w[byName] = room
	for _, c := range []struct {
		c column
		w float32
	}{{bySize, size}, {byTime, time}, {byMode, mode}} {
		if w[byName]-c.w < name {
			break
		}
		w[c.c] = c.w
		w[byName] -= c.w
	}
	return w
}

// Layout is called by the toolkit.
func (r *tableRenderer) Layout(fyne.Size) { r.t.scrollTo(r.t.top) }

// MinSize is called by the toolkit.
func (r *tableRenderer) MinSize() fyne.Size { return r.t.MinSize() }

// Objects is called by the toolkit.
func (r *tableRenderer) Objects() []fyne.CanvasObject { return r.all }

// Destroy is called by the toolkit.
func (r *tableRenderer) Destroy() {}

// Refresh draws what is to be seen now.
func (r *tableRenderer) Refresh() {
	t, size := r.t, r.t.Size()
	if size.Width <= 0 || size.Height <= 0 {
		return
	}
	shown := min(t.rows(), len(t.entries)-t.top)
	many := len(t.entries) > t.rows()
	room := size.Width
	if many {
		room -= look.ScrollThickness
	}
	w := widths(room)
	by, down := t.order()
	x := float32(0)
	for c, h := range r.heads {
		h.set(by == column(c), down)
		h.Move(fyne.NewPos(x, 0))
		h.Resize(fyne.NewSize(w[c], rowHeight))
		if w[c] > 0 {
			h.Show()
		} else {
			h.Hide()
		}
		x += w[c]
	}
	r.line.FillColor = look.Color(look.ColorBorder)
	r.line.Move(fyne.NewPos(0, rowHeight-1))
	r.line.Resize(fyne.NewSize(size.Width, 1))
	r.line.Refresh()
	t.scroll.Move(fyne.NewPos(size.Width-look.ScrollThickness, rowHeight))
	t.scroll.Resize(fyne.NewSize(look.ScrollThickness, size.Height-rowHeight))
	t.scroll.Set(many, t.rows(), len(t.entries), t.top)

	for len(r.rows) < shown {
		r.rows = append(r.rows, newRow())
	}
	r.all = r.all[:0]
	for i := range max(shown, 0) {
		rw := r.rows[i]
		rw.place(float32(rowHeight*(i+1)), room, w)
		rw.show(t, t.top+i, w)
		r.all = append(r.all, rw.ground, rw.icon)
		for c, o := range rw.cells {
			if w[c] > 0 {
				r.all = append(r.all, o)
			}
		}
	}
	for _, h := range r.heads {
		r.all = append(r.all, h)
	}
	r.all = append(r.all, r.line, t.scroll)
	canvas.Refresh(t)
}

func newRow() *row {
	r := &row{ground: canvas.NewRectangle(color.Transparent), icon: canvas.NewImageFromResource(theme.FileIcon())}
	r.ground.CornerRadius = 4
	r.icon.FillMode = canvas.ImageFillContain
	for c := range r.cells {
		r.cells[c] = canvas.NewText("", color.Transparent)
	}
	r.cells[bySize].Alignment = fyne.TextAlignTrailing
	r.cells[byMode].TextStyle.Monospace = true
	return r
}

const (
	iconSize = 17
	nameLeft = 6 + iconSize + 6
	cellGap  = 8
)

// place puts the parts of a row.
func (r *row) place(y, room float32, w [columns]float32) {
	r.ground.Move(fyne.NewPos(1, y))
	r.ground.Resize(fyne.NewSize(room-2, rowHeight))
	r.icon.Move(fyne.NewPos(6, y+(rowHeight-iconSize)/2))
	r.icon.Resize(fyne.NewSize(iconSize, iconSize))
	x := float32(0)
	for c, o := range r.cells {
		left := float32(cellGap)
		if column(c) == byName {
			left = nameLeft
		}
		right := float32(0)
		if column(c) == bySize {
			left, right = 0, cellGap
		}
		o.Move(fyne.NewPos(x+left, y))
		o.Resize(fyne.NewSize(max(w[c]-left-right, 0), rowHeight))
		x += w[c]
	}
}

// show fills a row with an entry.
func (r *row) show(t *table, i int, w [columns]float32) {
	e := t.entries[i]
	chosen, cursor := t.chosen[e.Name], i == t.cursor
	main, muted := theme.ColorNameForeground, look.ColorMuted
	if e.Broken {
		main = theme.ColorNameError
	} else if strings.HasPrefix(e.Name, ".") {
		main = look.ColorMuted
	}
	r.ground.FillColor, r.ground.StrokeWidth = color.Transparent, 0
	if chosen {
		r.ground.FillColor = look.Color(theme.ColorNameSelection)
		if !t.focused {
			r.ground.FillColor = look.Color(theme.ColorNamePressed)
		}
	}
	if cursor && t.focused {
		r.ground.StrokeWidth, r.ground.StrokeColor = 1, look.Color(theme.ColorNamePrimary)
	}
	r.ground.Refresh()
	if icon := iconOf(e, main); r.icon.Resource == nil || r.icon.Resource.Name() != icon.Name() {
		r.icon.Resource = icon
		r.icon.Refresh()
	}
	size := textSize()
	texts := [columns]string{"", sizeOf(e), timeOf(e.Modified), modeText(e)}
	texts[byName] = fit(nameOf(e), w[byName]-nameLeft-cellGap, size)
	for c, o := range r.cells {
		ink := muted
		if column(c) == byName {
			ink = main
		}
		o.Text, o.TextSize, o.Color = texts[c], size, look.Color(ink)
		if column(c) == byMode {
			o.TextSize = size - 1
		}
		o.Refresh()
	}
}

// iconOf is the picture of an entry.
func iconOf(e viewer.FileEntry, name fyne.ThemeColorName) fyne.Resource {
	res := theme.FileIcon()
	switch {
	case e.Broken:
		return theme.NewErrorThemedResource(theme.BrokenImageIcon())
	case e.IsFolder():
		return theme.NewColoredResource(theme.FolderIcon(), theme.ColorNamePrimary)
	case e.Type == viewer.Special:
		res = theme.SettingsIcon()
	case e.Mode&0o111 != 0 && e.HasMode && e.Type == viewer.RegularFile:
		res = theme.FileApplicationIcon()
	}
	return theme.NewColoredResource(res, name)
}

// fit cuts a text in its middle, so that its ending is seen too.
func fit(text string, room, size float32) string {
	measure := func(s string) float32 { return fyne.MeasureText(s, size, fyne.TextStyle{}).Width }
	if measure(text) <= room {
		return text
	}
	runes := []rune(text)
	low, high := 0, len(runes)-1 // how many runes stay
	cut := func(n int) string {
		tail := min(n/3, 12)
		return string(runes[:n-tail]) + "…" + string(runes[len(runes)-tail:])
	}
	for low < high {
		mid := (low + high + 1) / 2
		if measure(cut(mid)) <= room {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return cut(low)
}

// textSize is the size of the text of the listing.
func textSize() float32 { return theme.TextSize() }
