package rfb

import (
	"math"

	"deskvnc/viewer"
)

// The masks of the wheel in a PointerEvent: X11 buttons 4 to 7.
const (
	wheelUp    = 1 << 3
	wheelDown  = 1 << 4
	wheelLeft  = 1 << 5
	wheelRight = 1 << 6
)

// buttonBits are the buttons that a PointerEvent can hold down: left, middle,
// right and back (X11 buttons 1 to 3 and 8). Forward (9) needs the extended
// form of the message.
const buttonBits = viewer.Left | viewer.Middle | viewer.Right | viewer.Back

// relativeZero is the coordinate that means no motion on a machine that takes
// relative motion (community document, QEMU Pointer Motion Change).
const relativeZero = 0x7fff

// held is what the machine believes to be held down, and turns inputs into
// messages in the order they are written.
type held struct {
	keyboard
	keys    []heldKey // in the order they were pressed
	mask    uint16
	x, y    uint16
	pointed bool // a pointer event has been sent

	buttons  buttonForm
	relative bool   // the machine takes motion, not places
	size     [2]int // the screen
}

// A buttonForm is what is known of ExtendedMouseButtons.
type buttonForm uint8

const (
	// buttonsPlain: not offered to the machine, or it does not know it.
	buttonsPlain buttonForm = iota
	// buttonsAsked: offered, and no update has come since. A machine that
	// knows it would take bit 7 as the mark of the longer form.
	buttonsAsked
	// buttonsMore: the machine takes nine buttons and more.
	buttonsMore
)

// any reports whether a key or button is down.
func (h *held) any() bool { return h.mask != 0 || len(h.keys) > 0 }

// append writes the messages of one input.
func (h *held) append(b []byte, in viewer.Input) []byte {
	switch in := in.(type) {
	case viewer.Key:
		return h.key(b, in)
	case viewer.Pointer:
		return h.pointer(b, in)
	case viewer.Motion:
		return h.motion(b, in)
	}
	return b
}

// motion moves the pointer by a way. A machine that takes motion gets it as it
// is; for any other it is a place on the screen.
func (h *held) motion(b []byte, m viewer.Motion) []byte {
	p := viewer.Pointer{X: int(h.x) + m.DX, Y: int(h.y) + m.DY, Buttons: m.Buttons, WheelX: m.WheelX, WheelY: m.WheelY}
	if !h.relative {
		p.X, p.Y = min(max(p.X, 0), max(h.size[0]-1, 0)), min(max(p.Y, 0), max(h.size[1]-1, 0))
		return h.pointer(b, p)
	}
	mask := h.maskOf(m.Buttons)
	if (m.WheelX == 0 && m.WheelY == 0) || mask != h.mask || m.DX != 0 || m.DY != 0 {
		h.pointed = true
		b = h.send(b, mask, coordinate(relativeZero+m.DX), coordinate(relativeZero+m.DY))
	}
	h.mask = mask
	b = h.clicks(b, m.WheelY, wheelUp, wheelDown)
	return h.clicks(b, m.WheelX, wheelLeft, wheelRight)
}

func (h *held) pointer(b []byte, p viewer.Pointer) []byte {
	mask, x, y := h.maskOf(p.Buttons), coordinate(p.X), coordinate(p.Y)
	wheel := p.WheelX != 0 || p.WheelY != 0
	if !wheel || !h.pointed || mask != h.mask || x != h.x || y != h.y {
		b = h.point(b, mask, x, y)
	}
	h.mask = mask
	b = h.clicks(b, p.WheelY, wheelUp, wheelDown)
	return h.clicks(b, p.WheelX, wheelLeft, wheelRight)
}

// point writes one pointer event, and notes where the pointer is.
func (h *held) point(b []byte, mask, x, y uint16) []byte {
	toX, toY := x, y
	if h.relative {
		toX, toY = relativeZero, relativeZero
		if h.pointed {
			toX, toY = way(h.x, x), way(h.y, y)
		}
	}
	h.x, h.y, h.pointed = x, y, true
	return h.send(b, mask, toX, toY)
}

// send writes a pointer event, in the longer form where it is needed.
func (h *held) send(b []byte, mask, x, y uint16) []byte {
	if h.buttons == buttonsMore && mask>>7 != 0 {
		return appendMoreButtons(b, mask, x, y)
	}
	return appendPointer(b, uint8(mask), x, y)
}

// way is the coordinate for the way from one place to another.
func way(from, to uint16) uint16 {
	return coordinate(relativeZero + int(to) - int(from))
}

// clicks writes one press and release a wheel click.
func (h *held) clicks(b []byte, n int, back, forward uint16) []byte {
	bit := forward
	if n < 0 {
		bit, n = back, -n
	}
	for range n {
		b = h.point(b, h.mask|bit, h.x, h.y)
		b = h.point(b, h.mask, h.x, h.y)
	}
	return b
}

// releaseAll lets go of everything: buttons first, then keys, last pressed
// first. The pointer event is sent even when no button is held, unless the
// pointer was never sent anywhere and has no last point.
func (h *held) releaseAll(b []byte) []byte {
	if h.pointed {
		h.mask = 0
		b = h.point(b, 0, h.x, h.y)
	}
	for i := len(h.keys) - 1; i >= 0; i-- {
		b = h.keys[i].form.append(b, false)
	}
	h.keys = h.keys[:0]
	return b
}

// maskOf is the wire form of held buttons: bit n-1 for X11 button n.
func (h *held) maskOf(b viewer.Buttons) uint16 {
	switch h.buttons {
	case buttonsMore:
		b &= buttonBits | viewer.Forward
	case buttonsAsked:
		b &= buttonBits &^ viewer.Back
	default:
		b &= buttonBits
	}
	return uint16(b)
}

func coordinate(v int) uint16 { return uint16(min(max(v, 0), math.MaxUint16)) }

// settleButtons decides, after an update, that a machine which has not said so
// with it does not take more than eight buttons. The caller holds the lock.
func (o *outbox) settleButtons() {
	if o.held.buttons == buttonsAsked {
		o.held.buttons = buttonsPlain
	}
}
