package rfbtest

import (
	"encoding/binary"
	"image/color"
)

// Update is a FramebufferUpdate of rectangles, each made by [Rect].
func Update(rects ...[]byte) []byte {
	b := []byte{0, 0}
	b = binary.BigEndian.AppendUint16(b, uint16(len(rects)))
	for _, r := range rects {
		b = append(b, r...)
	}
	return b
}

// Rect is one rectangle: its head and what follows it.
func Rect(x, y, w, h int, encoding int32, body ...byte) []byte {
	var b []byte
	for _, v := range []int{x, y, w, h} {
		b = binary.BigEndian.AppendUint16(b, uint16(v))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(encoding))
	return append(b, body...)
}

// Fill is n pixels of one colour, in the format of [BGRX].
func Fill(n int, c color.RGBA) []byte {
	b := make([]byte, 0, 4*n)
	for range n {
		b = append(b, c.B, c.G, c.R, 0)
	}
	return b
}

// Screens is the body of an ExtendedDesktopSize rectangle: for each screen
// its id, x, y, width and height.
func Screens(screens ...[5]int) []byte {
	b := []byte{byte(len(screens)), 0, 0, 0}
	for _, s := range screens {
		b = binary.BigEndian.AppendUint32(b, uint32(s[0]))
		for _, v := range s[1:] {
			b = binary.BigEndian.AppendUint16(b, uint16(v))
		}
		b = append(b, 0, 0, 0, 0) // flags
	}
	return b
}

// CutText is a ServerCutText message.
func CutText(latin1 []byte) []byte {
	b := []byte{3, 0, 0, 0}
	b = binary.BigEndian.AppendUint32(b, uint32(len(latin1)))
	return append(b, latin1...)
}
