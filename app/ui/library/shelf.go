package library

import (
	"image"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/viewer"
)

// Spaces of the shelf.
const (
	itemGap       = 8
	rowGap        = 4
	headingHeight = 26
	sectionGap    = 10
)

// A line is one row of the shelf: a heading, or items beside each other.
type line struct {
	y, h    float32
	heading string
	first   int // of the items
	count   int
}

// A shelf shows sections of machines. It makes only what can be seen, however
// many there are.
type shelf struct {
	widget.BaseWidget
	open   func(Entry)
	menu   func(Entry, fyne.Position)
	change func()                                  // another one is chosen
	typed  func(rune)                              // a letter: the search's
	key    func(*fyne.KeyEvent) bool               // keys that are not the shelf's
	short  func(fyne.Shortcut) bool                // chords
	thumb  func(id string) image.Image             // last picture of a host
	live   func(viewer.Target) fyne.ThemeColorName // colour of an open session
	on     fyne.Canvas

	cards    bool
	sections []Section
	entries  []Entry // of all sections
	lines    []line
	columns  int
	width    float32 // that the lines are made for
	itemW    float32

	selected    int
	hasSelected bool
	hasFocus    bool

	scroll   *container.Scroll
	board    *fyne.Container
	items    map[int]*item // shown, by place
	headings map[int]*look.Text
	spare    []*item
}

var (
	_ fyne.Focusable    = (*shelf)(nil)
	_ fyne.Shortcutable = (*shelf)(nil)
)

func newShelf(c fyne.Canvas) *shelf {
	s := &shelf{on: c, items: map[int]*item{}, headings: map[int]*look.Text{}}
	s.board = container.New(&board{s})
	s.scroll = container.NewVScroll(s.board)
	s.scroll.OnScrolled = func(fyne.Position) { s.fill() }
	s.ExtendBaseWidget(s)
	return s
}

// board is the layout of what is scrolled.
type board struct{ s *shelf }

// Layout is called by the toolkit; the shelf places its items itself.
func (b *board) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	if size.Width != b.s.width {
		b.s.arrange(size.Width)
	}
	b.s.fill()
}

// MinSize is called by the toolkit.
func (b *board) MinSize([]fyne.CanvasObject) fyne.Size {
	h := float32(0)
	if n := len(b.s.lines); n > 0 {
		h = b.s.lines[n-1].y + b.s.lines[n-1].h + sectionGap
	}
	return fyne.NewSize(100, h)
}

// CreateRenderer is called by the toolkit.
func (s *shelf) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(s.scroll) }

// MinSize is called by the toolkit.
func (s *shelf) MinSize() fyne.Size { return fyne.NewSize(120, 60) }

// Resize is called by the toolkit.
func (s *shelf) Resize(size fyne.Size) {
	s.BaseWidget.Resize(size)
	s.scroll.Resize(size)
	s.arrange(size.Width)
	s.fill()
}

// set shows other machines. The chosen one stays chosen while it is there.
func (s *shelf) set(sections []Section) {
	key := ""
	if e, ok := s.chosen(); ok {
		key = e.key()
	}
	near := s.selected
	s.sections = sections
	s.entries = s.entries[:0]
	for _, sec := range sections {
		s.entries = append(s.entries, sec.Entries...)
	}
	s.hasSelected = false
	if key != "" {
		// The nearest of those with that key: a machine may be shown twice.
		best := -1
		for i, e := range s.entries {
			if e.key() == key && (best < 0 || abs(i-near) < abs(best-near)) {
				best = i
			}
		}
		if best < 0 && near < len(s.entries) {
			best = near // the one that took its place
		}
		if best >= 0 {
			s.selected, s.hasSelected = best, true
		}
	}
	s.arrange(s.width)
	s.refill()
	s.change()
}

func abs(i int) int { return max(i, -i) }

// setCards changes between cards and rows.
func (s *shelf) setCards(on bool) {
	s.cards = on
	s.arrange(s.width)
	s.refill()
	s.reveal()
}

// arrange works the lines out for a width.
func (s *shelf) arrange(width float32) {
	s.width = width
	s.lines = s.lines[:0]
	room := max(width-theme.ScrollBarSize()-2, 60)
	s.columns, s.itemW = 1, room
	h, gap := float32(rowHeight), float32(rowGap)
	if s.cards {
		s.columns = max(int((room+itemGap)/(cardMin+itemGap)), 1)
		s.itemW = min((room-itemGap*float32(s.columns-1))/float32(s.columns), 1.45*cardMin)
		h, gap = cardHeight(s.itemW), itemGap
	}
	var y float32
	n := 0
	for _, sec := range s.sections {
		if len(sec.Entries) == 0 {
			continue
		}
		if sec.Title != "" {
			if y > 0 {
				y += sectionGap
			}
			s.lines = append(s.lines, line{y: y, h: headingHeight, heading: sec.Title})
			y += headingHeight
		}
		for i := 0; i < len(sec.Entries); i += s.columns {
			count := min(s.columns, len(sec.Entries)-i)
			s.lines = append(s.lines, line{y: y, h: h, first: n + i, count: count})
			y += h + gap
		}
		n += len(sec.Entries)
	}
}

// refill shows everything anew.
func (s *shelf) refill() {
	for i, it := range s.items {
		s.drop(i, it)
	}
	for i := range s.headings {
		s.dropHeading(i)
	}
	s.scroll.Refresh() // the board may be higher or lower
	s.fill()
}

// dropHeading takes a heading away. The board is not laid out anew for it.
func (s *shelf) dropHeading(i int) {
	t := s.headings[i]
	delete(s.headings, i)
	s.board.Objects = slices.DeleteFunc(s.board.Objects, func(o fyne.CanvasObject) bool { return o == fyne.CanvasObject(t) })
}

func (s *shelf) drop(i int, it *item) {
	it.Hide()
	it.hovered = false
	delete(s.items, i)
	s.spare = append(s.spare, it)
}

// visible are the lines that can be seen.
func (s *shelf) visible() (from, to int) {
	top, bottom := s.scroll.Offset.Y, s.scroll.Offset.Y+s.scroll.Size().Height
	from, _ = slices.BinarySearchFunc(s.lines, top, func(l line, y float32) int {
		if l.y+l.h < y {
			return -1
		}
		return 1
	})
	to = from
	for to < len(s.lines) && s.lines[to].y <= bottom {
		to++
	}
	return from, to
}

// fill makes what can be seen, and puts the rest away for later.
func (s *shelf) fill() {
	from, to := s.visible()
	first, last := 0, -1 // places
	for _, l := range s.lines[from:to] {
		if l.count > 0 {
			if last < 0 {
				first = l.first
			}
			last = l.first + l.count - 1
		}
	}
	for i, it := range s.items {
		if i < first || i > last {
			s.drop(i, it)
		}
	}
	for i := range s.headings {
		if i < from || i >= to {
			s.dropHeading(i)
		}
	}
	for n, l := range s.lines[from:to] {
		if l.heading != "" {
			t := s.headings[from+n]
			if t == nil {
				t = look.NewText(l.heading, look.ColorMuted, theme.SizeNameCaptionText, true)
				s.headings[from+n] = t
				s.board.Objects = append(s.board.Objects, t)
			}
			t.Move(fyne.NewPos(-3, l.y))
			t.Resize(fyne.NewSize(max(s.width, 0), l.h))
			continue
		}
		for i := range l.count {
			place := l.first + i
			it := s.items[place]
			fresh := it == nil
			if fresh {
				if k := len(s.spare); k > 0 {
					it, s.spare = s.spare[k-1], s.spare[:k-1]
				} else {
					it = newItem(s)
					s.board.Objects = append(s.board.Objects, it)
				}
				s.items[place] = it
			}
			it.Move(fyne.NewPos(float32(i)*(s.itemW+itemGap), l.y))
			it.Resize(fyne.NewSize(s.itemW, l.h))
			if fresh {
				it.show(place, s.entries[place])
				it.Show()
			}
		}
	}
	canvas.Refresh(s.board)
}

// update shows the states and pictures of what can be seen as they are now.
func (s *shelf) update() {
	for place, it := range s.items {
		it.show(place, s.entries[place])
	}
}

// chosen is the entry that is chosen.
func (s *shelf) chosen() (Entry, bool) {
	if !s.hasSelected || s.selected < 0 || s.selected >= len(s.entries) {
		return Entry{}, false
	}
	return s.entries[s.selected], true
}

// choose marks an entry, and with focus takes the keyboard.
func (s *shelf) choose(place int, focus bool) {
	if place < 0 || place >= len(s.entries) {
		return
	}
	s.selected, s.hasSelected = place, true
	for i, it := range s.items {
		if on := i == place; it.selected != on {
			it.selected = on
			it.paintGround()
		}
	}
	if focus && s.on.Focused() != fyne.Focusable(s) {
		s.on.Focus(s)
	}
	s.change()
}

// chooseHost marks a saved machine, the first place it has.
func (s *shelf) chooseHost(id string) bool {
	for i, e := range s.entries {
		if e.Saved && e.Host.ID == id {
			s.choose(i, false)
			s.reveal()
			return true
		}
	}
	return false
}

// reveal scrolls to the chosen one.
func (s *shelf) reveal() {
	if !s.hasSelected {
		return
	}
	for i, l := range s.lines {
		if l.count == 0 || s.selected < l.first || s.selected >= l.first+l.count {
			continue
		}
		top := l.y
		if i > 0 && s.lines[i-1].heading != "" {
			top = s.lines[i-1].y
		}
		y, view := s.scroll.Offset.Y, s.scroll.Size().Height
		switch {
		case top < y:
			y = top
		case l.y+l.h > y+view:
			y = l.y + l.h - view + itemGap
		default:
			return
		}
		s.scroll.ScrollToOffset(fyne.NewPos(0, y))
		s.fill()
		return
	}
}

// lineOf is the line that a place is in, and where there.
func (s *shelf) lineOf(place int) (line, column int) {
	for i, l := range s.lines {
		if l.count > 0 && place >= l.first && place < l.first+l.count {
			return i, place - l.first
		}
	}
	return 0, 0
}

// upDown moves by lines of items.
func (s *shelf) upDown(n int) {
	at, column := s.lineOf(s.selected)
	step := 1
	if n < 0 {
		step, n = -1, -n
	}
	for i := at + step; i >= 0 && i < len(s.lines) && n > 0; i += step {
		if s.lines[i].count > 0 {
			at = i
			n--
		}
	}
	if l := s.lines[at]; l.count > 0 {
		s.move(l.first + min(column, l.count-1))
	}
}

func (s *shelf) move(place int) {
	s.choose(min(max(place, 0), len(s.entries)-1), false)
	s.reveal()
}

// TypedKey is called by the toolkit.
func (s *shelf) TypedKey(ev *fyne.KeyEvent) {
	if len(s.entries) == 0 {
		s.key(ev)
		return
	}
	if !s.hasSelected {
		switch ev.Name {
		case fyne.KeyUp, fyne.KeyDown, fyne.KeyLeft, fyne.KeyRight, fyne.KeyHome, fyne.KeyEnd, fyne.KeyPageDown, fyne.KeyPageUp:
			s.move(0)
			return
		}
	}
	page := max(int(s.scroll.Size().Height/max(s.lineHeight(), 1)), 1)
	switch ev.Name {
	case fyne.KeyUp:
		if at, _ := s.lineOf(s.selected); s.firstLine() == at && s.key(ev) {
			return
		}
		s.upDown(-1)
	case fyne.KeyDown:
		s.upDown(1)
	case fyne.KeyLeft:
		s.move(s.selected - 1)
	case fyne.KeyRight:
		s.move(s.selected + 1)
	case fyne.KeyHome:
		s.move(0)
	case fyne.KeyEnd:
		s.move(len(s.entries) - 1)
	case fyne.KeyPageUp:
		s.upDown(-page)
	case fyne.KeyPageDown:
		s.upDown(page)
	case fyne.KeyReturn, fyne.KeyEnter:
		if e, ok := s.chosen(); ok {
			s.open(e)
		}
	default:
		s.key(ev)
	}
}

func (s *shelf) firstLine() int {
	return slices.IndexFunc(s.lines, func(l line) bool { return l.count > 0 })
}

func (s *shelf) lineHeight() float32 {
	if s.cards {
		return cardHeight(s.itemW) + itemGap
	}
	return rowHeight + rowGap
}

// TypedRune is called by the toolkit.
func (s *shelf) TypedRune(r rune) { s.typed(r) }

// TypedShortcut is called by the toolkit.
func (s *shelf) TypedShortcut(c fyne.Shortcut) { s.short(c) }

// FocusGained is called by the toolkit.
func (s *shelf) FocusGained() { s.setFocus(true) }

// FocusLost is called by the toolkit.
func (s *shelf) FocusLost() { s.setFocus(false) }

func (s *shelf) setFocus(on bool) {
	s.hasFocus = on
	if on && !s.hasSelected && len(s.entries) > 0 {
		s.choose(0, false)
	}
	if it := s.items[s.selected]; it != nil {
		it.paintGround()
	}
}
