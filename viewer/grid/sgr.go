package grid

// sgr does SGR.
func (t *Terminal) sgr() {
	p := &t.parser
	if p.params == 0 {
		t.plainPen()
		return
	}
	extra := false
	for i := 0; i < p.params; {
		// A parameter and its parts.
		end := i + 1
		for end < p.params && p.part[end] {
			end++
		}
		n := p.arg(i, 0)
		switch {
		case n == 38 || n == 48 || n == 58:
			c, next, ok := t.extendedColor(i, end)
			if ok {
				switch n {
				case 38:
					t.pen.FG = c
				case 48:
					t.pen.BG = c
				default:
					t.underline, extra = c, true
				}
			}
			end = next
		case n == 4 && end > i+1:
			if u := p.arg(i+1, 0); u <= int(DashedUnderline) {
				t.pen.Attr = t.pen.Attr.withUnderline(Underline(u))
			}
		case end > i+1:
			// Parts that no other attribute has.
		case n == 59:
			t.underline, extra = Default, true
		case n == 0:
			t.plainPen()
			extra = false
		default:
			t.attribute(n)
		}
		i = end
	}
	if extra {
		t.setExtra()
	}
}

// plainPen does SGR 0: links and protection stay.
func (t *Terminal) plainPen() {
	a := t.pen.Attr & protected
	x := t.pen.Extra
	t.pen = Cell{Attr: a, Extra: x}
	if t.underline != Default {
		t.underline = Default
		t.setExtra()
	}
}

func (t *Terminal) attribute(n int) {
	a := &t.pen.Attr
	switch {
	case n == 1:
		*a |= Bold
	case n == 2:
		*a |= Dim
	case n == 3:
		*a |= Italic
	case n == 4:
		*a = a.withUnderline(SingleUnderline)
	case n == 5 || n == 6:
		*a |= Blink
	case n == 7:
		*a |= Reverse
	case n == 8:
		*a |= Conceal
	case n == 9:
		*a |= Strike
	case n == 21:
		*a = a.withUnderline(DoubleUnderline)
	case n == 22:
		*a &^= Bold | Dim
	case n == 23:
		*a &^= Italic
	case n == 24:
		*a &^= underlineMask
	case n == 25:
		*a &^= Blink
	case n == 27:
		*a &^= Reverse
	case n == 28:
		*a &^= Conceal
	case n == 29:
		*a &^= Strike
	case n == 53:
		*a |= Overline
	case n == 55:
		*a &^= Overline
	case n >= 30 && n <= 37:
		t.pen.FG = Indexed(uint8(n - 30))
	case n == 39:
		t.pen.FG = Default
	case n >= 40 && n <= 47:
		t.pen.BG = Indexed(uint8(n - 40))
	case n == 49:
		t.pen.BG = Default
	case n >= 90 && n <= 97:
		t.pen.FG = Indexed(uint8(n - 90 + 8))
	case n >= 100 && n <= 107:
		t.pen.BG = Indexed(uint8(n - 100 + 8))
	}
}

// extendedColor reads the colour after 38, 48 or 58, as parts (ISO 8613-6, with
// or without the colour space) or as parameters of their own. Next is the
// parameter after it.
func (t *Terminal) extendedColor(i, end int) (c Color, next int, ok bool) {
	p := &t.parser
	if end > i+1 {
		v := func(k int) (uint8, bool) {
			n := p.arg(i+k, 0)
			return uint8(n), i+k < end && n <= 255
		}
		switch p.arg(i+1, 0) {
		case 5:
			n, ok := v(2)
			return Indexed(n), end, ok
		case 2:
			at := 2
			if end-i > 5 {
				at = 3 // 38:2:space:r:g:b
			}
			r, ok1 := v(at)
			g, ok2 := v(at + 1)
			b, ok3 := v(at + 2)
			return RGB(r, g, b), end, ok1 && ok2 && ok3
		}
		return 0, end, false
	}
	switch p.arg(i+1, 0) {
	case 5:
		n := p.arg(i+2, 0)
		return Indexed(uint8(n)), min(i+3, p.params), i+2 < p.params && n <= 255
	case 2:
		r, g, b := p.arg(i+2, 0), p.arg(i+3, 0), p.arg(i+4, 0)
		return RGB(uint8(r), uint8(g), uint8(b)), min(i+5, p.params), i+4 < p.params && max(r, g, b) <= 255
	}
	return 0, min(i+2, p.params), false
}
