package frame

import (
	"encoding/binary"
	"image"
)

// Shrink scales an opaque picture down to w times h pixels with a box filter:
// every pixel of the result is the mean of the area it covers. Neither side
// may be larger than src's; w and h are at least 1. dst is reused when it is
// large enough; it may be nil.
func Shrink(dst, src *image.RGBA, w, h int) *image.RGBA {
	sw, sh := src.Rect.Dx(), src.Rect.Dy()
	if w == sw && h == sh {
		return src
	}
	if dst == nil || cap(dst.Pix) < w*h*4 {
		dst = image.NewRGBA(image.Rect(0, 0, w, h))
	} else {
		dst = &image.RGBA{Pix: dst.Pix[:w*h*4], Stride: w * 4, Rect: image.Rect(0, 0, w, h)}
	}
	columns, rows := boxes(sw, w, columnWeight), boxes(sh, h, rowWeight)
	// One source row, summed over the rows of a box: red, green and blue in
	// three lanes of 21 bits, which hold 8 bits of colour and 13 of weight.
	sums := make([]uint64, sw)
	for y := range h {
		clear(sums)
		for i, weight := range rows[y].weights {
			addRow(sums, src.Pix[(rows[y].first+i)*src.Stride:][:sw*4], uint64(weight))
		}
		out := dst.Pix[y*dst.Stride:][:w*4]
		for x := range columns {
			c := &columns[x]
			var sum uint64
			in := sums[c.first:][:len(c.weights)]
			for i, weight := range c.weights {
				sum += in[i] * uint64(weight)
			}
			sum += half | half<<21 | half<<42
			o := out[x*4:][:4:4]
			o[0], o[1], o[2], o[3] = uint8(sum>>13), uint8(sum>>34), uint8(sum>>55), 0xff
		}
	}
	return dst
}

// The weights of one box sum to these; together they make 13 bits.
const (
	rowWeight    = 1 << 6
	columnWeight = 1 << 7
	half         = uint64(rowWeight * columnWeight / 2)
)

// addRow adds a row of pixels, times weight, to the sums.
func addRow(sums []uint64, row []byte, weight uint64) {
	if len(row) < len(sums)*4 {
		return
	}
	for i := range sums {
		v := uint64(binary.LittleEndian.Uint32(row[i*4:]))
		sums[i] += (v&0xff | v&0xff00<<13 | v&0xff0000<<26) * weight
	}
}

// A box is the run of source pixels that one result pixel covers.
type box struct {
	first   int
	weights []uint16
}

// boxes divides n source pixels into m boxes whose weights sum to total each.
func boxes(n, m, total int) []box {
	out := make([]box, m)
	all := make([]uint16, 0, n+m)
	for i := range out {
		// The box covers [i*n, (i+1)*n) in units of a source pixel / m.
		from, to := i*n, (i+1)*n
		first, last := from/m, (to-1)/m
		start, before := len(all), 0
		for j := first; j <= last; j++ {
			// The share of the box up to the end of source pixel j, rounded,
			// less what was given out: the weights sum to total exactly.
			share := (2*total*(min(to, (j+1)*m)-from) + n) / (2 * n)
			all = append(all, uint16(share-before))
			before = share
		}
		out[i] = box{first: first, weights: all[start:len(all):len(all)]}
	}
	return out
}
