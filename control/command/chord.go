package command

import (
	"fmt"
	"strings"
)

// A Chord is a key with modifiers. The viewer's own chords hold Ctrl, Alt and
// Shift together, so that every other combination belongs to the remote
// machine; plain ones work only while no session has the keyboard.
type Chord struct {
	Ctrl, Alt, Shift bool
	Key              string // the key's cap: "F", "1", "End", "Space", "]"
}

// ViewerChord is the chord of the viewer's own prefix with a key.
func ViewerChord(key string) Chord { return Chord{Ctrl: true, Alt: true, Shift: true, Key: key} }

// Viewer reports whether the chord has the viewer's own prefix.
func (c Chord) Viewer() bool { return c.Ctrl && c.Alt && c.Shift }

// ParseChord reads "Viewer+F", the viewer's prefix with F, or a plain chord
// such as "Ctrl+K".
func ParseChord(s string) (Chord, error) {
	var c Chord
	rest := s
	for {
		mod, after, ok := strings.Cut(rest, "+")
		if !ok || after == "" {
			break
		}
		switch mod {
		case "Viewer":
			c.Ctrl, c.Alt, c.Shift = true, true, true
		case "Ctrl":
			c.Ctrl = true
		case "Alt":
			c.Alt = true
		case "Shift":
			c.Shift = true
		default:
			return c, fmt.Errorf("chord %q: %q is not a modifier", s, mod)
		}
		rest = after
	}
	if rest == "" || rest != "+" && strings.HasSuffix(rest, "+") {
		return c, fmt.Errorf("chord %q has no key", s)
	}
	c.Key = rest
	return c, nil
}

// String is the chord as a person reads it: "Ctrl+Alt+Shift+F".
func (c Chord) String() string {
	var b strings.Builder
	for _, m := range []struct {
		on   bool
		name string
	}{{c.Ctrl, "Ctrl+"}, {c.Alt, "Alt+"}, {c.Shift, "Shift+"}} {
		if m.on {
			b.WriteString(m.name)
		}
	}
	return b.String() + c.Key
}
