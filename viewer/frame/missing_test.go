package frame

import (
	"image"
	"math/rand/v2"
	"testing"
)

// Missing is what a look at every pixel finds.
func TestMissing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const w, h = 200, 40
	for range 300 {
		f := New()
		if err := f.Reset(w, h, BGRX); err != nil {
			t.Fatal(err)
		}
		if got := f.Missing(image.Rectangle{}); got != image.Rect(0, 0, w, h) {
			t.Fatalf("never drawn: got %v", got)
		}
		var painted [w][h]bool
		f.Lock()
		for range r.IntN(12) {
			x, y := r.IntN(w), r.IntN(h)
			pw, ph := 1+r.IntN(w-x), 1+r.IntN(h-y)
			f.Touch(x, y, pw, ph, Painted)
			for i := x; i < x+pw; i++ {
				for j := y; j < y+ph; j++ {
					painted[i][j] = true
				}
			}
		}
		f.Unlock()
		f.EndUpdate()
		x, y := r.IntN(w), r.IntN(h)
		in := image.Rect(x, y, x+1+r.IntN(w-x), y+1+r.IntN(h-y))
		var want image.Rectangle
		for i := in.Min.X; i < in.Max.X; i++ {
			for j := in.Min.Y; j < in.Max.Y; j++ {
				if !painted[i][j] {
					want = want.Union(image.Rect(i, j, i+1, j+1))
				}
			}
		}
		if got := f.Missing(in); got != want || got.Empty() != f.Whole(in) {
			t.Fatalf("missing in %v: got %v, want %v, whole %v", in, got, want, f.Whole(in))
		}
	}
}
