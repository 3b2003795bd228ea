package sample

import (
	"fmt"
	"image"
	"math"
	"strconv"
	"strings"
	"time"
)

// A focus is the part that keys go to.
type focus uint8

const (
	onField focus = 1
	onList  focus = 2
	nowhere focus = 3
)

// A scene is all that a desktop shows. It knows how to draw itself; who
// changes it also has to repaint what shows the change.
type scene struct {
	lay   layout
	parts []part

	name   string
	now    time.Time
	clicks int
	note   note
	focus  focus
	top    int // pixels that the list is scrolled by
	chosen int // row of the list, or -1
	moving bool
	step   int // of the animation
	clip   string
}

// A part is one piece of the scene. Parts are drawn in order; one that fills
// opaque wholly hides there what came before.
type part struct {
	bounds, opaque image.Rectangle
	draw           func(s *scene, c *canvas)
}

// The scene's colours.
const (
	paper  = 0xfbfbfd
	ink    = 0x1f2533
	faint  = 0x6b7386
	rule   = 0xe3e6ee
	accent = 0x2f6fed
)

func newScene(name string, w, h int, now time.Time) *scene {
	s := &scene{name: name, now: now, focus: onField, chosen: -1}
	s.place(w, h)
	return s
}

// place gives the scene a size.
func (s *scene) place(w, h int) {
	s.lay = newLayout(w, h)
	l := &s.lay
	s.top = min(s.top, s.maxTop())
	all := image.Rect(0, 0, w, h)
	inside := func(r image.Rectangle) image.Rectangle { return r.Inset(cardRadius) }
	s.parts = []part{
		{all, all, (*scene).drawBack},
		{l.bar, image.Rectangle{}, (*scene).drawBar},
		{l.welcome, inside(l.welcome), (*scene).drawWelcome},
		{l.note, inside(l.note), (*scene).drawNote},
		{l.field, image.Rectangle{}, (*scene).drawField},
		{l.clipLine, image.Rectangle{}, (*scene).drawClip},
		{l.tips, inside(l.tips), (*scene).drawTips},
		{l.list, inside(l.list), (*scene).drawListCard},
		{l.rows, l.rows, (*scene).drawRows},
		{l.motion, inside(l.motion), (*scene).drawMotion},
		{l.bars, l.bars, (*scene).drawBars},
		{l.padCard, inside(l.padCard), (*scene).drawPadCard},
		{l.pad, l.pad, (*scene).drawPad},
	}
}

// paint draws what the canvas covers.
func (s *scene) paint(c *canvas) {
	first := 0
	for i, p := range s.parts {
		if c.clip.In(p.opaque) {
			first = i
		}
	}
	for _, p := range s.parts[first:] {
		if p.bounds.Overlaps(c.clip) {
			in := c.within(p.bounds)
			p.draw(s, &in)
		}
	}
}

// drawBack draws the wallpaper and the shadows of the cards on it.
func (s *scene) drawBack(c *canvas) {
	s.wallpaper(c)
	l := &s.lay
	for _, r := range []image.Rectangle{l.welcome, l.note, l.tips, l.list, l.motion, l.padCard} {
		if !r.Empty() {
			c.shadow(r, cardRadius)
		}
	}
}

// card draws an empty card with a heading.
func (s *scene) card(c *canvas, r image.Rectangle, heading string) {
	c.round(r, cardRadius, allCorners, paper)
	f := faces().strong
	c.text(f, r.Min.X+14, r.Min.Y+(headHeight-f.height)/2+1, f.cut(heading, r.Dx()-28), ink)
	c.fill(image.Rect(r.Min.X, r.Min.Y+headHeight, r.Max.X, r.Min.Y+headHeight+1), rule)
}

// lines writes text into r, as many lines as there is room for, and returns
// where the next would be.
func (c *canvas) lines(f *face, r image.Rectangle, text string, col uint32) int {
	for _, line := range f.wrap(text, r.Dx()) {
		if r.Min.Y+f.height > r.Max.Y+3 {
			break
		}
		c.text(f, r.Min.X, r.Min.Y, line, col)
		r.Min.Y += f.height
	}
	return r.Min.Y
}

func (s *scene) drawWelcome(c *canvas) {
	r, f := s.lay.welcome, faces()
	c.round(r, cardRadius, allCorners, paper)
	in := image.Rect(r.Min.X+14, r.Min.Y+12, r.Max.X-14, r.Max.Y-8)
	if r.Dy() < 110 {
		in.Min.Y = r.Min.Y + max((r.Dy()-f.strong.height-f.small.height)/2, 4)
		c.text(f.strong, in.Min.X, in.Min.Y, f.strong.cut("A machine to try things on", in.Dx()), ink)
		in.Min.Y += f.strong.height
		c.text(f.small, in.Min.X, in.Min.Y, f.small.cut("Drawn inside this program, served over VNC on loopback only.", in.Dx()), faint)
		return
	}
	c.text(f.head, in.Min.X, in.Min.Y, f.head.cut("A machine to try things on", in.Dx()), ink)
	in.Min.Y += f.head.height + 4
	in.Min.Y = c.lines(f.body, in, "It is drawn inside this program and reached over real VNC, on this computer alone. Nothing here can break: click, type and scroll as you like.", faint) + 6
	more := fmt.Sprintf("The screen is %d \u00d7 %d pixels, and takes any other size that the viewer asks for.", s.lay.w, s.lay.h)
	if len(f.body.wrap(more, in.Dx()))*f.body.height <= in.Dy() {
		c.lines(f.body, in, more, faint)
	}
}

// tips are things to try.
var tips = [...]struct{ do, text string }{
	{"Click the pad", "Each click changes its colour."},
	{"Type a note", "Return starts a new line, Backspace takes back."},
	{"Scroll the list", "With the wheel, or with the arrow keys after a click on it."},
	{"Switch Motion on", "For a part of the screen that never rests."},
	{"Copy and paste", "Ctrl+C copies the note, Ctrl+V puts the clipboard in."},
	{"Press F9", "It rings the bell."},
}

func (s *scene) drawTips(c *canvas) {
	r, f := s.lay.tips, faces()
	s.card(c, r, "Things to try")
	in := image.Rect(r.Min.X+14, r.Min.Y+headHeight+10, r.Max.X-14, r.Max.Y-8)
	each := f.strong.height + f.small.height + 4
	gap := min(max((in.Dy()-each*len(tips))/len(tips), 0), 12)
	for i, t := range tips {
		if in.Min.Y+each > in.Max.Y+6 {
			return
		}
		dot := image.Rect(in.Min.X, in.Min.Y+1, in.Min.X+20, in.Min.Y+21)
		n := strconv.Itoa(i + 1)
		c.round(dot, 10, allCorners, 0xe6edfd)
		c.text(f.small, dot.Min.X+(20-f.small.width(n))/2, dot.Min.Y+2, n, accent)
		c.text(f.strong, in.Min.X+30, in.Min.Y, t.do, ink)
		c.text(f.small, in.Min.X+30, in.Min.Y+f.strong.height, f.small.cut(t.text, in.Dx()-30), faint)
		in.Min.Y += each + gap
	}
}

func (s *scene) drawPadCard(c *canvas) {
	l := &s.lay
	if l.padCard == l.pad {
		return
	}
	c.round(l.padCard, cardRadius, allCorners, paper)
	f := faces().strong
	c.text(f, l.padCard.Min.X+14, l.padCard.Min.Y+(headHeight-f.height)/2+1, "Pad", ink)
}

func (s *scene) drawPad(c *canvas) {
	r := s.lay.pad
	p := PadColor(s.clicks)
	c.fill(r, uint32(p.R)<<16|uint32(p.G)<<8|uint32(p.B))
	text := "Click me: each click changes my colour"
	if r.Dx() < 300 {
		text = "Click me"
	}
	switch {
	case s.clicks == 1:
		text = "1 click"
	case s.clicks > 1:
		text = strconv.Itoa(s.clicks) + " clicks"
	}
	f := faces().body
	text = f.cut(text, r.Dx()-16)
	y := r.Max.Y - f.height - 12
	if r.Dy() < 150 {
		y = r.Max.Y - f.height - 2
	}
	x := r.Min.X + (r.Dx()-f.width(text))/2
	c.text(f, x, y+1, text, 0x101522)
	c.text(f, x, y, text, 0xffffff)
}

const helpText = "Return starts a new line, Backspace takes back. Ctrl+C copies the note to the clipboard, Ctrl+V puts the clipboard in. F9 rings the bell."

func (s *scene) drawNote(c *canvas) {
	s.card(c, s.lay.note, "Note")
	c.lines(faces().small, s.lay.help, helpText, faint)
}

func (s *scene) drawClip(c *canvas) {
	r, f := s.lay.clipLine, faces()
	c.round(r, 5, allCorners, 0xeef1f7)
	const label = "Clipboard:"
	text := strings.Join(strings.Fields(s.clip), " ") // on one line
	if text == "" {
		text = "empty"
	}
	y := r.Min.Y + (r.Dy()-f.small.height)/2 + 1
	c.text(f.small, r.Min.X+8, y, label, faint)
	x := r.Min.X + 8 + f.small.width(label) + 6
	c.text(f.small, x, y, f.small.cut(text, r.Max.X-6-x), ink)
}

func (s *scene) drawListCard(c *canvas) {
	l := &s.lay
	s.card(c, l.list, fmt.Sprintf("Elements (%d)", len(elements)))
	c.round(l.track, thumbWidth/2, allCorners, 0xedeff5)
	c.round(s.thumb(), thumbWidth/2, allCorners, 0xa9b2c8)
}

// maxTop is how far the list can scroll.
func (s *scene) maxTop() int { return max(len(elements)*rowHeight-s.lay.rows.Dy(), 0) }

// thumb is the moving part of the scroll bar.
func (s *scene) thumb() image.Rectangle {
	t := s.lay.track
	all := len(elements) * rowHeight
	tall := max(t.Dy()*s.lay.rows.Dy()/all, 24)
	y := t.Min.Y
	if m := s.maxTop(); m > 0 {
		y += (t.Dy() - tall) * s.top / m
	}
	return image.Rect(t.Min.X, y, t.Max.X, min(y+tall, t.Max.Y))
}

func (s *scene) drawRows(c *canvas) {
	r, f := s.lay.rows, faces()
	c.fill(r, paper)
	for i := s.top / rowHeight; i < len(elements); i++ {
		y := r.Min.Y + i*rowHeight - s.top
		if y >= min(r.Max.Y, c.clip.Max.Y) {
			break
		}
		row := image.Rect(r.Min.X, y, r.Max.X, y+rowHeight)
		if !row.Overlaps(c.clip) {
			continue
		}
		e, fg, dim := elements[i], uint32(ink), uint32(faint)
		if i == s.chosen {
			c.fill(row.Intersect(r), accent)
			fg, dim = 0xffffff, 0xd5e2ff
		} else {
			c.fill(image.Rect(row.Min.X+50, row.Max.Y-1, row.Max.X, row.Max.Y).Intersect(r), rule)
		}
		badge := image.Rect(row.Min.X+12, row.Min.Y+6, row.Min.X+42, row.Max.Y-6)
		c.round(badge, 6, allCorners, tints[i%len(tints)])
		c.text(f.small, badge.Min.X+(badge.Dx()-f.small.width(e.symbol))/2, badge.Min.Y+(badge.Dy()-f.small.height)/2+1, e.symbol, 0xffffff)
		room := row.Max.X - 40 - (row.Min.X + 54)
		if r.Dx() < 180 {
			room = row.Max.X - 2 - (row.Min.X + 54)
		}
		c.text(f.body, row.Min.X+54, row.Min.Y+(rowHeight-f.body.height)/2+1, f.body.cut(e.name, room), fg)
		if r.Dx() < 180 {
			continue
		}
		n := strconv.Itoa(i + 1)
		c.text(f.small, row.Max.X-12-f.small.width(n), row.Min.Y+(rowHeight-f.small.height)/2+1, n, dim)
	}
}

func (s *scene) drawMotion(c *canvas) {
	l := &s.lay
	s.card(c, l.motion, "Motion")
	s.drawToggle(c)
}

func (s *scene) drawToggle(c *canvas) {
	r := s.lay.toggle
	col, x := uint32(0xc3cad8), r.Min.X+2
	if s.moving {
		col, x = 0x1f9d61, r.Max.X-2-(r.Dy()-4)
	}
	c.round(r, r.Dy()/2, allCorners, col)
	c.round(image.Rect(x, r.Min.Y+2, x+r.Dy()-4, r.Max.Y-2), r.Dy()/2, allCorners, 0xffffff)
}

// drawBars draws one step of the animation: bars that rise and fall.
func (s *scene) drawBars(c *canvas) {
	r := s.lay.bars
	c.fill(r, paper)
	n := min(24, r.Dx()/14)
	for i := range n {
		x0, x1 := r.Min.X+r.Dx()*i/n, r.Min.X+r.Dx()*(i+1)/n-4
		t := float64(s.step) * 0.09
		u := 0.5 + 0.28*math.Sin(t+float64(i)*0.45) + 0.2*math.Sin(1.7*t-float64(i)*0.8)
		y := r.Max.Y - max(int(u*float64(r.Dy())), 6)
		a, b := PadColor(0), PadColor(6)
		mix := func(p, q uint8) uint32 { return (uint32(p)*uint32(n-i) + uint32(q)*uint32(i)) / uint32(n) }
		c.round(image.Rect(x0, y, x1, r.Max.Y), 4, topCorners, mix(a.R, b.R)<<16|mix(a.G, b.G)<<8|mix(a.B, b.B))
	}
}
