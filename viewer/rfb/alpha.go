package rfb

import (
	"encoding/binary"
	"fmt"
	"image"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb/native"
	"deskvnc/viewer/rfb/rect"
)

// alphaFormat is that of pointer shapes with alpha: red, green, blue and alpha,
// one byte each, in this order.
var alphaFormat = native.Format{Bits: 32, Depth: 32, TrueColour: true, Max: [3]uint16{255, 255, 255}, Shift: [3]uint8{0, 8, 16}, Alpha: true}

// alphaShapes reads pointer shapes that come in an encoding of the picture, on
// a picture of their own. The zlib streams are those of the connection. Owned
// by the read loop.
type alphaShapes struct {
	canvas   rect.Canvas
	decoders map[int32]vnc.Encoding
}

func (s *Session) newAlphaShapes() *alphaShapes {
	a := &alphaShapes{canvas: rect.Canvas{Conn: s.conn, Frame: frame.New()}, decoders: map[int32]vnc.Encoding{}}
	f := alphaFormat
	for _, e := range native.Decoders(&a.canvas, &f, s.streams) {
		a.decoders[e.Type()] = e
	}
	return a
}

// read reads a shape of w times h pixels, four bytes each.
func (a *alphaShapes) read(encoding int32, w, h int) ([]byte, error) {
	d := a.decoders[encoding]
	if d == nil {
		return nil, &viewer.Error{Op: "rfb.Cursor", Kind: viewer.Unsupported,
			Err: fmt.Errorf("a pointer shape with alpha in encoding %s, in which none is read", EncodingName(encoding))}
	}
	if err := a.canvas.Frame.Reset(w, h, frame.Order{R: 0, G: 1, B: 2}); err != nil {
		return nil, err
	}
	a.canvas.Width, a.canvas.Height = w, h
	if _, err := d.Read(nil, &vnc.Rectangle{Width: uint16(w), Height: uint16(h)}, a.canvas.Conn); err != nil {
		return nil, err
	}
	px := a.canvas.Frame.Lock()
	defer a.canvas.Frame.Unlock()
	out := make([]byte, 0, 4*w*h)
	for y := range h {
		out = append(out, px.Pix[y*px.Stride:][:4*w]...)
	}
	return out, nil
}

// readAlphaCursor reads the pseudo-encoding -314: an encoding's number, and
// pixels of red, green, blue and alpha in it, the colours multiplied by the
// alpha (community document, Cursor With Alpha).
func (s *Session) readAlphaCursor(r *vnc.Rectangle) error {
	if err := checkShape(r); err != nil {
		return err
	}
	b, err := s.conn.Peek(4)
	if err != nil {
		return err
	}
	encoding := int32(binary.BigEndian.Uint32(b))
	if err := s.conn.Discard(4); err != nil {
		return err
	}
	w, h := int(r.Width), int(r.Height)
	if encoding == rect.TypeRaw || w == 0 || h == 0 {
		return s.readShape(r, 4*w*h, paintAlpha)
	}
	if s.alpha == nil {
		s.alpha = s.newAlphaShapes()
	}
	if b, err = s.alpha.read(encoding, w, h); err != nil {
		return err
	}
	s.signals.cursorShape.Store(true)
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	paintAlpha(b, img)
	s.emit(viewer.Cursor{Image: img, Hot: hotSpot(r)})
	return nil
}

// paintAlpha takes the alpha out of the colours.
func paintAlpha(b []byte, img *image.NRGBA) {
	for i := 0; i < len(img.Pix); i += 4 {
		p, a := b[i:i+4], uint32(b[i+3])
		if a == 0 {
			continue
		}
		for c := range 3 {
			img.Pix[i+c] = uint8(min((uint32(p[c])*0xff+a/2)/a, 0xff))
		}
		img.Pix[i+3] = uint8(a)
	}
}
