package rfb

import (
	"encoding/binary"
	"fmt"
	"image/color"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb/native"
)

// pixelFormat is the protocol's PIXEL_FORMAT (RFC 6143 7.4).
type pixelFormat struct {
	bits, depth          uint8
	bigEndian, trueColor bool
	max                  [3]uint16 // red, green, blue
	shift                [3]uint8
}

// parseFormat reads the 16 bytes of a format.
func parseFormat(b []byte) pixelFormat {
	return pixelFormat{
		bits: b[0], depth: b[1], bigEndian: b[2] != 0, trueColor: b[3] != 0,
		max:   [3]uint16{binary.BigEndian.Uint16(b[4:]), binary.BigEndian.Uint16(b[6:]), binary.BigEndian.Uint16(b[8:])},
		shift: [3]uint8{b[10], b[11], b[12]},
	}
}

// order is the byte order of a format that the frame can hold as it is:
// 32 bits, little-endian, eight bits a colour in the low three bytes, so that
// a compressed pixel of ZRLE is these three bytes.
func (f pixelFormat) order() (frame.Order, bool) {
	if f.bits != 32 || f.depth != 24 || f.bigEndian || !f.trueColor || f.max != [3]uint16{255, 255, 255} {
		return frame.Order{}, false
	}
	seen := 0
	for _, s := range f.shift {
		if s%8 != 0 || s > 16 {
			return frame.Order{}, false
		}
		seen |= 1 << (s / 8)
	}
	if seen != 7 {
		return frame.Order{}, false
	}
	return frame.Order{R: f.shift[0] / 8, G: f.shift[1] / 8, B: f.shift[2] / 8}, true
}

// fullColours is [frame.BGRX], the format that is asked for where the
// machine's own cannot be kept.
var fullColours = pixelFormat{bits: 32, depth: 24, trueColor: true, max: [3]uint16{255, 255, 255}, shift: [3]uint8{16, 8, 0}}

// highColours and lowColours are the formats of fewer colours: 16 bits, and
// eight in the places that servers without others know.
var (
	highColours = pixelFormat{bits: 16, depth: 16, trueColor: true, max: [3]uint16{31, 63, 31}, shift: [3]uint8{11, 5, 0}}
	lowColours  = pixelFormat{bits: 8, depth: 8, trueColor: true, max: [3]uint16{7, 7, 3}, shift: [3]uint8{0, 3, 6}}
)

// appendSet asks for the format (RFC 6143 7.5.1).
func (f pixelFormat) appendSet(b []byte) []byte {
	b = append(b, msgSetPixelFormat, 0, 0, 0, f.bits, f.depth, flag(f.bigEndian), flag(f.trueColor))
	for _, m := range f.max {
		b = binary.BigEndian.AppendUint16(b, m)
	}
	return append(b, f.shift[0], f.shift[1], f.shift[2], 0, 0, 0)
}

// native is the format as package native takes it.
func (f pixelFormat) native() *native.Format {
	return &native.Format{Bits: int(f.bits), Depth: int(f.depth), BigEndian: f.bigEndian, TrueColour: f.trueColor, Max: f.max, Shift: f.shift}
}

// pixelBytes is the size of a pixel on the wire.
func (s *Session) pixelBytes() int {
	if s.native != nil {
		return s.native.Bytes()
	}
	return frame.BytesPerPixel
}

// colour is the pixel at the start of b.
func (s *Session) colour(b []byte) color.NRGBA {
	if s.native != nil {
		b = binary.LittleEndian.AppendUint32(nil, s.native.Colour(b))
	}
	o := s.order
	return color.NRGBA{R: b[o.R&3], G: b[o.G&3], B: b[o.B&3], A: 0xff}
}

// readColourMap reads colours of the map (RFC 6143 7.6.2). They are dropped
// where the picture comes in true colours; elsewhere it is asked for anew,
// since what is drawn has the colours of before.
func (s *Session) readColourMap() error {
	const fixed, each = 5, 6 // padding, first colour, number of colours
	b, err := s.conn.Peek(fixed)
	if err != nil {
		return err
	}
	first, n := int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:]))
	if b, err = s.conn.Peek(fixed + each*n); err != nil {
		return err
	}
	if err := s.useWire(s.out.wire()); err != nil { // b is still valid: nothing is read
		return err
	}
	changed := s.native != nil && s.native.SetMap(first, b[fixed:])
	if err := s.conn.Discard(fixed + each*n); err != nil {
		return err
	}
	if changed {
		s.Refresh()
	}
	return nil
}

// blameFormat adds to an error what may be behind it: machines that know no
// pixel format but their own break off when they are asked for another, or go
// on to send theirs.
func (s *Session) blameFormat(err error) error {
	if err == nil || !s.asked {
		return err
	}
	kind := viewer.KindOf(err)
	early := kind == viewer.Closed && s.updates.Load() == 0
	if !early && kind != viewer.Malformed {
		return err
	}
	return &viewer.Error{Op: "rfb.PixelFormat", Kind: kind, Err: fmt.Errorf(
		"%s; it was asked for 32-bit colours and may know only its own pixel format: try again with the machine's own format", viewer.Reason(err))}
}
