// Package frame holds the picture of a session: its pixels, and for each
// reader the region changed since it last looked.
//
// A Frame is safe for concurrent use. It knows no protocol and no window. One
// writer (the decoder) draws; any number of readers copy out. The lock is held
// for one rectangle or a few small ones at a time, never across network I/O.
package frame

import (
	"fmt"
	"image"
	"sync"
)

// MaxPixels bounds one frame: 64 Mpixel, 256 MiB.
const MaxPixels = 64 << 20

// BytesPerPixel is the size of one pixel in the buffer.
const BytesPerPixel = 4

// ContentShare is the share of the picture that one server update must paint
// to count as a change of content: a new window, not a caret.
const ContentShare = 0.15

// An Order says at which byte of a pixel the red, green and blue samples are.
type Order struct{ R, G, B uint8 }

// BGRX is the order of a buffer unless the decoder says otherwise.
var BGRX = Order{R: 2, G: 1, B: 0}

// A Source says where painted pixels came from.
type Source uint8

// The sources.
const (
	// Painted: pixels that the far side sent.
	Painted Source = 0
	// Copied: pixels moved from elsewhere in the picture (CopyRect).
	Copied Source = 1
)

// Generations count changes of a frame. They only grow, from 1, and saturate.
type Generations struct {
	// Geometry moves with every change of size or layout and every reconnect.
	Geometry uint32
	// Content moves with every update that painted or copied at least
	// [ContentShare] of the picture, and with every resize.
	Content uint32
	// Repaint is Content without the area that was only copied: scrolling
	// does not move it.
	Repaint uint32
}

// A Frame is one picture.
type Frame struct {
	mu     sync.RWMutex
	pix    []byte // BytesPerPixel a pixel, wire order, row after row; nil until drawn into
	stride int
	w, h   int
	order  Order

	gen            Generations
	painted        int64 // area of the current update, by source
	copied         int64
	hole           *coverage // pixels never painted; nil when there is none, or no pixels
	updates        uint64    // server updates ended
	readers        []*Reader
	readersDamaged bool // a reader has got damage in this update
}

// New returns an empty frame: 0 by 0, generation 1.
func New() *Frame {
	return &Frame{order: BGRX, gen: Generations{Geometry: 1, Content: 1, Repaint: 1}}
}

// A LimitError says that a picture is larger than the bound.
type LimitError struct{ W, H int }

func (e *LimitError) Error() string {
	return fmt.Sprintf("a screen of %d x %d pixels is more than the %d Mpixel that one session may use", e.W, e.H, MaxPixels>>20)
}

// CheckSize reports whether a picture of w times h pixels may be had. Sides
// are 0 to 65535.
func CheckSize(w, h int) error {
	if w < 0 || h < 0 || w > 65535 || h > 65535 || int64(w)*int64(h) > MaxPixels {
		return &LimitError{W: w, H: h}
	}
	return nil
}

// Reset gives the frame a size and byte order and forgets all pixels: a new
// connection. The geometry generation moves even when the size stays.
func (f *Frame) Reset(w, h int, order Order) error {
	return f.reshape(w, h, order, false)
}

// Resize changes the size within a connection. What overlaps is kept and
// shown, but counts as not painted until the far side paints it. A resize to
// the same size changes nothing.
func (f *Frame) Resize(w, h int) error {
	f.mu.RLock()
	same, order := f.w == w && f.h == h, f.order
	f.mu.RUnlock()
	if same {
		return nil
	}
	return f.reshape(w, h, order, true)
}

// Relayout moves the geometry generation without touching a pixel: the
// screens inside the picture moved.
func (f *Frame) Relayout() {
	f.mu.Lock()
	bump(&f.gen.Geometry)
	f.mu.Unlock()
	f.wake()
}

func (f *Frame) reshape(w, h int, order Order, keep bool) error {
	if err := CheckSize(w, h); err != nil {
		return err
	}
	f.mu.Lock()
	old, oldStride, oldH := f.pix, f.stride, f.h
	f.stride, f.w, f.h, f.order = w*BytesPerPixel, w, h, order
	f.pix, f.hole = nil, nil
	if keep && old != nil {
		f.allocate()
		n := min(f.stride, oldStride)
		for y := range min(h, oldH) {
			copy(f.pix[y*f.stride:y*f.stride+n], old[y*oldStride:])
		}
	}
	f.painted, f.copied = 0, 0
	bump(&f.gen.Geometry)
	bump(&f.gen.Content)
	bump(&f.gen.Repaint)
	for _, r := range f.readers {
		r.region.reset(image.Rect(0, 0, w, h))
	}
	f.mu.Unlock()
	f.wake()
	return nil
}

// allocate gives the frame its memory. A frame that nobody draws into has none.
func (f *Frame) allocate() {
	f.pix = newPixels(f.stride * f.h)
	f.hole = newCoverage(f.w, f.h)
}

// Drop gives the memory of the pixels back. They count as never painted; the
// size and the generations stay.
func (f *Frame) Drop() {
	f.mu.Lock()
	f.pix, f.hole = nil, nil
	for _, r := range f.readers {
		r.region.reset(image.Rect(0, 0, f.w, f.h))
	}
	f.mu.Unlock()
}

// Memory is the size of the pixels in bytes, 0 before anything was drawn.
func (f *Frame) Memory() int {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.pix)
}

func bump(n *uint32) {
	if *n != ^uint32(0) {
		*n++
	}
}

// Pixels is a view of the buffer while the frame is locked for drawing.
type Pixels struct {
	Pix    []byte // the whole picture; pixel x,y starts at y*Stride+x*4
	Stride int
	W, H   int
}

// Lock locks the frame for drawing. Between Lock and [Frame.Unlock] the
// caller writes the pixels of one or more rectangles and does nothing that
// can wait.
func (f *Frame) Lock() Pixels {
	f.mu.Lock()
	if f.pix == nil {
		f.allocate()
	}
	return Pixels{Pix: f.pix, Stride: f.stride, W: f.w, H: f.h}
}

// Touch records, while the frame is locked, that the rectangle x, y, w, h has
// been drawn. It must lie inside the picture.
func (f *Frame) Touch(x, y, w, h int, from Source) {
	if w <= 0 || h <= 0 {
		return
	}
	area := int64(w) * int64(h)
	if from == Copied {
		f.copied += area
	} else {
		f.painted += area
		if f.hole != nil && f.hole.paint(x, y, w, h) {
			f.hole = nil
		}
	}
	r := image.Rect(x, y, x+w, y+h)
	for _, d := range f.readers {
		d.region.add(r)
		f.readersDamaged = true
	}
}

// Unlock ends drawing.
func (f *Frame) Unlock() { f.mu.Unlock() }

// EndUpdate closes one server update: it moves the content generation when the
// update was large enough, and wakes the readers.
func (f *Frame) EndUpdate() {
	f.mu.Lock()
	if area := int64(f.w) * int64(f.h); area > 0 {
		// In whole numbers: area*0.15 is not exact in floating point.
		if (f.painted+f.copied)*100 >= area*int64(ContentShare*100) {
			bump(&f.gen.Content)
		}
		if f.painted*100 >= area*int64(ContentShare*100) {
			bump(&f.gen.Repaint)
		}
	}
	f.painted, f.copied = 0, 0
	f.updates++
	damaged := f.readersDamaged
	f.readersDamaged = false
	f.mu.Unlock()
	if damaged {
		f.wake()
	}
}

// Size returns the picture's width and height in pixels.
func (f *Frame) Size() (w, h int) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.w, f.h
}

// Generations returns the counters as they are now.
func (f *Frame) Generations() Generations {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.gen
}

// Updates returns the number of server updates drawn so far.
func (f *Frame) Updates() uint64 {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.updates
}

// Whole reports whether every pixel of r has been painted since the last
// reset or resize. An empty r means the whole picture.
func (f *Frame) Whole(r image.Rectangle) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.whole(r)
}

// Missing is the smallest rectangle around what [Frame.Whole] misses in r;
// empty when nothing is missing. An empty r means the whole picture.
func (f *Frame) Missing(r image.Rectangle) image.Rectangle {
	f.mu.RLock()
	defer f.mu.RUnlock()
	full := image.Rect(0, 0, f.w, f.h)
	if r.Empty() {
		r = full
	}
	r = r.Intersect(full)
	switch {
	case len(f.pix) == 0:
		return r
	case f.hole == nil:
		return image.Rectangle{}
	}
	return f.hole.missing(r)
}

func (f *Frame) whole(r image.Rectangle) bool {
	if len(f.pix) == 0 {
		return false
	}
	full := image.Rect(0, 0, f.w, f.h)
	if r.Empty() {
		r = full
	}
	return f.hole == nil || f.hole.whole(r.Intersect(full))
}
