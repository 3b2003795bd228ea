package inflate

import (
	"encoding/binary"
	"sync"
)

// The tables of a block: the low bits of the input index the primary part,
// longer codes go on in a part of their own behind it.
const (
	litBits  = 10
	distBits = 8
	preBits  = 7
	maxBits  = 15 // the longest code (RFC 1951 3.2.7)

	// The largest tables that complete codes of these sizes can need: 1334 and
	// 402 entries.
	litSize  = 1344
	distSize = 416
)

type (
	litTable  [litSize]uint32
	distTable [distSize]uint32
	preTable  [1 << preBits]uint32
)

// An entry of a table:
//
//	bits 0-4    bits to drop: the code and its extra bits
//	bit  5      a literal
//	bit  6      go on in another part of the table
//	bit  7      the end of the block (value 0) or no code at all (value 1)
//	bits 8-12   bits of the code alone; or how many index the other part
//	bits 16-31  the literal, the base of a length or distance, or where the
//	            other part starts
const (
	entryDrop    = 31
	entryLiteral = 1 << 5
	entrySub     = 1 << 6
	entrySpecial = 1 << 7
	entryInvalid = entrySpecial | 1<<16
)

// Entries of the symbols with a code of no bits; the code's length is added
// to bits 0-4 and 8-12.
var (
	litSymbols  = makeLitSymbols()
	distSymbols = makeDistSymbols()
	preSymbols  = makePreSymbols()
)

// makeLitSymbols lists literals, the end, and lengths (RFC 1951 3.2.5).
func makeLitSymbols() (s [288]uint32) {
	for i := range 256 {
		s[i] = uint32(i)<<16 | entryLiteral
	}
	s[256] = entrySpecial
	base, extra := uint32(3), uint32(0)
	for i := 257; i < 285; i++ {
		if i >= 265 && (i-265)%4 == 0 {
			extra++
		}
		s[i] = base<<16 | extra
		base += 1 << extra
	}
	s[285] = 258 << 16
	s[286], s[287] = entryInvalid, entryInvalid
	return s
}

// makeDistSymbols lists distances (RFC 1951 3.2.5).
func makeDistSymbols() (s [32]uint32) {
	base, extra := uint32(1), uint32(0)
	for i := range 30 {
		if i >= 4 && i%2 == 0 {
			extra++
		}
		s[i] = base<<16 | extra
		base += 1 << extra
	}
	s[30], s[31] = entryInvalid, entryInvalid
	return s
}

// makePreSymbols lists the symbols of code lengths.
func makePreSymbols() (s [19]uint32) {
	for i := range s {
		s[i] = uint32(i) << 16
	}
	return s
}

// listSize is room for all symbols, and a power of two so that an index needs
// no check.
const listSize = 512

// A builder makes tables; it holds what would otherwise be allocated anew.
type builder struct {
	lens   [320]uint8
	list   [listSize]uint16
	sorted [listSize]uint16
	pre    preTable
}

// tables are those of a block, and what makes them.
type tables struct {
	lit   litTable
	dist  distTable
	build builder
}

// fixed returns the tables of the fixed codes (RFC 1951 3.2.6), which all
// streams share.
var fixed = sync.OnceValue(func() *tables {
	t := &tables{}
	b := &t.build
	lens := b.lens[:288]
	for i := range lens {
		switch {
		case i < 144:
			lens[i] = 8
		case i < 256:
			lens[i] = 9
		case i < 280:
			lens[i] = 7
		default:
			lens[i] = 8
		}
	}
	// Complete codes: no error is possible.
	_ = b.make(t.lit[:], litBits, lens, litSymbols[:])
	for i := range 32 {
		lens[i] = 5
	}
	_ = b.make(t.dist[:], distBits, lens[:32], distSymbols[:])
	return t
})

// make builds a table from the lengths of its codes, symbol by symbol. It
// takes complete codes, no code at all, and a single one of one bit.
func (b *builder) make(table []uint32, root uint, lens []uint8, symbols []uint32) error {
	used := b.used(lens)
	var count [maxBits + 1]int
	for _, symbol := range used {
		count[lens[symbol]&maxBits]++
	}
	space, longest := 1, 0
	for l := 1; l <= maxBits; l++ {
		space = space<<1 - count[l]
		if space < 0 {
			return CorruptError("too many codes")
		}
		if count[l] > 0 {
			longest = l
		}
	}
	if space > 0 && len(used) > 0 && !(len(used) == 1 && longest == 1) {
		return CorruptError("too few codes")
	}
	// Symbols by the length of their codes.
	var offset [maxBits + 2]int
	for l := 1; l <= maxBits; l++ {
		offset[l+1] = offset[l] + count[l]
	}
	sorted := &b.sorted
	for _, symbol := range used {
		l := lens[symbol] & maxBits
		sorted[offset[l]%listSize] = symbol
		offset[l]++
	}
	primary := table[:1<<root]
	if space > 0 {
		for i := range primary {
			primary[i] = entryInvalid
		}
		if len(used) == 1 {
			e := symbols[sorted[0]] + 1 | 1<<8
			for i := 0; i < len(primary); i += 2 {
				primary[i] = e
			}
		}
		return nil
	}
	return b.fill(table, root, sorted[:len(used)], &count, symbols)
}

// used lists the symbols that have a code, in order. Most have none in the
// small blocks of small rectangles, so that eight are looked at at once.
func (b *builder) used(lens []uint8) []uint16 {
	n, i := uint(0), 0
	for ; i+8 <= len(lens); i += 8 {
		eight := lens[i : i+8]
		if binary.LittleEndian.Uint64(eight) == 0 {
			continue
		}
		for j, l := range eight {
			b.list[n%listSize] = uint16(i + j)
			n += uint((l + maxBits) >> 4) // 1 for a length, without a branch
		}
	}
	for ; i < len(lens); i++ {
		b.list[n%listSize] = uint16(i)
		n += uint((lens[i] + maxBits) >> 4)
	}
	return b.list[:n%listSize]
}

// fill builds the table of a complete code. A code stands in the table with
// its bits reversed; the part for one length more is the part so far, twice.
func (b *builder) fill(table []uint32, root uint, sorted []uint16, count *[maxBits + 1]int, symbols []uint32) error {
	code, length, at := uint(0), uint(1), 0
	for ; length <= root; length++ {
		size := uint(1) << length
		if length > 1 {
			copy(table[size/2:size], table[:size/2])
		}
		for n := count[length]; n > 0; n-- {
			table[code] = symbols[sorted[at]] + uint32(length) | uint32(length)<<8
			at++
			code = nextCode(code, size)
		}
	}
	// What is left has codes longer than the primary part.
	next := uint(1) << root
	mask := next - 1
	var start, width uint
	prefix := ^uint(0)
	for ; at < len(sorted); length++ {
		size := uint(1) << length
		for n := count[length]; n > 0; n-- {
			if code&mask != prefix {
				prefix = code & mask
				start = next
				width = length - root
				for space := n; space < 1<<width; {
					width++
					space = space<<1 + count[root+width]
				}
				next += 1 << width
				if next > uint(len(table)) {
					return CorruptError("its codes need too large a table")
				}
				table[prefix] = uint32(start)<<16 | entrySub | uint32(root) | uint32(width)<<8
			}
			rest := uint32(length - root)
			e := symbols[sorted[at]] + rest | rest<<8
			at++
			for i := code >> root; i < 1<<width; i += 1 << rest {
				table[start+i] = e
			}
			code = nextCode(code, size)
		}
	}
	return nil
}

// nextCode is the code after code, both with their bits reversed. After the
// last one of a length it does not matter.
func nextCode(code, size uint) uint {
	bit := size >> 1
	for code&bit != 0 {
		bit >>= 1
	}
	return code&(bit-1) | bit
}
