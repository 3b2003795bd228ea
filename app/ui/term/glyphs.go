package term

import (
	"image"
	"math"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
)

// maxGlyphs bounds the characters that are kept drawn; over it all are drawn
// anew. The common ones are kept apart and always.
const maxGlyphs = 6000

// A glyph is a character drawn into its cells: one byte a pixel, each row as
// wide as the cells. nil is a blank one.
type glyph []uint8

type glyphKey struct {
	text  string
	style style
	wide  bool
}

type runeKey struct {
	r     rune
	style style
	wide  bool
}

// glyphs draws characters at one size and keeps them.
type glyphs struct {
	size     float64     // pixels of an em
	cell     image.Point // pixels of a cell
	baseline int         // from the top of a cell

	main     [4]*outline // the monospaced font, by style; nil for one that is made of the plain one
	more     []*outline  // where other characters are looked for, the best first
	complete bool        // more has the fonts of the system
	ready    func()      // called, on another goroutine, when there are more

	ascii [4][128]glyph
	drawn [4][128]bool
	runes map[runeKey]glyph
	texts map[glyphKey]glyph
}

// newGlyphs makes the glyphs for a size of the text in pixels.
func newGlyphs(size float64, ready func()) *glyphs {
	g := &glyphs{size: size, ready: ready}
	b := bundled()
	if b.mono != nil {
		g.main[0] = newOutline(b.mono)
	}
	for _, f := range []*sfnt.Font{b.symbols, b.emoji} {
		if f != nil {
			g.more = append(g.more, newOutline(f))
		}
	}
	ascent, descent, advance := 0.93*size, 0.24*size, 0.6*size
	if o := g.main[0]; o != nil {
		if m, err := o.font.Metrics(&o.buf, ppem(size), font.HintingNone); err == nil {
			ascent, descent = float64(m.Ascent)/64, float64(m.Descent)/64
		}
		if i, ok := o.glyph('M'); ok {
			advance = o.advance(i, size)
		}
	}
	g.cell = image.Pt(max(int(math.Round(advance)), 2), max(int(math.Ceil(ascent+descent)), 4))
	g.baseline = min(int(math.Round(ascent+(float64(g.cell.Y)-ascent-descent)/2)), g.cell.Y-1)
	g.forget()
	g.complement(false)
	return g
}

// forget has everything drawn anew.
func (g *glyphs) forget() {
	g.runes, g.texts = map[runeKey]glyph{}, map[glyphKey]glyph{}
	g.drawn = [4][128]bool{}
}

// complement takes the fonts of the system in, once they are known. It reports
// whether there is anything new.
func (g *glyphs) complement(ask bool) bool {
	if g.complete {
		return false
	}
	ready := g.ready
	if !ask {
		ready = nil
	}
	s := installed(ready)
	if s == nil {
		return false
	}
	g.complete = true
	var own []*outline
	for _, f := range s.fonts {
		own = append(own, newOutline(f))
	}
	// Plain text comes from the system's fonts before the bundled symbols.
	g.more = append(own, g.more...)
	for i, f := range s.styles {
		if f != nil {
			g.main[i] = newOutline(f)
		}
	}
	g.forget()
	return true
}

// of is the glyph of a character.
func (g *glyphs) of(r rune, st style, wide bool) glyph {
	if r < 128 && !wide {
		if !g.drawn[st][r] {
			g.ascii[st][r], g.drawn[st][r] = g.draw([]rune{r}, st, wide), true
		}
		return g.ascii[st][r]
	}
	k := runeKey{r, st, wide}
	m, ok := g.runes[k]
	if !ok {
		if len(g.runes) >= maxGlyphs {
			clear(g.runes)
		}
		m = g.draw([]rune{r}, st, wide)
		g.runes[k] = m
	}
	return m
}

// ofText is the glyph of a character with marks.
func (g *glyphs) ofText(text string, st style, wide bool) glyph {
	k := glyphKey{text, st, wide}
	m, ok := g.texts[k]
	if !ok {
		if len(g.texts) >= maxGlyphs {
			clear(g.texts)
		}
		m = g.draw(parts(text), st, wide)
		g.texts[k] = m
	}
	return m
}

// parts are the characters of a cluster that are drawn over each other: the
// first, and its marks. Of pictographs joined to one only the first is drawn.
func parts(text string) []rune {
	first, n := utf8.DecodeRuneInString(text)
	out := []rune{first}
	for _, r := range text[n:] {
		if unicode.Is(unicode.M, r) && !(r >= 0xfe00 && r <= 0xfe0f) {
			out = append(out, r)
		}
	}
	return out
}

// draw draws characters over each other.
func (g *glyphs) draw(rs []rune, st style, wide bool) glyph {
	w := g.cell.X
	if wide {
		w *= 2
	}
	m := image.NewAlpha(image.Rect(0, 0, w, g.cell.Y))
	if !wide && len(rs) == 1 && drawShape(m, rs[0]) {
		return m.Pix
	}
	drawn := false
	for i, r := range rs {
		if r == ' ' || r == 0xa0 || r == 0x3000 {
			continue
		}
		o, index, from := g.find(r, st)
		if o == nil {
			if i == 0 {
				g.missing(m)
				drawn = true
			}
			continue
		}
		p := pen{size: g.size, squeeze: 1, y: float64(g.baseline)}
		if own := from >= 0; own {
			p.squeeze = float64(g.cell.X) / max(o.advance(index, g.size), 1)
			if wide {
				p.squeeze = 1
			}
			if st&bold != 0 && style(from)&bold == 0 {
				p.thick = max(g.size/18, 0.5)
			}
			if st&italic != 0 && style(from)&italic == 0 {
				p.slant = 0.2
				p.x = -0.06 * g.size
			}
		} else {
			if st&bold != 0 {
				p.thick = max(g.size/18, 0.5)
			}
			if a := o.advance(index, g.size); a > float64(w) { // too wide: smaller
				scale := float64(w) / a
				p.size *= scale
				p.y -= float64(g.cell.Y) * (1 - scale) * 0.3
			}
		}
		a := o.advance(index, p.size) * p.squeeze
		if a > 0 || i == 0 {
			p.x += (float64(w) - a) / 2
		} else {
			p.x += float64(w) // a mark that reaches back over what it marks
		}
		drawn = o.draw(m, index, p) || drawn
	}
	if !drawn {
		return nil
	}
	return m.Pix
}

// find is the font that has a character. From is the style of the monospaced
// font, or below 0 for another font.
func (g *glyphs) find(r rune, st style) (o *outline, i sfnt.GlyphIndex, from int) {
	for _, s := range [...]style{st, 0} {
		if o := g.main[s]; o != nil {
			if i, ok := o.glyph(r); ok {
				return o, i, int(s)
			}
		}
	}
	g.complement(true)
	for _, o := range g.more {
		if i, ok := o.glyph(r); ok {
			return o, i, -1
		}
	}
	return nil, 0, -1
}

// missing draws the box of a character that no font has.
func (g *glyphs) missing(m *image.Alpha) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	t := lineWidth(g.cell.X)
	x0, x1, y0, y1 := w/8+t/2, w-w/8-t/2, h/6, g.baseline
	box(m, x0, y0, x1, y1, 200)
	box(m, x0+t, y0+t, x1-t, y1-t, 0)
}
