package term

import (
	"image"
	"math"
	"sync"

	"fyne.io/fyne/v2/theme"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// A style is how a character is drawn.
type style uint8

const (
	bold style = 1 << iota
	italic
)

// An outline is a font file that characters are drawn from. It belongs to
// whoever draws; see [outlines].
type outline struct {
	font   *sfnt.Font
	buf    sfnt.Buffer
	raster vector.Rasterizer
}

func newOutline(f *sfnt.Font) *outline { return &outline{font: f} }

// glyph finds a character; ok is false when the font does not have it.
func (o *outline) glyph(r rune) (sfnt.GlyphIndex, bool) {
	g, err := o.font.GlyphIndex(&o.buf, r)
	return g, err == nil && g != 0
}

// advance is how far a glyph reaches at a size, in pixels.
func (o *outline) advance(g sfnt.GlyphIndex, size float64) float64 {
	a, err := o.font.GlyphAdvance(&o.buf, g, ppem(size), font.HintingNone)
	if err != nil {
		return 0
	}
	return float64(a) / 64
}

func ppem(size float64) fixed.Int26_6 { return fixed.Int26_6(math.Round(size * 64)) }

// A pen says how a glyph is put on its mask.
type pen struct {
	size    float64 // pixels of an em
	x, y    float64 // where its origin lies
	squeeze float64 // its width, as a share of its own
	slant   float64 // to the right, for a unit up
	thick   float64 // pixels that it is widened by
}

// draw adds a glyph to a mask. It reports false when it has no outline.
func (o *outline) draw(m *image.Alpha, g sfnt.GlyphIndex, p pen) bool {
	segments, err := o.font.LoadGlyph(&o.buf, g, ppem(p.size), nil)
	if err != nil {
		return false
	}
	b := m.Bounds()
	o.raster.Reset(b.Dx(), b.Dy())
	passes := 1
	if p.thick > 0 {
		passes = 2
	}
	for i := range passes {
		dx := p.x + p.thick*float64(i)
		at := func(q fixed.Point26_6) (float32, float32) {
			x, y := float64(q.X)/64, float64(q.Y)/64
			return float32(dx + (x-y*p.slant)*p.squeeze), float32(p.y + y)
		}
		for _, s := range segments {
			ax, ay := at(s.Args[0])
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				o.raster.MoveTo(ax, ay)
			case sfnt.SegmentOpLineTo:
				o.raster.LineTo(ax, ay)
			case sfnt.SegmentOpQuadTo:
				bx, by := at(s.Args[1])
				o.raster.QuadTo(ax, ay, bx, by)
			case sfnt.SegmentOpCubeTo:
				bx, by := at(s.Args[1])
				cx, cy := at(s.Args[2])
				o.raster.CubeTo(ax, ay, bx, by, cx, cy)
			}
		}
		o.raster.ClosePath()
	}
	o.raster.Draw(m, b, image.Opaque, image.Point{})
	return len(segments) > 0
}

// bundled are the fonts that come with the toolkit: a monospaced one, and the
// plain outlines of pictographs.
var bundled = sync.OnceValue(func() (f struct{ mono, emoji, symbols *sfnt.Font }) {
	parse := func(b []byte) *sfnt.Font {
		p, err := sfnt.Parse(b)
		if err != nil {
			return nil
		}
		return p
	}
	f.mono = parse(theme.DefaultTextMonospaceFont().Content())
	f.emoji = parse(theme.DefaultEmojiFont().Content())
	f.symbols = parse(theme.DefaultSymbolFont().Content())
	return f
})
