// Package native decodes pictures in a pixel format that a machine insists
// on: 8, 16, 24 or 32 bits, either byte order, true colours of any width or a
// colour map. What is drawn is in the frame's order whatever the wire has.
//
// It is for machines that know no other format, and for fewer colours over
// slow connections. It goes pixel by pixel; package rect is for all others.
package native

import (
	"encoding/binary"
	"fmt"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

// A Format is a machine's PIXEL_FORMAT (RFC 6143 7.4), and its colour map when
// it has one. Use it from one goroutine.
type Format struct {
	Bits, Depth int
	BigEndian   bool
	TrueColour  bool
	Max         [3]uint16 // red, green, blue
	Shift       [3]uint8
	// Alpha says that there is a fourth channel: all four bytes of a pixel are
	// drawn as they come.
	Alpha bool
	// Order is the frame's; the zero value is [frame.BGRX].
	Order frame.Order

	table []uint32 // pixels of the frame by value, for formats of up to 16 bits
}

// Prepare checks a format and makes it ready.
func (f *Format) Prepare() error {
	switch f.Bits {
	case 8, 16, 24, 32:
	default:
		return &viewer.Error{Op: "rfb.PixelFormat", Kind: viewer.Unsupported,
			Err: fmt.Errorf("the machine's own pixel format has %d bits a pixel; 8, 16, 24 and 32 are known", f.Bits)}
	}
	if !f.TrueColour && f.Bits > 16 {
		return &viewer.Error{Op: "rfb.PixelFormat", Kind: viewer.Unsupported,
			Err: fmt.Errorf("the machine's own pixel format has a colour map for %d bits a pixel; at most 16 are known", f.Bits)}
	}
	for _, s := range f.Shift {
		if s > 31 {
			return &viewer.Error{Op: "rfb.PixelFormat", Kind: viewer.Malformed,
				Err: fmt.Errorf("the machine's own pixel format has a colour at bit %d", s)}
		}
	}
	if f.Bits > 16 {
		return nil
	}
	f.table = make([]uint32, 1<<f.Bits)
	for v := range f.table {
		if f.TrueColour {
			f.table[v] = f.split(uint32(v))
		} else if f.Bits == 8 { // what is seen before the map comes
			f.table[v] = f.pack(uint32(v), uint32(v), uint32(v))
		}
	}
	return nil
}

// Bytes is the size of a pixel on the wire.
func (f *Format) Bytes() int { return f.Bits / 8 }

// Colour is the pixel at the start of b, in the frame's order in a little-endian
// word.
func (f *Format) Colour(b []byte) uint32 { return f.of(f.value(b)) }

// value is the pixel at the start of b as it is.
func (f *Format) value(b []byte) (v uint32) {
	switch f.Bits {
	case 8:
		v = uint32(b[0])
	case 16:
		if f.BigEndian {
			v = uint32(binary.BigEndian.Uint16(b))
		} else {
			v = uint32(binary.LittleEndian.Uint16(b))
		}
	case 24:
		v = f.three(b)
	default:
		if f.BigEndian {
			v = binary.BigEndian.Uint32(b)
		} else {
			v = binary.LittleEndian.Uint32(b)
		}
	}
	return v
}

func (f *Format) of(v uint32) uint32 {
	if f.Alpha {
		return v
	}
	if f.table != nil {
		return f.table[v]
	}
	return f.split(v)
}

func (f *Format) three(b []byte) uint32 {
	if f.BigEndian {
		return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
	}
	return uint32(b[2])<<16 | uint32(b[1])<<8 | uint32(b[0])
}

// split takes a true-colour value apart and stretches each colour to the whole
// range.
func (f *Format) split(v uint32) uint32 {
	var c [3]uint32
	for i, m := range f.Max {
		if most := uint64(m); most > 0 {
			part := min(uint64(v>>f.Shift[i])&mask(m), most)
			c[i] = uint32((part*0xff + most/2) / most)
		}
	}
	return f.pack(c[0], c[1], c[2])
}

// mask is the bits that a colour of 0 to m takes.
func mask(m uint16) uint64 {
	n := uint64(1)
	for n <= uint64(m) {
		n <<= 1
	}
	return n - 1
}

func (f *Format) pack(r, g, b uint32) uint32 {
	o := f.Order
	if o == (frame.Order{}) {
		o = frame.BGRX
	}
	return r<<(o.R&3*8) | g<<(o.G&3*8) | b<<(o.B&3*8)
}

// SetMap changes colours of the map from index first on: six bytes each, red,
// green and blue of 16 bits (RFC 6143 7.6.2). It reports whether the picture
// changes with it; entries outside of the map are dropped.
func (f *Format) SetMap(first int, colours []byte) bool {
	if f.TrueColour {
		return false
	}
	for ; len(colours) >= 6 && first < len(f.table); colours = colours[6:] {
		f.table[first] = f.pack(uint32(colours[0]), uint32(colours[2]), uint32(colours[4]))
		first++
	}
	return true
}

// tight tells how a pixel of Tight is written: as red, green and blue, or as
// any pixel.
func (f *Format) tight() (size int, rgb bool) {
	if f.TrueColour && f.Bits == 32 && f.Depth == 24 && f.Max == [3]uint16{255, 255, 255} {
		return 3, true
	}
	return f.Bytes(), false
}

// compact tells how a compressed pixel of ZRLE is written: its size, and how
// far its value is shifted (RFC 6143 7.7.5).
func (f *Format) compact() (size int, shift uint) {
	if !f.TrueColour || f.Bits != 32 || f.Depth > 24 {
		return f.Bytes(), 0
	}
	used := uint64(0)
	for i, m := range f.Max {
		used |= mask(m) << f.Shift[i]
	}
	switch {
	case used < 1<<24:
		return 3, 0
	case used&0xff == 0 && used < 1<<32:
		return 3, 8
	}
	return 4, 0
}
