package term

import (
	"image"
	"math"
	"testing"
)

// The lines must reach the edge of the cell where they go on, and only there.
func TestLinesReachTheirEdges(t *testing.T) {
	for _, size := range []image.Point{{7, 14}, {8, 17}, {9, 18}, {16, 33}, {17, 34}, {5, 9}} {
		for i, a := range arms {
			if a == "" {
				continue
			}
			m := image.NewAlpha(image.Rectangle{Max: size})
			drawShape(m, rune(0x2500+i))
			edge := func(n int, at func(int) (int, int)) (on int) {
				for k := range n {
					x, y := at(k)
					if m.AlphaAt(x, y).A == 255 {
						on++
					}
				}
				return on
			}
			w, h := size.X, size.Y
			light := lineWidth(w)
			for d, got := range []int{
				edge(h, func(k int) (int, int) { return 0, k }), edge(w, func(k int) (int, int) { return k, 0 }),
				edge(h, func(k int) (int, int) { return w - 1, k }), edge(w, func(k int) (int, int) { return k, h - 1 }),
			} {
				want := []int{0, light, 2 * light, 2 * light}[a[d]-'0']
				if got != want {
					t.Errorf("%c at %v: %d pixels at edge %d, want %d", 0x2500+i, size, got, d, want)
				}
			}
		}
	}
}

// Lines must be one piece from one end to the other.
func TestLinesHaveNoGaps(t *testing.T) {
	for _, size := range []image.Point{{7, 14}, {8, 17}, {16, 33}} {
		for i, a := range arms {
			if a == "" {
				continue
			}
			m := image.NewAlpha(image.Rectangle{Max: size})
			drawShape(m, rune(0x2500+i))
			pieces := count(m)
			want := 1
			switch a {
			case "3030", "0303", "0033", "3003", "0330", "3300", "3031", "3130", "0313", "1303":
				want = 2
			case "0333", "3303", "3033", "3330":
				want = 3
			case "3333":
				want = 4
			}
			if pieces != want {
				t.Errorf("%c at %v: %d pieces, want %d", 0x2500+i, size, pieces, want)
			}
		}
	}
}

// count is the number of pieces of a mask that do not touch, corners counted
// as touching.
func count(m *image.Alpha) (n int) {
	seen := map[image.Point]bool{}
	for y := range m.Rect.Dy() {
		for x := range m.Rect.Dx() {
			p := image.Pt(x, y)
			if seen[p] || m.AlphaAt(x, y).A == 0 {
				continue
			}
			n++
			todo := []image.Point{p}
			seen[p] = true
			for len(todo) > 0 {
				q := todo[len(todo)-1]
				todo = todo[:len(todo)-1]
				for dy := -1; dy <= 1; dy++ {
					for dx := -1; dx <= 1; dx++ {
						o := q.Add(image.Pt(dx, dy))
						if o.In(m.Rect) && !seen[o] && m.AlphaAt(o.X, o.Y).A != 0 {
							seen[o] = true
							todo = append(todo, o)
						}
					}
				}
			}
		}
	}
	return n
}

func TestBlocksFillTheirPart(t *testing.T) {
	m := image.NewAlpha(image.Rect(0, 0, 8, 16))
	for r, want := range map[rune]int{0x2588: 128, 0x2580: 64, 0x2584: 64, 0x258c: 64, 0x2590: 64, 0x2581: 16, 0x258f: 16, 0x2599: 96, 0x259e: 64, 0x2800: 0, 0x28ff: 32} {
		clear(m.Pix)
		if !drawShape(m, r) {
			t.Errorf("%c is not drawn", r)
		}
		got := 0
		for _, a := range m.Pix {
			if a == 255 {
				got++
			}
		}
		if got != want {
			t.Errorf("%c fills %d pixels, want %d", r, got, want)
		}
	}
}

// contrast is that of WCAG 2.
func contrast(a, b uint32) float64 {
	light := func(v uint32) float64 {
		part := func(c uint32) float64 {
			f := float64(c&0xff) / 255
			if f <= 0.04045 {
				return f / 12.92
			}
			return math.Pow((f+0.055)/1.055, 2.4)
		}
		return 0.2126*part(v>>16) + 0.7152*part(v>>8) + 0.0722*part(v)
	}
	la, lb := light(a), light(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func TestSchemesCanBeRead(t *testing.T) {
	for _, s := range Schemes {
		if c := contrast(s.Text, s.Background); c < 7 {
			t.Errorf("%s: text has a contrast of %.1f", s.ID, c)
		}
		if c := contrast(s.Text, s.Selection); c < 4 {
			t.Errorf("%s: selected text has a contrast of %.1f", s.ID, c)
		}
		if c := contrast(s.Cursor, s.Background); c < 3 {
			t.Errorf("%s: the cursor has a contrast of %.1f", s.ID, c)
		}
		for i := 1; i < 15; i++ {
			if i == 7 || i == 8 {
				continue
			}
			if c := contrast(s.Palette[i], s.Background); c < 3.4 {
				t.Errorf("%s: colour %d has a contrast of %.1f", s.ID, i, c)
			}
		}
	}
}

func FuzzAligned(f *testing.F) {
	f.Add([]byte("ttcf\x00\x01\x00\x00\x00\x00\x00\x01\x00\x00\x00\x10\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00headxxxx\x00\x00\x00\x05\x00\x00\x00\x03"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if out := aligned(b); len(out) > 3*len(b)+2048 {
			t.Errorf("%d bytes became %d", len(b), len(out))
		}
	})
}
