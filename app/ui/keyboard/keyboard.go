// Package keyboard turns the window's key events into keys for a remote
// machine: each key with the keysym that the person's own layout gives it,
// every press with its release, nothing held that is not held.
//
// It keeps back only the viewer's own chords. It knows no widget; a [Source]
// tells what a physical key means, and without one the names and characters
// of the toolkit have to do.
package keyboard

import (
	"deskvnc/viewer"
	"deskvnc/viewer/key"
)

// A Stroke is what a key means at the moment it is pressed.
type Stroke struct {
	Sym   uint32 // keysym, with Shift, AltGr and the locks applied
	Cap   uint32 // keysym of the key alone, as printed on it
	Plain bool   // neither Ctrl nor Alt nor Super is down: it may type a character
	// Lost says that the keyboard was taken away while the key was down and
	// before the toolkit told of it: its release will not be told of.
	Lost  bool
	Locks viewer.Locks
}

// A Source tells what the key with a code means that has just gone down. ok is
// false when it does not know.
type Source interface {
	Press(code int) (s Stroke, ok bool)
}

// Config is what a Keyboard is made of.
type Config struct {
	// Source may be nil.
	Source Source
	// Send passes one key on. Whether it is delivered is not decided here.
	Send func(viewer.Key)
	// Chord runs the viewer's command for a key pressed with the viewer's
	// prefix, and reports whether there is one. Before the command runs the
	// modifiers have been released on the remote side.
	Chord func(cap string, run bool) bool
	// Patient reports whether a modifier alone is to be kept back until a key
	// follows: while an agent drives, the beginning of a chord of the viewer
	// must not take the wheel. It may be nil.
	Patient func() bool
	// Later has fn run after the events of this moment; see [Keyboard.Rune].
	Later func(fn func())
	// InputMethod says that a program composes text from the keys, so that a
	// key without a character of its own is not for the remote side.
	InputMethod bool
}

// A Keyboard is one keyboard at one session. It belongs to the goroutine of
// the widgets.
type Keyboard struct {
	config Config

	held    []*press // in the order they went down
	waiting *press   // has gone down, and may still get its character
	fresh   bool     // the next Typed belongs to the press itself
	spare   bool     // the next Rune belongs to a key that was sent already
	// composing is set from a dead or compose key until a character comes:
	// the characters made here are not sent, since the keys are.
	composing bool
	locks     viewer.Locks
}

// A press is a key that is down.
type press struct {
	code int
	key  viewer.Key // as sent
	want rune       // the character it should make
	sure bool       // the keysym is the source's, and right
	sent bool       // is down on the remote side
	kept bool       // is not for the remote side at all
}

// New returns a keyboard with nothing held.
func New(c Config) *Keyboard { return &Keyboard{config: c} }

// Down takes a key going down: the toolkit's name for it and the code of the
// physical key.
func (k *Keyboard) Down(name string, code int) {
	k.Flush()
	k.fresh, k.spare = true, true
	stroke, known := Stroke{}, false
	if k.config.Source != nil {
		stroke, known = k.config.Source.Press(code)
	}
	if known = known && stroke.Sym != 0; !known {
		stroke = k.byName(name, stroke.Locks)
	}
	k.locks = stroke.Locks
	k.forget(code) // its release was lost
	if stroke.Lost && modifier(stroke.Sym) {
		return // it belongs to what the window manager was asked for
	}
	if stroke.Lost {
		defer k.lose(code)
	}
	p := k.press(code, stroke)
	p.sure = known
	switch {
	case !modifier(p.key.Sym) && k.prefix() && k.chord(stroke.Cap, code):
		p.kept = true
	case dead(p.key.Sym):
		k.composing = true
		k.send(p)
	case stroke.Plain && (!known || k.config.InputMethod && p.want != 0):
		k.waiting = p // its character, if one comes, says more
	default:
		k.send(p)
	}
	k.config.Later(k.Flush)
}

// Key takes a key that comes past the toolkit, while the keyboard is grabbed:
// no character follows it. A key that is pressed again repeats.
func (k *Keyboard) Key(code int, s Stroke, down bool) {
	k.Flush()
	if !down {
		k.forget(code)
		return
	}
	if k.isHeld(code) {
		if p := k.held[len(k.held)-1]; p.code == code && p.sent && !modifier(p.key.Sym) {
			k.config.Send(p.key)
		}
		return
	}
	k.locks = s.Locks
	p := k.press(code, s)
	if !modifier(p.key.Sym) && k.prefix() && k.chord(s.Cap, code) {
		p.kept = true
		return
	}
	k.send(p)
}

// press notes a key that has gone down.
func (k *Keyboard) press(code int, s Stroke) *press {
	p := &press{code: code, want: typed(s.Sym)}
	p.key = viewer.Key{Sym: s.Sym, Scan: key.ScanFromX11(scanByte(code)), Rune: p.want, Down: true, Locks: s.Locks}
	if !s.Plain {
		p.key.Rune = 0
	}
	k.held = append(k.held, p)
	return p
}

// Rune takes a character that was typed. It follows the Down of its key before
// any other event; whoever calls has [Config.Later] run after that.
func (k *Keyboard) Rune(r rune) {
	p := k.waiting
	k.waiting = nil
	switch {
	case p != nil:
		if !p.sure && !k.composing && r != p.want {
			k.become(p, r)
		}
		k.composing = false
		k.send(p)
		return
	case k.spare:
		k.spare, k.composing = false, false
		return
	}
	// A character without a key: an input method has composed it. When a
	// held key makes it, that key had been passed through the method.
	for _, p := range k.held {
		if !p.sent && !p.kept && p.want == r {
			k.send(p)
			return
		}
	}
	p = &press{}
	k.become(p, r)
	p.key.Down, p.key.Locks = true, k.locks
	if p.key.Sym != 0 {
		k.config.Send(p.key)
		p.key.Down = false
		k.config.Send(p.key)
	}
}

// become makes p the key of a character.
func (k *Keyboard) become(p *press, r rune) {
	if s := key.FromRune(r).Sym; s != 0 {
		p.key.Sym, p.key.Rune = s, r
	}
}

// Typed takes the toolkit's second word on a key, which also tells of
// repetition while it is held. Name and code are of the key; code is 0 when
// the toolkit does not say which it is.
func (k *Keyboard) Typed(name string, code int) {
	if k.fresh {
		k.fresh = false
		return
	}
	if code != 0 && !k.isHeld(code) {
		// The toolkit takes the press for repetition: it missed a release,
		// which the window manager got.
		k.Down(name, code)
		k.fresh = false
		return
	}
	k.spare = true
	if len(k.held) == 0 {
		return
	}
	if p := k.held[len(k.held)-1]; p.sent && !modifier(p.key.Sym) && (code == 0 || code == p.code) {
		k.config.Send(p.key)
	}
}

func (k *Keyboard) isHeld(code int) bool {
	for _, p := range k.held {
		if p.code == code {
			return true
		}
	}
	return false
}

// Up takes a key going up.
func (k *Keyboard) Up(code int) {
	k.Flush()
	k.forget(code)
}

// lose ends a press whose release will not be told of. Its character may
// still come.
func (k *Keyboard) lose(code int) {
	if p := k.waiting; p != nil {
		k.waiting = nil
		k.send(p)
	}
	k.forget(code)
}

// forget lets go of a key. The remote side keeps it down while another held
// key is the same to it.
func (k *Keyboard) forget(code int) {
	for i, p := range k.held {
		if p.code != code {
			continue
		}
		k.held = append(k.held[:i:i], k.held[i+1:]...)
		k.release(p)
		return
	}
}

// release sends the release of a key.
func (k *Keyboard) release(p *press) {
	if !p.sent {
		return
	}
	p.sent = false
	for _, o := range k.held {
		if o.sent && o.key.Sym == p.key.Sym {
			return
		}
	}
	up := p.key
	up.Down, up.Locks = false, k.locks
	k.config.Send(up)
}

// Flush sends a key that has not got its character: it makes none here.
func (k *Keyboard) Flush() {
	p := k.waiting
	k.waiting, k.spare = nil, false
	if p == nil || (k.config.InputMethod && !k.composing) {
		return
	}
	k.send(p)
}

// Reset forgets everything held, without a word to the remote side: whoever
// calls has it release all.
func (k *Keyboard) Reset() {
	k.held, k.waiting, k.fresh, k.spare, k.composing = nil, nil, false, false, false
}

// Held is the number of keys held.
func (k *Keyboard) Held() int { return len(k.held) }

// send passes a key on, and before it the modifiers that are held here but not
// there, since a chord of the viewer had released them.
func (k *Keyboard) send(p *press) {
	if modifier(p.key.Sym) && k.config.Patient != nil && k.config.Patient() {
		return
	}
	if !modifier(p.key.Sym) {
		for _, m := range k.held {
			if m != p && !m.sent && !m.kept && modifier(m.key.Sym) {
				m.sent = true
				k.config.Send(m.key)
			}
		}
	}
	p.sent = true
	k.config.Send(p.key)
}

// prefix reports whether Ctrl, Alt and Shift are all held.
func (k *Keyboard) prefix() bool {
	var ctrl, alt, shift bool
	for _, p := range k.held {
		switch p.key.Sym {
		case key.ControlL, key.ControlR:
			ctrl = true
		case key.AltL, key.AltR, key.MetaL, metaR:
			alt = true
		case key.ShiftL, key.ShiftR:
			shift = true
		}
	}
	return ctrl && alt && shift
}

// chord runs the viewer's command for a key, if there is one.
func (k *Keyboard) chord(printed uint32, code int) bool {
	for _, name := range capNames(printed, code) {
		if !k.config.Chord(name, false) {
			continue
		}
		for i := len(k.held) - 1; i >= 0; i-- {
			if p := k.held[i]; modifier(p.key.Sym) && p.sent {
				p.sent = false
				up := p.key
				up.Down = false
				k.config.Send(up)
			}
		}
		k.config.Chord(name, true)
		return true
	}
	return false
}

// Shift reports whether a Shift key is held here.
func (k *Keyboard) Shift() bool {
	for _, p := range k.held {
		if p.key.Sym == key.ShiftL || p.key.Sym == key.ShiftR {
			return true
		}
	}
	return false
}
