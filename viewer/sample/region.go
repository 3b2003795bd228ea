package sample

import "image"

// maxRects bounds the rectangles of one region; beyond it, the two that lose
// the least by it become one.
const maxRects = 48

// A region is a set of pixels as rectangles that do not overlap.
type region struct{ rects []image.Rectangle }

func (g *region) clear() { g.rects = g.rects[:0] }

// add takes r in.
func (g *region) add(r image.Rectangle) {
	if r.Empty() {
		return
	}
	for _, e := range g.rects {
		if r.In(e) {
			return
		}
	}
	g.subtract(r)
	g.insert(r)
	for len(g.rects) > maxRects {
		g.squeeze()
	}
}

// insert puts in r, which overlaps nothing, as one with a neighbour if the
// two make a rectangle.
func (g *region) insert(r image.Rectangle) {
	for i := 0; i < len(g.rects); i++ {
		u, e := g.rects[i].Union(r), g.rects[i]
		sameRows := e.Min.Y == r.Min.Y && e.Max.Y == r.Max.Y && (e.Max.X == r.Min.X || r.Max.X == e.Min.X)
		sameCols := e.Min.X == r.Min.X && e.Max.X == r.Max.X && (e.Max.Y == r.Min.Y || r.Max.Y == e.Min.Y)
		if sameRows || sameCols {
			g.drop(i)
			r, i = u, -1
		}
	}
	g.rects = append(g.rects, r)
}

func (g *region) drop(i int) {
	last := len(g.rects) - 1
	g.rects[i] = g.rects[last]
	g.rects = g.rects[:last]
}

// subtract takes r out.
func (g *region) subtract(r image.Rectangle) {
	for i := 0; i < len(g.rects); {
		e := g.rects[i]
		in := e.Intersect(r)
		if in.Empty() {
			i++
			continue
		}
		g.drop(i)
		for _, p := range [...]image.Rectangle{
			{e.Min, image.Pt(e.Max.X, in.Min.Y)},
			{image.Pt(e.Min.X, in.Max.Y), e.Max},
			{image.Pt(e.Min.X, in.Min.Y), image.Pt(in.Min.X, in.Max.Y)},
			{image.Pt(in.Max.X, in.Min.Y), image.Pt(e.Max.X, in.Max.Y)},
		} {
			if !p.Empty() {
				// Behind i, where the loop passes it as not overlapping.
				g.rects = append(g.rects, p)
			}
		}
	}
}

// squeeze makes the two rectangles one that waste the fewest pixels by it.
func (g *region) squeeze() {
	area := func(r image.Rectangle) int { return r.Dx() * r.Dy() }
	a, b, best := 0, 1, -1
	for i := range g.rects {
		for j := range i {
			w := area(g.rects[i].Union(g.rects[j])) - area(g.rects[i]) - area(g.rects[j])
			if best < 0 || w < best {
				a, b, best = j, i, w
			}
		}
	}
	u := g.rects[a].Union(g.rects[b])
	// Whatever the union touches becomes part of it, so the number only falls.
	for i := 0; i < len(g.rects); i++ {
		if e := g.rects[i]; e.Overlaps(u) {
			u = u.Union(e)
			g.drop(i)
			i = -1
		}
	}
	g.rects = append(g.rects, u)
}

// cut moves what lies in any rectangle of area from g to the end of dst.
func (g *region) cut(area *region, dst []image.Rectangle) []image.Rectangle {
	for _, a := range area.rects {
		for _, e := range g.rects {
			if in := e.Intersect(a); !in.Empty() {
				dst = append(dst, in)
			}
		}
		g.subtract(a)
	}
	return dst
}
