package grid

import (
	"sync"
	"time"
)

// The bounds of a screen.
const (
	MinCols, MaxCols = 2, 2000
	MinRows, MaxRows = 1, 1000
)

const (
	// writeChunk is how many bytes are taken under one lock.
	writeChunk = 32 << 10
	// maxWork is how many cells sequences may touch under one lock: a few bytes
	// can ask for the whole screen.
	maxWork = 2 << 20
)

// Options say what a Terminal is like. The zero value is 80 by 24 with
// [DefaultScrollback].
type Options struct {
	Cols, Rows int
	// Scrollback is the number of rows kept that left the screen; 0 stands for
	// the default, less for none.
	Scrollback int
	// Version is told to programs that ask which terminal this is.
	Version string
}

// A Terminal is one terminal.
type Terminal struct {
	mu sync.Mutex // guards all below

	cols, rows int
	gen        uint64 // counts writes and other changes
	rowID      uint64
	spare      []*row
	scrollback int // rows asked for
	version    string

	main, alt screen
	scr       *screen // one of the two
	work      int     // cells that sequences touched under this lock
	ring      ring
	epoch     uint64 // moves when absolute row numbers lose their meaning
	resizes   uint64 // changes of the size
	written   uint64 // bytes that the program printed

	x, y      int
	pend      bool // the next character goes to the next row first
	pen       Cell // what is written with: Rune 0 and no shape
	underline Color
	link      linkKey
	set       charsets
	mode      modes
	top, bot  int // scrolling region, both included
	left, rgt int
	tabs      []bool
	last      rune // for REP; 0 for none
	lastX     int  // the cell of the last character, while nothing else came
	lastY     int
	lastOK    bool

	parser   parser
	clusters clusterTable
	extras   extraTable

	title  string
	titles []string
	dir    string
	colors Colors
	scheme Scheme
	cellW  int // pixels
	cellH  int

	replies []byte
	events  []Event

	syncEnd  time.Time // output is held back from views until then
	now      func() time.Time
	watchers []*Watch
}

// A screen is the main or the alternate one.
type screen struct {
	rows  []*row
	saved saved
	kitty []uint8 // flags of the keyboard protocol, last is in force
}

// saved is what DECSC keeps.
type saved struct {
	ok        bool
	x, y      int
	pend      bool
	pen       Cell
	underline Color
	link      linkKey
	set       charsets
	origin    bool
}

// New makes a terminal. Sizes out of bounds are brought within.
func New(o Options) *Terminal {
	if o.Cols == 0 {
		o.Cols = 80
	}
	if o.Rows == 0 {
		o.Rows = 24
	}
	if o.Scrollback == 0 {
		o.Scrollback = DefaultScrollback
	}
	t := &Terminal{
		cols: clamp(o.Cols, MinCols, MaxCols), rows: clamp(o.Rows, MinRows, MaxRows),
		gen: 1, version: o.Version, now: time.Now,
	}
	t.ring.max = clamp(o.Scrollback, 0, MaxScrollback)
	t.scrollback = t.ring.max
	t.ring.max = limit(t.scrollback, t.cols)
	t.main.rows = t.newRows(t.rows, t.cols)
	t.alt.rows = t.newRows(t.rows, t.cols)
	t.scr = &t.main
	t.clusters.init()
	t.extras.init()
	t.tabs = make([]bool, MaxCols)
	t.resetTabs()
	t.softReset()
	t.mode.autowrap = true
	return t
}

func clamp(n, lo, hi int) int { return max(lo, min(n, hi)) }

// Write takes what the program printed. It never fails and never waits for
// anybody but readers that copy. Afterwards its caller takes [Terminal.Replies]
// and [Terminal.Events].
func (t *Terminal) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		c := p[:min(len(p), writeChunk)]
		t.mu.Lock()
		t.gen++
		rest := t.feed(c)
		t.written += uint64(len(c) - len(rest))
		t.mu.Unlock()
		p = p[len(c)-len(rest):]
	}
	if n > 0 {
		t.wake()
	}
	return n, nil
}

// Size is the number of columns and rows.
func (t *Terminal) Size() (cols, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cols, t.rows
}

// Shape is the size, with the number of times that it changed.
func (t *Terminal) Shape() (cols, rows int, resizes uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cols, t.rows, t.resizes
}

// Written is how many bytes the program printed.
func (t *Terminal) Written() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written
}

// Generation counts what was written and every other change; it only grows.
func (t *Terminal) Generation() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.gen
}

// CellSize is how many pixels a cell has.
func (t *Terminal) CellSize() (w, h int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cellW, t.cellH
}

// SetCellSize says how many pixels a cell of the window has, for programs that
// ask. Before that they get no answer.
func (t *Terminal) SetCellSize(w, h int) {
	t.mu.Lock()
	t.cellW, t.cellH = clamp(w, 0, 1000), clamp(h, 0, 1000)
	t.mu.Unlock()
}

// LinkLost puts back what the program that is gone had asked for: the main
// screen comes back, no mouse, paste or focus reports are sent, keys send what
// they send at a prompt, colours and the cursor are the usual ones, and a
// half-received sequence is forgotten. The text stays, and what comes next
// begins on a line of its own.
func (t *Terminal) LinkLost() {
	t.mu.Lock()
	t.gen++
	t.parser.reset()
	if t.scr == &t.alt {
		t.leaveAlt(true)
		t.restoreCursor()
	}
	t.softReset()
	t.main.saved, t.alt.saved = saved{}, saved{}
	t.main.kitty, t.alt.kitty = nil, nil
	t.mode = modes{autowrap: true, cursorOn: true, metaEsc: true}
	t.resetTabs()
	t.resetColors()
	t.titles = nil
	t.syncEnd = time.Time{}
	t.replies = nil
	t.epoch++
	if last := t.lastUsed(&t.main); last >= t.y {
		// Below all that is shown.
		t.y = last
		t.x = t.scr.rows[last].textLength()
	}
	if t.x > 0 {
		t.x, t.pend = 0, false
		t.index()
	}
	t.mu.Unlock()
	t.wake()
}

// lastUsed is the last row of a screen with anything on it, or -1.
func (t *Terminal) lastUsed(s *screen) int {
	y := t.rows - 1
	for y >= 0 && s.rows[y].length() == 0 {
		y--
	}
	return y
}

// A Watch tells that a terminal has changed.
type Watch struct {
	t    *Terminal
	wake chan struct{}
}

// Watch returns a new watch. Close it when it is no longer needed.
func (t *Terminal) Watch() *Watch {
	w := &Watch{t: t, wake: make(chan struct{}, 1)}
	t.mu.Lock()
	t.watchers = append(append([]*Watch(nil), t.watchers...), w)
	t.mu.Unlock()
	return w
}

// Wake gets one value after changes. Values do not pile up.
func (w *Watch) Wake() <-chan struct{} { return w.wake }

// Close ends the watch.
func (w *Watch) Close() {
	w.t.mu.Lock()
	var rest []*Watch
	for _, o := range w.t.watchers {
		if o != w {
			rest = append(rest, o)
		}
	}
	w.t.watchers = rest
	w.t.mu.Unlock()
}

func (t *Terminal) wake() {
	t.mu.Lock()
	ws := t.watchers
	t.mu.Unlock()
	for _, w := range ws {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}
