package sample

import (
	"image"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// maxGlyphs bounds what one face remembers; a client can type any character.
const maxGlyphs = 2048

// A face is a font at one size with the glyphs drawn so far. It is safe for
// concurrent use.
type face struct {
	ascent, height int

	mu     sync.Mutex
	font   font.Face
	glyphs map[glyphKey]*glyph
}

// A glyphKey is a character and the quarter of a pixel that it starts at.
type glyphKey struct {
	char    rune
	quarter uint8
}

// A glyph is the coverage of one character.
type glyph struct {
	mask    []byte
	w, h    int
	dx, dy  int // of the mask, from the pen on the base line
	advance fixed.Int26_6
}

// faces are the ones the desktop is written in, made when the first is drawn.
var faces = sync.OnceValue(func() (f struct{ small, body, strong, head *face }) {
	f.small = newFace(goregular.TTF, 12)
	f.body = newFace(goregular.TTF, 14)
	f.strong = newFace(gobold.TTF, 14)
	f.head = newFace(gobold.TTF, 20)
	return f
})

// newFace reads a font that is built into the program.
func newFace(ttf []byte, size float64) *face {
	parsed, err := opentype.Parse(ttf)
	if err != nil {
		panic("sample: font built in: " + err.Error())
	}
	ff, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic("sample: font built in: " + err.Error())
	}
	m := ff.Metrics()
	return &face{
		font: ff, ascent: m.Ascent.Round(), height: (m.Ascent + m.Descent).Ceil() + 3,
		glyphs: make(map[glyphKey]*glyph),
	}
}

// glyph gives the drawn form of a character. The caller holds f.mu.
func (f *face) glyph(k glyphKey) *glyph {
	if g := f.glyphs[k]; g != nil {
		return g
	}
	if len(f.glyphs) >= maxGlyphs {
		clear(f.glyphs)
	}
	g := &glyph{}
	dot := fixed.Point26_6{X: fixed.Int26_6(k.quarter) << 4}
	dr, mask, at, advance, _ := f.font.Glyph(dot, k.char)
	g.w, g.h, g.dx, g.dy, g.advance = dr.Dx(), dr.Dy(), dr.Min.X, dr.Min.Y, advance
	g.mask = make([]byte, g.w*g.h)
	for y := range g.h {
		for x := range g.w {
			_, _, _, a := mask.At(at.X+x, at.Y+y).RGBA()
			g.mask[y*g.w+x] = byte(a >> 8)
		}
	}
	f.glyphs[k] = g
	return g
}

// width is how long s is in pixels.
func (f *face) width(s string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	var pen fixed.Int26_6
	for _, r := range s {
		pen += f.glyph(glyphKey{char: r}).advance
	}
	return pen.Ceil()
}

// text writes s with the top of its line at x, y.
func (c *canvas) text(f *face, x, y int, s string, col uint32) {
	if y >= c.clip.Max.Y || y+f.height+4 <= c.clip.Min.Y || x >= c.clip.Max.X {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	base := y + f.ascent
	pen := fixed.I(x)
	for _, r := range s {
		g := f.glyph(glyphKey{r, uint8(pen & 63 >> 4)})
		c.stamp(g, pen.Floor()+g.dx, base+g.dy, col)
		pen += g.advance
	}
}

// stamp paints one glyph with its top left corner at x, y.
func (c *canvas) stamp(g *glyph, x, y int, col uint32) {
	r := image.Rect(x, y, x+g.w, y+g.h).Intersect(c.clip)
	for py := r.Min.Y; py < r.Max.Y; py++ {
		row := c.span(py, r.Min.X, r.Max.X)
		m := g.mask[(py-y)*g.w+r.Min.X-x:]
		for i := range row {
			switch a := uint32(m[i]); a {
			case 0:
			case 255:
				row[i] = col
			default:
				blend(&row[i], col, a+a>>7)
			}
		}
	}
}

// cut shortens s to w pixels, with three dots where something is missing.
func (f *face) cut(s string, w int) string {
	const dots = "\u2026"
	room, end := w-f.width(dots), 0
	f.mu.Lock()
	defer f.mu.Unlock()
	var pen fixed.Int26_6
	for i, r := range s {
		if pen.Ceil() <= room {
			end = i
		}
		pen += f.glyph(glyphKey{char: r}).advance
		if pen.Ceil() > w {
			return strings.TrimRight(s[:end], " ") + dots
		}
	}
	return s
}

// wrap breaks s into lines of at most w pixels, at spaces where it can.
func (f *face) wrap(s string, w int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		next := word
		if line != "" {
			next = line + " " + word
		}
		if line != "" && f.width(next) > w {
			lines, next = append(lines, line), word
		}
		line = next
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
