package sample

import (
	"image"
	"runtime"
	"testing"
	"time"
)

// owned counts the tiles that d does not share with its base.
func owned(d *desktop) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, t := range d.pic.tiles {
		if t != d.base.pic.tiles[i] {
			n++
		}
	}
	return n
}

func TestDesktopsShareTheirPicture(t *testing.T) {
	m := start(t, Options{Count: 3})
	minute := time.Date(2031, 5, 6, 7, 8, 0, 0, time.UTC)
	before := m.desktops[0].pic.tiles[m.desktops[0].pic.cols-1]
	m.tick(minute)
	if m.desktops[0].pic.tiles[m.desktops[0].pic.cols-1] == before {
		t.Error("the clock has not moved")
	}
	for _, d := range m.desktops {
		if n := owned(d); n != 0 {
			t.Errorf("%s owns %d tiles after a minute of nothing", d.name, n)
		}
	}
	d := m.desktops[1]
	at := centre(d.scene.lay.pad)
	d.press(at)
	n := owned(d)
	// The pad of 400x300 at 760,390 lies on 8 by 5 tiles.
	if n != 40 {
		t.Errorf("a click took %d tiles, want 40", n)
	}
	if owned(m.desktops[0]) != 0 || owned(m.desktops[2]) != 0 {
		t.Error("a click on one desktop shows on another")
	}
	for range len(padColors) {
		d.press(at)
	}
	if owned(d) != n {
		t.Errorf("more clicks took %d more tiles", owned(d)-n)
	}
	// Its own title, once somebody looks, does not keep the clock from moving.
	h := dial(t, m.Targets()[1])
	h.login(1)
	h.init()
	title := owned(d)
	m.tick(minute.Add(time.Minute))
	if owned(d) != title {
		t.Errorf("the clock took %d tiles", owned(d)-title)
	}
	want := newPicture(d.scene)
	if got := d.pic.freeze(nil); !same(got, want.view) {
		t.Error("the picture is not what the scene would be drawn as")
	}
}

func same(a, b view) bool {
	if a.w != b.w || a.h != b.h {
		return false
	}
	p, q := make([]uint32, a.w), make([]uint32, a.w)
	for y := range a.h {
		a.gather(p, 0, y, a.w, 1)
		b.gather(q, 0, y, a.w, 1)
		for x := range p {
			if p[x] != q[x] {
				return false
			}
		}
	}
	return true
}

// TestPiecemeal: what is drawn piece by piece, with the shortcuts that takes,
// is what a scene drawn at once shows.
func TestPiecemeal(t *testing.T) {
	for _, size := range []image.Point{{320, 200}, {500, 399}, {640, 480}, {801, 613}, {1280, 720}, {1920, 1080}, {3000, 500}} {
		m := start(t, Options{Width: size.X, Height: size.Y})
		d := m.desktops[0]
		w, h := size.X, size.Y
		d.press(centre(PadRect(w, h)))
		for _, r := range "two\rlines and one that is longer than the field can be wide, which is why it breaks" {
			sym := uint32(r)
			if r == '\r' {
				sym = keyReturn
			}
			d.key(sym, false)
		}
		if r := ListRect(w, h); !r.Empty() {
			d.press(centre(r))
			d.press(r.Min.Add(image.Pt(5, 5)))
			d.wheel(centre(r), 1)
			d.key(keyPageDown, false)
			d.key(keyUp, false)
		}
		d.paste("a text for the clipboard that has no room in its line, and is cut short there")
		if r := SwitchRect(w, h); !r.Empty() {
			d.press(centre(r))
		}
		d.mu.Lock()
		if want := newPicture(d.scene); !same(d.pic.view, want.view) {
			t.Errorf("%v: the picture is not what the scene is drawn as at once", size)
		}
		d.mu.Unlock()
	}
}

// TestLayouts: on every size, the pad is in the middle, and nothing that can
// be used is outside or under something else.
func TestLayouts(t *testing.T) {
	sides := []int{320, 321, 333, 400, 480, 511, 599, 640, 700, 768, 800, 900, 1024, 1080, 1366, 1999, 2160, 4096, 8192}
	for _, w := range sides {
		for _, h := range append([]int{200, 201, 240, 300}, sides...) {
			l := newLayout(w, h)
			all := image.Rect(0, 0, w, h)
			if left, right := l.pad.Min.X, w-l.pad.Max.X; right-left < 0 || right-left > 1 {
				t.Errorf("%dx%d: pad %v is not in the middle", w, h, l.pad)
			}
			if top, under := l.pad.Min.Y, h-l.pad.Max.Y; under-top < 0 || under-top > 1 {
				t.Errorf("%dx%d: pad %v is not in the middle", w, h, l.pad)
			}
			if (w >= 800 && l.pad.Dx() != PadWidth) || (h >= 600 && l.pad.Dy() != PadHeight) {
				t.Errorf("%dx%d: pad %v is too small", w, h, l.pad)
			}
			if l.field.Dx() < 60 || l.field.Dy() < 20 {
				t.Errorf("%dx%d: field %v is too small", w, h, l.field)
			}
			used := []image.Rectangle{l.bar, l.padCard, l.note, l.tips, l.list, l.motion, l.welcome}
			if l.note.Empty() {
				used = append(used, l.field)
			}
			for i, a := range used {
				if !a.In(all) {
					t.Errorf("%dx%d: %v is outside", w, h, a)
				}
				for _, b := range used[:i] {
					if a.Overlaps(b) {
						t.Errorf("%dx%d: %v and %v overlap", w, h, a, b)
					}
				}
			}
			for _, in := range []struct{ part, card image.Rectangle }{
				{l.clipLine, l.note}, {l.help, l.note}, {l.rows, l.list}, {l.track, l.list}, {l.toggle, l.motion}, {l.bars, l.motion},
			} {
				if !in.part.In(in.card) {
					t.Errorf("%dx%d: %v is not in its card %v", w, h, in.part, in.card)
				}
			}
			if w >= 640 && h >= 480 && (l.rows.Empty() || l.toggle.Empty() || l.clipLine.Empty()) {
				t.Errorf("%dx%d: list %v, switch %v, clipboard %v", w, h, l.rows, l.toggle, l.clipLine)
			}
		}
	}
}

func TestNote(t *testing.T) {
	for _, tt := range []struct {
		name string
		keys []uint32
		want string
	}{
		{"letters", []uint32{'a', 'B', 0xe9}, "aB\u00e9"},
		{"beyond Latin-1", []uint32{0x01000416, 0x010020ac}, "\u0416\u20ac"},
		{"keypad", []uint32{0xffb1, 0xffae, 0xffb5}, "1.5"},
		{"backspace", []uint32{keyBackSpace, 'a', 'b', keyBackSpace, 'c'}, "ac"},
		{"arrows", []uint32{'a', 'c', keyLeft, 'b', keyRight, keyRight, 'd'}, "abcd"},
		{"lines", []uint32{'a', keyReturn, 'b', keyHome, 'c', keyEnd, keyEnter}, "a\ncb\n"},
		{"delete", []uint32{'a', 'b', keyHome, keyDelete, keyDelete, keyDelete}, ""},
		{"tab", []uint32{'a', keyTab, 'b'}, "a\tb"},
		{"keys without a character", []uint32{0xffe1, 0xff1b, 0x01000041, 0xffffffff, 0x01110000}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := start(t, Options{Width: 640, Height: 480}).desktops[0]
			for _, k := range tt.keys {
				d.key(k, false)
			}
			if got := d.scene.note.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNoteIsBounded(t *testing.T) {
	d := start(t, Options{Width: 640, Height: 480}).desktops[0]
	long := make([]rune, maxNote+100)
	for i := range long {
		long[i] = 'x'
	}
	d.paste(string(long))
	d.key('v', true)
	d.key('v', true)
	d.key('y', false)
	if n := len(d.scene.note.text); n != maxNote {
		t.Errorf("got %d characters, want %d", n, maxNote)
	}
}

// TestFocus: the field has the keys until a click elsewhere; the pad and the
// switch are buttons and leave them where they are.
func TestFocus(t *testing.T) {
	d := start(t, Options{}).desktops[0]
	l := d.scene.lay
	for _, tt := range []struct {
		name string
		at   image.Point
		want string // of the note after an x
	}{
		{"at first", image.Pt(-1, -1), "x"},
		{"the pad", centre(l.pad), "xx"},
		{"the switch", centre(l.toggle), "xxx"},
		{"the wallpaper", image.Pt(5, 500), "xxx"},
		{"the field", centre(l.field), "xxxx"},
		{"the list", centre(l.rows), "xxxx"},
		{"the field again", centre(l.field), "xxxxx"},
	} {
		if tt.at.X >= 0 {
			d.press(tt.at)
		}
		d.key('x', false)
		if got := d.scene.note.String(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestListEnds(t *testing.T) {
	d := start(t, Options{}).desktops[0]
	l := d.scene.lay
	d.wheel(centre(l.rows), -1)
	if d.scene.top != 0 {
		t.Errorf("got %d above the first row", d.scene.top)
	}
	d.press(centre(l.rows))
	for _, tt := range []struct {
		key  uint32
		want int
	}{
		{keyEnd, d.scene.maxTop()}, {keyDown, d.scene.maxTop()}, {keyUp, d.scene.maxTop() - rowHeight},
		{keyHome, 0}, {keyPageDown, l.rows.Dy() / rowHeight * rowHeight}, {keyPageUp, 0},
	} {
		d.key(tt.key, false)
		if d.scene.top != tt.want {
			t.Errorf("key %x: got %d, want %d", tt.key, d.scene.top, tt.want)
		}
	}
}

// TestAnimation: it plays while it is switched on and somebody looks, and at
// no other time.
func TestAnimation(t *testing.T) {
	m := start(t, Options{})
	d := m.desktops[0]
	playing := func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.playing
	}
	d.press(centre(SwitchRect(DefaultWidth, DefaultHeight)))
	if playing() {
		t.Error("plays to nobody")
	}
	h := dial(t, m.Targets()[0])
	h.login(1)
	h.init()
	all := image.Rect(0, 0, DefaultWidth, DefaultHeight)
	h.request(0, all)
	h.update(4)
	bars := AnimationRect(DefaultWidth, DefaultHeight)
	for range 5 {
		h.request(1, all)
		g := h.update(4)
		if len(g) == 0 || !g[0].rect.In(bars) {
			t.Fatalf("got %v, want a step of the animation in %v", g, bars)
		}
	}
	h.click(centre(SwitchRect(DefaultWidth, DefaultHeight)))
	h.bell()
	d.wg.Wait() // the goroutine ends by itself
	if playing() {
		t.Error("plays on")
	}
}

// TestCloseEndsEverything: no goroutine stays behind, whatever went on.
func TestCloseEndsEverything(t *testing.T) {
	before := runtime.NumGoroutine()
	m, err := Start(Options{Count: 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range m.Targets() {
		h := dial(t, target)
		h.login(1)
		h.init()
		h.click(centre(SwitchRect(DefaultWidth, DefaultHeight)))
		h.bell()
		h.request(0, image.Rect(0, 0, DefaultWidth, DefaultHeight)) // and does not read it
	}
	dial(t, m.Targets()[0]) // says nothing
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	// Close has waited, but a goroutine counts until it is off the stack.
	for end := time.Now().Add(hang); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, there were %d:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}

// inUse is the memory that the program holds.
func inUse() uint64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC() // what a sync.Pool lent goes with the second
	runtime.ReadMemStats(&s)
	return s.HeapInuse + s.StackInuse
}

// BenchmarkIdle is what many desktops that nobody looks at take.
func BenchmarkIdle(b *testing.B) {
	for b.Loop() {
		before := inUse()
		m := start(b, Options{Count: 50})
		m.tick(time.Unix(1<<31, 0))
		b.ReportMetric(float64(inUse()-before)/(1<<20), "MiB/50")
		m.Close()
	}
}

// BenchmarkWatched is what many desktops take, each with a viewer that has
// seen all of it and waits.
func BenchmarkWatched(b *testing.B) {
	for b.Loop() {
		before := inUse()
		m := start(b, Options{Count: 50})
		for _, target := range m.Targets() {
			h := dial(b, target)
			h.login(1)
			h.init()
			h.encodings(encZRLE)
			h.request(0, image.Rect(0, 0, DefaultWidth, DefaultHeight))
			h.skip(encZRLE)
		}
		b.ReportMetric(float64(inUse()-before)/(1<<20), "MiB/50")
		m.Close()
	}
}

// BenchmarkDraw is drawing a desktop at once.
func BenchmarkDraw(b *testing.B) {
	for b.Loop() {
		newPicture(newScene("sample", DefaultWidth, DefaultHeight, time.Now()))
	}
}
