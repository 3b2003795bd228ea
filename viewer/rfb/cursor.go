package rfb

import (
	"fmt"
	"image"
	"image/color"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
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
	row, bpp := (w+7)/8, d.s.pixelBytes()
	return d, d.s.readShape(r, w*h*bpp+row*h, func(b []byte, img *image.NRGBA) {
		mask := b[w*h*bpp:]
		for y := range h {
			for x := range w {
				if bit(mask[y*row:], x) {
					img.SetNRGBA(x, y, d.s.colour(b[(y*w+x)*bpp:]))
				}
			}
		}
	})
}

// readShape reads the size bytes of a shape and reports what paint makes of
// them. One without pixels has no bytes, and hides the pointer.
func (s *Session) readShape(r *vnc.Rectangle, size int, paint func(b []byte, img *image.NRGBA)) error {
	w, h := int(r.Width), int(r.Height)
	if err := checkShape(r); err != nil {
		return err
	}
	s.signals.cursorShape.Store(true)
	if w == 0 || h == 0 {
		s.emit(viewer.Cursor{})
		return nil
	}
	b, err := s.conn.Peek(size)
	if err != nil {
		return err
	}
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	paint(b, img)
	s.emit(viewer.Cursor{Image: img, Hot: hotSpot(r)})
	return s.conn.Discard(size)
}

// hotSpot is the point of a shape that points, inside of it.
func hotSpot(r *vnc.Rectangle) image.Point {
	return image.Pt(min(int(r.X), int(r.Width)-1), min(int(r.Y), int(r.Height)-1))
}

func checkShape(r *vnc.Rectangle) error {
	if r.Width > maxCursorSide || r.Height > maxCursorSide {
		return &viewer.Error{Op: "rfb.Cursor", Kind: viewer.Limit,
			Err: fmt.Errorf("a pointer shape of %d x %d pixels is larger than %d a side", r.Width, r.Height, maxCursorSide)}
	}
	return nil
}

// bit is a pixel of a row of a bitmap; the top bit of a byte comes first.
func bit(row []byte, x int) bool { return row[x/8]&(0x80>>(x%8)) != 0 }

// readXCursor reads the pseudo-encoding -240: two colours, a bitmap that
// chooses between them, and a mask (community document, X Cursor).
func (s *Session) readXCursor(r *vnc.Rectangle) error {
	w, h := int(r.Width), int(r.Height)
	row := (w + 7) / 8
	const colours = 6 // the first and the second, as red, green, blue
	return s.readShape(r, colours+2*row*h, func(b []byte, img *image.NRGBA) {
		first, second := color.NRGBA{b[0], b[1], b[2], 0xff}, color.NRGBA{b[3], b[4], b[5], 0xff}
		bits, mask := b[colours:], b[colours+row*h:]
		for y := range h {
			for x := range w {
				switch {
				case !bit(mask[y*row:], x):
				case bit(bits[y*row:], x):
					img.SetNRGBA(x, y, first)
				default:
					img.SetNRGBA(x, y, second)
				}
			}
		}
	})
}

// The kinds of a VMware cursor.
const (
	vmwareClassic = 0
	vmwareAlpha   = 1
)

// readVMwareCursor reads VMware's pointer shape: either a mask that is ANDed
// and one that is XORed with the screen, each with whole pixels, or pixels of
// red, green, blue and alpha.
func (s *Session) readVMwareCursor(r *vnc.Rectangle) error {
	if err := checkShape(r); err != nil {
		return err
	}
	b, err := s.conn.Peek(2) // kind, padding
	if err != nil {
		return err
	}
	kind := b[0]
	if err := s.conn.Discard(2); err != nil {
		return err
	}
	n := int(r.Width) * int(r.Height)
	switch kind {
	case vmwareClassic:
		bpp := s.pixelBytes()
		return s.readShape(r, 2*n*bpp, func(b []byte, img *image.NRGBA) {
			for i := range n {
				copyColour(img.Pix[i*4:], s.masked(b[i*bpp:(i+1)*bpp], b[(n+i)*bpp:(n+i+1)*bpp]))
			}
		})
	case vmwareAlpha:
		return s.readShape(r, 4*n, func(b []byte, img *image.NRGBA) { copy(img.Pix, b) })
	}
	return &viewer.Error{Op: "rfb.Cursor", Kind: viewer.Malformed, Err: fmt.Errorf("unknown kind %d of a pointer shape", kind)}
}

// masked is what is shown for a pixel of an AND mask and one of an XOR mask.
// What turns the screen's colours round is shown black: a shape has no such
// colour.
func (s *Session) masked(and, xor []byte) color.NRGBA {
	switch {
	case zero(and):
		return s.colour(xor)
	case zero(xor):
		return color.NRGBA{}
	}
	return color.NRGBA{A: 0xff}
}

func zero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}

func copyColour(dst []byte, c color.NRGBA) { dst[0], dst[1], dst[2], dst[3] = c.R, c.G, c.B, c.A }

// readPosition reads the pseudo-encodings of TightVNC (-232) and VMware that
// tell where the pointer is: the rectangle's place.
func (s *Session) readPosition(r *vnc.Rectangle) error {
	s.signals.cursorPosition.Store(true)
	at := image.Pt(min(int(r.X), max(s.canvas.Width-1, 0)), min(int(r.Y), max(s.canvas.Height-1, 0)))
	s.emit(viewer.CursorMoved{At: at})
	return nil
}
