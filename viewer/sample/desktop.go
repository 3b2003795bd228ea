package sample

import (
	"image"
	"strings"
	"sync"
	"time"
)

// maxClients bounds the viewers of one desktop at a time.
const maxClients = 64

// frameTime is the time between two steps of the animation.
const frameTime = 40 * time.Millisecond

// A desktop is one sample machine's screen and what is on it. Its methods are
// safe for concurrent use.
type desktop struct {
	machines *Machines
	name     string

	mu      sync.Mutex // guards below; never held across network I/O
	scene   *scene
	pic     *picture
	base    *base // what pic was made from
	clients []*client
	playing bool // the goroutine of the animation runs
	closed  bool
	wg      sync.WaitGroup
	done    chan struct{}
}

// newDesktop makes a desktop from a base, whose tiles it shares until it is
// drawn on.
func newDesktop(m *Machines, name string, b *base, pic *picture, now time.Time) *desktop {
	return &desktop{
		machines: m, name: name, base: b, pic: pic, done: make(chan struct{}),
		scene: newScene(name, pic.w, pic.h, now),
	}
}

// paint draws r anew and marks what changed for every client. The caller
// holds d.mu.
func (d *desktop) paint(r image.Rectangle) {
	d.pic.paint(d.scene, r, func(changed image.Rectangle) {
		for _, c := range d.clients {
			c.damaged(changed)
		}
	})
	d.wake()
}

// wake tells the clients that wait for something. The caller holds d.mu.
func (d *desktop) wake() {
	for _, c := range d.clients {
		c.notify()
	}
}

// tick puts the clock forward.
func (d *desktop) tick(now time.Time, changes map[*base]change) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.scene.now = now
	r := d.scene.lay.clock
	ch := changes[d.base] // none when the desktop has just been resized
	for i, t := range ch.before {
		if d.pic.tiles[i] != t || t == ch.after[i] {
			continue
		}
		d.pic.tiles[i] = ch.after[i]
		at := image.Pt(i%d.pic.cols*tileSide, i/d.pic.cols*tileSide)
		in := image.Rectangle{at, at.Add(image.Pt(tileSide, tileSide))}.Intersect(r)
		for _, c := range d.clients {
			c.damaged(in)
		}
	}
	d.paint(r) // where its tiles are its own
}

// attach adds a client; with alone, all others are closed. It reports false
// when there is no room.
func (d *desktop) attach(c *client, alone bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if alone {
		for _, o := range d.clients {
			o.conn.Close()
		}
		d.clients = nil
	}
	if d.closed || len(d.clients) >= maxClients {
		return false
	}
	d.clients = append(d.clients, c)
	c.w, c.h = d.pic.w, d.pic.h
	c.damage.add(image.Rect(0, 0, c.w, c.h))
	d.paint(d.scene.lay.title) // with its own name, from now on
	d.play()
	return true
}

func (d *desktop) detach(c *client) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, o := range d.clients {
		if o == c {
			d.clients = append(d.clients[:i:i], d.clients[i+1:]...)
			return
		}
	}
}

// close ends the desktop's own goroutine and forgets its clients.
func (d *desktop) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	close(d.done)
	d.wg.Wait()
}

// press is the left button going down at a point.
func (d *desktop) press(at image.Point) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, l := d.scene, &d.scene.lay
	switch {
	case at.In(l.pad):
		s.clicks++
		d.paint(l.pad)
	case at.In(l.toggle.Inset(-6)):
		s.moving = !s.moving
		d.paint(l.toggle)
		d.play()
	case at.In(l.field):
		d.focus(onField)
	case at.In(l.rows):
		old := s.chosen
		if i := (at.Y - l.rows.Min.Y + s.top) / rowHeight; i < len(elements) {
			s.chosen = i
		}
		d.paint(s.row(old))
		d.paint(s.row(s.chosen))
		d.focus(onList)
	case !at.In(l.motion) && !at.In(l.padCard):
		d.focus(nowhere)
	}
}

// focus gives the keys to a part. The caller holds d.mu.
func (d *desktop) focus(f focus) {
	if d.scene.focus != f {
		d.scene.focus = f
		d.paint(d.scene.lay.field)
	}
}

// wheel is one click of the wheel at a point: down, towards the person, is +1.
func (d *desktop) wheel(at image.Point, dir int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at.In(d.scene.lay.list) {
		d.scroll(dir * rowHeight)
	}
}

// scroll moves the list by dy pixels. Clients that can, are told to move what
// they have. The caller holds d.mu.
func (d *desktop) scroll(dy int) {
	s, r := d.scene, d.scene.lay.rows
	top := min(max(s.top+dy, 0), s.maxTop())
	dy = top - s.top
	if dy == 0 || r.Empty() {
		return
	}
	s.top = top
	kept := r.Add(image.Pt(0, -dy)).Intersect(r)
	d.pic.paint(s, r, func(image.Rectangle) {})
	for _, c := range d.clients {
		c.moved(kept, image.Pt(0, -dy))
		var rest region
		rest.add(r)
		rest.subtract(kept)
		for _, e := range rest.rects {
			c.damaged(e)
		}
	}
	d.paint(s.lay.track)
}

// row is where row i of the list shows.
func (s *scene) row(i int) image.Rectangle {
	if i < 0 {
		return image.Rectangle{}
	}
	r := s.lay.rows
	y := r.Min.Y + i*rowHeight - s.top
	return image.Rect(r.Min.X, y, r.Max.X, y+rowHeight).Intersect(r)
}

// The keysyms that do something, by X11's keysymdef.h.
const (
	keyBackSpace = 0xff08
	keyTab       = 0xff09
	keyReturn    = 0xff0d
	keyHome      = 0xff50
	keyLeft      = 0xff51
	keyUp        = 0xff52
	keyRight     = 0xff53
	keyDown      = 0xff54
	keyPageUp    = 0xff55
	keyPageDown  = 0xff56
	keyEnd       = 0xff57
	keyEnter     = 0xff8d // on the keypad
	keyF9        = 0xffc6
	keyControlL  = 0xffe3
	keyControlR  = 0xffe4
	keyDelete    = 0xffff
)

// key is a key going down, with or without Control.
func (d *desktop) key(sym uint32, control bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if sym == keyF9 {
		for _, c := range d.clients {
			c.ring()
		}
		d.wake()
		return
	}
	switch d.scene.focus {
	case onField:
		d.edit(sym, control)
	case onList:
		page := d.scene.lay.rows.Dy() / rowHeight * rowHeight
		switch sym {
		case keyUp:
			d.scroll(-rowHeight)
		case keyDown:
			d.scroll(rowHeight)
		case keyPageUp:
			d.scroll(-page)
		case keyPageDown:
			d.scroll(page)
		case keyHome:
			d.scroll(-d.scene.top)
		case keyEnd:
			d.scroll(d.scene.maxTop())
		}
	}
}

// edit is a key for the text field. The caller holds d.mu.
func (d *desktop) edit(sym uint32, control bool) {
	n := &d.scene.note
	switch {
	case control:
		switch sym {
		case 'c', 'C':
			d.setClip(n.String())
			for _, c := range d.clients {
				c.tell(n.String())
			}
			d.wake()
		case 'v', 'V':
			n.insert([]rune(d.scene.clip)...)
		}
	case sym == keyBackSpace:
		n.backspace()
	case sym == keyDelete:
		n.del()
	case sym == keyReturn, sym == keyEnter:
		n.insert('\n')
	case sym == keyTab:
		n.insert('\t')
	case sym == keyLeft:
		n.caret = max(n.caret-1, 0)
	case sym == keyRight:
		n.caret = min(n.caret+1, len(n.text))
	case sym == keyHome:
		n.home()
	case sym == keyEnd:
		n.end()
	default:
		if r := character(sym); r != 0 {
			n.insert(r)
		}
	}
	d.paint(d.scene.lay.field)
}

// character is what a keysym writes: Latin-1 stands for itself, other
// characters are 0x01000000 and up, the keypad's are at 0xff80 and up.
func character(sym uint32) rune {
	switch {
	case sym >= 0x20 && sym <= 0x7e, sym >= 0xa0 && sym <= 0xff:
		return rune(sym)
	case sym >= 0x01000100 && sym <= 0x0110ffff:
		return rune(sym - 0x01000000)
	case sym >= 0xffaa && sym <= 0xffb9: // * + , - . / 0 to 9
		return rune(sym - 0xff80)
	}
	return 0
}

// setClip shows text as the desktop's clipboard. The caller holds d.mu.
func (d *desktop) setClip(text string) {
	d.scene.clip = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	d.paint(d.scene.lay.clipLine)
}

// paste is clipboard text that a client sent.
func (d *desktop) paste(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.setClip(text)
}

// play starts the animation's goroutine when there is something to play and
// somebody to see it. The caller holds d.mu.
func (d *desktop) play() {
	if d.playing || d.closed || !d.scene.moving || len(d.clients) == 0 {
		return
	}
	d.playing = true
	d.wg.Go(func() {
		t := time.NewTicker(frameTime)
		defer t.Stop()
		for d.frame() {
			select {
			case <-d.done:
				return
			case <-t.C:
			}
		}
	})
}

// frame draws one step of the animation and reports whether there are more.
func (d *desktop) frame() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || !d.scene.moving || len(d.clients) == 0 {
		d.playing = false
		return false
	}
	d.scene.step++
	d.paint(d.scene.lay.bars)
	return true
}

// resize gives the desktop a new size, for c, which asked for it.
func (d *desktop) resize(c *client, w, h int) {
	var b *base
	var pic *picture
	valid := w >= MinWidth && h >= MinHeight && w <= MaxSide && h <= MaxSide
	if valid {
		// Drawn before the desktop is locked: it takes a while when large.
		b, pic = d.machines.take(w, h)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !valid:
		c.sized(sizeByThis, sizeInvalid)
	case w == d.pic.w && h == d.pic.h:
		d.machines.give(b)
		c.sized(sizeByThis, 0)
	default:
		d.machines.give(d.base)
		d.base, d.pic = b, pic
		d.scene.place(w, h)
		l := &d.scene.lay
		for _, r := range []image.Rectangle{l.title, l.clock, l.pad, l.field, l.clipLine, l.list, l.toggle, l.bars} {
			d.pic.paint(d.scene, r, func(image.Rectangle) {})
		}
		for _, o := range d.clients {
			o.copies = o.copies[:0]
			if o == c {
				o.sized(sizeByThis, 0)
			} else {
				o.sized(sizeByOther, 0)
			}
			o.damaged(image.Rect(0, 0, max(w, o.w), max(h, o.h)))
		}
	}
	d.wake()
}
