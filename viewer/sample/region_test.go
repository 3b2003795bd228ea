package sample

import (
	"image"
	"math/rand/v2"
	"testing"
)

const regionSide = 40

type bitmap [regionSide][regionSide]bool

func (b *bitmap) set(r image.Rectangle, to bool) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			b[y][x] = to
		}
	}
}

// covered gives the region as a bitmap and how often it covers a pixel twice.
func covered(rects []image.Rectangle) (b bitmap, twice int) {
	for _, r := range rects {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				if b[y][x] {
					twice++
				}
				b[y][x] = true
			}
		}
	}
	return b, twice
}

// TestRegion compares regions with bitmaps through random adding, subtracting
// and cutting.
func TestRegion(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	rect := func(most int) image.Rectangle {
		x, y := rnd.IntN(regionSide), rnd.IntN(regionSide)
		return image.Rect(x, y, min(x+1+rnd.IntN(most), regionSide), min(y+1+rnd.IntN(most), regionSide))
	}
	for round := range 300 {
		var g region
		var want bitmap
		squeezed := false
		most := 1 + round%12
		for step := range 80 {
			r := rect(most)
			switch rnd.IntN(5) {
			case 0:
				g.subtract(r)
				want.set(r, false)
			case 1:
				var area region
				area.add(r)
				cut, twice := covered(g.cut(&area, nil))
				if twice > 0 {
					t.Fatalf("round %d step %d: cut overlaps itself", round, step)
				}
				for y := range regionSide {
					for x := range regionSide {
						in := image.Pt(x, y).In(r)
						if cut[y][x] != (want[y][x] && in) && !squeezed {
							t.Fatalf("round %d step %d: cut is wrong at %d,%d", round, step, x, y)
						}
					}
				}
				want.set(r, false)
			default:
				g.add(r)
				want.set(r, true)
			}
			got, twice := covered(g.rects)
			if twice > 0 || len(g.rects) > 3*maxRects {
				t.Fatalf("round %d step %d: %d pixels twice, %d rectangles", round, step, twice, len(g.rects))
			}
			if got != want {
				// A squeeze may add pixels and may not lose any.
				squeezed = true
				for y := range regionSide {
					for x := range regionSide {
						if want[y][x] && !got[y][x] {
							t.Fatalf("round %d step %d: lost %d,%d", round, step, x, y)
						}
					}
				}
				want = got
			}
		}
	}
}

func TestRegionMergesTiles(t *testing.T) {
	var g region
	all := image.Rect(100, 50, 500, 350)
	for y := 0; y < 400; y += tileSide {
		for x := 0; x < 600; x += tileSide {
			g.add(image.Rect(x, y, x+tileSide, y+tileSide).Intersect(all))
		}
	}
	if len(g.rects) != 1 || g.rects[0] != all {
		t.Errorf("got %v, want %v alone", g.rects, all)
	}
}

func TestRegionSqueezesOnlyWhenFull(t *testing.T) {
	var g region
	for i := range maxRects {
		g.add(image.Rect(i*10, i*10, i*10+3, i*10+3))
	}
	if len(g.rects) != maxRects {
		t.Fatalf("got %d rectangles, want %d", len(g.rects), maxRects)
	}
	g.add(image.Rect(2000, 0, 2003, 3))
	area := 0
	for _, r := range g.rects {
		area += r.Dx() * r.Dy()
	}
	if len(g.rects) != maxRects || area > 9*(maxRects-1)+13*13 {
		t.Errorf("got %d rectangles of %d pixels", len(g.rects), area)
	}
}
