package rfb

import (
	"encoding/binary"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
)

// The bits of a report of the lock keys. QEMU's and VMware's have the same.
const (
	ledScroll = 1 << 0
	ledNum    = 1 << 1
	ledCaps   = 1 << 2
)

// readQEMULEDs reads a QEMU LED State rectangle.
func (s *Session) readQEMULEDs(*vnc.Rectangle) error {
	b, err := s.conn.Peek(1)
	if err != nil {
		return err
	}
	s.reportLocks(uint32(b[0]))
	return s.conn.Discard(1)
}

// readVMwareLEDs reads a VMware LED State rectangle.
func (s *Session) readVMwareLEDs(*vnc.Rectangle) error {
	b, err := s.conn.Peek(4)
	if err != nil {
		return err
	}
	s.reportLocks(binary.BigEndian.Uint32(b))
	return s.conn.Discard(4)
}

func (s *Session) reportLocks(leds uint32) {
	l := viewer.Locks{Caps: leds&ledCaps != 0, Num: leds&ledNum != 0, Scroll: leds&ledScroll != 0, Known: true}
	s.signals.led.Store(true)
	s.out.update(func() { s.out.held.locks = l })
	s.emit(viewer.LockState{Locks: l})
}

// The lock keys by keysym and scan code.
var (
	capsLock = viewer.Key{Sym: 0xffe5, Scan: 0x3a}
	numLock  = viewer.Key{Sym: 0xff7f, Scan: 0x45}
)

const symScrollLock = 0xff14

// turnLocks gives the machine's Caps Lock and Num Lock the state of the
// keyboard that k comes from, before k goes down, when both are known. The
// local keyboard is never touched. A machine that does not follow is not tried
// again before it reports anew.
func (h *held) turnLocks(b []byte, k viewer.Key) []byte {
	if !k.Locks.Known || !h.locks.Known || isModifier(symOf(k)) {
		return b
	}
	if k.Locks.Caps != h.locks.Caps {
		b = h.strike(b, capsLock)
	}
	if k.Locks.Num != h.locks.Num {
		b = h.strike(b, numLock)
	}
	return b
}

// strike presses and releases a key that is not held.
func (h *held) strike(b []byte, k viewer.Key) []byte {
	f := h.form(k)
	h.noteLock(f.sym)
	b = f.append(b, true)
	return f.append(b, false)
}

// noteLock expects a lock key that goes down to change its lock. The machine's
// report follows, or not.
func (h *held) noteLock(sym uint32) {
	switch sym {
	case capsLock.Sym:
		h.locks.Caps = !h.locks.Caps
	case numLock.Sym:
		h.locks.Num = !h.locks.Num
	case symScrollLock:
		h.locks.Scroll = !h.locks.Scroll
	}
}

// isModifier reports whether a keysym is a key that only changes others:
// Shift to Hyper, the lock keys, and ISO shifts.
func isModifier(sym uint32) bool {
	return sym >= 0xffe1 && sym <= 0xffee || sym == numLock.Sym || sym == symScrollLock || sym >= 0xfe01 && sym <= 0xfe13
}
