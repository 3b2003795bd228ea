package term

import (
	"encoding/binary"
	"image"

	"deskvnc/viewer/grid"
)

// A painter keeps the picture of a terminal: the cells that can be seen, drawn
// into one image, each row of cells a piece of it. It draws the rows that have
// changed and nothing else.
type painter struct {
	term   *grid.Terminal
	view   grid.View
	glyphs *glyphs
	scheme *Scheme
	colors palette

	image *image.RGBA
	dirty []bool // rows to be drawn, beside those of the view
	caret mark   // as it was drawn

	// What lies over the text. Whoever changes it marks the rows.
	chosen  grid.Span // selected
	found   []grid.Span
	current grid.Span // the match that was gone to
	link    grid.Span // under the pointer
	focused bool
	off     bool // blinking things are not seen now
}

// A mark is the cursor as it is drawn.
type mark struct {
	x, y   int
	shape  grid.CursorShape
	seen   bool
	hollow bool
}

func newPainter(t *grid.Terminal, g *glyphs, s *Scheme) *painter {
	p := &painter{term: t, glyphs: g, scheme: s}
	p.colors.set(s, &p.view.Colors)
	return p
}

// setGlyphs draws with other characters from now on.
func (p *painter) setGlyphs(g *glyphs) { p.glyphs, p.image = g, nil }

// setScheme draws with other colours from now on.
func (p *painter) setScheme(s *Scheme) {
	p.scheme = s
	p.colors.set(s, &p.view.Colors)
	p.all()
}

// all has every row drawn.
func (p *painter) all() {
	for i := range p.dirty {
		p.dirty[i] = true
	}
}

// mark has the rows of a span drawn.
func (p *painter) mark(s grid.Span) {
	for y := range p.dirty {
		if n := p.view.Top + int64(y); n >= s.From.Row && n <= s.To.Row {
			p.dirty[y] = true
		}
	}
}

// update takes what has changed in the terminal.
func (p *painter) update() (changed bool) {
	top, epoch, reverse := p.view.Top, p.view.Epoch, p.view.Modes.Reverse
	for y, c := range p.view.Changed { // not drawn yet
		if c && y < len(p.dirty) {
			p.dirty[y] = true
		}
	}
	changed = p.term.Update(&p.view)
	if p.view.ColorsChanged {
		p.colors.set(p.scheme, &p.view.Colors)
	}
	if p.view.Resized || len(p.dirty) != p.view.Rows {
		p.dirty = make([]bool, p.view.Rows)
		p.image = nil
	}
	if p.view.Epoch != epoch {
		p.chosen, p.found, p.current, p.link = grid.Span{}, nil, grid.Span{}, grid.Span{}
		p.all()
	} else if p.view.Top != top && (!p.chosen.Empty() || len(p.found) > 0 || !p.link.Empty()) {
		p.all() // what lies over the text has moved with it
	}
	if p.view.ColorsChanged || p.view.Modes.Reverse != reverse {
		p.all()
	}
	return changed
}

// paint draws what has changed and calls drawn for each row that was. It
// reports whether the image is another one than before.
func (p *painter) paint(drawn func(y int)) (anew bool) {
	v := &p.view
	cell := p.glyphs.cell
	if p.image == nil {
		p.image = image.NewRGBA(image.Rect(0, 0, v.Cols*cell.X, v.Rows*cell.Y))
		anew = true
		p.all()
	}
	now := mark{v.Caret.X, v.Caret.Y, v.Caret.Shape, v.Caret.Visible && v.Caret.Y < v.Rows && !(p.off && p.focused && v.Caret.Blink), !p.focused}
	if now != p.caret {
		for _, m := range [2]mark{p.caret, now} {
			if m.seen && m.y >= 0 && m.y < v.Rows {
				p.dirty[m.y] = true
			}
		}
		p.caret = now
	}
	for y := range v.Rows {
		if v.Changed[y] || p.dirty[y] {
			p.dirty[y] = false
			v.Changed[y] = false
			p.row(y)
			drawn(y)
		}
	}
	return anew
}

// pixels is the part of the image that a row of cells is in.
func (p *painter) pixels(y int) *image.RGBA {
	h := p.glyphs.cell.Y
	return &image.RGBA{
		Pix: p.image.Pix[y*h*p.image.Stride : (y+1)*h*p.image.Stride], Stride: p.image.Stride, Rect: image.Rect(0, 0, p.image.Rect.Dx(), h),
	}
}

// row draws one row of cells.
func (p *painter) row(y int) {
	v, cell := &p.view, p.glyphs.cell
	row := v.Row(y)
	stride := p.image.Stride
	pix := p.image.Pix[y*cell.Y*stride : (y+1)*cell.Y*stride]
	at := grid.Pos{Row: v.Top + int64(y)}
	over := p.over(at.Row)
	ground, run := p.colors.ground, 0 // the ground of the cells before x that is not filled yet
	fill := func(to int) {
		if to > run {
			fillRect(pix, stride, run*cell.X, to*cell.X, cell.Y, ground)
		}
		run = to
	}
	// The ground first: it is filled in runs.
	for x := range row {
		at.Col = x
		if _, back := p.look(row, x, at, over); back != ground {
			fill(x)
			ground = back
		}
	}
	fill(len(row))
	for x := 0; x < len(row); x++ {
		c := row[x]
		at.Col = x
		line := c.Attr.Underline() != grid.NoUnderline || c.Attr&(grid.Strike|grid.Overline) != 0 || c.Extra != 0 || over && p.link.Has(at)
		if (c.Rune == 0 || c.Rune == ' ') && !line {
			continue
		}
		text, _ := p.look(row, x, at, over)
		p.cell(pix, stride, x, c, text, line, at)
	}
	if p.caret.seen && p.caret.y == y {
		p.drawCaret(pix, stride, row)
	}
}

// over reports whether anything lies over a row.
func (p *painter) over(row int64) bool {
	in := func(s grid.Span) bool { return row >= s.From.Row && row <= s.To.Row && !s.Empty() }
	if in(p.chosen) || in(p.current) || in(p.link) {
		return true
	}
	for _, s := range p.found {
		if in(s) {
			return true
		}
	}
	return false
}

// look is the colour of a cell's text and ground.
func (p *painter) look(row []grid.Cell, x int, at grid.Pos, over bool) (text, back pixel) {
	c := &row[x]
	text, back = p.colors.text, p.colors.ground
	if p.view.Modes.Reverse {
		text, back = back, text
	}
	if c.FG != grid.Default {
		text = p.colors.of(c.FG, text)
	}
	if c.BG != grid.Default {
		back = p.colors.of(c.BG, back)
	}
	if c.Attr&grid.Reverse != 0 {
		text, back = back, text
	}
	if c.Attr&grid.Dim != 0 {
		text = mix(text, back, 150)
	}
	if over {
		chosen := p.chosen.Has(at) || c.Attr&grid.Wide != 0 && p.chosen.Has(grid.Pos{Row: at.Row, Col: at.Col + 1}) || c.Attr&grid.Tail != 0 && p.chosen.Has(grid.Pos{Row: at.Row, Col: at.Col - 1})
		switch {
		case p.current.Has(at):
			text, back = p.colors.onFound, p.colors.current
		case chosen:
			back = p.colors.chosen
			if text.light() == back.light() && c.Attr&grid.Conceal == 0 {
				text = p.colors.text
				if text.light() == back.light() {
					text = p.colors.ground
				}
			}
		default:
			for _, s := range p.found {
				if s.Has(at) {
					text, back = p.colors.onFound, p.colors.found
				}
			}
		}
	}
	return text, back
}

// cell draws a character and the lines at it.
func (p *painter) cell(pix []uint8, stride, x int, c grid.Cell, text pixel, line bool, at grid.Pos) {
	if c.Attr&grid.Conceal != 0 || c.Attr&grid.Blink != 0 && p.off && p.focused {
		return
	}
	size := p.glyphs.cell
	wide := c.Attr&grid.Wide != 0
	var st style
	if c.Attr&grid.Bold != 0 {
		st |= bold
	}
	if c.Attr&grid.Italic != 0 {
		st |= italic
	}
	w := size.X
	if wide {
		w *= 2
	}
	var g glyph
	switch {
	case c.Rune < 0:
		g = p.glyphs.ofText(p.view.Text(c), st, wide)
	case c.Rune != 0 && c.Rune != ' ':
		g = p.glyphs.of(c.Rune, st, wide)
	}
	if g != nil {
		blend(pix, stride, x*size.X, w, size.Y, g, text)
	}
	if line {
		p.lines(pix, stride, x, w, c, text, at)
	}
}

// lines draws the lines under, through and over a cell.
func (p *painter) lines(pix []uint8, stride, x, w int, c grid.Cell, text pixel, at grid.Pos) {
	size := p.glyphs.cell
	t := lineWidth(size.X)
	x0 := x * size.X
	x1 := min(x0+w, stride/4)
	under := text
	style := c.Attr.Underline()
	if c.Extra != 0 {
		e := p.view.Extra(c)
		under = p.colors.of(e.Underline, text)
		if e.Link != "" && style == grid.NoUnderline {
			style = grid.DottedUnderline
		}
	}
	if p.link.Has(at) {
		style = grid.SingleUnderline
	}
	y := min(p.glyphs.baseline+1+t, size.Y-t)
	rect := func(x0, y0, x1, y1 int, c pixel) {
		y0, y1 = max(y0, 0), min(y1, size.Y)
		if y1 > y0 && x1 > x0 {
			fillRect(pix[y0*stride:], stride, x0, x1, y1-y0, c)
		}
	}
	switch style {
	case grid.SingleUnderline:
		rect(x0, y, x1, y+t, under)
	case grid.DoubleUnderline:
		y = min(y, size.Y-3*t)
		rect(x0, y, x1, y+t, under)
		rect(x0, y+2*t, x1, y+3*t, under)
	case grid.CurlyUnderline:
		y = min(y, size.Y-2*t-1)
		for px := x0; px < x1; px++ {
			up := (px / max(2*t, 2)) % 2
			rect(px, y+up*t, px+1, y+up*t+t, under)
		}
	case grid.DottedUnderline:
		for px := x0 - x0%(2*t); px < x1; px += 2 * t {
			rect(max(px, x0), y, min(px+t, x1), y+t, under)
		}
	case grid.DashedUnderline:
		n := max(size.X/2, 2)
		for px := x0; px < x1; px += size.X {
			rect(px, y, min(px+n+n/2, x1), y+t, under)
		}
	}
	if c.Attr&grid.Strike != 0 {
		m := p.glyphs.baseline - int(p.glyphs.size*0.28)
		rect(x0, m, x1, m+t, text)
	}
	if c.Attr&grid.Overline != 0 {
		rect(x0, 0, x1, t, text)
	}
}

// drawCaret draws the cursor over its row.
func (p *painter) drawCaret(pix []uint8, stride int, row []grid.Cell) {
	size := p.glyphs.cell
	x := min(max(p.caret.x, 0), len(row)-1)
	if row[x].Attr&grid.Tail != 0 && x > 0 {
		x--
	}
	c := row[x]
	w := size.X
	if c.Attr&grid.Wide != 0 {
		w *= 2
	}
	x0 := x * size.X
	x1 := min(x0+w, stride/4)
	t := lineWidth(size.X)
	ink := p.colors.caret
	at := grid.Pos{Row: p.view.Top + int64(p.caret.y), Col: x}
	_, back := p.look(row, x, at, p.over(at.Row))
	if ink == back {
		ink = p.colors.text
	}
	switch {
	case p.caret.hollow:
		fillRect(pix, stride, x0, x1, t, ink)
		fillRect(pix[(size.Y-t)*stride:], stride, x0, x1, t, ink)
		fillRect(pix, stride, x0, x0+t, size.Y, ink)
		fillRect(pix, stride, x1-t, x1, size.Y, ink)
	case p.caret.shape == grid.Bar:
		fillRect(pix, stride, x0, min(x0+max(t*3/2, 2), x1), size.Y, ink)
	case p.caret.shape == grid.Underscore:
		fillRect(pix[(size.Y-2*t)*stride:], stride, x0, x1, 2*t, ink)
	default:
		fillRect(pix, stride, x0, x1, size.Y, ink)
		text := p.colors.ground
		if text.light() == ink.light() {
			text = p.colors.text
		}
		if c.Rune != 0 {
			c.Attr &^= grid.Blink
			p.cell(pix, stride, x, c, text, c.Attr.Underline() != grid.NoUnderline, at)
		}
	}
}

// fillRect fills columns from x0 to x1, h rows high.
func fillRect(pix []uint8, stride, x0, x1, h int, c pixel) {
	first := pix[x0*4 : x1*4]
	for i := 0; i+4 <= len(first); i += 4 {
		binary.LittleEndian.PutUint32(first[i:], uint32(c))
	}
	for y := 1; y < h; y++ {
		copy(pix[y*stride+x0*4:], first)
	}
}

// blend puts a mask on the picture in a colour.
func blend(pix []uint8, stride, x0, w, h int, g glyph, c pixel) {
	if over := x0 + w - stride/4; over > 0 { // half of a wide character at the edge
		w0 := w
		w -= over
		for y := range h {
			blendRow(pix[y*stride+x0*4:], g[y*w0:y*w0+w], c)
		}
		return
	}
	for y := range h {
		blendRow(pix[y*stride+x0*4:], g[y*w:(y+1)*w], c)
	}
}

func blendRow(line []uint8, mask []uint8, c pixel) {
	line = line[:len(mask)*4]
	for i, a := range mask {
		switch a {
		case 0:
		case 255:
			binary.LittleEndian.PutUint32(line[i*4:], uint32(c))
		default:
			q := line[i*4 : i*4+4 : i*4+4]
			back := binary.LittleEndian.Uint32(q)
			binary.LittleEndian.PutUint32(q, uint32(mix(c, pixel(back), uint32(a)+uint32(a)>>7)))
		}
	}
}
