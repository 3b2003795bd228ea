package term

import (
	"image/color"

	"deskvnc/viewer/grid"
)

// A Scheme is the colours of a terminal.
type Scheme struct {
	ID   string
	Name string
	// Palette are the sixteen named colours; the other 240 are the same in all
	// schemes.
	Palette                             [16]uint32
	Text, Background, Cursor, Selection uint32
}

// Auto is the scheme that follows the look of the window: dark or light.
const Auto = "auto"

// Schemes are the schemes there are, the dark and the light one of [Auto]
// first. Colours are written red, green, blue.
var Schemes = []Scheme{
	{"dark", "Dark", [16]uint32{
		0x2b303a, 0xec6a5e, 0x62c07f, 0xe0b252, 0x3f7be6, 0xc387e0, 0x4fc0c6, 0xcfd3da,
		0x6f7785, 0xff8d82, 0x86dca0, 0xf3cc78, 0x86b8ff, 0xdbaaf2, 0x7bdde2, 0xffffff,
	}, 0xdfe2e7, 0x131519, 0x8fb8ff, 0x2f4f80},
	{"light", "Light", [16]uint32{
		0x1f242c, 0xb8322a, 0x24753f, 0x8a5a00, 0x1d5bc4, 0x8a3aa8, 0x0b7078, 0x8b929d,
		0x5a6270, 0xd0473e, 0x2f8a4e, 0xa06c08, 0x2f6fe0, 0xa24fc2, 0x16858e, 0xb9bec6,
	}, 0x1b1f26, 0xfcfcfd, 0x1f63d6, 0xbcd4fb},
	{"midnight", "Midnight blue", [16]uint32{
		0x1c2a45, 0xf2777a, 0x8fd19e, 0xf2cf80, 0x7fb4ff, 0xc9a3f5, 0x7fd6e0, 0xc8d3e8,
		0x5f7299, 0xff9b9d, 0xb0e8bd, 0xffe2a3, 0xa6ccff, 0xdcc0ff, 0xa5ebf2, 0xffffff,
	}, 0xd3dcee, 0x0d1628, 0xf2cf80, 0x2b4676},
	{"ember", "Warm dark", [16]uint32{
		0x33291f, 0xe8604c, 0xa3b65a, 0xe6a845, 0x86a6b4, 0xcf8aa0, 0x8ab89a, 0xd8c7a8,
		0x86745d, 0xff8068, 0xc2d47a, 0xffc766, 0xa8c8d6, 0xecabc0, 0xabd8ba, 0xf7ead2,
	}, 0xe8d9bd, 0x211a14, 0xf0a850, 0x5c4630},
	{"paper", "Paper", [16]uint32{
		0x3a3226, 0xaa3a2a, 0x5c6f12, 0x94630a, 0x2a64a0, 0x96406e, 0x24766c, 0xa09478,
		0x6a5e48, 0xc54e38, 0x728520, 0x9c6c12, 0x3c7cbc, 0xb0558a, 0x2a8278, 0xc8bc9e,
	}, 0x3f382c, 0xf6efdd, 0xaa3a2a, 0xdccfa8},
	{"contrast", "High contrast", [16]uint32{
		0x000000, 0xff5555, 0x4dff4d, 0xffff4d, 0x6f9bff, 0xff6bff, 0x4dffff, 0xf2f2f2,
		0x8c8c8c, 0xff8080, 0x8cff8c, 0xffff99, 0x9cbcff, 0xff9cff, 0x99ffff, 0xffffff,
	}, 0xffffff, 0x000000, 0xffff4d, 0x2f4fbf},
	{"green", "Green screen", [16]uint32{
		0x0a1f0e, 0x9ad13c, 0x3fe066, 0xb6f25a, 0x2ba87a, 0x7fd89a, 0x4fe8b0, 0x8ef0a4,
		0x2e7a40, 0xb8ec5c, 0x6bff8e, 0xd4ff86, 0x4fcf9c, 0xa4f0ba, 0x80ffd0, 0xd2ffdc,
	}, 0x5ff07f, 0x041008, 0x9dffb4, 0x14512a},
	{"amber", "Amber screen", [16]uint32{
		0x241503, 0xff8438, 0xd8b23a, 0xffd05c, 0xc48a3a, 0xffa06a, 0xe6c27a, 0xffc870,
		0x8a5a1c, 0xffa05c, 0xf2cf60, 0xffe08c, 0xe0a95c, 0xffbd92, 0xfadc9c, 0xfff0cc,
	}, 0xffb340, 0x130b02, 0xffd890, 0x5e3c0c},
}

// schemeOf is the scheme with an id; [Auto] and unknown ones follow the look.
func schemeOf(id string, dark bool) *Scheme {
	for i := range Schemes {
		if Schemes[i].ID == id {
			return &Schemes[i]
		}
	}
	if dark {
		return &Schemes[0]
	}
	return &Schemes[1]
}

// told is the scheme as programs that ask are told of it.
func (s *Scheme) told() grid.Scheme {
	c := func(v uint32) grid.Color { return grid.RGB(uint8(v>>16), uint8(v>>8), uint8(v)) }
	t := grid.Scheme{Text: c(s.Text), Background: c(s.Background), Cursor: c(s.Cursor)}
	for i, v := range s.Palette {
		t.Palette[i] = c(v)
	}
	return t
}

// A pixel is a colour as it lies in an image: red, green, blue, 255, the first
// in the lowest byte.
type pixel uint32

func pixelOf(v uint32) pixel {
	return pixel(v>>16&0xff | v&0xff00 | v&0xff<<16 | 0xff000000)
}

// mix is a part, of 256, of one colour and the rest of another.
func mix(a, b pixel, part uint32) pixel {
	rest := 256 - part
	rb := ((uint32(a)&0xff00ff)*part + (uint32(b)&0xff00ff)*rest) >> 8 & 0xff00ff
	g := ((uint32(a)&0xff00)*part + (uint32(b)&0xff00)*rest) >> 8 & 0xff00
	return pixel(rb | g | 0xff000000)
}

func (p pixel) color() color.NRGBA {
	return color.NRGBA{R: uint8(p), G: uint8(p >> 8), B: uint8(p >> 16), A: 255}
}

// light tells whether a colour is a light one.
func (p pixel) light() bool {
	return 299*uint32(p&0xff)+587*uint32(p>>8&0xff)+114*uint32(p>>16&0xff) > 140000
}

// A palette is what the colours of cells look like now: the scheme, and what
// the program set in its place.
type palette struct {
	indexed                     [256]pixel
	text, ground, caret, chosen pixel
	found, current, onFound     pixel
}

func (p *palette) set(s *Scheme, c *grid.Colors) {
	rgb := func(c grid.Color) pixel {
		r, g, b, _ := c.RGB()
		return pixel(uint32(r) | uint32(g)<<8 | uint32(b)<<16 | 0xff000000)
	}
	for i := range p.indexed {
		switch {
		case c.Palette[i] != grid.Default:
			p.indexed[i] = rgb(c.Palette[i])
		case i < 16:
			p.indexed[i] = pixelOf(s.Palette[i])
		default:
			p.indexed[i] = rgb(grid.Standard(uint8(i)))
		}
	}
	pick := func(c grid.Color, v uint32) pixel {
		if c != grid.Default {
			return rgb(c)
		}
		return pixelOf(v)
	}
	p.text, p.ground, p.caret = pick(c.Text, s.Text), pick(c.Background, s.Background), pick(c.Cursor, s.Cursor)
	p.chosen = pixelOf(s.Selection)
	p.found, p.current, p.onFound = pixelOf(0xd9a53a), pixelOf(0xff8c42), pixelOf(0x16110a)
	if c.Text != grid.Default && p.chosen.light() == p.text.light() {
		p.chosen = mix(p.text, p.ground, 90)
	}
}

// of is what a colour of a cell looks like.
func (p *palette) of(c grid.Color, usual pixel) pixel {
	if i, ok := c.Index(); ok {
		return p.indexed[i]
	}
	if r, g, b, ok := c.RGB(); ok {
		return pixel(uint32(r) | uint32(g)<<8 | uint32(b)<<16 | 0xff000000)
	}
	return usual
}
