package rfb

import (
	"encoding/binary"

	"deskvnc/viewer/frame"
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

// setPixelFormat asks for [frame.BGRX] (RFC 6143 7.5.1).
var setPixelFormat = []byte{
	0,       // message type
	0, 0, 0, // padding
	32, 24, // bits a pixel, depth
	0, 1, // little-endian, true colour
	0, 255, 0, 255, 0, 255, // largest red, green, blue
	16, 8, 0, // shifts of red, green, blue
	0, 0, 0, // padding
}
