package grid

import (
	"bytes"
	"strconv"
)

// Colors are the colours that the program set in place of those of the
// painter's scheme. Default stands for those that it left alone.
type Colors struct {
	Palette    [256]Color
	Text       Color // OSC 10
	Background Color // OSC 11
	Cursor     Color // OSC 12
	gen        uint64
}

// A Scheme is what the painter draws with, for programs that ask. The zero
// Scheme is that of xterm: black on white is not assumed, grey on black is.
type Scheme struct {
	Palette                  [16]Color // RGB; Default for xterm's
	Text, Background, Cursor Color
}

// SetScheme tells what the painter draws with.
func (t *Terminal) SetScheme(s Scheme) {
	t.mu.Lock()
	t.scheme = s
	t.mu.Unlock()
}

// xterm are the first sixteen colours of xterm.
var xterm = [16]Color{
	RGB(0, 0, 0), RGB(205, 0, 0), RGB(0, 205, 0), RGB(205, 205, 0), RGB(0, 0, 238), RGB(205, 0, 205), RGB(0, 205, 205), RGB(229, 229, 229),
	RGB(127, 127, 127), RGB(255, 0, 0), RGB(0, 255, 0), RGB(255, 255, 0), RGB(92, 92, 255), RGB(255, 0, 255), RGB(0, 255, 255), RGB(255, 255, 255),
}

// Standard is what colour i of the palette looks like in xterm.
func Standard(i uint8) Color {
	switch {
	case i < 16:
		return xterm[i]
	case i >= 232:
		g := 8 + 10*(i-232)
		return RGB(g, g, g)
	}
	i -= 16
	level := func(n uint8) uint8 {
		if n == 0 {
			return 0
		}
		return 55 + 40*n
	}
	return RGB(level(i/36), level(i/6%6), level(i%6))
}

// shown is what a palette colour looks like now.
func (t *Terminal) shown(i uint8) Color {
	switch {
	case t.colors.Palette[i] != Default:
		return t.colors.Palette[i]
	case i < 16 && t.scheme.Palette[i] != Default:
		return t.scheme.Palette[i]
	}
	return Standard(i)
}

// special is the place of the colour that OSC n sets, and what it is when
// nothing is set.
func (t *Terminal) special(n int) (place *Color, usual Color) {
	first := func(a, b Color) Color {
		if a != Default {
			return a
		}
		return b
	}
	switch n {
	case 10:
		return &t.colors.Text, first(t.scheme.Text, xterm[7])
	case 11:
		return &t.colors.Background, first(t.scheme.Background, xterm[0])
	}
	return &t.colors.Cursor, first(t.scheme.Cursor, first(t.scheme.Text, xterm[7]))
}

func (t *Terminal) setSpecial(n int, c Color) {
	p, _ := t.special(n)
	if *p != c {
		*p = c
		t.colors.gen++
	}
}

func (t *Terminal) setPalette(i uint8, c Color) {
	if t.colors.Palette[i] != c {
		t.colors.Palette[i] = c
		t.colors.gen++
	}
}

func (t *Terminal) resetColors() {
	t.colors = Colors{gen: t.colors.gen + 1}
}

func (t *Terminal) replyColor(code string, c Color, end byte) {
	r, g, b, _ := c.RGB()
	tail := "\x1b\\"
	if end == 0x07 {
		tail = "\x07"
	}
	t.replyf("\x1b]%s;rgb:%02x%02x/%02x%02x/%02x%02x%s", code, r, r, g, g, b, b, tail)
}

func (t *Terminal) oscColor(n int, spec []byte, end byte) {
	if len(spec) == 1 && spec[0] == '?' {
		p, usual := t.special(n)
		c := *p
		if c == Default {
			c = usual
		}
		t.replyColor(strconv.Itoa(n), c, end)
		return
	}
	if c, ok := parseColor(spec); ok {
		t.setSpecial(n, c)
	}
}

// oscPalette does OSC 4: pairs of a number and a colour, or a question.
func (t *Terminal) oscPalette(rest []byte, end byte) {
	for range 256 {
		var num, spec []byte
		var more bool
		num, rest, more = bytes.Cut(rest, []byte{';'})
		if !more {
			return
		}
		spec, rest, more = bytes.Cut(rest, []byte{';'})
		if i, err := strconv.ParseUint(string(num), 10, 8); err == nil {
			if len(spec) == 1 && spec[0] == '?' {
				t.replyColor("4;"+strconv.FormatUint(i, 10), t.shown(uint8(i)), end)
			} else if c, ok := parseColor(spec); ok {
				t.setPalette(uint8(i), c)
			}
		}
		if !more {
			return
		}
	}
}

func (t *Terminal) oscResetPalette(rest []byte) {
	if len(rest) == 0 {
		t.colors.Palette = [256]Color{}
		t.colors.gen++
		return
	}
	for num := range bytes.SplitSeq(rest, []byte{';'}) {
		if i, err := strconv.ParseUint(string(num), 10, 8); err == nil {
			t.setPalette(uint8(i), Default)
		}
	}
}

// parseColor reads the forms of XParseColor that name parts: rgb:r/g/b with
// one to four digits each, #rgb and its longer forms. Names of colours are not
// known.
func parseColor(b []byte) (Color, bool) {
	var parts [3][]byte
	if s, ok := bytes.CutPrefix(b, []byte("rgb:")); ok {
		f := bytes.Split(s, []byte{'/'})
		if len(f) != 3 {
			return 0, false
		}
		copy(parts[:], f)
	} else if s, ok := bytes.CutPrefix(b, []byte{'#'}); ok {
		n := len(s) / 3
		if len(s)%3 != 0 || n < 1 || n > 4 {
			return 0, false
		}
		for i := range parts {
			parts[i] = s[i*n : (i+1)*n]
		}
		if n == 1 {
			// Of #rgb each digit is the upper half of a byte.
			var v [3]uint8
			for i, p := range parts {
				n, err := strconv.ParseUint(string(p), 16, 8)
				if err != nil {
					return 0, false
				}
				v[i] = uint8(n << 4)
			}
			return RGB(v[0], v[1], v[2]), true
		}
	} else {
		return 0, false
	}
	var v [3]uint8
	for i, p := range parts {
		n, err := strconv.ParseUint(string(p), 16, 16)
		if err != nil || len(p) > 4 {
			return 0, false
		}
		v[i] = uint8(n * 255 / (1<<(4*len(p)) - 1))
	}
	return RGB(v[0], v[1], v[2]), true
}
