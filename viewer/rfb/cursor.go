package rfb

import (
	"fmt"
	"image"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

// maxCursorSide bounds a pointer shape: 1024 pixels a side, 4 MiB.
const maxCursorSide = 1024

// cursor is the pseudo-encoding -239: a pointer shape as pixels and a mask of
// one bit a pixel; the rectangle's position is the hot spot (RFC 6143 7.8.1).
type cursor struct{ s *Session }

// Type returns -239.
func (*cursor) Type() int32 { return typeCursor }

// Read reads a shape and reports it. One without pixels hides the pointer.
func (d *cursor) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	w, h := int(r.Width), int(r.Height)
	if w > maxCursorSide || h > maxCursorSide {
		return nil, &viewer.Error{Op: "rfb.Cursor", Kind: viewer.Limit,
			Err: fmt.Errorf("a pointer shape of %d x %d pixels is larger than %d a side", w, h, maxCursorSide)}
	}
	d.s.signals.cursorShape.Store(true)
	if w == 0 || h == 0 {
		d.s.emit(viewer.Cursor{})
		return d, nil
	}
	row := (w + 7) / 8
	size := w*h*frame.BytesPerPixel + row*h
	b, err := d.s.conn.Peek(size)
	if err != nil {
		return nil, err
	}
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	mask := b[w*h*frame.BytesPerPixel:]
	o := d.s.order
	for y := range h {
		for x := range w {
			if mask[y*row+x/8]&(0x80>>(x%8)) == 0 {
				continue
			}
			src := b[(y*w+x)*frame.BytesPerPixel:][:4]
			dst := img.Pix[y*img.Stride+x*4:][:4]
			dst[0], dst[1], dst[2], dst[3] = src[o.R&3], src[o.G&3], src[o.B&3], 0xff
		}
	}
	d.s.emit(viewer.Cursor{Image: img, Hot: image.Pt(min(int(r.X), w-1), min(int(r.Y), h-1))})
	return d, d.s.conn.Discard(size)
}
