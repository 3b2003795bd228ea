package grid

import (
	"fmt"
	"reflect"
	"strings"
)

// dump is all of a terminal that its bytes decide: what two terminals that
// were fed the same bytes have in common.
func dump(t *Terminal) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%dx%d at %d,%d pend %v alt %v region %d-%d %d-%d title %q ring %d first %d cut %d gone %d\n",
		t.cols, t.rows, t.x, t.y, t.pend, t.scr == &t.alt, t.top, t.bot, t.left, t.rgt, t.title, t.ring.n, t.ring.first, t.ring.cut, t.ring.gone)
	m := t.mode
	m.kept = nil
	fmt.Fprintf(&b, "modes %+v set %+v pen %+v saved %+v %+v kitty %v %v\n", m, t.set, t.pen, t.main.saved, t.alt.saved, t.main.kitty, t.alt.kitty)
	for i := range t.ring.n {
		dumpRow(&b, t, t.ring.at(i))
	}
	for _, s := range []*screen{&t.main, &t.alt} {
		b.WriteString("--\n")
		for _, r := range s.rows {
			dumpRow(&b, t, r)
		}
	}
	return b.String()
}

func dumpRow(b *strings.Builder, t *Terminal, r *row) {
	var last Cell
	for _, c := range r.cells[:r.length()] {
		look := c
		look.Rune = 0
		if look != last {
			fmt.Fprintf(b, "{%x %x %x %v}", look.FG, look.BG, look.Attr, t.extras.list[look.Extra])
			last = look
		}
		if c.Rune == 0 {
			b.WriteByte(0)
		} else {
			b.WriteString(clusterText(t.clusters.list, c.Rune))
		}
	}
	if r.wrapped {
		b.WriteString("\\")
	}
	b.WriteByte('\n')
}

// broken says what is wrong with a terminal's inner order, or is empty.
func broken(t *Terminal) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.x < 0 || t.x >= t.cols || t.y < 0 || t.y >= t.rows:
		return fmt.Sprintf("the cursor at %d,%d is outside %dx%d", t.x, t.y, t.cols, t.rows)
	case t.top < 0 || t.top > t.bot || t.bot >= t.rows || t.left < 0 || t.left > t.rgt || t.rgt >= t.cols:
		return fmt.Sprintf("the region %d-%d %d-%d is outside %dx%d", t.top, t.bot, t.left, t.rgt, t.cols, t.rows)
	case len(t.main.rows) != t.rows || len(t.alt.rows) != t.rows:
		return "a screen has another number of rows"
	case t.ring.n > t.ring.max || t.ring.pull > t.ring.n:
		return fmt.Sprintf("the ring has %d rows of %d, %d to take back", t.ring.n, t.ring.max, t.ring.pull)
	case len(t.replies) > maxReplies || len(t.events) > maxEvents || len(t.clusters.list) > maxClusters || len(t.extras.list) > maxExtras:
		return "a queue or table is over its bound"
	case len(t.parser.text) > maxText:
		return "a text is over its bound"
	}
	ends := uint64(0)
	seen := map[*row]bool{}
	bad := ""
	check := func(name string, i int, r *row) {
		switch {
		case bad != "":
		case seen[r]:
			bad = "the same row twice"
		case len(r.cells) != t.cols:
			bad = fmt.Sprintf("%s row %d has %d cells", name, i, len(r.cells))
		}
		if bad != "" {
			return
		}
		seen[r] = true
		for x, c := range r.cells {
			switch {
			case x >= r.used && c != Cell{}:
				bad = fmt.Sprintf("%s row %d: cell %d is not zero, used is %d", name, i, x, r.used)
			case c.Attr&(Wide|Tail) != 0 && !r.wide:
				bad = fmt.Sprintf("%s row %d: a wide cell at %d is not known", name, i, x)
			case c.Attr&Wide != 0 && (x+1 >= t.cols || r.cells[x+1].Attr&Tail == 0):
				bad = fmt.Sprintf("%s row %d: no right half after %d", name, i, x)
			case c.Attr&Tail != 0 && (x == 0 || r.cells[x-1].Attr&Wide == 0):
				bad = fmt.Sprintf("%s row %d: no left half before %d", name, i, x)
			case c.Rune < 0 && int(-c.Rune) > len(t.clusters.list):
				bad = fmt.Sprintf("%s row %d: no such cluster at %d", name, i, x)
			case int(c.Extra) >= len(t.extras.list):
				bad = fmt.Sprintf("%s row %d: no such extra at %d", name, i, x)
			}
		}
	}
	for i := range t.ring.n {
		r := t.ring.at(i)
		check("ring", i, r)
		if !r.wrapped {
			ends++
		}
	}
	for i, r := range t.main.rows {
		check("main", i, r)
	}
	for i, r := range t.alt.rows {
		check("alternate", i, r)
	}
	if bad == "" && ends != t.ring.ends {
		bad = fmt.Sprintf("the ring counts %d line ends, it has %d", t.ring.ends, ends)
	}
	return bad
}

// same reports a difference of two dumps, as the first line that differs.
func same(a, b string) string {
	if a == b {
		return ""
	}
	al, bl := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(al), len(bl)) {
		if !reflect.DeepEqual(al[i], bl[i]) {
			return fmt.Sprintf("line %d: %q and %q", i, al[i], bl[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(al), len(bl))
}
