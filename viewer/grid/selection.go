package grid

import (
	"strings"
	"unicode"
)

// A Pos is a place among the rows of the screen and the scrollback. Row is the
// absolute number of a row, which stays while rows scroll: that of the first
// row of a [View] is its Top. It holds for one epoch, see [View.Epoch].
type Pos struct {
	Row int64
	Col int
}

// Before reports whether p lies before o.
func (p Pos) Before(o Pos) bool { return p.Row < o.Row || p.Row == o.Row && p.Col < o.Col }

// A Span is a piece of text: from From to To, which is not part of it. With
// Block it is the columns between both, in all rows between both.
type Span struct {
	From, To Pos
	Block    bool
}

// Empty reports whether nothing is in the span.
func (s Span) Empty() bool {
	return !s.Block && !s.From.Before(s.To) || s.Block && s.From.Col == s.To.Col
}

// Has reports whether a cell is in the span.
func (s Span) Has(p Pos) bool {
	if s.Block {
		return p.Row >= s.From.Row && p.Row <= s.To.Row && p.Col >= min(s.From.Col, s.To.Col) && p.Col < max(s.From.Col, s.To.Col)
	}
	return !p.Before(s.From) && p.Before(s.To)
}

// maxCopied bounds the text of one selection.
const maxCopied = 16 << 20

// Text is the text of a span: rows that one line wrapped over are joined,
// blanks at the ends of lines are left out, a character of two cells is in it
// when one of them is. What is no longer there is left out. It is false when
// the epoch is over.
func (t *Terminal) Text(epoch uint64, s Span) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if epoch != t.epoch {
		return "", false
	}
	var b []byte
	left, right := min(s.From.Col, s.To.Col), max(s.From.Col, s.To.Col)
	first := max(s.From.Row, t.liveTop()-int64(t.history()))
	for n := first; n <= s.To.Row && len(b) < maxCopied; n++ {
		r := t.absolute(n)
		if r == nil {
			break
		}
		lo, hi := 0, len(r.cells)
		if s.Block {
			lo, hi = left, right
		} else {
			if n == s.From.Row {
				lo = s.From.Col
			}
			if n == s.To.Row {
				hi = s.To.Col
			}
		}
		lo, hi = clamp(lo, 0, len(r.cells)), clamp(hi, 0, len(r.cells))
		if lo > 0 && lo < len(r.cells) && r.cells[lo].Attr&Tail != 0 {
			lo--
		}
		start := len(b)
		b = t.appendText(b, r, lo, min(hi, max(r.textLength(), 0)))
		joined := r.wrapped && !s.Block
		if !joined {
			trimmed := strings.TrimRight(string(b[start:]), " ")
			// Spaces that the selection itself ends with are kept.
			if s.Block || n < s.To.Row || hi > r.textLength() {
				b = b[:start+len(trimmed)]
			}
			if n < s.To.Row {
				b = append(b, '\n')
			}
		} else if fill := min(hi, characters(r)) - max(lo, r.textLength()); fill > 0 {
			b = append(b, strings.Repeat(" ", fill)...)
		}
	}
	return string(b), true
}

// wordExtra are the characters besides letters and digits that a double click
// takes as part of a word: those of paths and addresses.
const wordExtra = "-,./?%&#:_=+@~"

func (t *Terminal) wordCell(r *row, x int) bool {
	c := r.cells[x]
	if c.Attr&Tail != 0 && x > 0 {
		c = r.cells[x-1]
	}
	k := t.clusters.base(c.Rune)
	return unicode.IsLetter(k) || unicode.IsDigit(k) || k > 0x7f && !unicode.IsSpace(k) && !unicode.IsPunct(k) && !unicode.IsSymbol(k) ||
		k > 0 && k < 0x80 && strings.IndexByte(wordExtra, byte(k)) >= 0
}

// Word is the word at a place, over the rows of its line; of what is no word
// the run of the same kind. It is false when the epoch is over or nothing is
// there.
func (t *Terminal) Word(epoch uint64, p Pos) (Span, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.absolute(p.Row)
	if epoch != t.epoch || r == nil || p.Col < 0 || p.Col >= len(r.cells) {
		return Span{}, false
	}
	kind := func(r *row, x int) int {
		switch c := r.cells[x]; {
		case t.wordCell(r, x):
			return 1
		case c.Rune == 0 && c.Attr&Tail == 0 || c.Rune == ' ':
			return 2
		}
		return 3
	}
	k := kind(r, p.Col)
	from, to := p, p
	for {
		row, col := from.Row, from.Col-1
		if col < 0 {
			up := t.absolute(row - 1)
			if up == nil || !up.wrapped {
				break
			}
			row--
			col = characters(up) - 1
		}
		if rr := t.absolute(row); col < 0 || kind(rr, col) != k {
			break
		}
		from = Pos{row, col}
	}
	for {
		row, col := to.Row, to.Col+1
		rr := t.absolute(row)
		if col >= characters(rr) && rr.wrapped {
			row, col = row+1, 0
			if rr = t.absolute(row); rr == nil {
				break
			}
		}
		if col >= len(rr.cells) || kind(rr, col) != k {
			break
		}
		to = Pos{row, col}
	}
	to.Col++
	return Span{From: from, To: to}, true
}

// Line is the whole logical line at a place.
func (t *Terminal) Line(epoch uint64, p Pos) (Span, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if epoch != t.epoch || t.absolute(p.Row) == nil {
		return Span{}, false
	}
	from, to := t.lineAround(p.Row)
	return Span{From: Pos{from, 0}, To: Pos{to, t.cols}}, true
}

// lineAround are the first and the last row of the line that a row is in.
func (t *Terminal) lineAround(n int64) (from, to int64) {
	from, to = n, n
	for {
		up := t.absolute(from - 1)
		if up == nil || !up.wrapped {
			break
		}
		from--
	}
	for t.absolute(to).wrapped && t.absolute(to+1) != nil {
		to++
	}
	return from, to
}

// All is everything from the oldest row of the scrollback to the last one of
// the screen.
func (t *Terminal) All() (epoch uint64, s Span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	live := t.liveTop()
	last := live + int64(max(0, t.lastUsed(t.scr)))
	return t.epoch, Span{From: Pos{live - int64(t.history()), 0}, To: Pos{last, t.cols}}
}
