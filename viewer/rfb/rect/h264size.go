//go:build cgo && openh264

package rect

// A bitReader reads the bits of a header, the highest of a byte first, without
// the bytes that keep start codes out of it (ITU-T H.264 7.3.1).
type bitReader struct {
	b     []byte
	at    int // byte
	bit   int // of it
	zeros int // zero bytes before it
	short bool
}

func (r *bitReader) one() int64 {
	if r.bit == 0 && r.zeros >= 2 && r.at < len(r.b) && r.b[r.at] == 3 {
		r.at, r.zeros = r.at+1, 0
	}
	if r.at >= len(r.b) {
		r.short = true
		return 0
	}
	v := r.b[r.at] >> (7 - r.bit) & 1
	if r.bit++; r.bit == 8 {
		if r.zeros++; r.b[r.at] != 0 {
			r.zeros = 0
		}
		r.at, r.bit = r.at+1, 0
	}
	return int64(v)
}

func (r *bitReader) bits(n int) (v int64) {
	for range n {
		v = v<<1 | r.one()
	}
	return v
}

// number reads an unsigned number of Golomb and others (9.1).
func (r *bitReader) number() int64 {
	n := 0
	for r.one() == 0 && !r.short {
		if n++; n > 31 {
			r.short = true
		}
	}
	if r.short {
		return 0
	}
	return 1<<n - 1 + r.bits(n)
}

// signed reads a signed number (9.1.1).
func (r *bitReader) signed() int64 {
	v := r.number()
	if v&1 != 0 {
		return (v + 1) / 2
	}
	return -v / 2
}

// h264Size is the size that a sequence header says, in whole blocks.
func h264Size(b []byte) (w, h int64, ok bool) {
	r := &bitReader{b: b}
	profile := r.bits(8)
	r.bits(16) // constraints, level
	r.number() // its number
	switch profile {
	case 100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135:
		chroma := r.number()
		if chroma == 3 {
			r.one()
		}
		r.number() // bits of luminance
		r.number() // bits of colour
		r.one()
		if r.one() == 1 { // lists of scales
			lists := 8
			if chroma == 3 {
				lists = 12
			}
			for i := range lists {
				if r.one() == 1 {
					r.skipScales(i)
				}
			}
		}
	}
	r.number() // bits of a picture's number
	switch order := r.number(); order {
	case 0:
		r.number()
	case 1:
		r.one()
		r.signed()
		r.signed()
		for n := r.number(); n > 0 && !r.short; n-- {
			r.signed()
		}
	}
	r.number() // pictures kept
	r.one()
	w = (r.number() + 1) * 16
	h = (r.number() + 1) * 16
	if r.one() == 0 { // interlaced
		h *= 2
	}
	return w, h, !r.short
}

// skipScales skips list i of scales (7.3.2.1.1.1).
func (r *bitReader) skipScales(i int) {
	n := 16
	if i >= 6 {
		n = 64
	}
	last, next := int64(8), int64(8)
	for range n {
		if next != 0 {
			next = (last + r.signed() + 256) & 255
		}
		if next != 0 {
			last = next
		}
	}
}
