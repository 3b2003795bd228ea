package frame

import (
	"encoding/binary"
	"image"
)

// A View is a copy of part of a picture and what it was when it was copied.
type View struct {
	Image  *image.RGBA // opaque; its bounds start at 0,0
	Region image.Rectangle
	W, H   int // the whole picture's size
	Gen    Generations
	Whole  bool // every pixel of Region had been painted
}

// Snapshot copies a region, or the whole picture for an empty one, in one
// consistent piece. ok is false when region is not inside the picture or there
// is no picture. dst is reused when it is large enough; it may be nil.
func (f *Frame) Snapshot(region image.Rectangle, dst *image.RGBA) (View, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	full := image.Rect(0, 0, f.w, f.h)
	if region.Empty() {
		region = full
	}
	if region.Empty() || !region.In(full) {
		return View{W: f.w, H: f.h, Gen: f.gen}, false
	}
	w, h := region.Dx(), region.Dy()
	img := dst
	if img == nil || cap(img.Pix) < w*h*4 {
		img = image.NewRGBA(image.Rect(0, 0, w, h))
	} else {
		img = &image.RGBA{Pix: img.Pix[:w*h*4], Stride: w * 4, Rect: image.Rect(0, 0, w, h)}
	}
	f.copyOut(img.Pix, img.Stride, region)
	return View{Image: img, Region: region, W: f.w, H: f.h, Gen: f.gen, Whole: f.whole(region)}, true
}

// copyOut copies region, which lies inside, as opaque RGBA. The caller holds
// the lock.
func (f *Frame) copyOut(dst []byte, stride int, region image.Rectangle) {
	n := region.Dx() * 4
	if f.pix == nil { // nothing was ever drawn: black
		for y := range region.Dy() {
			row := dst[y*stride:][:n]
			clear(row)
			for i := 3; i < n; i += 4 {
				row[i] = 0xff
			}
		}
		return
	}
	for y := region.Min.Y; y < region.Max.Y; y++ {
		src := f.pix[y*f.stride+region.Min.X*4:]
		toRGBA(dst[(y-region.Min.Y)*stride:][:n], src[:n], f.order)
	}
}

// toRGBA turns a row of pixels into opaque RGBA.
func toRGBA(dst, src []byte, o Order) {
	if len(src) > len(dst) {
		src = src[:len(dst)]
	}
	if o == BGRX {
		// Two pixels at once: B G R X -> R G B A.
		for len(src) >= 8 && len(dst) >= 8 {
			v := binary.LittleEndian.Uint64(src)
			v = v&0x0000ff000000ff00 | v>>16&0x000000ff000000ff | v<<16&0x00ff000000ff0000 | 0xff000000ff000000
			binary.LittleEndian.PutUint64(dst, v)
			src, dst = src[8:], dst[8:]
		}
	}
	for len(src) >= 4 && len(dst) >= 4 {
		dst[0], dst[1], dst[2], dst[3] = src[o.R&3], src[o.G&3], src[o.B&3], 0xff
		src, dst = src[4:], dst[4:]
	}
}

// Checksum is the FNV-1a sum (32 bits) over red, green and blue of every pixel
// in row order: the figure by which two decoders are compared.
func (f *Frame) Checksum() uint32 {
	f.mu.RLock()
	defer f.mu.RUnlock()
	const offset, prime = 2166136261, 16777619
	h := uint32(offset)
	for i := 0; i+4 <= len(f.pix); i += 4 {
		p := f.pix[i : i+4 : i+4]
		h = (h ^ uint32(p[f.order.R&3])) * prime
		h = (h ^ uint32(p[f.order.G&3])) * prime
		h = (h ^ uint32(p[f.order.B&3])) * prime
	}
	return h
}
