package rfb

import (
	"encoding/binary"
	"fmt"
	"image"
	"sync"
	"sync/atomic"
	"time"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb/rect"
)

const (
	// updateScreens and updateSpare bound one update: the bytes it brings and
	// the bytes it paints, together, may be so many times those of the screen,
	// and something for what is no picture. A machine could feed one for ever.
	updateScreens = 64
	updateSpare   = 64 << 20
	// drawnBehind is how many updates may wait to be drawn when the next one is
	// asked for.
	drawnBehind = 1
)

// An update is the FramebufferUpdate message (RFC 6143 7.6.1), owned by the
// read loop.
type update struct {
	s         *Session
	encodings map[int32]vnc.Encoding
	rect      vnc.Rectangle
	resized   bool            // the screen got another size in this update
	area      image.Rectangle // around what was drawn
	pixels    int64
	coded     int32  // the encoding of the last rectangle with pixels
	cost      uint64 // bytes painted, without those of the rectangle before

	last   int32          // the encoding of the rectangle before
	known  vnc.Encoding   // and its decoder, nil at first
	queued bool           // it leaves its drawing to the queue
	count  *atomic.Uint64 // of its rectangles; nil for none

	asking asking
}

// asking holds the next request back while drawing is behind.
type asking struct {
	mu          sync.Mutex // guards below
	read, drawn uint64     // updates of which the head was read, and drawn ones
	owed        bool       // the answer to the last request was not noted yet
}

// began notes the head of an update, and reports whether the next one may be
// asked for.
func (a *asking) began() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.read++
	a.owed = a.read > a.drawn+1+drawnBehind
	return !a.owed
}

// ended notes an update that has been drawn, and reports whether the next one
// may be asked for now.
func (a *asking) ended() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drawn++
	now := a.owed && a.read <= a.drawn+1+drawnBehind
	if now {
		a.owed = false
	}
	return now
}

// read reads one update.
func (u *update) read() error {
	s, c := u.s, u.s.conn
	b, err := c.Peek(3) // padding, number of rectangles
	if err != nil {
		return err
	}
	n := int(binary.BigEndian.Uint16(b[1:]))
	if err := c.Discard(3); err != nil {
		return err
	}
	if err := s.useWire(s.out.began(u.asking.began())); err != nil {
		return err
	}
	u.resized, u.area, u.pixels, u.cost = false, image.Rectangle{}, 0, 0
	u.known = nil // the decoders may have changed
	start, received, consumed, waited := time.Now(), c.Received(), c.Consumed(), c.Waited()
	err = u.rectangles(n)
	e := drawn{bytes: c.Received() - received, size: c.Consumed() - consumed, took: time.Since(start), waited: c.Waited() - waited,
		area: u.area, pixels: u.pixels, encoding: u.coded, resized: u.resized, cut: err != nil}
	if s.queue.Idle() {
		u.ended(e)
	} else {
		s.queue.Do(func() { u.ended(e) })
	}
	return err
}

// drawn is what there is to know of an update.
type drawn struct {
	bytes    uint64        // that arrived while it was read
	size     uint64        // that it has
	took     time.Duration // to come
	waited   time.Duration // of that, for the network
	area     image.Rectangle
	pixels   int64
	encoding int32 // of the last rectangle
	resized  bool
	cut      bool // it has not come whole
}

// ended takes note of an update whose rectangles have been drawn. It is called
// by the drawer, or by the read loop when there is nothing to draw.
func (u *update) ended(e drawn) {
	s := u.s
	s.frame.EndUpdate()
	if u.asking.ended() {
		s.out.update(s.out.answered)
	}
	if e.cut {
		return
	}
	s.updates.Add(1)
	s.ended(e)
	if e.resized {
		s.askAfterResize()
	}
}

func (u *update) rectangles(n int) error {
	s, c := u.s, u.s.conn
	start := c.Consumed()
	for range n {
		b, err := c.Peek(12)
		if err != nil {
			return err
		}
		r := &u.rect
		r.X, r.Y = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
		r.Width, r.Height = binary.BigEndian.Uint16(b[4:]), binary.BigEndian.Uint16(b[6:])
		encoding := int32(binary.BigEndian.Uint32(b[8:]))
		if err := c.Discard(12); err != nil {
			return err
		}
		if encoding == typeLastRect { // ends an update before its announced count
			return nil
		}
		if encoding != u.last || u.known == nil {
			if err := u.choose(encoding); err != nil {
				return err
			}
		}
		if !u.queued {
			if err := s.queue.Sync(); err != nil {
				return err
			}
		}
		if _, err := u.known.Read(nil, r, c); err != nil {
			return err
		}
		if u.count != nil {
			u.count.Add(1)
		}
		if encoding >= 0 || encoding == rect.TypeTightPNG {
			s.rects.Add(1)
			pixels := int64(r.Width) * int64(r.Height)
			s.pixels.Add(uint64(pixels))
			u.pixels += pixels
			u.coded = encoding
			u.cost += uint64(pixels) * frame.BytesPerPixel
			u.area = u.area.Union(image.Rect(int(r.X), int(r.Y), int(r.X)+int(r.Width), int(r.Y)+int(r.Height)))
		}
		if cost := u.cost + c.Consumed() - start; cost > updateSpare {
			if screen := uint64(s.canvas.Width) * uint64(s.canvas.Height) * frame.BytesPerPixel; cost-updateSpare > updateScreens*screen {
				return &viewer.Error{Op: "rfb.Update", Kind: viewer.Limit,
					Err: fmt.Errorf("one update of a screen of %d x %d brings and paints more than %d times the screen and %d MiB",
						s.canvas.Width, s.canvas.Height, updateScreens, updateSpare>>20)}
			}
		}
	}
	return nil
}

// choose finds the decoder of an encoding.
func (u *update) choose(encoding int32) error {
	e, ok := u.encodings[encoding]
	if !ok {
		return &viewer.Error{Op: "rfb.Rectangle", Kind: viewer.Malformed,
			Err: fmt.Errorf("unsupported encoding %d", encoding)}
	}
	u.last, u.known, u.count = encoding, e, u.s.counts[encoding]
	_, u.queued = e.(rect.Queued)
	if encoding == rect.TypeCopyRect {
		u.s.signals.copyRect.Store(true)
	}
	return nil
}
