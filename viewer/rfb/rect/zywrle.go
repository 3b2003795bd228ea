package rect

import (
	"io"

	vnc "github.com/mitchellh/go-vnc"
)

// TypeZYWRLE is the registered number of ZYWRLE.
const TypeZYWRLE = 17

// ZYWRLE is encoding 17: ZRLE in which a raw tile is followed by another one,
// of the coefficients of a wavelet transform. How often it was transformed
// goes by the quality that was asked for.
type ZYWRLE struct{ z *ZRLE }

// NewZYWRLE returns a decoder that shares the stream of z.
func NewZYWRLE(z *ZRLE) *ZYWRLE { return &ZYWRLE{z: z} }

// Type returns 17.
func (*ZYWRLE) Type() int32 { return TypeZYWRLE }

// Read draws one rectangle.
func (d *ZYWRLE) Read(c *vnc.ClientConn, r *vnc.Rectangle, b io.Reader) (vnc.Encoding, error) {
	d.z.level = zywrleLevel(d.z.c.Quality)
	_, err := d.z.Read(c, r, b)
	d.z.level = 0
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (*ZYWRLE) queued() {}

// zywrleLevel is the number of transforms by the quality that was asked for, 0
// for none, as the encoding's author has it.
func zywrleLevel(quality int) int {
	switch {
	case quality <= 0 || quality >= 6:
		return 1
	case quality >= 3:
		return 2
	}
	return 3
}

// A wavelet undoes the transforms of a tile: Haar-like ones from which
// numbers of 8 bits come back exactly, of luminance and two colour
// differences. They are in the places of green, blue and red.
type wavelet struct {
	level   int
	wire    [zrlePixels * bpp]byte // the tile as it was sent
	samples [zrlePixels][3]int8    // blue, green, red
}

// draw paints one tile and returns how much of src it took.
func (v *wavelet) draw(t *tilePainter, pix []byte, stride, w, h int, src []byte) (int, error) {
	if len(src) == 0 {
		return 0, errShortTile
	}
	if src[0] != tileRaw {
		return t.draw(pix, stride, w, h, src)
	}
	n, err := t.draw(v.wire[:], w*bpp, w, h, src[1:])
	if err != nil {
		return 0, err
	}
	v.synthesize(pix, stride, w, h)
	return 1 + n, nil
}

// synthesize draws the tile in wire. What does not fill a group of pixels at
// its right and bottom was not transformed.
func (v *wavelet) synthesize(pix []byte, stride, w, h int) {
	group := 1 << v.level
	fw, fh := w&^(group-1), h&^(group-1)
	wire := v.wire[:w*h*bpp]
	if fw == 0 || fh == 0 {
		fw, fh = 0, 0
	}
	// The finest differences come first: of both directions, of rows, of
	// columns. The coarsest means end them.
	for l := 0; l < v.level; l++ {
		wire = v.unpack(wire, 1<<l, 1<<l, 2<<l, fw, fh)
		wire = v.unpack(wire, 0, 1<<l, 2<<l, fw, fh)
		wire = v.unpack(wire, 1<<l, 0, 2<<l, fw, fh)
	}
	wire = v.unpack(wire, 0, 0, group, fw, fh)
	for l := v.level - 1; l >= 0; l-- {
		step := 1 << l
		for x := 0; x < fw; x += step {
			for y := 0; y+step < fh; y += 2 * step {
				mix(&v.samples[y*fw+x], &v.samples[(y+step)*fw+x])
			}
		}
		for y := 0; y < fh; y += step {
			for x := 0; x+step < fw; x += 2 * step {
				mix(&v.samples[y*fw+x], &v.samples[y*fw+x+step])
			}
		}
	}
	for y := range fh {
		row := pix[y*stride:][:fw*bpp]
		for _, s := range v.samples[y*fw : (y+1)*fw] {
			luminance, blue, red := int(s[1])+128, int(s[0])*2, int(s[2])*2
			green := luminance - (blue+red)>>2
			row[0], row[1], row[2] = sample(blue+green), sample(green), sample(red+green)
			row = row[bpp:]
		}
	}
	// The rest: to the right, at the bottom, in the corner.
	wire = plainPixels(pix[fw*bpp:], stride, w-fw, fh, wire)
	if fh < h {
		wire = plainPixels(pix[fh*stride:], stride, fw, h-fh, wire)
		plainPixels(pix[fh*stride+fw*bpp:], stride, w-fw, h-fh, wire)
	}
}

// unpack takes the pixels of one part of the coefficients and returns the
// rest.
func (v *wavelet) unpack(wire []byte, x0, y0, step, w, h int) []byte {
	for y := y0; y < h; y += step {
		for x := x0; x < w; x += step {
			v.samples[y*w+x] = [3]int8{int8(wire[0]), int8(wire[1]), int8(wire[2])}
			wire = wire[bpp:]
		}
	}
	return wire
}

// plainPixels draws pixels as they are and returns the rest.
func plainPixels(pix []byte, stride, w, h int, wire []byte) []byte {
	if w == 0 {
		return wire
	}
	for y := range h {
		wire = wire[copy(pix[y*stride:][:w*bpp], wire):]
	}
	return wire
}

// mix undoes one step of the transform for two pixels.
func mix(a, b *[3]int8) {
	for i := range a {
		a[i], b[i] = unhaar(a[i], b[i])
	}
}

// unhaar undoes the piecewise-linear Haar transform of Senecal and others
// ("An Improved N-Bit to N-Bit Reversible Haar-Like Transform"): low is the
// number of the two that is larger without its sign, or their difference,
// whichever fits.
func unhaar(low, high int8) (x, y int8) {
	a, b := low, high
	if (a < 0) != (b < 0) {
		if b += a; (b < 0) == (high < 0) {
			a -= b
		}
	} else if a -= b; (a < 0) == (low < 0) {
		b += a
	}
	return b, a
}

// sample cuts v to a sample.
func sample(v int) byte { return byte(min(max(v, 0), 255)) }
