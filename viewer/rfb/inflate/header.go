package inflate

// preOrder is the order in which the lengths of the code for lengths come
// (RFC 1951 3.2.7).
var preOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamicHeader reads the codes of a block (RFC 1951 3.2.7). ok is false when
// the segment ends before they do.
func (z *Reader) dynamicHeader() (ok bool, err error) {
	z.refill()
	if z.bits < 14 {
		return false, nil
	}
	nlit := int(z.hold&31) + 257
	ndist := int(z.hold>>5&31) + 1
	npre := int(z.hold>>10&15) + 4
	z.drop(14)
	if nlit > 286 || ndist > 30 {
		return false, CorruptError("a block with more symbols than there are")
	}
	b := &z.own.build
	var pre [19]uint8
	for i := range npre {
		if z.bits < 3 {
			z.refill()
			if z.bits < 3 {
				return false, nil
			}
		}
		pre[preOrder[i]] = uint8(z.hold & 7)
		z.drop(3)
	}
	if err := b.make(b.pre[:], preBits, pre[:], preSymbols[:]); err != nil {
		return false, err
	}
	if ok, err := z.lengths(nlit + ndist); !ok || err != nil {
		return false, err
	}
	if err := b.make(z.lit[:], litBits, b.lens[:nlit], litSymbols[:]); err != nil {
		return false, err
	}
	if err := b.make(z.dist[:], distBits, b.lens[nlit:nlit+ndist], distSymbols[:]); err != nil {
		return false, err
	}
	return true, nil
}

// lengths reads n lengths of codes.
func (z *Reader) lengths(n int) (ok bool, err error) {
	lens := z.own.build.lens[:]
	for i := 0; i < n; {
		if z.bits < preBits+7 {
			z.refill()
		}
		e := z.own.build.pre[z.hold&(1<<preBits-1)]
		used := uint(e & entryDrop)
		if e&entrySpecial != 0 {
			if z.bits < preBits {
				return false, nil
			}
			return false, CorruptError("a length that has no code")
		}
		symbol := e >> 16
		if symbol < 16 {
			if z.bits < used {
				return false, nil
			}
			z.drop(used)
			lens[i] = uint8(symbol)
			i++
			continue
		}
		var value uint8
		var repeat int
		var extra uint
		rest := z.hold >> used
		switch symbol {
		case 16:
			extra, repeat = 2, 3+int(rest&3)
			if i == 0 {
				if z.bits < used {
					return false, nil
				}
				return false, CorruptError("a repeated length without one before it")
			}
			value = lens[i-1]
		case 17:
			extra, repeat = 3, 3+int(rest&7)
		default:
			extra, repeat = 7, 11+int(rest&127)
		}
		if z.bits < used+extra {
			return false, nil
		}
		z.drop(used + extra)
		if i+repeat > n {
			return false, CorruptError("more lengths than symbols")
		}
		for range repeat {
			lens[i] = value
			i++
		}
	}
	return true, nil
}
