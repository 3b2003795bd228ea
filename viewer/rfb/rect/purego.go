//go:build !cgo

package rect

import (
	"bytes"
	"image/jpeg"

	"deskvnc/viewer/frame"
)

// A jpegDecoder draws JPEGs; the cgo twin uses libjpeg-turbo.
type jpegDecoder struct{ in bytes.Reader }

// draw draws one JPEG.
func (d *jpegDecoder) draw(dst []byte, stride, w, h int, o frame.Order, src []byte) error {
	if err := checkJPEG(src, w, h); err != nil {
		return err
	}
	d.in.Reset(src)
	defer d.in.Reset(nil)
	img, err := jpeg.Decode(&d.in)
	if err != nil {
		return err
	}
	return drawImage(dst, stride, w, h, o, img)
}
