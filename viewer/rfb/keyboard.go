package rfb

import (
	"strings"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/key"
)

// keyboard is what decides how a key is sent, and what is known of the
// machine's lock keys.
type keyboard struct {
	mode     viewer.KeyMode
	extended bool // the machine takes scan codes
	emulator bool // the machine is QEMU: it has a keyboard, not a layout
	locks    viewer.Locks
}

// A keyForm is a key as it is written: by its keysym, or with a scan code
// when that is not 0. The release has the form of the press.
type keyForm struct {
	sym  uint32
	scan uint16
}

func (f keyForm) append(b []byte, down bool) []byte {
	if f.scan != 0 {
		return appendExtendedKey(b, down, f.sym, f.scan)
	}
	return appendKey(b, down, f.sym)
}

type heldKey struct {
	id   keyID
	form keyForm
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

// scans reports whether keys are sent as scan codes where they have one. A
// machine with a layout of its own gets keysyms, so that the characters are
// those of the local keyboard; QEMU knows only keys, and turns keysyms into
// them by a layout that it guesses.
func (h *held) scans() bool {
	switch h.mode {
	case viewer.KeysBySymbol:
		return false
	case viewer.KeysByPosition:
		return h.extended
	}
	return h.extended && h.emulator
}

// form is how a key is sent now.
func (h *held) form(k viewer.Key) keyForm {
	f := keyForm{sym: symOf(k)}
	if k.Scan != 0 && h.extended && (h.scans() || f.sym == 0) {
		f.scan = k.Scan
	}
	return f
}

// can reports whether a key can be sent at all.
func (h *held) can(k viewer.Key) bool { return symOf(k) != 0 || k.Scan != 0 && h.extended }

func (h *held) key(b []byte, k viewer.Key) []byte {
	id, sym := idOf(k), symOf(k)
	at := h.find(id, sym)
	if !k.Down {
		f := h.form(k)
		if at >= 0 {
			f = h.keys[at].form
			h.keys = append(h.keys[:at], h.keys[at+1:]...)
		}
		return f.append(b, false)
	}
	b = h.turnLocks(b, k)
	f, shift := h.form(k), false
	if k.Scan == 0 && h.emulator {
		f, shift = h.typed(f)
	}
	if at >= 0 && h.keys[at].form != f {
		// A repeat that makes another symbol now: nobody would release the first.
		b = h.keys[at].form.append(b, false)
		h.keys[at].form = f
	} else if at < 0 {
		h.keys = append(h.keys, heldKey{id, f})
		h.noteLock(sym)
	}
	if !shift {
		return f.append(b, true)
	}
	s := h.form(viewer.Key{Sym: key.ShiftL, Scan: 0x2a})
	b = s.append(b, true)
	b = f.append(b, true)
	return s.append(b, false)
}

// shiftedASCII are the characters that a US keyboard makes with Shift, beside
// the capital letters.
const shiftedASCII = "~!@#$%^&*()_+{}|:\"<>?"

// typed is the form of a character that comes without its key, on a machine
// that has keys only: the key of a US keyboard, and whether it needs Shift.
// QEMU would press the key and leave Shift out.
func (h *held) typed(f keyForm) (keyForm, bool) {
	if f.sym < 0x20 || f.sym > 0x7e {
		return f, false
	}
	r := rune(f.sym)
	if h.scans() {
		f.scan = key.FromRune(r).Scan
	}
	shift := strings.ContainsRune(shiftedASCII, r)
	if capital := r >= 'A' && r <= 'Z'; capital || r >= 'a' && r <= 'z' {
		shift = capital != (h.locks.Known && h.locks.Caps)
	}
	for _, k := range h.keys {
		if k.form.sym == key.ShiftL || k.form.sym == key.ShiftR {
			return f, false // somebody holds it, and means it
		}
	}
	return f, shift
}

// find returns the place of a held key, by id or else by symbol.
func (h *held) find(id keyID, sym uint32) int {
	bySym := -1
	for i, k := range h.keys {
		if k.id == id {
			return i
		}
		if k.form.sym == sym && (id>>32 != 0 || k.id>>32 != 0) {
			bySym = i
		}
	}
	return bySym
}

// emulatorName reports whether a desktop's name is the one that QEMU gives.
func emulatorName(name string) bool { return name == "QEMU" || strings.HasPrefix(name, "QEMU (") }

// extendedKeysOffered takes the machine's word that it takes scan codes.
func (s *Session) extendedKeysOffered(*vnc.Rectangle) error {
	s.out.update(func() { s.out.held.extended = true })
	return nil
}

// moreButtonsOffered takes its word that it takes more than eight buttons.
func (s *Session) moreButtonsOffered(*vnc.Rectangle) error {
	s.out.update(func() { s.out.held.buttons = buttonsMore })
	return nil
}

// readPointerMotion takes QEMU's word on whether it takes places (1) or
// motion (0). Only QEMU sends it.
func (s *Session) readPointerMotion(r *vnc.Rectangle) error {
	relative := r.X == 0
	changed := false
	s.out.update(func() {
		h := &s.out.held
		changed = relative != h.relative
		h.relative, h.emulator = relative, true
	})
	if changed {
		s.emit(viewer.PointerMode{Relative: relative})
	}
	if changed && relative {
		s.emit(viewer.Notice{Text: "the machine takes the pointer's motion, not its place: its pointer may stand elsewhere than yours"})
	}
	return nil
}
