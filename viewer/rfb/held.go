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
// right and back (X11 buttons 1 to 3 and 8).
const buttonBits = viewer.Left | viewer.Middle | viewer.Right | viewer.Back

// held is what the machine believes to be held down, and turns inputs into
// messages in the order they are written.
type held struct {
	keys    []heldKey // in the order they were pressed
	mask    uint8
	x, y    uint16
	pointed bool // a pointer event has been sent
}

type heldKey struct {
	id  keyID
	sym uint32
}

// keyID names a physical key: by its scan code, or else by its symbol. The
// symbol may change between press and release (Shift was let go first).
type keyID uint64

func idOf(k viewer.Key) keyID {
	if k.Scan != 0 {
		return keyID(k.Scan)
	}
	return keyID(symOf(k)) | 1<<32
}

// symOf is the keysym of a key: the one it came with, or the one of the
// character it makes.
func symOf(k viewer.Key) uint32 {
	switch {
	case k.Sym != 0:
		return k.Sym
	case k.Rune >= 0x20 && k.Rune < 0x7f, k.Rune >= 0xa0 && k.Rune <= 0xff:
		return uint32(k.Rune)
	case k.Rune >= 0x100:
		return 0x01000000 | uint32(k.Rune)
	}
	return 0
}

// any reports whether a key or button is down.
func (h *held) any() bool { return h.mask != 0 || len(h.keys) > 0 }

// append writes the messages of one input.
func (h *held) append(b []byte, in viewer.Input) []byte {
	switch in := in.(type) {
	case viewer.Key:
		return h.key(b, in)
	case viewer.Pointer:
		return h.pointer(b, in)
	}
	return b
}

func (h *held) key(b []byte, k viewer.Key) []byte {
	id, sym := idOf(k), symOf(k)
	at := h.find(id, sym)
	if !k.Down {
		if at < 0 {
			return appendKey(b, false, sym)
		}
		sym = h.keys[at].sym
		h.keys = append(h.keys[:at], h.keys[at+1:]...)
		return appendKey(b, false, sym)
	}
	if at >= 0 && h.keys[at].sym != sym {
		// A repeat that makes another symbol now: nobody would release the first.
		b = appendKey(b, false, h.keys[at].sym)
		h.keys[at].sym = sym
	} else if at < 0 {
		h.keys = append(h.keys, heldKey{id, sym})
	}
	return appendKey(b, true, sym)
}

// find returns the place of a held key, by id or else by symbol.
func (h *held) find(id keyID, sym uint32) int {
	bySym := -1
	for i, k := range h.keys {
		if k.id == id {
			return i
		}
		if k.sym == sym && (id>>32 != 0 || k.id>>32 != 0) {
			bySym = i
		}
	}
	return bySym
}

func (h *held) pointer(b []byte, p viewer.Pointer) []byte {
	mask, x, y := maskOf(p.Buttons), coordinate(p.X), coordinate(p.Y)
	wheel := p.WheelX != 0 || p.WheelY != 0
	if !wheel || !h.pointed || mask != h.mask || x != h.x || y != h.y {
		b = appendPointer(b, mask, x, y)
	}
	h.mask, h.x, h.y, h.pointed = mask, x, y, true
	b = h.clicks(b, p.WheelY, wheelUp, wheelDown)
	return h.clicks(b, p.WheelX, wheelLeft, wheelRight)
}

// clicks writes one press and release a wheel click.
func (h *held) clicks(b []byte, n int, back, forward uint8) []byte {
	bit := forward
	if n < 0 {
		bit, n = back, -n
	}
	for range n {
		b = appendPointer(b, h.mask|bit, h.x, h.y)
		b = appendPointer(b, h.mask, h.x, h.y)
	}
	return b
}

// releaseAll lets go of everything: buttons first, then keys, last pressed
// first. The pointer event is sent even when no button is held, unless the
// pointer was never sent anywhere and has no last point.
func (h *held) releaseAll(b []byte) []byte {
	if h.pointed {
		h.mask = 0
		b = appendPointer(b, 0, h.x, h.y)
	}
	for i := len(h.keys) - 1; i >= 0; i-- {
		b = appendKey(b, false, h.keys[i].sym)
	}
	h.keys = h.keys[:0]
	return b
}

// maskOf is the wire form of held buttons: bit n-1 for X11 button n.
func maskOf(b viewer.Buttons) uint8 { return uint8(b & buttonBits) }

func coordinate(v int) uint16 { return uint16(min(max(v, 0), math.MaxUint16)) }
