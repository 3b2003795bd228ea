package inflate

import (
	"math/bits"
	"runtime"
	"unsafe"
)

// codes decodes inside of a block until its end, the end of the segment, or
// until the output has reached limit.
func (z *Reader) codes(limit int) (again bool, err error) {
	for z.w < limit {
		ended, err := z.fast(limit)
		if err != nil {
			return false, err
		}
		if !ended && z.w < limit {
			if ended, again, err = z.careful(limit); err != nil || !again {
				return false, err
			}
		}
		if ended {
			z.endBlock()
			return true, nil
		}
	}
	return true, nil
}

// fast decodes while eight bytes of input are left, so that no step has to ask
// whether its bits are there. ended tells that the block's end was read.
//
// The checks of the loop stand for those of its loads and stores, which have
// none of their own: in <= last leaves eight bytes of input, w < end leaves
// [overshoot] bytes of room, and a match begins at floor at the earliest.
func (z *Reader) fast(limit int) (ended bool, err error) {
	src, buf := z.src, z.buf
	in, hold, bits, w := z.in, z.hold, z.bits, z.w
	if len(buf) < overshoot || len(src) < 8 {
		return false, nil
	}
	end := min(limit, len(buf)-overshoot)
	if int64(end-w) > z.left {
		end = w + int(z.left)
	}
	floor := w - z.total // where the history begins
	last := len(src) - 8
	lit, dist := z.lit, z.dist
	from, to := unsafe.Pointer(unsafe.SliceData(src)), unsafe.Pointer(unsafe.SliceData(buf))
	for in <= last && w < end {
		hold |= load64(unsafe.Add(from, in)) << (bits & 63)
		in += int((63 - bits) >> 3)
		bits |= 56
		e := lit[hold&(1<<litBits-1)]
		if e&entryLiteral != 0 {
			// Up to three, of at most ten bits each.
			*(*byte)(unsafe.Add(to, w)) = byte(e >> 16)
			w++
			hold >>= e & entryDrop
			bits -= uint(e & entryDrop)
			if e = lit[hold&(1<<litBits-1)]; e&entryLiteral != 0 {
				*(*byte)(unsafe.Add(to, w)) = byte(e >> 16)
				w++
				hold >>= e & entryDrop
				bits -= uint(e & entryDrop)
				if e = lit[hold&(1<<litBits-1)]; e&entryLiteral != 0 {
					*(*byte)(unsafe.Add(to, w)) = byte(e >> 16)
					w++
					hold >>= e & entryDrop
					bits -= uint(e & entryDrop)
					continue
				}
			}
			// A length and distance take up to 48 bits.
			if in > last {
				break
			}
			hold |= load64(unsafe.Add(from, in)) << (bits & 63)
			in += int((63 - bits) >> 3)
			bits |= 56
		}
		if e&(entrySub|entrySpecial) != 0 {
			if e&entrySub != 0 {
				hold >>= litBits
				bits -= litBits
				e = lit[(e>>16+uint32(hold)&(1<<(e>>8&15)-1))%litSize]
				if e&entryLiteral != 0 {
					*(*byte)(unsafe.Add(to, w)) = byte(e >> 16)
					w++
					hold >>= e & entryDrop
					bits -= uint(e & entryDrop)
					continue
				}
			}
			if e&entrySpecial != 0 {
				if e>>16 != 0 {
					return false, CorruptError("a symbol that has no code")
				}
				hold >>= e & entryDrop
				bits -= uint(e & entryDrop)
				ended = true
				break
			}
		}
		length := int(e>>16) + int(hold&(1<<(e&entryDrop)-1)>>(e>>8&15))
		hold >>= e & entryDrop
		bits -= uint(e & entryDrop)

		e = dist[hold&(1<<distBits-1)]
		if e&(entrySub|entrySpecial) != 0 {
			if e&entrySub != 0 {
				hold >>= distBits
				bits -= distBits
				e = dist[(e>>16+uint32(hold)&(1<<(e>>8&15)-1))%distSize]
			}
			if e&entrySpecial != 0 {
				return false, CorruptError("a distance that has no code")
			}
		}
		distance := int(e>>16) + int(hold&(1<<(e&entryDrop)-1)>>(e>>8&15))
		hold >>= e & entryDrop
		bits -= uint(e & entryDrop)
		if distance > w-floor {
			return false, CorruptError("a distance that reaches before the data")
		}
		if distance >= 16 && length <= 16 {
			*(*[16]byte)(unsafe.Add(to, w)) = *(*[16]byte)(unsafe.Add(to, w-distance))
		} else {
			copyMatch(unsafe.Add(to, w), distance, length)
		}
		w += length
	}
	z.in, z.hold, z.bits = in, hold, bits
	n := w - z.w
	if int64(n) > z.left {
		return false, ErrTooLong
	}
	z.wrote(n)
	return ended, nil
}

// copyMatch repeats length bytes from distance before p. It may write up to 15
// bytes more.
func copyMatch(p unsafe.Pointer, distance, length int) {
	from := unsafe.Add(p, -distance)
	// A short period is doubled until it is as wide as a store.
	for distance < 8 {
		*(*[8]byte)(p) = *(*[8]byte)(from)
		if length -= distance; length <= 0 {
			return
		}
		p = unsafe.Add(p, distance)
		distance *= 2
	}
	if distance < 16 {
		for {
			*(*[8]byte)(p) = *(*[8]byte)(from)
			if length -= 8; length <= 0 {
				return
			}
			p, from = unsafe.Add(p, 8), unsafe.Add(from, 8)
		}
	}
	for {
		*(*[16]byte)(p) = *(*[16]byte)(from)
		if length -= 16; length <= 0 {
			return
		}
		p, from = unsafe.Add(p, 16), unsafe.Add(from, 16)
	}
}

// bigEndian tells how this machine loads words. The other processors that Go
// knows are little-endian.
const bigEndian = runtime.GOARCH == "s390x" || runtime.GOARCH == "ppc64" || runtime.GOARCH == "mips" || runtime.GOARCH == "mips64"

// load64 loads eight bytes, the first one lowest.
func load64(p unsafe.Pointer) uint64 {
	v := *(*uint64)(p)
	if bigEndian {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// careful decodes where the input is about to end, or output is about to reach
// its limit: it asks for each symbol whether its bits are there. It stops where
// fast can go on. again is false when the segment is used up.
func (z *Reader) careful(limit int) (ended, again bool, err error) {
	lit, dist := z.lit, z.dist
	for first := true; z.w < limit; first = false {
		if !first && len(z.src)-z.in >= 8 && z.left > 0 {
			return false, true, nil
		}
		m := z.mark()
		if z.bits < 48 {
			z.refill()
		}
		e, used := lit[z.hold&(1<<litBits-1)], uint(0)
		if e&entrySub != 0 {
			used = litBits
			e = lit[(e>>16+uint32(z.hold>>litBits)&(1<<(e>>8&15)-1))%litSize]
		}
		used += uint(e & entryDrop)
		if e&entryLiteral != 0 && used <= z.bits {
			if z.left < 1 {
				return false, false, ErrTooLong
			}
			z.drop(used)
			z.buf[z.w] = byte(e >> 16)
			z.wrote(1)
			continue
		}
		noCode := e&entrySpecial != 0 && e>>16 != 0
		switch {
		case noCode && z.bits >= maxBits:
			return false, false, CorruptError("a symbol that has no code")
		case noCode, used > z.bits:
			z.cut(m)
			return false, false, nil
		case e&entrySpecial != 0:
			z.drop(used)
			return true, true, nil
		}
		length := int(e>>16) + int(z.hold>>(used-uint(e&entryDrop))&(1<<(e&entryDrop)-1)>>(e>>8&15))
		z.drop(used)
		z.refill()
		e, used = dist[z.hold&(1<<distBits-1)], 0
		if e&entrySub != 0 {
			used = distBits
			e = dist[(e>>16+uint32(z.hold>>distBits)&(1<<(e>>8&15)-1))%distSize]
		}
		used += uint(e & entryDrop)
		noCode = e&entrySpecial != 0
		if noCode && z.bits >= maxBits {
			return false, false, CorruptError("a distance that has no code")
		}
		if noCode || used > z.bits {
			z.cut(m)
			return false, false, nil
		}
		distance := int(e>>16) + int(z.hold>>(used-uint(e&entryDrop))&(1<<(e&entryDrop)-1)>>(e>>8&15))
		z.drop(used)
		if distance > z.total {
			return false, false, CorruptError("a distance that reaches before the data")
		}
		if int64(length) > z.left {
			return false, false, ErrTooLong
		}
		room := z.buf[z.w : z.w+length+16] // the check for all stores
		copyMatch(unsafe.Pointer(unsafe.SliceData(room)), distance, length)
		z.wrote(length)
	}
	return false, true, nil
}
