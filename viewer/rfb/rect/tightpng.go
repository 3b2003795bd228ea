package rect

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer/frame"
)

// TypeTightPNG is the registered number of TightPNG.
const TypeTightPNG = -260

// TightPNG is encoding -260: Tight in which a PNG may stand where Tight has
// pixels that are not compressed. The community's RFB document describes it.
type TightPNG struct{ t *Tight }

// NewTightPNG returns a decoder that shares the streams of t.
func NewTightPNG(t *Tight) *TightPNG { return &TightPNG{t} }

// Type returns -260.
func (*TightPNG) Type() int32 { return TypeTightPNG }

// Read draws one rectangle.
func (d *TightPNG) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := d.t.read(r, true); err != nil {
		return nil, err
	}
	return d, nil
}

func (*TightPNG) queued() {}

// A pngDecoder draws PNGs.
type pngDecoder struct{ img image.Image }

// prepare decodes one PNG; its header first, since the decoder allocates what
// that says.
func (d *pngDecoder) prepare(src []byte, w, h int) error {
	c, err := png.DecodeConfig(bytes.NewReader(src))
	if err != nil {
		return err
	}
	if c.Width != w || c.Height != h {
		return fmt.Errorf("the PNG is of %d x %d", c.Width, c.Height)
	}
	d.img, err = png.Decode(bytes.NewReader(src))
	return err
}

func (d *pngDecoder) draw(dst []byte, stride, w, h int, o frame.Order, _ []byte) error {
	err := drawImage(dst, stride, w, h, o, d.img)
	d.img = nil
	return err
}
