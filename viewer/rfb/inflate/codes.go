package inflate

import "encoding/binary"

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
func (z *Reader) fast(limit int) (ended bool, err error) {
	src, buf := z.src, z.buf
	in, hold, bits, w := z.in, z.hold, z.bits, z.w
	end := limit
	if int64(limit-w) > z.left {
		end = w + int(z.left)
	}
	floor := w - z.total // where the history begins
	last := len(src) - 8
	lit, dist := &z.lit, &z.dist
	for in <= last && w < end {
		hold |= binary.LittleEndian.Uint64(src[in:]) << (bits & 63)
		in += int((63 - bits) >> 3)
		bits |= 56
		e := lit[hold&(1<<litBits-1)]
		if e&entryLiteral != 0 {
			// Up to three, of at most ten bits each.
			buf[w] = byte(e >> 16)
			w++
			hold >>= e & entryDrop
			bits -= uint(e & entryDrop)
			if e = lit[hold&(1<<litBits-1)]; e&entryLiteral != 0 {
				buf[w] = byte(e >> 16)
				w++
				hold >>= e & entryDrop
				bits -= uint(e & entryDrop)
				if e = lit[hold&(1<<litBits-1)]; e&entryLiteral != 0 {
					buf[w] = byte(e >> 16)
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
			hold |= binary.LittleEndian.Uint64(src[in:]) << (bits & 63)
			in += int((63 - bits) >> 3)
			bits |= 56
		}
		if e&(entrySub|entrySpecial) != 0 {
			if e&entrySub != 0 {
				hold >>= litBits
				bits -= litBits
				e = lit[(e>>16+uint32(hold)&(1<<(e>>8&15)-1))%litSize]
				if e&entryLiteral != 0 {
					buf[w] = byte(e >> 16)
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
			*(*[16]byte)(buf[w:]) = *(*[16]byte)(buf[w-distance:])
		} else {
			copyMatch(buf, w, distance, length)
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

// copyMatch repeats length bytes from distance before w. It may write up to 15
// bytes more.
func copyMatch(buf []byte, w, distance, length int) {
	from := w - distance
	end := w + length
	// A short period is doubled until it is as wide as a store.
	for distance < 8 {
		binary.LittleEndian.PutUint64(buf[w:], binary.LittleEndian.Uint64(buf[from:]))
		w += distance
		if w >= end {
			return
		}
		distance *= 2
	}
	if distance < 16 {
		for ; w < end; w, from = w+8, from+8 {
			binary.LittleEndian.PutUint64(buf[w:], binary.LittleEndian.Uint64(buf[from:]))
		}
		return
	}
	for ; w < end; w, from = w+16, from+16 {
		*(*[16]byte)(buf[w:]) = *(*[16]byte)(buf[from:])
	}
}

// careful decodes where the input is about to end, or output is about to reach
// its limit: it asks for each symbol whether its bits are there. It stops where
// fast can go on. again is false when the segment is used up.
func (z *Reader) careful(limit int) (ended, again bool, err error) {
	lit, dist := &z.lit, &z.dist
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
		copyMatch(z.buf, z.w, distance, length)
		z.wrote(length)
	}
	return false, true, nil
}
