package grid

import (
	"errors"
	"strconv"
	"strings"
)

// A Cursor says up to where a reader has read the main screen and its
// scrollback. The zero Cursor is the beginning. Lines are logical ones: one
// that wrapped over several rows is one line, so that a cursor stays true when
// the width changes.
//
// A line that has left the screen has a number that no other line gets. The
// lines from that of the terminal's cursor on may still change; they are read
// again when they have.
type Cursor struct {
	Line uint64 // number of the line to go on with
	Char uint64 // characters of it that were read
	Seen uint64 // generation at which what may still change was read
}

// String is the cursor as text, for [ParseCursor].
func (c Cursor) String() string {
	return strconv.FormatUint(c.Line, 10) + "." + strconv.FormatUint(c.Char, 10) + "." + strconv.FormatUint(c.Seen, 10)
}

// ParseCursor reads what [Cursor.String] gave; the empty text is the
// beginning.
func ParseCursor(s string) (Cursor, error) {
	if s == "" {
		return Cursor{}, nil
	}
	var n [3]uint64
	parts := strings.Split(s, ".")
	if len(parts) != len(n) {
		return Cursor{}, errCursor
	}
	for i, p := range parts {
		var err error
		if n[i], err = strconv.ParseUint(p, 10, 64); err != nil {
			return Cursor{}, errCursor
		}
	}
	return Cursor{n[0], n[1], n[2]}, nil
}

var errCursor = errors.New("a cursor is what an earlier read returned, or empty for the beginning")

// A Part is what one [Terminal.Read] gives.
type Part struct {
	// Text are the lines, joined by newlines, without the blanks at their ends.
	Text string
	Next Cursor // for the next read
	// Lost is the number of lines between the cursor that was given and Text that
	// the scrollback no longer holds.
	Lost uint64
	// More is true when the text was cut at the bound: there is more now.
	More bool
	// Unfinished is true when the text ends with lines that may still change:
	// the one with the cursor and those below it. They come again when they
	// have changed.
	Unfinished bool
	// Alternate is true when the screen shows the alternate screen, which is not
	// what is read here.
	Alternate bool
	// Generation is that of the text.
	Generation uint64
}

// Read returns the text from a cursor on, at most maxBytes of it but always
// one character.
func (t *Terminal) Read(from Cursor, maxBytes int) Part {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := Part{Alternate: t.scr == &t.alt, Generation: t.gen}

	cy := t.y
	if p.Alternate {
		cy = t.main.saved.y
	}
	cy = min(cy, t.rows-1)
	last := max(cy, t.lastUsed(&t.main)) // last row that is read
	// The row that the line with the cursor begins with, and that line's number.
	n := t.ring.n
	start := n + cy
	for start > 0 && t.mainRow(start-1).wrapped {
		start--
	}
	open := t.lineOf(start)

	switch {
	case from.Seen != 0 && from.Line >= open:
		// All that is left may change. Is there something new?
		fresh := false
		for i := start; i <= n+last && !fresh; i++ {
			fresh = t.mainRow(i).gen > from.Seen
		}
		if !fresh {
			p.Next, p.Unfinished = Cursor{Line: open, Seen: t.gen}, true
			return p
		}
		from = Cursor{Line: open}
	case from.Line > t.lineOf(n+last):
		from = Cursor{Line: open}
	}
	if from.Line < t.ring.first {
		p.Lost = t.ring.first - from.Line
		from.Line, from.Char = t.ring.first, 0
	}

	i, line := 0, t.ring.first
	skip := int(min(from.Char, 1<<31))
	if line == from.Line {
		skip = max(0, skip-t.ring.cut)
	}
	for line < from.Line && i < n+last {
		if !t.mainRow(i).wrapped {
			line++
		}
		i++
	}
	maxBytes = max(1, maxBytes)
	read := int(from.Char)
	if line == t.ring.first {
		read = max(read, t.ring.cut)
	}
	var b, one []byte
	blanks := 0 // spaces at the end of b that may be those of a line's end
	for ; i <= n+last; i++ {
		r := t.mainRow(i)
		end := characters(r)
		x := min(skip, end)
		skip -= x
		for ; x < end; x++ {
			one = t.appendText(one[:0], r, x, x+1)
			if len(b)+len(one) > maxBytes && len(b) > 0 {
				p.Text, p.More = string(b), true
				p.Next = Cursor{Line: line, Char: uint64(read)}
				return p
			}
			b = append(b, one...)
			read++
			if len(one) == 1 && one[0] == ' ' {
				blanks++
			} else if len(one) > 0 {
				blanks = 0
			}
		}
		if r.wrapped && i < n+last {
			continue
		}
		b = b[:len(b)-min(blanks, len(b))]
		blanks, skip = 0, 0
		line++
		read = 0
		if i < n+last {
			if len(b)+1 > maxBytes && len(b) > 0 {
				p.Text, p.More = string(b)+"\n", true
				p.Next = Cursor{Line: line}
				return p
			}
			b = append(b, '\n')
		}
	}
	p.Text = string(b)
	p.Next, p.Unfinished = Cursor{Line: open, Seen: t.gen}, true
	return p
}

// mainRow is row i of the scrollback and the main screen below it.
func (t *Terminal) mainRow(i int) *row {
	if i < t.ring.n {
		return t.ring.at(i)
	}
	return t.main.rows[i-t.ring.n]
}

// lineOf is the number of the logical line that row i belongs to.
func (t *Terminal) lineOf(i int) uint64 {
	line := t.ring.first
	if i >= t.ring.n {
		line = t.ring.next()
		for k := t.ring.n; k < i; k++ {
			if !t.mainRow(k).wrapped {
				line++
			}
		}
		return line
	}
	for k := range i {
		if !t.mainRow(k).wrapped {
			line++
		}
	}
	return line
}
