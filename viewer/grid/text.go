package grid

import "strings"

// A Screen is what is on the screen, as text.
type Screen struct {
	Cols, Rows int
	// Lines are the rows, all of them, without the blanks at their ends. What is
	// concealed reads as blanks, as a person sees it.
	Lines   []string
	Wrapped []bool // the row goes on in the next one
	X, Y    int    // the cursor
	Visible bool   // the cursor is shown
	Title   string
	// Alternate is true while a program shows the alternate screen, which has no
	// scrollback.
	Alternate  bool
	Generation uint64 // see [Terminal.Generation]
	// Directory is the working directory that the program told, a file URL.
	Directory string
	Modes     Modes
}

// String is the text of the screen without the blank rows at its end.
func (s Screen) String() string {
	n := len(s.Lines)
	for n > 0 && s.Lines[n-1] == "" {
		n--
	}
	return strings.Join(s.Lines[:n], "\n")
}

// Screen returns what is on the screen now, as text.
func (t *Terminal) Screen() Screen {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Screen{
		Cols: t.cols, Rows: t.rows, X: t.x, Y: t.y, Visible: t.mode.cursorOn, Title: t.title,
		Alternate: t.scr == &t.alt, Generation: t.gen, Directory: t.dir, Modes: t.modes(),
		Lines: make([]string, t.rows), Wrapped: make([]bool, t.rows),
	}
	var b []byte
	for y, r := range t.scr.rows {
		b = t.appendText(b[:0], r, 0, r.textLength())
		s.Lines[y] = strings.TrimRight(string(b), " ")
		s.Wrapped[y] = r.wrapped
	}
	return s
}

// appendText adds the text of the cells from lo to hi of a row. A character of
// two cells counts where its left half is.
func (t *Terminal) appendText(b []byte, r *row, lo, hi int) []byte {
	hi = min(hi, len(r.cells))
	for x := lo; x < hi; x++ {
		c := r.cells[x]
		switch {
		case c.Attr&(Tail|pad) != 0:
		case c.Attr&Conceal != 0:
			b = append(b, ' ')
			if c.Attr&Wide != 0 {
				b = append(b, ' ')
			}
		case c.Rune > 0 && c.Rune < 0x80:
			b = append(b, byte(c.Rune))
		default:
			b = append(b, clusterText(t.clusters.list, c.Rune)...)
		}
	}
	return b
}
