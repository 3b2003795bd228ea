package grid

import "unicode/utf8"

const (
	// maxMarks is the number of code points in one cell. Further marks are
	// dropped.
	maxMarks = 16
	// maxClusters bounds the characters with marks that are kept at one time,
	// over the whole terminal. Over it those no longer shown are swept out; when
	// that does not help, marks are dropped.
	maxClusters = 1 << 15
)

// A cluster is a character and one more mark.
type cluster struct {
	text string
	base rune
	last rune
	n    int // code points
}

// A clusterTable holds the characters with marks. Cells name them by -1, -2,
// and so on.
type clusterTable struct {
	list  []cluster
	index map[uint64]rune // what a cell's Rune and a mark give
	gen   uint64          // moves when names change
	wait  int             // how many more are refused before it is swept again
}

func (c *clusterTable) init() { c.index = map[uint64]rune{} }

func clusterKey(base, mark rune) uint64 { return uint64(uint32(base))<<32 | uint64(uint32(mark)) }

func (c *clusterTable) base(r rune) rune {
	if r >= 0 {
		return r
	}
	return c.list[-r-1].base
}

func (c *clusterTable) parts(r rune) (base, last rune, n int) {
	if r >= 0 {
		return r, r, 1
	}
	k := &c.list[-r-1]
	return k.base, k.last, k.n
}

// text is what a cell's Rune stands for.
func clusterText(list []cluster, r rune) string {
	switch {
	case r == 0:
		return " "
	case r > 0:
		return string(r)
	case int(-r) <= len(list):
		return list[-r-1].text
	}
	return ""
}

// join names the character base with one more mark. False: it is full.
func (t *Terminal) join(base, mark rune) (rune, bool) {
	c := &t.clusters
	key := clusterKey(base, mark)
	if r, ok := c.index[key]; ok {
		return r, true
	}
	k := cluster{base: base, last: mark, n: 2}
	if base < 0 {
		old := c.list[-base-1]
		if old.n >= maxMarks {
			return 0, false
		}
		k.base, k.n = old.base, old.n+1
	}
	if len(c.list) >= maxClusters {
		if c.wait > 0 {
			c.wait--
			return 0, false
		}
		now := t.sweepClusters(base)
		c.wait = maxClusters / 2
		if len(c.list) >= maxClusters {
			return 0, false
		}
		if len(c.list) <= maxClusters/2 {
			c.wait = 0
		}
		if base < 0 {
			base = now[base]
			key = clusterKey(base, mark)
		}
	}
	text := clusterText(c.list, base)
	b := make([]byte, 0, len(text)+utf8.UTFMax)
	b = utf8.AppendRune(append(b, text...), mark)
	k.text = string(b)
	c.list = append(c.list, k)
	r := rune(-len(c.list))
	c.index[key] = r
	return r, true
}

// everyRow calls f for each row that anybody can still see.
func (t *Terminal) everyRow(f func(*row)) {
	for i := range t.ring.n {
		f(t.ring.at(i))
	}
	for _, s := range []*screen{&t.main, &t.alt} {
		for _, r := range s.rows {
			f(r)
		}
	}
}

// sweepClusters forgets the characters that no cell shows, but for keep, and
// names the others anew.
func (t *Terminal) sweepClusters(keep rune) map[rune]rune {
	c := &t.clusters
	now := map[rune]rune{}
	var list []cluster
	name := func(old rune) rune {
		if r, ok := now[old]; ok {
			return r
		}
		list = append(list, c.list[-old-1])
		r := rune(-len(list))
		now[old] = r
		return r
	}
	t.everyRow(func(r *row) {
		for i := range r.cells[:r.used] {
			if k := &r.cells[i]; k.Rune < 0 {
				k.Rune = name(k.Rune)
			}
		}
	})
	if keep < 0 {
		name(keep)
	}
	if t.last < 0 {
		t.last = name(t.last)
	}
	index := make(map[uint64]rune, len(now))
	for key, r := range c.index {
		to, ok := now[r]
		if !ok {
			continue
		}
		if base := rune(int32(uint32(key >> 32))); base < 0 {
			b, ok := now[base]
			if !ok {
				// What it grew from is gone; it is not found again, but stays.
				continue
			}
			key = clusterKey(b, rune(uint32(key)))
		}
		index[key] = to
	}
	c.list, c.index = list, index
	c.gen++
	return now
}
