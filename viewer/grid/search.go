package grid

import (
	"bytes"
	"errors"
	"regexp"
	"unicode"
	"unicode/utf8"
)

// A Query is what is searched for.
type Query struct {
	text []byte // nil with re
	fold bool
	re   *regexp.Regexp
}

// maxQuery bounds what is searched for.
const maxQuery = 4096

// The errors of a query.
var (
	errNoQuery   = errors.New("nothing to search for")
	errLongQuery = errors.New("a search is for 4096 bytes at most")
)

// NewQuery makes a query of plain text or of a regular expression (RE2), with
// or without regard to case. Searches see logical lines.
func NewQuery(text string, matchCase, expression bool) (*Query, error) {
	switch {
	case text == "":
		return nil, errNoQuery
	case len(text) > maxQuery:
		return nil, errLongQuery
	}
	if expression {
		if !matchCase {
			text = "(?i)" + text
		}
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, err
		}
		return &Query{re: re}, nil
	}
	q := &Query{text: []byte(text), fold: !matchCase}
	if q.fold {
		q.text = appendFolded(nil, text)
	}
	return q, nil
}

func appendFolded(b []byte, s string) []byte {
	for _, r := range s {
		b = utf8.AppendRune(b, unicode.ToLower(r))
	}
	return b
}

// A flat is the text of one logical line, and where each byte of it stands.
type flat struct {
	text []byte
	at   []Pos
}

// flatten takes the line of the rows from and to.
func (t *Terminal) flatten(f *flat, q *Query, from, to int64) {
	f.text, f.at = f.text[:0], f.at[:0]
	for n := from; n <= to; n++ {
		r := t.absolute(n)
		for x := range characters(r) {
			k := len(f.text)
			f.text = t.appendText(f.text, r, x, x+1)
			if q.fold && len(f.text) > k {
				if c := f.text[k]; c < 0x80 && len(f.text) == k+1 {
					if c >= 'A' && c <= 'Z' {
						f.text[k] = c + 'a' - 'A'
					}
				} else {
					f.text = appendFolded(f.text[:k], string(f.text[k:]))
				}
			}
			for len(f.at) < len(f.text) {
				f.at = append(f.at, Pos{n, x})
			}
		}
	}
}

// matches calls found for each match in a line, until it returns false.
func (q *Query) matches(f *flat, found func(lo, hi int) bool) {
	if q.re != nil {
		for _, m := range q.re.FindAllIndex(f.text, 10_000) {
			if m[0] < m[1] && !found(m[0], m[1]) {
				return
			}
		}
		return
	}
	for at := 0; ; {
		i := bytes.Index(f.text[at:], q.text)
		if i < 0 {
			return
		}
		if !found(at+i, at+i+len(q.text)) {
			return
		}
		at += i + len(q.text)
	}
}

// span is where the bytes lo to hi of a line stand.
func (t *Terminal) span(f *flat, lo, hi int) Span {
	to := f.at[hi-1]
	r := t.absolute(to.Row)
	to.Col++
	if to.Col < len(r.cells) && r.cells[to.Col].Attr&Tail != 0 {
		to.Col++
	}
	return Span{From: f.at[lo], To: to}
}

// searchBatch is how many lines are looked through under one lock.
const searchBatch = 256

// Find returns the first match that begins after a place, or with back the
// last one before it. It is false when there is none or the epoch is over.
func (t *Terminal) Find(q *Query, epoch uint64, from Pos, back bool) (Span, bool) {
	var f flat
	row := from.Row
	for {
		s, next, done := t.findSome(q, &f, epoch, from, row, back)
		if done {
			return s, s != Span{}
		}
		row = next
	}
}

func (t *Terminal) findSome(q *Query, f *flat, epoch uint64, from Pos, row int64, back bool) (s Span, next int64, done bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if epoch != t.epoch {
		return s, 0, true
	}
	oldest, youngest := t.liveTop()-int64(t.history()), t.liveTop()+int64(t.rows)-1
	if back && row < oldest || !back && row > youngest {
		return s, 0, true
	}
	row = min(max(row, oldest), youngest)
	for range searchBatch {
		lo, hi := t.lineAround(row)
		t.flatten(f, q, lo, hi)
		q.matches(f, func(a, b int) bool {
			at := f.at[a]
			if back {
				if at.Before(from) {
					s, done = t.span(f, a, b), true
				}
				return true
			}
			if from.Before(at) {
				s, done = t.span(f, a, b), true
			}
			return !done
		})
		if done {
			return s, 0, true
		}
		if row = hi + 1; back {
			row = lo - 1
		}
		if row < oldest || row > youngest {
			return s, 0, true
		}
	}
	return s, row, false
}

// Matches returns the matches that have a part in the rows from one to another,
// at most limit of them: those that a window marks.
func (t *Terminal) Matches(q *Query, epoch uint64, from, to int64, limit int) []Span {
	t.mu.Lock()
	defer t.mu.Unlock()
	if epoch != t.epoch {
		return nil
	}
	oldest, youngest := t.liveTop()-int64(t.history()), t.liveTop()+int64(t.rows)-1
	from, to = max(from, oldest), min(to, youngest)
	var out []Span
	var f flat
	for row := from; row <= to && len(out) < limit; {
		lo, hi := t.lineAround(row)
		t.flatten(&f, q, lo, hi)
		q.matches(&f, func(a, b int) bool {
			s := t.span(&f, a, b)
			if s.To.Row >= from && s.From.Row <= to {
				out = append(out, s)
			}
			return len(out) < limit
		})
		row = hi + 1
	}
	return out
}

// addresses are what [Terminal.Link] takes for one in plain text.
var addresses = regexp.MustCompile(`(?:https?|ftp|file|ssh|sftp)://[^\s<>"'` + "`" + `{}|\\^]+`)

// Link is the address at a place: that of OSC 8, or one in the text itself. The
// span is what belongs to it in the line.
func (t *Terminal) Link(epoch uint64, p Pos) (address string, s Span, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.absolute(p.Row)
	if epoch != t.epoch || r == nil || p.Col < 0 || p.Col >= len(r.cells) {
		return "", s, false
	}
	lo, hi := t.lineAround(p.Row)
	if x := t.extras.list[r.cells[p.Col].Extra]; x.Link != "" {
		same := func(row int64, col int) bool {
			o := t.extras.list[t.absolute(row).cells[col].Extra]
			return o.Link == x.Link && o.LinkID == x.LinkID
		}
		from, to := p, p
		for from.Col > 0 && same(from.Row, from.Col-1) || from.Col == 0 && from.Row > lo && same(from.Row-1, t.cols-1) {
			if from.Col--; from.Col < 0 {
				from = Pos{from.Row - 1, t.cols - 1}
			}
		}
		for to.Col < t.cols-1 && same(to.Row, to.Col+1) || to.Col == t.cols-1 && to.Row < hi && same(to.Row+1, 0) {
			if to.Col++; to.Col == t.cols {
				to = Pos{to.Row + 1, 0}
			}
		}
		to.Col++
		return x.Link, Span{From: from, To: to}, true
	}
	var f flat
	t.flatten(&f, &Query{}, lo, hi)
	for _, m := range addresses.FindAllIndex(f.text, 1000) {
		text := f.text[m[0]:m[1]]
		text = bytes.TrimRight(text, ".,;:!?")
		if n := len(text); n > 0 && text[n-1] == ')' && bytes.Count(text, []byte{'('}) < bytes.Count(text, []byte{')'}) {
			text = text[:n-1]
		}
		if s := t.span(&f, m[0], m[0]+len(text)); s.Has(p) {
			return string(text), s, true
		}
	}
	return "", Span{}, false
}
