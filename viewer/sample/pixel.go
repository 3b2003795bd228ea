package sample

import (
	"encoding/binary"
	"errors"
)

// A pixelFormat is how a client wants pixels (RFC 6143 7.4).
type pixelFormat struct {
	bpp, depth    uint8
	bigEndian     bool
	rMax, gMax    uint16
	bMax          uint16
	rShift        uint8
	gShift        uint8
	bShift        uint8
	size          int // bytes a pixel
	compact       int // bytes of a CPIXEL (RFC 6143 7.7.5)
	compactOffset int // of the CPIXEL's bytes in the pixel
	native        bool

	r, g, b [256]uint32 // a sample's share of the pixel
}

// nativeFormat is the one that pictures are kept in, and what ServerInit says.
var nativeFormat = func() *pixelFormat {
	f, err := parseFormat([]byte{32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0})
	if err != nil {
		panic(err)
	}
	return f
}()

// parseFormat reads the 16 bytes of a PIXEL_FORMAT.
func parseFormat(b []byte) (*pixelFormat, error) {
	f := &pixelFormat{
		bpp: b[0], depth: b[1], bigEndian: b[2] != 0,
		rMax: binary.BigEndian.Uint16(b[4:]), gMax: binary.BigEndian.Uint16(b[6:]), bMax: binary.BigEndian.Uint16(b[8:]),
		rShift: b[10], gShift: b[11], bShift: b[12],
	}
	if b[3] == 0 {
		return nil, errors.New("pixel format with a colour map")
	}
	if f.bpp != 8 && f.bpp != 16 && f.bpp != 32 {
		return nil, errors.New("pixel format of other than 8, 16 or 32 bits")
	}
	all := uint64(0)
	for _, c := range []struct {
		max   uint16
		shift uint8
		table *[256]uint32
	}{{f.rMax, f.rShift, &f.r}, {f.gMax, f.gShift, &f.g}, {f.bMax, f.bShift, &f.b}} {
		if c.shift > 31 || uint64(c.max)<<c.shift>>f.bpp != 0 {
			return nil, errors.New("pixel format whose colours do not fit into a pixel")
		}
		all |= uint64(c.max) << c.shift
		for v := range c.table {
			c.table[v] = (uint32(v)*uint32(c.max) + 127) / 255 << c.shift
		}
	}
	f.size = int(f.bpp) / 8
	f.compact = f.size
	if f.bpp == 32 && f.depth <= 24 {
		switch {
		case all&0xff000000 == 0:
			f.compact = 3
			if f.bigEndian {
				f.compactOffset = 1
			}
		case all&0x000000ff == 0:
			f.compact = 3
			if !f.bigEndian {
				f.compactOffset = 1
			}
		}
	}
	f.native = f.size == 4 && !f.bigEndian && f.rMax == 255 && f.gMax == 255 && f.bMax == 255 &&
		f.rShift == 16 && f.gShift == 8 && f.bShift == 0
	return f, nil
}

// bytes gives a pixel's bytes, the first size of them.
func (f *pixelFormat) bytes(rgb uint32) (p [4]byte) {
	v := f.r[rgb>>16&0xff] | f.g[rgb>>8&0xff] | f.b[rgb&0xff]
	switch {
	case f.size == 1:
		p[0] = byte(v)
	case f.size == 2 && f.bigEndian:
		binary.BigEndian.PutUint16(p[:], uint16(v))
	case f.size == 2:
		binary.LittleEndian.PutUint16(p[:], uint16(v))
	case f.bigEndian:
		binary.BigEndian.PutUint32(p[:], v)
	default:
		binary.LittleEndian.PutUint32(p[:], v)
	}
	return p
}

// pixel appends one whole pixel.
func (f *pixelFormat) pixel(out []byte, rgb uint32) []byte {
	p := f.bytes(rgb)
	return append(out, p[:f.size]...)
}

// pixels appends whole pixels.
func (f *pixelFormat) pixels(out []byte, rgb []uint32) []byte {
	if f.native {
		for _, v := range rgb {
			out = binary.LittleEndian.AppendUint32(out, v)
		}
		return out
	}
	for _, v := range rgb {
		out = f.pixel(out, v)
	}
	return out
}

// short appends one CPIXEL.
func (f *pixelFormat) short(out []byte, rgb uint32) []byte {
	if f.native {
		return append(out, byte(rgb), byte(rgb>>8), byte(rgb>>16))
	}
	p := f.bytes(rgb)
	return append(out, p[f.compactOffset:f.compactOffset+f.compact]...)
}
