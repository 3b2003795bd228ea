package grid

// The bounds of the scrollback.
const (
	// DefaultScrollback is the number of rows kept unless told otherwise.
	DefaultScrollback = 10_000
	// MaxScrollback is the most that may be asked for.
	MaxScrollback = 1_000_000
	// wideRow is the width up to which all rows asked for are kept: of wider
	// ones as many as fit into the same memory.
	wideRow = 256
)

// A ring holds the rows that left the top of the main screen, oldest first. It
// numbers the logical lines: a line that wrapped over several rows is one.
type ring struct {
	rows []*row // grows up to max, then head moves
	head int    // index of the oldest
	n    int
	max  int

	gone  int64  // rows dropped for ever: the absolute number of the oldest
	first uint64 // number of the logical line of the oldest row
	ends  uint64 // rows here that end a logical line
	cut   int    // characters of line first that are in rows dropped
	pull  int    // of the youngest rows how many a taller screen takes back
}

func (g *ring) at(i int) *row {
	i += g.head
	if i >= len(g.rows) {
		i -= len(g.rows)
	}
	return g.rows[i]
}

// next is the number of the logical line that the screen's top row belongs to.
func (g *ring) next() uint64 { return g.first + g.ends }

// push takes a row, and returns the one that it took the place of, or nil.
func (g *ring) push(r *row) *row {
	if g.max == 0 {
		g.pass(r)
		g.gone++
		return r
	}
	g.pull = min(g.pull+1, g.max)
	if !r.wrapped {
		g.ends++
	}
	if g.n < g.max {
		if g.n == len(g.rows) && g.head == 0 {
			g.rows = append(g.rows, r)
		} else {
			g.rows[(g.head+g.n)%len(g.rows)] = r
		}
		g.n++
		return nil
	}
	old := g.rows[g.head]
	g.rows[g.head] = r
	if g.head++; g.head == len(g.rows) {
		g.head = 0
	}
	g.gone++
	if !old.wrapped {
		g.ends--
	}
	g.pass(old)
	return old
}

// pass counts a row that is dropped.
func (g *ring) pass(r *row) {
	if r.wrapped {
		g.cut += characters(r)
	} else {
		g.first++
		g.cut = 0
	}
}

// characters is the number of places of a row that text is read from.
func characters(r *row) int {
	n := len(r.cells)
	if !r.wrapped {
		return r.textLength()
	}
	for n > 0 && r.cells[n-1].Attr&pad != 0 {
		n--
	}
	return n
}

// drop forgets all rows.
func (g *ring) drop() {
	g.first, g.cut = g.next(), 0
	if g.n > 0 && g.at(g.n-1).wrapped {
		// The line goes on at the top of the screen; its beginning is gone.
		for i := g.n - 1; i >= 0 && g.at(i).wrapped; i-- {
			g.cut += characters(g.at(i))
		}
	}
	g.gone += int64(g.n)
	g.rows, g.head, g.n, g.ends, g.pull = nil, 0, 0, 0, 0
}

// set replaces the rows, which have been laid out anew. First and cut stay
// true when the rows begin with the same character.
func (g *ring) set(rows []*row) {
	g.gone += int64(g.n) // their numbers are not used again
	g.head, g.ends = 0, 0
	for len(rows) > g.max {
		g.pass(rows[0])
		g.gone++
		rows = rows[1:]
	}
	g.rows, g.n = rows, len(rows)
	for _, r := range rows {
		if !r.wrapped {
			g.ends++
		}
	}
	g.pull = min(g.pull, g.n)
}

// limit is the number of rows kept at a width.
func limit(rows, cols int) int {
	if cols <= wideRow {
		return rows
	}
	return max(1, rows*wideRow/cols)
}

// endLast says that the line of the youngest row ends there.
func (g *ring) endLast() {
	if g.n == 0 {
		return
	}
	if r := g.at(g.n - 1); r.wrapped {
		r.wrapped = false
		g.ends++
	}
}

// take moves the youngest row back out.
func (g *ring) take() *row {
	g.n--
	g.pull--
	r := g.at(g.n)
	if !r.wrapped {
		g.ends--
	}
	return r
}
