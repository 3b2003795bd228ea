package rfb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"slices"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

// noRegion means the whole picture to the frame.
var noRegion image.Rectangle

// screen is what is known of the machine's monitors, owned by the read loop.
type screen struct {
	layout []viewer.Screen // as reported; nil for one that covers the frame
}

// desktopSize is the pseudo-encoding -223: another size (RFC 6143 7.8.2).
type desktopSize struct {
	s *Session
	u *update
}

// Type returns -223.
func (*desktopSize) Type() int32 { return typeDesktopSize }

// Read takes the new size. Nothing follows the rectangle's head.
func (d *desktopSize) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	return d, d.u.reshape(int(r.Width), int(r.Height), nil, false)
}

// extendedDesktopSize is the pseudo-encoding -308 of the community's document:
// the size, the monitors, and the answer to a request for another size.
type extendedDesktopSize struct {
	s *Session
	u *update
}

// Type returns -308.
func (*extendedDesktopSize) Type() int32 { return typeExtendedDesktopSize }

// The reason of an ExtendedDesktopSize rectangle that answers this client.
const reasonOwnRequest = 1

// refusals are the statuses of a refused request by their numbers.
var refusals = map[uint16]string{
	1: "resizing is prohibited on this machine",
	2: "the machine has not the resources for that size",
	3: "the machine cannot show that size",
}

// Read takes size and layout.
func (d *extendedDesktopSize) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	c := d.s.conn
	b, err := c.Peek(4) // number of screens, padding
	if err != nil {
		return nil, err
	}
	n := int(b[0])
	if b, err = c.Peek(4 + 16*n); err != nil {
		return nil, err
	}
	w, h := int(r.Width), int(r.Height)
	layout := make([]viewer.Screen, 0, n)
	first := sizeRequest{}
	whole := true // all screens lie inside the frame
	for i := range n {
		s := b[4+16*i:][:16]
		x, y := int(binary.BigEndian.Uint16(s[4:])), int(binary.BigEndian.Uint16(s[6:]))
		bounds := image.Rect(x, y, x+int(binary.BigEndian.Uint16(s[8:])), y+int(binary.BigEndian.Uint16(s[10:])))
		id := binary.BigEndian.Uint32(s)
		if i == 0 {
			first.id, first.flags = id, binary.BigEndian.Uint32(s[12:])
		}
		whole = whole && !bounds.Empty() && bounds.In(image.Rect(0, 0, w, h))
		layout = append(layout, viewer.Screen{ID: id, Bounds: bounds, Primary: i == 0})
	}
	if !whole || n == 1 && layout[0].Bounds == image.Rect(0, 0, w, h) || n == 0 {
		layout = nil
	}
	if err := c.Discard(4 + 16*n); err != nil {
		return nil, err
	}
	d.s.signals.layout.Store(true)
	own, status := r.X == reasonOwnRequest, r.Y
	d.s.out.update(func() { d.s.out.layout = &first })
	if own && status != 0 {
		text, ok := refusals[status]
		if !ok {
			text = fmt.Sprintf("the machine refused that size (status %d)", status)
		}
		d.s.emit(viewer.Refusal{Text: text})
		return d, nil
	}
	return d, d.u.reshape(w, h, layout, own)
}

// reshape gives the frame a size and the screens in it. Nothing is touched
// when both are what they were; tell reports them all the same.
func (u *update) reshape(w, h int, layout []viewer.Screen, tell bool) error {
	s := u.s
	if w != s.canvas.Width || h != s.canvas.Height {
		if err := s.frame.Resize(w, h); err != nil {
			return &viewer.Error{Op: "rfb.DesktopSize", Kind: viewer.Limit, Err: err}
		}
		s.setSize(w, h)
		u.resized, tell = true, true
	} else if !slices.Equal(layout, s.screen.layout) {
		s.frame.Relayout()
		tell = true
	}
	s.screen.layout = layout
	if tell {
		s.emit(viewer.Resized{Width: w, Height: h, Screens: slices.Clone(layout)})
	}
	return nil
}

// Resize asks the machine for another size. It is asked only after it has
// said that it understands, since others break the connection off.
func (s *Session) Resize(ctx context.Context, w, h int) error {
	if w <= 0 || h <= 0 || frame.CheckSize(w, h) != nil {
		return &viewer.Error{Op: "rfb.Resize", Kind: viewer.Invalid,
			Err: fmt.Errorf("a screen of %d x %d pixels cannot be asked for", w, h)}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	switch {
	case s.out.end != nil:
		return s.out.end
	case s.out.sealed:
		return errClosed
	case s.out.layout == nil:
		return &viewer.Error{Op: "rfb.Resize", Kind: viewer.Unsupported,
			Err: errors.New("the machine has not said that its screen can be resized")}
	}
	s.out.resize = &sizeRequest{w: w, h: h, id: s.out.layout.id, flags: s.out.layout.flags}
	if !s.out.requests.demand {
		s.out.requests.poke = true // the answer comes with an update only
	}
	s.out.wake()
	return nil
}
