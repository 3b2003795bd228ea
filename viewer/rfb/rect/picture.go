package rect

import (
	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

// maxPicturePixels bounds a rectangle that is a JPEG or a PNG: their decoders
// need memory of their own.
const maxPicturePixels = 16 << 20

// A pictureDecoder draws compressed pictures.
type pictureDecoder interface {
	// prepare does what can be done without the frame: at the least it refuses
	// what is not a picture of w times h pixels.
	prepare(src []byte, w, h int) error
	// draw draws the picture of the last prepare at the start of dst, whose rows
	// are stride bytes apart.
	draw(dst []byte, stride, w, h int, o frame.Order, src []byte) error
}

// A picturePainter draws rectangles that are one compressed picture each.
type picturePainter struct {
	c  *Canvas // for its order
	op string  // for errors
	p  pictureDecoder
}

// job is the job of a rectangle. The picture is what it brings.
func (d *picturePainter) job(r *vnc.Rectangle) (job, error) {
	j := job{p: d, x: int(r.X), y: int(r.Y), w: int(r.Width), h: int(r.Height), prepare: true}
	if j.w*j.h > maxPicturePixels {
		return j, &viewer.Error{Op: d.op, Kind: viewer.Limit, Err: errPictureSize}
	}
	return j, nil
}

func (d *picturePainter) prepare(j *job, src []byte) error {
	return d.kind(j, d.p.prepare(src, j.w, j.h))
}

func (d *picturePainter) paint(px frame.Pixels, j *job, _, src []byte) error {
	return d.kind(j, d.p.draw(px.Pix[j.y*px.Stride+j.x*bpp:], px.Stride, j.w, j.h, d.c.Order, src))
}

func (d *picturePainter) kind(j *job, err error) error {
	if err != nil {
		return malformed(d.op, "a picture of %d x %d: %w", j.w, j.h, err)
	}
	return nil
}
