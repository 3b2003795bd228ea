package picture

import (
	"encoding/binary"
	"image"
)

// half is the size of a picture of n pixels after halving.
func half(n int) int { return (n + 1) / 2 }

// halve draws the part of src that r covers into dst at half the size, each
// pixel the mean of four, and returns the part of dst that it drew. A last odd
// column or row stands for itself.
func halve(dst, src *image.RGBA, r image.Rectangle) image.Rectangle {
	out := image.Rect(r.Min.X/2, r.Min.Y/2, half(r.Max.X), half(r.Max.Y)).Intersect(dst.Rect)
	w, h := src.Rect.Dx(), src.Rect.Dy()
	for y := out.Min.Y; y < out.Max.Y; y++ {
		upper := src.Pix[2*y*src.Stride:]
		lower := src.Pix[min(2*y+1, h-1)*src.Stride:]
		to := dst.Pix[y*dst.Stride:]
		x := out.Min.X
		for ; x < out.Max.X && 2*x+1 < w; x++ {
			a := binary.LittleEndian.Uint64(upper[8*x:])
			b := binary.LittleEndian.Uint64(lower[8*x:])
			binary.LittleEndian.PutUint32(to[4*x:], mean(a, b))
		}
		for ; x < out.Max.X; x++ { // the odd last column
			a := uint64(binary.LittleEndian.Uint32(upper[8*x:]))
			b := uint64(binary.LittleEndian.Uint32(lower[8*x:]))
			binary.LittleEndian.PutUint32(to[4*x:], mean(a|a<<32, b|b<<32))
		}
	}
	return out
}

// mean is the mean of four pixels, two in each word.
func mean(a, b uint64) uint32 {
	const even = 0x00ff00ff00ff00ff
	sum := a&even + b&even         // bytes 0 and 2 of both pixels, 16 bits each
	odd := a>>8&even + b>>8&even   // bytes 1 and 3
	sum = sum&0xffffffff + sum>>32 // both pixels together
	odd = odd&0xffffffff + odd>>32
	sum = (sum + 0x00020002) >> 2 & 0x00ff00ff
	odd = (odd + 0x00020002) >> 2 & 0x00ff00ff
	return uint32(sum | odd<<8)
}
