package frame

import (
	"errors"
	"image"
	"math/rand/v2"
	"testing"
)

// paint draws a rectangle of one value as one server update.
func paint(f *Frame, x, y, w, h int, b, g, r byte, from Source) {
	p := f.Lock()
	for j := y; j < y+h; j++ {
		for i := x; i < x+w; i++ {
			copy(p.Pix[j*p.Stride+i*4:], []byte{b, g, r, 0x77})
		}
	}
	f.Touch(x, y, w, h, from)
	f.Unlock()
	f.EndUpdate()
}

func sized(t *testing.T, w, h int) *Frame {
	t.Helper()
	f := New()
	if err := f.Reset(w, h, BGRX); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestContentMovesWithLargeUpdatesOnly(t *testing.T) {
	tests := []struct {
		name string
		w, h int // of the update, on 1920x1080
		from Source
		want Generations // how far each moved
	}{
		{"glyph", 12, 20, Painted, Generations{}},
		{"line", 1900, 20, Painted, Generations{}},
		{"menu", 200, 300, Painted, Generations{}},
		{"small dialog", 400, 200, Painted, Generations{}},
		{"just under the share", 1920, 161, Painted, Generations{}},
		{"exactly the share", 1920, 162, Painted, Generations{Content: 1, Repaint: 1}},
		{"file dialog", 900, 600, Painted, Generations{Content: 1, Repaint: 1}},
		{"scroll by copying", 1800, 1000, Copied, Generations{Content: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := sized(t, 1920, 1080)
			before := f.Generations()
			paint(f, 0, 0, tt.w, tt.h, 1, 2, 3, tt.from)
			after := f.Generations()
			got := Generations{after.Geometry - before.Geometry, after.Content - before.Content, after.Repaint - before.Repaint}
			if got != tt.want {
				t.Errorf("moved by %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestSmallUpdatesNeverAddUp(t *testing.T) {
	f := sized(t, 100, 100)
	before := f.Generations()
	for range 100 {
		paint(f, 0, 0, 100, 14, 1, 2, 3, Painted)
	}
	if got := f.Generations(); got != before {
		t.Errorf("got %+v, want %+v", got, before)
	}
}

func TestGeometryMoves(t *testing.T) {
	f := sized(t, 10, 10)
	g := f.Generations().Geometry
	if err := f.Resize(10, 10); err != nil || f.Generations().Geometry != g {
		t.Errorf("a resize to the same size moved the generation (%v)", err)
	}
	if err := f.Resize(20, 10); err != nil || f.Generations().Geometry != g+1 {
		t.Errorf("a resize did not move the generation (%v)", err)
	}
	if err := f.Reset(20, 10, BGRX); err != nil || f.Generations().Geometry != g+2 {
		t.Errorf("a reconnect at the same size did not move the generation (%v)", err)
	}
	f.Relayout()
	if f.Generations().Geometry != g+3 {
		t.Error("a new layout did not move the generation")
	}
}

func TestCoverageIsTheUnionOfUpdates(t *testing.T) {
	f := sized(t, 130, 70)
	if f.Whole(image.Rectangle{}) {
		t.Fatal("a frame nobody painted counts as whole")
	}
	// Odd pieces that cover the picture together.
	for _, r := range []image.Rectangle{image.Rect(0, 0, 65, 33), image.Rect(60, 0, 130, 40), image.Rect(0, 30, 70, 70), image.Rect(63, 38, 129, 70)} {
		paint(f, r.Min.X, r.Min.Y, r.Dx(), r.Dy(), 0, 0, 0, Painted)
	}
	if f.Whole(image.Rectangle{}) || f.Whole(image.Rect(129, 41, 130, 42)) {
		t.Error("a column was never painted, yet the frame counts as whole")
	}
	if !f.Whole(image.Rect(3, 3, 120, 60)) {
		t.Error("a painted region does not count as whole")
	}
	paint(f, 129, 40, 1, 30, 0, 0, 0, Painted)
	if !f.Whole(image.Rectangle{}) {
		t.Error("all is painted, yet the frame does not count as whole")
	}
	if err := f.Resize(131, 70); err != nil || f.Whole(image.Rectangle{}) {
		t.Errorf("after a resize the frame counts as whole (%v)", err)
	}
}

func TestResizeKeepsWhatOverlaps(t *testing.T) {
	f := sized(t, 4, 4)
	paint(f, 0, 0, 4, 4, 10, 20, 30, Painted)
	if err := f.Resize(6, 3); err != nil {
		t.Fatal(err)
	}
	v, ok := f.Snapshot(image.Rectangle{}, nil)
	if !ok {
		t.Fatal("no snapshot")
	}
	if c := v.Image.RGBAAt(3, 2); c.R != 30 || c.G != 20 || c.B != 10 {
		t.Errorf("a kept pixel is %v", c)
	}
	if c := v.Image.RGBAAt(5, 0); c.R != 0 || c.A != 255 {
		t.Errorf("a new pixel is %v, want opaque black", c)
	}
}

func TestSizesOverTheBoundAreRefused(t *testing.T) {
	f := sized(t, 10, 10)
	before := f.Generations()
	for _, s := range [][2]int{{65536, 1}, {16384, 16384}, {65535, 65535}, {-1, 5}} {
		var limit *LimitError
		if err := f.Resize(s[0], s[1]); !errors.As(err, &limit) {
			t.Errorf("%v: got %v, want a LimitError", s, err)
		}
	}
	if got := f.Generations(); got != before {
		t.Errorf("a refused size moved the generations to %+v", got)
	}
	for _, s := range [][2]int{{65535, 1}, {1, 65535}, {0, 0}, {8192, 8192}} {
		if err := f.Resize(s[0], s[1]); err != nil {
			t.Errorf("%v: %v", s, err)
		}
	}
	if f.Memory() != 0 {
		t.Errorf("a frame nobody drew into holds %d bytes", f.Memory())
	}
}

func TestReadersHaveTheirOwnDamage(t *testing.T) {
	f := sized(t, 100, 100)
	a, b := f.Reader(), f.Reader()
	defer a.Close()
	defer b.Close()
	if got := a.Take(); len(got) != 1 || got[0] != image.Rect(0, 0, 100, 100) {
		t.Fatalf("a new reader has damage %v, want everything", got)
	}
	b.Clean()
	paint(f, 10, 10, 5, 5, 1, 1, 1, Painted)
	paint(f, 80, 80, 5, 5, 1, 1, 1, Painted)
	if got := a.Damage(); len(got) != 2 {
		t.Errorf("looking at the damage gave %v", got)
	}
	if got := a.Take(); len(got) != 2 || got[0] != image.Rect(10, 10, 15, 15) || got[1] != image.Rect(80, 80, 85, 85) {
		t.Errorf("a took %v", got)
	}
	if got := a.Take(); len(got) != 0 {
		t.Errorf("a took %v twice", got)
	}
	if got := b.Take(); len(got) != 2 {
		t.Errorf("b lost its damage to a: %v", got)
	}
	select {
	case <-a.Wake():
	default:
		t.Error("a was not woken")
	}
}

func TestDamageListIsBoundedAndComplete(t *testing.T) {
	f := sized(t, 1000, 700)
	r := f.Reader()
	defer r.Close()
	r.Clean()
	rng := rand.New(rand.NewPCG(3, 4))
	var want []image.Rectangle
	for range 5000 {
		x, y := rng.IntN(990), rng.IntN(690)
		want = append(want, image.Rect(x, y, x+1+rng.IntN(9), y+1+rng.IntN(9)))
		d := want[len(want)-1]
		f.Lock()
		f.Touch(d.Min.X, d.Min.Y, d.Dx(), d.Dy(), Painted)
		f.Unlock()
	}
	got := r.Take()
	if len(got) > maxRects {
		t.Fatalf("%d rectangles, want at most %d", len(got), maxRects)
	}
	seen := make([]bool, 1000*700)
	for _, g := range got {
		for y := g.Min.Y; y < g.Max.Y; y++ {
			for x := g.Min.X; x < g.Max.X; x++ {
				seen[y*1000+x] = true
			}
		}
	}
	for _, w := range want {
		for y := w.Min.Y; y < w.Max.Y; y++ {
			for x := w.Min.X; x < w.Max.X; x++ {
				if !seen[y*1000+x] {
					t.Fatalf("damage at %d,%d was lost", x, y)
				}
			}
		}
	}
}

func TestCopyToTurnsTheOrder(t *testing.T) {
	f := New()
	if err := f.Reset(9, 3, Order{R: 0, G: 1, B: 2}); err != nil {
		t.Fatal(err)
	}
	r := f.Reader()
	defer r.Close()
	paint(f, 2, 1, 5, 1, 11, 22, 33, Painted) // bytes in wire order: here R, G, B
	img := image.NewRGBA(image.Rect(0, 0, 9, 3))
	if _, ok := r.CopyTo(image.NewRGBA(image.Rect(0, 0, 8, 3))); ok {
		t.Fatal("an image of another size was accepted")
	}
	if rects, ok := r.CopyTo(img); !ok || len(rects) == 0 {
		t.Fatalf("CopyTo: %v, %v", rects, ok)
	}
	if c := img.RGBAAt(6, 1); c.R != 11 || c.G != 22 || c.B != 33 || c.A != 255 {
		t.Errorf("got %v, want 11,22,33", c)
	}
	if err := f.Reset(9, 3, BGRX); err != nil {
		t.Fatal(err)
	}
	paint(f, 0, 0, 9, 3, 11, 22, 33, Painted)
	v, _ := f.Snapshot(image.Rect(1, 1, 8, 2), nil)
	for x := range 7 {
		if c := v.Image.RGBAAt(x, 0); c.R != 33 || c.G != 22 || c.B != 11 || c.A != 255 {
			t.Errorf("pixel %d: got %v, want 33,22,11", x, c)
		}
	}
	if _, ok := f.Snapshot(image.Rect(5, 0, 10, 1), nil); ok {
		t.Error("a region that leaves the picture was read")
	}
}

func TestDropGivesMemoryBack(t *testing.T) {
	f := sized(t, 64, 64)
	paint(f, 0, 0, 64, 64, 1, 2, 3, Painted)
	g := f.Generations()
	f.Drop()
	if f.Memory() != 0 || f.Whole(image.Rectangle{}) || f.Generations() != g {
		t.Errorf("after Drop: %d bytes, whole %v, %+v", f.Memory(), f.Whole(image.Rectangle{}), f.Generations())
	}
	if v, ok := f.Snapshot(image.Rectangle{}, nil); !ok || v.Image.RGBAAt(5, 5).A != 255 || v.Whole {
		t.Error("a dropped frame does not read as black and not whole")
	}
}

func TestChecksumStartsFromBlack(t *testing.T) {
	f := sized(t, 1, 1)
	paint(f, 0, 0, 1, 1, 3, 2, 1, Painted)
	// FNV-1a 32 of the bytes 1, 2, 3, from its definition.
	if got := f.Checksum(); got != fnv(1, 2, 3) {
		t.Errorf("got %08x, want %08x", got, fnv(1, 2, 3))
	}
}

func fnv(b ...byte) uint32 {
	h := uint32(2166136261)
	for _, c := range b {
		h ^= uint32(c)
		h *= 16777619
	}
	return h
}
