package rect

import (
	"errors"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

// TypeTRLE is the registered number of TRLE.
const TypeTRLE = 15

// The types that a TRLE tile has beside those of ZRLE: they use the palette of
// the tile before (RFC 6143 7.7.5).
const (
	tilePaletteAgain    = 127
	tilePaletteRunAgain = 129
)

// trleTile is the side of a tile.
const trleTile = 16

// TRLE is encoding 15: the tiles of ZRLE, 16 x 16 and not compressed further
// (RFC 6143 7.7.5).
type TRLE struct {
	c       *Canvas
	tile    tilePainter
	colours int // in the palette that a tile may use again; 0 for none
}

// NewTRLE returns the decoder for c.
func NewTRLE(c *Canvas) *TRLE { return &TRLE{c: c} }

// Type returns 15.
func (*TRLE) Type() int32 { return TypeTRLE }

// Read draws one rectangle. The frame stays locked as long as tiles have
// arrived already; it is unlocked for each wait.
func (d *TRLE) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := d.c.check(r); err != nil {
		return nil, err
	}
	x, y, w, h := int(r.X), int(r.Y), int(r.Width), int(r.Height)
	if w == 0 || h == 0 {
		return d, nil
	}
	d.colours = 0
	px := d.c.Frame.Lock()
	buf, at := d.c.Conn.Buffered(), 0
	var err error
	for ty := 0; ty < h && err == nil; ty += trleTile {
		for tx := 0; tx < w && err == nil; tx += trleTile {
			pix := px.Pix[(y+ty)*px.Stride+(x+tx)*bpp:]
			var n int
			for {
				n, err = d.draw(pix, px.Stride, min(trleTile, w-tx), min(trleTile, h-ty), buf[at:])
				if err != errShortTile {
					break
				}
				// Not all of the tile is there: at least one byte has to come.
				d.c.Frame.Unlock()
				if err = d.c.Conn.Discard(at); err == nil {
					_, err = d.c.Conn.Peek(len(buf) - at + 1)
				}
				px = d.c.Frame.Lock()
				buf, at = d.c.Conn.Buffered(), 0
				if err != nil {
					break
				}
				pix = px.Pix[(y+ty)*px.Stride+(x+tx)*bpp:]
			}
			at += n
		}
	}
	if err == nil {
		d.c.Frame.Touch(x, y, w, h, frame.Painted)
	}
	d.c.Frame.Unlock()
	if err != nil {
		var own *viewer.Error
		if errors.As(err, &own) {
			err = &viewer.Error{Op: "rfb.TRLE", Kind: own.Kind, Err: own.Err}
		}
		return nil, err
	}
	return d, d.c.Conn.Discard(at)
}

// draw paints one tile and returns how much of src it took, or errShortTile
// when src does not hold all of it; then nothing has changed that another try
// does not set anew.
func (d *TRLE) draw(pix []byte, stride, w, h int, src []byte) (int, error) {
	if len(src) == 0 {
		return 0, errShortTile
	}
	t := &d.tile
	kind := int(src[0])
	switch {
	case kind == tilePaletteAgain && d.colours == 1:
		t.fill.set(t.palette[0])
		t.fill.rect(pix, stride, w*bpp, h)
		return 1, nil
	case kind == tilePaletteAgain && d.colours > 1 && d.colours <= tilePaletteMax:
		n, err := t.packed(pix, stride, w, h, d.colours, src[1:])
		return 1 + n, err
	case kind == tilePaletteRunAgain && d.colours > 0:
		n, err := t.paletteRuns(w*h, d.colours, src[1:])
		if err == nil {
			t.copyRuns(pix, stride, w, h)
		}
		return 1 + n, err
	case kind == tilePaletteAgain, kind == tilePaletteRunAgain:
		return 0, malformed("rfb.TRLE", "a tile of type %d after a palette of %d colours", kind, d.colours)
	}
	n, err := t.draw(pix, stride, w, h, src)
	if err != nil {
		return 0, err
	}
	switch {
	case kind == tileSolid:
		t.palette[0] = pixel(src[1:])
		d.colours = 1
	case kind > tileSolid && kind <= tilePaletteMax:
		d.colours = kind
	case kind >= tilePaletteRun:
		d.colours = kind - tileRuns
	}
	return n, nil
}
