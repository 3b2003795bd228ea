package rfb

import (
	"encoding/binary"
	"fmt"
	"image"
	"time"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb/rect"
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
}

// read reads one update.
func (u *update) read() error {
	c := u.s.conn
	b, err := c.Peek(3) // padding, number of rectangles
	if err != nil {
		return err
	}
	n := int(binary.BigEndian.Uint16(b[1:]))
	if err := c.Discard(3); err != nil {
		return err
	}
	u.s.out.update(u.s.out.answered)
	u.resized, u.area, u.pixels = false, image.Rectangle{}, 0
	start, received := time.Now(), u.s.conn.Received()
	err = u.rectangles(n)
	u.s.frame.EndUpdate()
	if err != nil {
		return err
	}
	u.s.updates.Add(1)
	u.s.out.ended(u.s.conn.Received()-received, start, u.area, u.pixels)
	if u.resized {
		u.s.askAfterResize()
	}
	return nil
}

func (u *update) rectangles(n int) error {
	c := u.s.conn
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
		e, ok := u.encodings[encoding]
		if !ok {
			return &viewer.Error{Op: "rfb.Rectangle", Kind: viewer.Malformed,
				Err: fmt.Errorf("unsupported encoding %d", encoding)}
		}
		if _, err := e.Read(nil, r, c); err != nil {
			return err
		}
		if encoding == rect.TypeCopyRect {
			u.s.signals.copyRect.Store(true)
		}
		if n := u.s.counts[encoding]; n != nil {
			n.Add(1)
		}
		if encoding >= 0 || encoding == rect.TypeTightPNG {
			u.s.rects.Add(1)
			u.s.pixels.Add(uint64(r.Width) * uint64(r.Height))
			u.pixels += int64(r.Width) * int64(r.Height)
			u.area = u.area.Union(image.Rect(int(r.X), int(r.Y), int(r.X)+int(r.Width), int(r.Y)+int(r.Height)))
		}
	}
	return nil
}

// ended takes note of an update that has been drawn.
func (o *outbox) ended(bytes uint64, start time.Time, area image.Rectangle, pixels int64) {
	o.mu.Lock()
	o.settleButtons()
	tell := o.pace.on
	if tell {
		now := time.Now()
		o.pace.sample(bytes, now.Sub(start), now)
		o.pace.drawn(area, pixels, now)
	}
	o.mu.Unlock()
	if tell {
		o.wake()
	}
}
