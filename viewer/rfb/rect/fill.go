package rect

import "encoding/binary"

// A colour is one pixel in wire order, written out 16 times: stores of fixed
// size from it compile to a few wide moves.
type colour [64]byte

// set makes c the pixel p.
func (c *colour) set(p uint32) {
	v := uint64(p) | uint64(p)<<32
	for i := 0; i < len(c); i += 8 {
		binary.LittleEndian.PutUint64(c[i:], v)
	}
}

// row fills a row of whole pixels. Stores may overlap, never reach out of it.
func (c *colour) row(row []byte) {
	n := len(row)
	switch {
	case n >= 64:
		i := 0
		for ; i+64 <= n; i += 64 {
			*(*[64]byte)(row[i:]) = *c
		}
		*(*[64]byte)(row[n-64:]) = *c
	case n >= 32:
		*(*[32]byte)(row) = *(*[32]byte)(c[:])
		*(*[32]byte)(row[n-32:]) = *(*[32]byte)(c[:])
	case n >= 16:
		*(*[16]byte)(row) = *(*[16]byte)(c[:])
		*(*[16]byte)(row[n-16:]) = *(*[16]byte)(c[:])
	case n >= 8:
		*(*[8]byte)(row) = *(*[8]byte)(c[:])
		*(*[8]byte)(row[n-8:]) = *(*[8]byte)(c[:])
	case n >= 4:
		*(*[4]byte)(row) = *(*[4]byte)(c[:])
	}
}

// rect fills h rows of n bytes each, the first at the start of pix.
func (c *colour) rect(pix []byte, stride, n, h int) {
	first := pix[:n]
	c.row(first)
	for y := 1; y < h; y++ {
		copy(pix[y*stride:y*stride+n], first)
	}
}
