package rect

import "encoding/binary"

// The types of a ZRLE tile (RFC 6143 7.7.6).
const (
	tileRaw        = 0
	tileSolid      = 1
	tilePaletteMax = 16  // 2 to 16: a palette of that size, packed
	tileRuns       = 128 // runs of pixels
	tilePaletteRun = 130 // 130 to 255: runs of a palette of that size less 128
)

// groupsFrom is the number of pixels from which a table of four-pixel groups
// is worth making.
const groupsFrom = 128

// A tilePainter draws tiles of ZRLE. It holds what would otherwise be
// allocated anew.
type tilePainter struct {
	fill    colour
	palette [128]uint32
	groups  [16][16]byte
	runs    [zrlePixels*bpp + 16]byte // a tile of runs, and room to overshoot
}

var errShortTile = malformed("rfb.ZRLE", "the data of a tile ends too early")

// draw paints one tile of w times h pixels at the start of pix, and returns
// how much of src it took. Behind src there are inflate.Slack readable bytes.
func (t *tilePainter) draw(pix []byte, stride, w, h int, src []byte) (int, error) {
	if len(src) == 0 {
		return 0, errShortTile
	}
	kind := int(src[0])
	n := 1
	switch {
	case kind == tileRaw:
		size := w * h * cpixel
		if len(src) < n+size {
			return 0, errShortTile
		}
		t.raw(pix, stride, w, h, src[n:])
		return n + size, nil
	case kind == tileSolid:
		if len(src) < n+cpixel {
			return 0, errShortTile
		}
		t.fill.set(pixel(src[n:]))
		t.fill.rect(pix, stride, w*bpp, h)
		return n + cpixel, nil
	case kind <= tilePaletteMax:
		n += t.readPalette(kind, src[n:])
		if len(src) < n {
			return 0, errShortTile
		}
		k, err := t.packed(pix, stride, w, h, kind, src[n:])
		return n + k, err
	case kind == tileRuns:
		k, err := t.plainRuns(w*h, src[n:])
		if err != nil {
			return 0, err
		}
		t.copyRuns(pix, stride, w, h)
		return n + k, nil
	case kind >= tilePaletteRun:
		size := kind - tileRuns
		n += t.readPalette(size, src[n:])
		if len(src) < n {
			return 0, errShortTile
		}
		k, err := t.paletteRuns(w*h, size, src[n:])
		if err != nil {
			return 0, err
		}
		t.copyRuns(pix, stride, w, h)
		return n + k, nil
	}
	return 0, malformed("rfb.ZRLE", "unknown tile type %d", kind)
}

// pixel reads a compressed pixel with the byte behind it, which ends up in the
// part of a pixel that has no meaning.
func pixel(b []byte) uint32 { return binary.LittleEndian.Uint32(b[:4]) }

// readPalette reads a palette of n pixels and returns its size. What src does
// not hold is not read; the caller compares.
func (t *tilePainter) readPalette(n int, src []byte) int {
	size := n * cpixel
	if len(src) < size {
		return size
	}
	for i := range t.palette[:n] {
		t.palette[i] = pixel(src[i*cpixel:])
	}
	return size
}

// raw copies pixels, two at a time.
func (t *tilePainter) raw(pix []byte, stride, w, h int, src []byte) {
	for y := range h {
		row := pix[y*stride:][:w*bpp]
		b := src[y*w*cpixel:][:w*cpixel+2] // the last load reads up to two bytes more
		n := w / 2
		for i := range n {
			v := binary.LittleEndian.Uint64(b[i*6:])
			binary.LittleEndian.PutUint64(row[i*8:], v&0xffffffff|v<<8&^0xffffffff)
		}
		if w%2 != 0 {
			binary.LittleEndian.PutUint32(row[n*8:], pixel(b[n*6:]))
		}
	}
}

// packed draws a tile of indexes of 1, 2 or 4 bits.
func (t *tilePainter) packed(pix []byte, stride, w, h, size int, src []byte) (int, error) {
	bits := 4
	switch {
	case size == 2:
		bits = 1
	case size <= 4:
		bits = 2
	}
	perRow := (w*bits + 7) / 8
	if len(src) < perRow*h {
		return 0, errShortTile
	}
	switch bits {
	case 1:
		t.mono(pix, stride, w, h, src)
		return perRow * h, nil
	case 2:
		return perRow * h, t.indexes2(pix, stride, w, h, size, src)
	}
	return perRow * h, t.indexes4(pix, stride, w, h, size, src)
}

// mono draws a tile of two colours.
func (t *tilePainter) mono(pix []byte, stride, w, h int, src []byte) {
	colours := [2]uint32{t.palette[0], t.palette[1]}
	if w*h >= groupsFrom {
		t.makeGroups(colours)
	}
	perRow := (w + 7) / 8
	for y := range h {
		row := pix[y*stride:][:w*bpp]
		b := src[y*perRow:][:perRow]
		if n := len(row) / 32; w*h >= groupsFrom && n > 0 {
			for i, v := range b[:n] {
				eight := (*[32]byte)(row[i*32:])
				*(*[16]byte)(eight[:16]) = t.groups[v>>4]
				*(*[16]byte)(eight[16:]) = t.groups[v&15]
			}
			row, b = row[n*32:], b[n:]
		}
		for len(row) >= 4 && len(b) > 0 {
			v := b[0]
			b = b[1:]
			if w*h >= groupsFrom && len(row) >= 16 {
				*(*[16]byte)(row) = t.groups[v>>4]
				row = row[16:]
				v <<= 4
			}
			for n := min(8, len(row)/4); n > 0; n-- {
				binary.LittleEndian.PutUint32(row, colours[v>>7])
				row = row[4:]
				v <<= 1
			}
		}
	}
}

// makeGroups writes out the sixteen groups of four pixels of two colours.
func (t *tilePainter) makeGroups(c [2]uint32) {
	a, b := uint64(c[0]), uint64(c[1])
	pairs := [4]uint64{a | a<<32, a | b<<32, b | a<<32, b | b<<32}
	for i := range t.groups {
		g := &t.groups[i]
		binary.LittleEndian.PutUint64(g[0:], pairs[i>>2])
		binary.LittleEndian.PutUint64(g[8:], pairs[i&3])
	}
}

// indexes2 draws a tile of indexes of two bits.
func (t *tilePainter) indexes2(pix []byte, stride, w, h, size int, src []byte) error {
	perRow := (w + 3) / 4
	p := [4]uint32(t.palette[:])
	var pairs [16]uint64
	for i := range pairs {
		pairs[i] = uint64(p[i>>2]) | uint64(p[i&3])<<32
	}
	three := byte(0) // has a bit pair of ones when an index was 3
	for y := range h {
		row := pix[y*stride:][:w*bpp]
		b := src[y*perRow:][:perRow]
		n := w / 4
		for i, v := range b[:n] {
			three |= v & (v >> 1)
			four := (*[16]byte)(row[i*16:])
			binary.LittleEndian.PutUint64(four[:8], pairs[v>>4])
			binary.LittleEndian.PutUint64(four[8:], pairs[v&15])
		}
		if n < len(b) {
			for v, row := b[n], row[n*16:]; len(row) >= 4; row, v = row[4:], v<<2 {
				three |= v >> 6 & (v >> 7)
				binary.LittleEndian.PutUint32(row, p[v>>6])
			}
		}
	}
	if three&0x55 != 0 {
		return checkIndex(3, size)
	}
	return nil
}

// indexes4 draws a tile of indexes of four bits.
func (t *tilePainter) indexes4(pix []byte, stride, w, h, size int, src []byte) error {
	perRow := (w + 1) / 2
	largest := byte(0)
	p := [16]uint32(t.palette[:])
	for y := range h {
		row := pix[y*stride:][:w*bpp]
		b := src[y*perRow:][:perRow]
		n := w / 2
		for i, v := range b[:n] {
			i0, i1 := v>>4, v&15
			largest = max(largest, i0, i1)
			binary.LittleEndian.PutUint64(row[i*8:], uint64(p[i0])|uint64(p[i1])<<32)
		}
		row, b = row[n*8:], b[n:]
		if len(b) > 0 && len(row) >= 4 {
			largest = max(largest, b[0]>>4)
			binary.LittleEndian.PutUint32(row, p[b[0]>>4])
		}
	}
	return checkIndex(largest, size)
}

func checkIndex(i byte, size int) error {
	if int(i) >= size {
		return malformed("rfb.ZRLE", "index %d into a palette of %d colours", i, size)
	}
	return nil
}

// plainRuns writes n pixels of runs, each a pixel and a length.
func (t *tilePainter) plainRuns(n int, src []byte) (int, error) {
	at, i := 0, 0
	for at < n {
		if len(src)-i < cpixel+1 {
			return 0, errShortTile
		}
		p := pixel(src[i:])
		i += cpixel
		run, k := runLength(src[i:], n-at)
		if k == 0 {
			return 0, badRun(run, n-at)
		}
		i += k
		t.run(at, run, p)
		at += run
	}
	return i, nil
}

// paletteRuns writes n pixels of runs, each an index and, if its top bit is
// set, a length.
func (t *tilePainter) paletteRuns(n, size int, src []byte) (int, error) {
	at, i := 0, 0
	for at < n {
		if i >= len(src) {
			return 0, errShortTile
		}
		index := src[i] & 127
		long := src[i]&128 != 0
		i++
		if int(index) >= size {
			return 0, checkIndex(index, size)
		}
		run := 1
		if long {
			var k int
			run, k = runLength(src[i:], n-at)
			if k == 0 {
				return 0, badRun(run, n-at)
			}
			i += k
		}
		t.run(at, run, t.palette[index&127])
		at += run
	}
	return i, nil
}

// runLength reads a length: one more than the sum of its bytes, of which the
// last is not 255. used is 0 when it is longer than most or src ends.
func runLength(src []byte, most int) (n, used int) {
	n = 1
	for _, b := range src {
		used++
		if n += int(b); n > most {
			return n, 0
		}
		if b != 255 {
			return n, used
		}
	}
	return 0, 0
}

// badRun is the error of a length that [runLength] did not take.
func badRun(n, most int) error {
	if n == 0 {
		return errShortTile
	}
	return malformed("rfb.ZRLE", "a run of %d pixels where %d are left", n, most)
}

// run writes n pixels at position at of the tile of runs.
func (t *tilePainter) run(at, n int, p uint32) {
	v := uint64(p) | uint64(p)<<32
	b := t.runs[at*bpp:]
	for {
		binary.LittleEndian.PutUint64(b, v)
		binary.LittleEndian.PutUint64(b[8:], v)
		if n -= 4; n <= 0 {
			return
		}
		b = b[16:]
	}
}

// copyRuns copies the tile of runs into the picture.
func (t *tilePainter) copyRuns(pix []byte, stride, w, h int) {
	row := w * bpp
	for y := range h {
		copy(pix[y*stride:][:row], t.runs[y*row:])
	}
}
