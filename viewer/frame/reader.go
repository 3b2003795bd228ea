package frame

import (
	"image"
	"slices"
)

// A Reader remembers what changed since it last looked. Its methods may be
// called from any goroutine, but one reader serves one looker.
type Reader struct {
	f      *Frame
	region region // guarded by f.mu
	wake   chan struct{}
}

// Reader returns a new reader for which the whole picture has changed.
func (f *Frame) Reader() *Reader {
	r := &Reader{f: f, wake: make(chan struct{}, 1)}
	f.mu.Lock()
	r.region.reset(image.Rect(0, 0, f.w, f.h))
	f.readers = append(slices.Clone(f.readers), r)
	f.mu.Unlock()
	return r
}

// Close forgets the reader. The frame no longer wakes it.
func (r *Reader) Close() {
	r.f.mu.Lock()
	r.f.readers = slices.DeleteFunc(slices.Clone(r.f.readers), func(o *Reader) bool { return o == r })
	r.f.mu.Unlock()
}

// Wake gets one value after changes: at the end of an update that damaged
// something, after a resize. Values do not pile up.
func (r *Reader) Wake() <-chan struct{} { return r.wake }

func (f *Frame) wake() {
	f.mu.RLock()
	readers := f.readers
	f.mu.RUnlock()
	for _, r := range readers {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// Damage returns the changed rectangles without taking them: they stay
// changed. The area counts overlaps twice.
func (r *Reader) Damage() []image.Rectangle {
	r.f.mu.RLock()
	defer r.f.mu.RUnlock()
	return slices.Clone(r.region.rects)
}

// Clean forgets the changes so far.
func (r *Reader) Clean() {
	r.f.mu.Lock()
	r.region.rects = r.region.rects[:0]
	r.f.mu.Unlock()
}

// Restore puts back changes that were taken but not delivered.
func (r *Reader) Restore(rects []image.Rectangle) {
	r.f.mu.Lock()
	full := image.Rect(0, 0, r.f.w, r.f.h)
	for _, d := range rects {
		if d = d.Intersect(full); !d.Empty() {
			r.region.add(d)
		}
	}
	r.f.mu.Unlock()
}

// Take returns the changed rectangles and forgets them.
func (r *Reader) Take() []image.Rectangle {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	out := slices.Clone(r.region.rects)
	r.region.rects = r.region.rects[:0]
	return out
}

// CopyTo copies what changed into img, which must have the picture's size,
// as opaque RGBA, and returns the rectangles it copied. ok is false, and
// nothing is copied or forgotten, when the sizes differ: make an image of the
// size [Frame.Size] tells and call again.
func (r *Reader) CopyTo(img *image.RGBA) (rects []image.Rectangle, ok bool) {
	f := r.f
	f.mu.Lock()
	defer f.mu.Unlock()
	if img == nil || img.Rect.Dx() != f.w || img.Rect.Dy() != f.h {
		return nil, false
	}
	rects = slices.Clone(r.region.rects)
	r.region.rects = r.region.rects[:0]
	for _, d := range rects {
		f.copyOut(img.Pix[d.Min.Y*img.Stride+d.Min.X*4:], img.Stride, d)
	}
	return rects, true
}

// maxRects bounds the list of changes one reader keeps. Over it the list is
// folded into one rectangle for each band of rows.
const maxRects = 1024

// bandRows is the height of a band.
const bandRows = 64

// region is a list of changed rectangles inside a picture.
type region struct {
	bounds image.Rectangle
	rects  []image.Rectangle
}

// reset makes the whole picture changed.
func (g *region) reset(bounds image.Rectangle) {
	g.bounds = bounds
	g.rects = g.rects[:0]
	if !bounds.Empty() {
		g.rects = append(g.rects, bounds)
	}
}

// add notes a rectangle inside the bounds. One that lies in the one before it
// or extends it to a larger rectangle is merged.
func (g *region) add(r image.Rectangle) {
	if n := len(g.rects); n > 0 {
		last := &g.rects[n-1]
		switch {
		case r.In(*last), n > 1 && r.In(g.rects[0]):
			return
		case last.In(r):
			*last = r
			return
		case r.Min.Y == last.Min.Y && r.Max.Y == last.Max.Y && r.Min.X <= last.Max.X && r.Max.X >= last.Min.X,
			r.Min.X == last.Min.X && r.Max.X == last.Max.X && r.Min.Y <= last.Max.Y && r.Max.Y >= last.Min.Y:
			*last = last.Union(r)
			return
		}
	}
	if len(g.rects) == maxRects {
		g.fold()
	}
	g.rects = append(g.rects, r)
}

// fold replaces the list by at most one rectangle a band.
func (g *region) fold() {
	bands := make([]image.Rectangle, (g.bounds.Dy()+bandRows-1)/bandRows)
	for _, r := range g.rects {
		for b := r.Min.Y / bandRows; b*bandRows < r.Max.Y; b++ {
			part := r.Intersect(image.Rect(r.Min.X, b*bandRows, r.Max.X, (b+1)*bandRows))
			bands[b] = bands[b].Union(part)
		}
	}
	g.rects = g.rects[:0]
	for _, b := range bands {
		if !b.Empty() {
			g.rects = append(g.rects, b)
		}
	}
}
