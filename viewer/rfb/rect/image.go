package rect

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"

	"deskvnc/viewer/frame"
)

// drawImage draws a decoded picture of w times h pixels at the start of dst.
// Transparency is not looked at.
func drawImage(dst []byte, stride, w, h int, o frame.Order, img image.Image) error {
	b := img.Bounds()
	if b.Dx() != w || b.Dy() != h {
		return fmt.Errorf("the picture is of %d x %d", b.Dx(), b.Dy())
	}
	r, g, bl := o.R*8&31, o.G*8&31, o.B*8&31
	var palette [256]uint32
	if m, ok := img.(*image.Paletted); ok {
		for i, c := range m.Palette[:min(len(m.Palette), len(palette))] {
			v, _ := color.NRGBAModel.Convert(c).(color.NRGBA) // the model makes nothing else
			palette[i] = uint32(v.R)<<r | uint32(v.G)<<g | uint32(v.B)<<bl
		}
	}
	for y := range h {
		row := dst[y*stride:][:w*bpp]
		switch m := img.(type) {
		case *image.YCbCr:
			drawYCbCr(row, m, b.Min.X, b.Min.Y+y, o)
		case *image.Gray:
			for x, v := range m.Pix[y*m.Stride:][:w] {
				binary.LittleEndian.PutUint32(row[x*bpp:], uint32(v)<<r|uint32(v)<<g|uint32(v)<<bl)
			}
		case *image.RGBA:
			drawRGB(row, m.Pix[y*m.Stride:][:w*4], r, g, bl)
		case *image.NRGBA:
			drawRGB(row, m.Pix[y*m.Stride:][:w*4], r, g, bl)
		case *image.Paletted:
			for x, i := range m.Pix[y*m.Stride:][:w] {
				binary.LittleEndian.PutUint32(row[x*bpp:], palette[i])
			}
		default: // 16 bits a sample
			for x := range w {
				cr, cg, cb, _ := img.At(b.Min.X+x, b.Min.Y+y).RGBA()
				binary.LittleEndian.PutUint32(row[x*bpp:], cr>>8<<r|cg>>8<<g|cb>>8<<bl)
			}
		}
	}
	return nil
}

// drawRGB draws pixels of red, green, blue and a fourth byte.
func drawRGB(row, src []byte, r, g, b uint8) {
	for ; len(row) >= bpp && len(src) >= 4; row, src = row[bpp:], src[4:] {
		binary.LittleEndian.PutUint32(row, uint32(src[0])<<(r&31)|uint32(src[1])<<(g&31)|uint32(src[2])<<(b&31))
	}
}

// drawYCbCr draws row y of a picture of luminance and colour differences
// (JFIF 1.02, conversion to and from RGB), in 16-bit fixed point.
func drawYCbCr(row []byte, m *image.YCbCr, x0, y int, o frame.Order) {
	w := len(row) / bpp
	ys := m.Y[m.YOffset(x0, y):][:w]
	c := m.COffset(x0, y)
	wide := 1 // pixels that share one pair of differences
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		wide = 2
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		wide = 4
	}
	n := (w + wide - 1) / wide
	cbs, crs := m.Cb[c:][:n], m.Cr[c:][:n]
	at0, at1, at2 := o.R*8&31, o.G*8&31, o.B*8&31
	if wide == 2 {
		// Two pixels in one store.
		pairs := w / 2
		ys2 := ys[:pairs*2]
		for i, cb := range cbs[:pairs] {
			dr, dg, db := differences(cb, crs[i])
			l0, l1 := int32(ys2[i*2])<<16, int32(ys2[i*2+1])<<16
			v0 := clamp(l0+dr)<<at0 | clamp(l0+dg)<<at1 | clamp(l0+db)<<at2
			v1 := clamp(l1+dr)<<at0 | clamp(l1+dg)<<at1 | clamp(l1+db)<<at2
			binary.LittleEndian.PutUint64(row, uint64(v0)|uint64(v1)<<32)
			row = row[2*bpp:]
		}
		ys, cbs, crs = ys[pairs*2:], cbs[pairs:], crs[pairs:]
	}
	for i, cb := range cbs {
		dr, dg, db := differences(cb, crs[i])
		for range min(wide, len(ys)) {
			l := int32(ys[0]) << 16
			ys = ys[1:]
			binary.LittleEndian.PutUint32(row, clamp(l+dr)<<at0|clamp(l+dg)<<at1|clamp(l+db)<<at2)
			row = row[bpp:]
		}
	}
}

// differences is what colour adds to the luminance of red, green and blue,
// with a half to round by.
func differences(cb, cr byte) (dr, dg, db int32) {
	b, r := int32(cb)-128, int32(cr)-128
	return 91881*r + 1<<15, -22554*b - 46802*r + 1<<15, 116130*b + 1<<15
}

// clamp is the whole part of v in 16-bit fixed point, from 0 to 255.
func clamp(v int32) uint32 {
	if uint32(v)&0xff000000 != 0 {
		return uint32(^(v >> 31)) & 255
	}
	return uint32(v >> 16)
}
