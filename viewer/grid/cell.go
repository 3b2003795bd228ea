package grid

// A Cell is one place of the screen. The zero Cell is one that nothing was
// written to since it was erased.
type Cell struct {
	// Rune is the character; 0 is a blank. Below 0 it stands for a character
	// with marks, whose text [View.Text] gives.
	Rune   rune
	FG, BG Color
	Attr   Attr
	// Extra stands for what few cells have, see [View.Extra]; 0 is nothing.
	Extra uint16
}

// An Attr is a set of attributes of a cell.
type Attr uint16

// The attributes.
const (
	Bold Attr = 1 << iota
	Dim
	Italic
	Blink
	Reverse
	Conceal
	Strike
	Overline
	underline0 // three bits: the style of the underline
	underline1
	underline2
	Wide // the left half of a character of two cells
	Tail // the right half of one; its Rune is 0
	pad  // the blank at the end of a row into which a wide character did not fit
	protected
)

const (
	underlineShift = 8
	underlineMask  = underline0 | underline1 | underline2
	// look are the attributes that SGR sets.
	look = Bold | Dim | Italic | Blink | Reverse | Conceal | Strike | Overline | underlineMask
	// shape are those that a place has and not a pen.
	shape = Wide | Tail | pad
)

// An Underline is a style of underline.
type Underline uint8

// The underlines.
const (
	NoUnderline Underline = iota
	SingleUnderline
	DoubleUnderline
	CurlyUnderline
	DottedUnderline
	DashedUnderline
)

// Underline is the style of the line under a cell.
func (a Attr) Underline() Underline { return Underline(a >> underlineShift & 7) }

func (a Attr) withUnderline(u Underline) Attr {
	return a&^underlineMask | Attr(u)<<underlineShift
}

// A Color is the colour of a cell, as the program named it: the default one,
// one of 256, or red, green and blue. What it looks like is the painter's to
// say, see [Colors].
type Color uint32

const (
	colorIndexed Color = 1 << 24
	colorRGB     Color = 2 << 24
)

// Default is the colour of a program that set none.
const Default Color = 0

// Indexed is colour i of the palette.
func Indexed(i uint8) Color { return colorIndexed | Color(i) }

// RGB is a colour by its red, green and blue.
func RGB(r, g, b uint8) Color { return colorRGB | Color(r)<<16 | Color(g)<<8 | Color(b) }

// Index is the colour's place in the palette; ok is false for other colours.
func (c Color) Index() (i uint8, ok bool) { return uint8(c), c>>24 == 1 }

// RGB are the parts of a true colour; ok is false for other colours.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c>>24 == 2
}

// A row is one row of a screen or of the scrollback.
type row struct {
	cells   []Cell
	used    int    // cells from here on are zero
	gen     uint64 // the write that last changed it
	id      uint64 // never given twice: a recycled row is another one
	wrapped bool   // the line goes on in the next row
	wide    bool   // may hold characters of two cells
}

// reset makes every cell zero.
func (r *row) reset() {
	clear(r.cells[:r.used])
	r.used, r.wrapped, r.wide = 0, false, false
}

// length is the number of cells up to the last one that shows or was written.
func (r *row) length() int {
	n := r.used
	for n > 0 && r.cells[n-1] == (Cell{}) {
		n--
	}
	return n
}

// textLength is length without blanks that only have a colour.
func (r *row) textLength() int {
	n := r.used
	for n > 0 && r.cells[n-1].Rune == 0 && r.cells[n-1].Attr&Tail == 0 {
		n--
	}
	return n
}

// newRows makes n rows that share one piece of memory.
func (t *Terminal) newRows(n, cols int) []*row {
	cells := make([]Cell, n*cols)
	rows := make([]row, n)
	out := make([]*row, n)
	for i := range out {
		t.rowID++
		rows[i] = row{cells: cells[i*cols : (i+1)*cols : (i+1)*cols], gen: t.gen, id: t.rowID}
		out[i] = &rows[i]
	}
	return out
}

// slab is the number of rows made at once for the scrollback.
const slab = 64

// spareRow is a blank row for the bottom of a screen.
func (t *Terminal) spareRow() *row {
	if len(t.spare) == 0 {
		t.spare = t.newRows(slab, t.cols)
	}
	r := t.spare[len(t.spare)-1]
	t.spare = t.spare[:len(t.spare)-1]
	r.gen = t.gen
	return r
}

// recycle makes a row that is no longer shown a new blank one.
func (t *Terminal) recycle(r *row) *row {
	t.work += r.used
	r.reset()
	t.rowID++
	r.id, r.gen = t.rowID, t.gen
	return r
}
