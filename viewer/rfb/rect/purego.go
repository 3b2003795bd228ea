//go:build !cgo

package rect

import (
	"bytes"
	"image"
	"image/jpeg"

	"deskvnc/viewer/frame"
)

// A jpegDecoder draws JPEGs; the cgo twin uses libjpeg-turbo.
type jpegDecoder struct {
	in  bytes.Reader
	img image.Image
}

// prepare decodes one JPEG.
func (d *jpegDecoder) prepare(src []byte, w, h int) error {
	err := checkJPEG(src, w, h)
	if err != nil {
		return err
	}
	d.in.Reset(src)
	d.img, err = jpeg.Decode(&d.in)
	d.in.Reset(nil)
	return err
}

func (d *jpegDecoder) draw(dst []byte, stride, w, h int, o frame.Order, _ []byte) error {
	err := drawImage(dst, stride, w, h, o, d.img)
	d.img = nil
	return err
}
