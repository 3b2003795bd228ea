package grid

const (
	// maxExtras bounds the links and underline colours that cells have at one
	// time. Over it those no longer shown are swept out; when that does not
	// help, cells get none.
	maxExtras = 1 << 13
	// maxLink bounds the address of a link, as other terminals do.
	maxLink = 2083
	// maxLinkID bounds the name by which parts of a link are told to be one.
	maxLinkID = 256
	// maxLinkBytes bounds all addresses together.
	maxLinkBytes = 4 << 20
)

type linkKey struct{ uri, id string }

// An Extra is what few cells have.
type Extra struct {
	Link   string // the address, from OSC 8; empty for none
	LinkID string // cells with the same Link and LinkID are one link
	// Underline is the colour of the underline; Default is that of the text.
	Underline Color
}

type extraTable struct {
	list  []Extra // the first is empty
	index map[Extra]uint16
	bytes int
	gen   uint64
	wait  int
}

func (e *extraTable) init() {
	e.list, e.index, e.bytes = []Extra{{}}, map[Extra]uint16{{}: 0}, 0
}

// setExtra gives the pen its link and underline colour.
func (t *Terminal) setExtra() {
	x := Extra{t.link.uri, t.link.id, t.underline}
	e := &t.extras
	if n, ok := e.index[x]; ok {
		t.pen.Extra = n
		return
	}
	t.pen.Extra = 0
	size := len(x.Link) + len(x.LinkID)
	if len(e.list) >= maxExtras || e.bytes+size > maxLinkBytes {
		if e.wait > 0 {
			e.wait--
			return
		}
		t.sweepExtras()
		if len(e.list) > maxExtras/2 || e.bytes > maxLinkBytes/2 {
			e.wait = maxExtras / 2
		}
		if len(e.list) >= maxExtras || e.bytes+size > maxLinkBytes {
			return
		}
	}
	n := uint16(len(e.list))
	e.list = append(e.list, x)
	e.index[x] = n
	e.bytes += size
	t.pen.Extra = n
}

// sweepExtras forgets what no cell has, and names the rest anew.
func (t *Terminal) sweepExtras() {
	old := t.extras
	t.extras.init()
	e := &t.extras
	e.gen, e.wait = old.gen+1, 0
	now := make([]uint16, len(old.list))
	name := func(n uint16) uint16 {
		if n != 0 && now[n] == 0 {
			x := old.list[n]
			now[n] = uint16(len(e.list))
			e.list = append(e.list, x)
			e.index[x] = now[n]
			e.bytes += len(x.Link) + len(x.LinkID)
		}
		return now[n]
	}
	t.everyRow(func(r *row) {
		for i := range r.cells[:r.used] {
			if c := &r.cells[i]; c.Extra != 0 {
				c.Extra = name(c.Extra)
			}
		}
	})
	t.main.saved.pen.Extra = name(t.main.saved.pen.Extra)
	t.alt.saved.pen.Extra = name(t.alt.saved.pen.Extra)
}
