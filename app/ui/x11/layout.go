package x11

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode"

	"github.com/jezek/xgb/xproto"

	"deskvnc/app/ui/keyboard"
	"deskvnc/viewer"
	"deskvnc/viewer/key"
)

// Requests of the X keyboard extension (XKB protocol, section 17).
const (
	xkbUseExtension   = 0
	xkbSelectEvents   = 1
	xkbGetState       = 4
	xkbGetMap         = 8
	xkbPerClientFlags = 21

	xkbCoreKeyboard = 0x100
)

// Modifier bits of the core protocol.
const (
	shiftMask   = 1 << 0
	lockMask    = 1 << 1
	controlMask = 1 << 2
	mod1Mask    = 1 << 3
	mod2Mask    = 1 << 4
	mod4Mask    = 1 << 6
)

// A layout is the keyboard's map: what each key means with which modifiers.
type layout struct {
	first byte
	keys  []keyMap
	types []keyType

	alt, super, num, scroll byte // the modifiers' bits
}

// A keyMap is one key: a row of keysyms for each group.
type keyMap struct {
	types  [4]byte
	groups int
	wrap   byte // what to do with a group there is not
	width  int
	syms   []uint32
}

// A keyType says which modifiers give which level.
type keyType struct {
	mask    byte
	entries []typeEntry
}

type typeEntry struct{ mods, level, preserve byte }

// useKeyboard starts the keyboard extension on the connection for keys.
func (h *Helper) useKeyboard() error {
	ext, err := xproto.QueryExtension(h.keys, uint16(len("XKEYBOARD")), "XKEYBOARD").Reply()
	if err != nil || ext == nil || !ext.Present {
		return errors.New("x11: the X server has no keyboard extension")
	}
	h.xkb, h.xkbEvent = ext.MajorOpcode, ext.FirstEvent
	r, err := ask(h.keys, []byte{h.xkb, xkbUseExtension, 2, 0, 1, 0, 0, 0})
	if err != nil {
		return fmt.Errorf("x11: keyboard extension: %v", err)
	}
	if r[1] == 0 {
		return errors.New("x11: the X server's keyboard extension is another version")
	}
	// A key that repeats is then pressed again without having been released.
	q := make([]byte, 28)
	q[0], q[1], q[2] = h.xkb, xkbPerClientFlags, 7
	binary.LittleEndian.PutUint16(q[4:], xkbCoreKeyboard)
	q[8], q[12] = 1, 1 // detectable auto-repeat: change it, to on
	if _, err = ask(h.keys, q); err != nil {
		return fmt.Errorf("x11: keyboard extension: %v", err)
	}
	return nil
}

// followLayout asks to be told of every change of the layout and of another
// keyboard.
func (h *Helper) followLayout() {
	const newKeyboardAndMap = 1<<0 | 1<<1
	q := make([]byte, 16)
	q[0], q[1], q[2] = h.xkb, xkbSelectEvents, 4
	binary.LittleEndian.PutUint16(q[4:], xkbCoreKeyboard)
	binary.LittleEndian.PutUint16(q[6:], newKeyboardAndMap)
	binary.LittleEndian.PutUint16(q[10:], newKeyboardAndMap) // all of both
	binary.LittleEndian.PutUint16(q[12:], 0xff)
	binary.LittleEndian.PutUint16(q[14:], 0xff)
	h.keys.NewRequest(q, h.keys.NewCookie(false, false))
}

// state asks for the modifiers and the group, as they are in key events.
func (h *Helper) state() (uint16, error) {
	q := []byte{h.xkb, xkbGetState, 2, 0, 0, 1, 0, 0}
	r, err := ask(h.keys, q)
	if err != nil {
		return 0, err
	}
	return uint16(r[8]) | uint16(r[12]&3)<<13, nil
}

// readLayout reads the keyboard's map.
func (h *Helper) readLayout() (*layout, error) {
	const typesSymsMods = 1<<0 | 1<<1 | 1<<2
	q := make([]byte, 28)
	q[0], q[1], q[2] = h.xkb, xkbGetMap, 7
	binary.LittleEndian.PutUint16(q[4:], xkbCoreKeyboard)
	binary.LittleEndian.PutUint16(q[6:], typesSymsMods)
	r, err := ask(h.keys, q)
	if err != nil {
		return nil, fmt.Errorf("x11: keyboard map: %v", err)
	}
	l, err := parseLayout(r)
	if err != nil {
		return nil, fmt.Errorf("x11: keyboard map: %w", err)
	}
	return l, nil
}

// cut takes bytes off the front of a reply.
type cut struct {
	data []byte
	bad  bool
}

func (c *cut) take(n int) []byte {
	if n < 0 || n > len(c.data) {
		c.bad = true
		return make([]byte, max(n, 0))
	}
	out := c.data[:n]
	c.data = c.data[n:]
	return out
}

// parseLayout reads the reply to GetMap (XKB protocol, appendix D).
func parseLayout(r []byte) (*layout, error) {
	if len(r) < 40 {
		return nil, errors.New("the reply is too short")
	}
	types, firstSym, syms, modKeys := int(r[15]), r[17], int(r[20]), int(r[33])
	c := &cut{data: r[40:]}
	l := &layout{first: firstSym, alt: mod1Mask, super: mod4Mask, num: mod2Mask}
	for range types {
		head := c.take(8)
		t := keyType{mask: head[0]}
		n, preserve := int(head[5]), head[6] != 0
		for range n {
			e := c.take(8)
			if e[0] != 0 { // active
				t.entries = append(t.entries, typeEntry{mods: e[1], level: e[2]})
			} else {
				t.entries = append(t.entries, typeEntry{level: 0xff})
			}
		}
		if preserve {
			for i := range n {
				t.entries[i].preserve = c.take(4)[0]
			}
		}
		l.types = append(l.types, t)
		if c.bad {
			break
		}
	}
	for range syms {
		head := c.take(8)
		k := keyMap{types: [4]byte(head[:4]), groups: int(head[4] & 0x0f), wrap: head[4] & 0xf0, width: int(head[5])}
		n := int(binary.LittleEndian.Uint16(head[6:]))
		raw := c.take(4 * n)
		if c.bad {
			break
		}
		for i := range n {
			k.syms = append(k.syms, binary.LittleEndian.Uint32(raw[4*i:]))
		}
		l.keys = append(l.keys, k)
	}
	// The modifier map: which keys set which bits.
	var alt, super, num, scroll byte
	for range modKeys {
		e := c.take(2)
		if c.bad {
			break
		}
		for _, sym := range l.of(e[0]).syms {
			switch sym {
			case key.AltL, key.AltR, key.MetaL, metaR:
				alt |= e[1]
			case key.SuperL, key.SuperR:
				super |= e[1]
			case key.NumLock:
				num |= e[1]
			case scrollLock:
				scroll |= e[1]
			}
		}
	}
	if c.bad {
		return nil, errors.New("the reply ends early")
	}
	if alt != 0 {
		l.alt = alt
	}
	if super != 0 {
		l.super = super
	}
	if num != 0 {
		l.num = num
	}
	l.scroll = scroll
	return l, nil
}

const (
	metaR      uint32 = 0xffe8
	scrollLock uint32 = 0xff14
)

// of is the map of a key, empty for one that is not on it.
func (l *layout) of(code byte) keyMap {
	if code < l.first || int(code-l.first) >= len(l.keys) {
		return keyMap{}
	}
	return l.keys[code-l.first]
}

// group brings a group into those that the key has.
func (k keyMap) group(g int) int {
	if g < k.groups {
		return g
	}
	switch k.wrap & 0xc0 {
	case 0x40: // the last one
		return k.groups - 1
	case 0x80: // a named one
		if r := int(k.wrap>>4) & 3; r < k.groups {
			return r
		}
		return 0
	}
	return g % k.groups
}

// sym is the keysym of a key with modifiers; plain is the one with none.
func (l *layout) sym(code byte, state uint16) (sym, plain uint32) {
	k := l.of(code)
	if k.groups == 0 || k.width == 0 {
		return 0, 0
	}
	g := k.group(int(state>>13) & 3)
	at := func(level int) uint32 {
		if i := g*k.width + level; level < k.width && i < len(k.syms) {
			return k.syms[i]
		}
		return 0
	}
	mods, level, used := byte(state), 0, byte(0)
	if i := int(k.types[g]); i < len(l.types) {
		t := l.types[i]
		used = t.mask
		for _, e := range t.entries {
			if e.level != 0xff && e.mods == mods&t.mask {
				level, used = int(e.level), t.mask&^e.preserve
				break
			}
		}
	}
	sym = at(level)
	if mods&lockMask != 0 && used&lockMask == 0 {
		sym = upper(sym)
	}
	return sym, at(0)
}

// stroke is what a key means with modifiers.
func (l *layout) stroke(code byte, state uint16) keyboard.Stroke {
	sym, plain := l.sym(code, state)
	mods := byte(state)
	return keyboard.Stroke{
		Sym: sym, Cap: plain,
		Plain: mods&(controlMask|l.alt|l.super) == 0,
		Locks: viewer.Locks{Caps: mods&lockMask != 0, Num: mods&l.num != 0, Scroll: mods&l.scroll != 0, Known: true},
	}
}

// upper is the capital of a keysym that is a small letter. One without a
// capital of its own kind stays.
func upper(sym uint32) uint32 {
	r := key.Rune(sym)
	c := unicode.ToUpper(r)
	if r == 0 || c == r || r == 0xb5 {
		return sym
	}
	// The older keysyms keep their sets: the capital is near.
	if sym < 0x01000000 && sym > 0xff {
		for _, d := range []uint32{0x10, 0x20} {
			for _, s := range []uint32{sym - d, sym + d} {
				if key.Rune(s) == c {
					return s
				}
			}
		}
	}
	switch {
	case sym == 0xff: // its capital is in another set
		return 0x13be
	case sym < 0x01000000 && sym > 0xff:
		return sym
	}
	return key.FromRune(c).Sym
}
