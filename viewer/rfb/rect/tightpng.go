package rect

import (
	"bytes"
	"fmt"
	"image/png"

	"deskvnc/viewer/frame"
)

// TypeTightPNG is the registered number of TightPNG.
const TypeTightPNG = -260

// NewTightPNG returns the decoder of encoding -260 for c: Tight in which a PNG
// stands where Tight has compressed pixels. The community's RFB document
// describes it.
func NewTightPNG(c *Canvas) *Tight {
	d := NewTight(c)
	d.png = true
	return d
}

// A pngDecoder draws PNGs.
type pngDecoder struct{}

func (pngDecoder) draw(dst []byte, stride, w, h int, o frame.Order, src []byte) error {
	// The header first: the decoder allocates what it says.
	c, err := png.DecodeConfig(bytes.NewReader(src))
	if err != nil {
		return err
	}
	if c.Width != w || c.Height != h {
		return fmt.Errorf("the PNG is of %d x %d", c.Width, c.Height)
	}
	img, err := png.Decode(bytes.NewReader(src))
	if err != nil {
		return err
	}
	return drawImage(dst, stride, w, h, o, img)
}
