package sample

import (
	"image"
	"slices"
	"sync"
)

// tileSide is the side of the squares a picture is kept in.
const tileSide = 64

// A tile is one square of a picture, 0xRRGGBB a pixel. A tile is written only
// by its owner in the owner's current epoch; to everybody else it never
// changes, so pictures and the updates being encoded share tiles freely.
type tile struct {
	owner *picture
	epoch uint64
	pix   [tileSide * tileSide]uint32
}

// A picture is a desktop's pixels as a grid of tiles. It is not safe for
// concurrent use; a [view] of it is.
type picture struct {
	view
	epoch uint64
}

// A view is a picture as it was at one moment. It never changes.
type view struct {
	w, h  int
	cols  int
	tiles []*tile
}

// freeze returns the picture as it is now, in memory that dst may lend.
// Tiles drawn on later are copied first.
func (p *picture) freeze(dst []*tile) view {
	p.epoch++
	v := p.view
	v.tiles = append(dst[:0], p.tiles...)
	return v
}

// own returns tile i for writing.
func (p *picture) own(i int) *tile {
	t := p.tiles[i]
	if t.owner == p && t.epoch == p.epoch {
		return t
	}
	n := &tile{owner: p, epoch: p.epoch, pix: t.pix}
	p.tiles[i] = n
	return n
}

// put takes over what a canvas shows. The canvas lies within one row of
// tiles. Each changed part, the smallest rectangle a tile, goes to changed.
func (p *picture) put(c *canvas, changed func(image.Rectangle)) {
	ty := c.clip.Min.Y / tileSide
	for tx := c.clip.Min.X / tileSide; tx*tileSide < c.clip.Max.X; tx++ {
		org := image.Pt(tx*tileSide, ty*tileSide)
		r := image.Rectangle{org, org.Add(image.Pt(tileSide, tileSide))}.Intersect(c.clip)
		i := ty*p.cols + tx
		d := difference(p.tiles[i], org, c, r)
		if d.Empty() {
			continue
		}
		t := p.own(i)
		for y := d.Min.Y; y < d.Max.Y; y++ {
			o := (y-org.Y)*tileSide - org.X
			copy(t.pix[o+d.Min.X:o+d.Max.X], c.span(y, d.Min.X, d.Max.X))
		}
		changed(d)
	}
}

// difference is the smallest rectangle in r outside of which tile and canvas
// show the same.
func difference(t *tile, org image.Point, c *canvas, r image.Rectangle) image.Rectangle {
	d := image.Rectangle{image.Pt(r.Max.X, r.Max.Y), r.Min}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		o := (y-org.Y)*tileSide - org.X
		have, next := t.pix[o+r.Min.X:o+r.Max.X], c.span(y, r.Min.X, r.Max.X)
		if slices.Equal(have, next) {
			continue
		}
		a, b := 0, len(next)
		for have[a] == next[a] {
			a++
		}
		for have[b-1] == next[b-1] {
			b--
		}
		d.Min.X, d.Max.X = min(d.Min.X, r.Min.X+a), max(d.Max.X, r.Min.X+b)
		d.Min.Y, d.Max.Y = min(d.Min.Y, y), y+1
	}
	return d
}

// gather copies the rectangle x, y, w, h into dst, row after row. What lies
// outside of the picture is black.
func (v *view) gather(dst []uint32, x, y, w, h int) {
	for r := range h {
		row := dst[r*w : (r+1)*w]
		py := y + r
		if py >= v.h {
			clear(row)
			continue
		}
		n := min(w, max(v.w-x, 0))
		clear(row[n:])
		base := py / tileSide * v.cols
		for i := 0; i < n; {
			px := x + i
			t := v.tiles[base+px/tileSide]
			i += copy(row[i:n], t.pix[py%tileSide*tileSide+px%tileSide:(py%tileSide+1)*tileSide])
		}
	}
}

// canvases lend the memory in which a piece is drawn.
var canvases = sync.Pool{New: func() any { return new(canvas) }}

// paint draws r anew and reports what changed by it.
func (p *picture) paint(s *scene, r image.Rectangle, changed func(image.Rectangle)) {
	r = r.Intersect(image.Rect(0, 0, p.w, p.h))
	if r.Empty() {
		return
	}
	c := canvases.Get().(*canvas)
	for y := r.Min.Y; y < r.Max.Y; {
		end := min(r.Max.Y, (y/tileSide+1)*tileSide)
		c.reset(image.Rect(r.Min.X, y, r.Max.X, end))
		s.paint(c)
		p.put(c, changed)
		y = end
	}
	canvases.Put(c)
}

// newPicture draws a whole scene. Tiles that show the same are one tile, so
// that a large empty desktop is small in memory.
func newPicture(s *scene) *picture {
	w, h := s.lay.w, s.lay.h
	p := &picture{view: view{w: w, h: h, cols: (w + tileSide - 1) / tileSide}}
	seen := make(map[uint64][]*tile)
	c := canvases.Get().(*canvas)
	defer canvases.Put(c)
	spare := new(tile)
	for y := 0; y < h; y += tileSide {
		c.reset(image.Rect(0, y, w, min(h, y+tileSide)))
		s.paint(c)
		for x := 0; x < w; x += tileSide {
			hash := spare.load(c, x, y)
			t := known(seen[hash], spare)
			if t == nil {
				t, spare = spare, new(tile)
				seen[hash] = append(seen[hash], t)
			}
			p.tiles = append(p.tiles, t)
		}
	}
	return p
}

// load fills the tile from the canvas and returns a hash of it.
func (t *tile) load(c *canvas, x, y int) (hash uint64) {
	hash = 1469598103934665603
	w := min(tileSide, c.clip.Max.X-x)
	for r := range tileSide {
		row := t.pix[r*tileSide : (r+1)*tileSide]
		n := 0
		if y+r < c.clip.Max.Y {
			n = copy(row, c.span(y+r, x, x+w))
		}
		clear(row[n:])
		for _, v := range row {
			hash = (hash ^ uint64(v)) * 1099511628211
		}
	}
	return hash
}

func known(tiles []*tile, t *tile) *tile {
	for _, k := range tiles {
		if k.pix == t.pix {
			return k
		}
	}
	return nil
}
