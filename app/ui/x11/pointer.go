package x11

import (
	"encoding/binary"
	"fmt"
	"image"

	"github.com/jezek/xgb/xproto"

	"deskvnc/viewer"
)

// Requests of the X input extension, version 2.
const (
	xiQueryPointer     = 40
	xiGetClientPointer = 45
	xiQueryVersion     = 47
)

// useInput starts the input extension, which knows more than five buttons.
// Without it the first three have to do.
func (h *Helper) useInput() {
	ext, err := xproto.QueryExtension(h.watch, uint16(len("XInputExtension")), "XInputExtension").Reply()
	if err != nil || ext == nil || !ext.Present {
		return
	}
	if r, err := ask(h.watch, []byte{ext.MajorOpcode, xiQueryVersion, 2, 0, 2, 0, 0, 0}); err != nil || binary.LittleEndian.Uint16(r[8:]) < 2 {
		return
	}
	r, err := ask(h.watch, []byte{ext.MajorOpcode, xiGetClientPointer, 2, 0, 0, 0, 0, 0})
	if err != nil || r[8] == 0 {
		return
	}
	h.xinput, h.device = ext.MajorOpcode, binary.LittleEndian.Uint16(r[10:])
}

// The buttons that each source knows of.
const (
	coreButtons = viewer.Left | viewer.Middle | viewer.Right
	allButtons  = coreButtons | viewer.Back | viewer.Forward
)

// Pointer tells where the pointer is, in pixels of the window, and which
// buttons are down.
func (h *Helper) Pointer() (at image.Point, held, known viewer.Buttons, ok bool) {
	if h.xinput != 0 {
		q := make([]byte, 12)
		q[0], q[1], q[2] = h.xinput, xiQueryPointer, 3
		binary.LittleEndian.PutUint32(q[4:], uint32(h.window))
		binary.LittleEndian.PutUint16(q[8:], h.device)
		if r, err := ask(h.watch, q); err == nil && len(r) >= 56 {
			// Coordinates are 16.16 fixed point.
			at = image.Pt(int(int32(binary.LittleEndian.Uint32(r[24:]))>>16), int(int32(binary.LittleEndian.Uint32(r[28:]))>>16))
			mask := r[56:]
			for n := range 10 { // buttons are numbered from 1
				if n/8 < len(mask) && mask[n/8]&(1<<(n%8)) != 0 {
					held |= button(n)
				}
			}
			return at, held, allButtons, true
		}
	}
	r, err := xproto.QueryPointer(h.watch, h.window).Reply()
	if err != nil || r == nil {
		return at, 0, 0, false
	}
	for n := 1; n <= 3; n++ {
		if r.Mask&(1<<(7+n)) != 0 {
			held |= button(n)
		}
	}
	return image.Pt(int(r.WinX), int(r.WinY)), held, coreButtons, true
}

// button is the bit of an X button; the wheel has none.
func button(n int) viewer.Buttons {
	switch n {
	case 1, 2, 3, 8, 9:
		return 1 << (n - 1)
	}
	return 0
}

// Picture takes a picture of the window as the X server has it.
func (h *Helper) Picture() (*image.RGBA, error) {
	g, err := xproto.GetGeometry(h.watch, xproto.Drawable(h.window)).Reply()
	if err != nil || g == nil {
		return nil, fmt.Errorf("x11: picture of the window: %v", err)
	}
	w, hgt := int(g.Width), int(g.Height)
	r, err := xproto.GetImage(h.watch, xproto.ImageFormatZPixmap, xproto.Drawable(h.window), 0, 0, g.Width, g.Height, ^uint32(0)).Reply()
	if err != nil || r == nil {
		return nil, fmt.Errorf("x11: picture of the window: %v", err)
	}
	if (r.Depth != 24 && r.Depth != 32) || len(r.Data) < 4*w*hgt {
		return nil, fmt.Errorf("x11: picture of the window: a screen of %d bits is not read", r.Depth)
	}
	img := image.NewRGBA(image.Rect(0, 0, w, hgt))
	for i := 0; i < 4*w*hgt; i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = r.Data[i+2], r.Data[i+1], r.Data[i], 0xff
	}
	return img, nil
}
