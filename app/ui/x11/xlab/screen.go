package xlab

import (
	"image"
	"image/color"

	"github.com/jezek/xgb/xproto"
)

// Cover fills the screen with a colour, above all windows, and takes the
// keyboard and the mouse of it.
func (d *Driver) Cover(c color.RGBA) xproto.Window {
	d.T.Helper()
	s := xproto.Setup(d.C).DefaultScreen(d.C)
	id, err := xproto.NewWindowId(d.C)
	d.Check(err)
	g, err := xproto.GetGeometry(d.C, xproto.Drawable(s.Root)).Reply()
	d.Check(err)
	pixel := uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B)
	d.Check(xproto.CreateWindowChecked(d.C, s.RootDepth, id, s.Root, 0, 0, g.Width, g.Height, 0, xproto.WindowClassInputOutput, s.RootVisual,
		xproto.CwBackPixel|xproto.CwOverrideRedirect, []uint32{pixel, 1}).Check())
	d.Check(xproto.MapWindowChecked(d.C, id).Check())
	return id
}

// Fill paints a rectangle of a window.
func (d *Driver) Fill(w xproto.Window, r image.Rectangle, c color.RGBA) {
	d.T.Helper()
	gc, err := xproto.NewGcontextId(d.C)
	d.Check(err)
	pixel := uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B)
	d.Check(xproto.CreateGCChecked(d.C, gc, xproto.Drawable(w), xproto.GcForeground, []uint32{pixel}).Check())
	d.Check(xproto.PolyFillRectangleChecked(d.C, xproto.Drawable(w), gc, []xproto.Rectangle{{X: int16(r.Min.X), Y: int16(r.Min.Y), Width: uint16(r.Dx()), Height: uint16(r.Dy())}}).Check())
	xproto.FreeGC(d.C, gc)
}

// Resize changes a window's size, as a window manager is asked to.
func (d *Driver) Resize(w xproto.Window, width, height int) {
	d.T.Helper()
	d.Check(xproto.ConfigureWindowChecked(d.C, w, xproto.ConfigWindowWidth|xproto.ConfigWindowHeight, []uint32{uint32(width), uint32(height)}).Check())
}

// Screen is a picture of the whole screen.
func (d *Driver) Screen() *image.RGBA {
	d.T.Helper()
	root := xproto.Setup(d.C).DefaultScreen(d.C).Root
	g, err := xproto.GetGeometry(d.C, xproto.Drawable(root)).Reply()
	d.Check(err)
	r, err := xproto.GetImage(d.C, xproto.ImageFormatZPixmap, xproto.Drawable(root), 0, 0, g.Width, g.Height, ^uint32(0)).Reply()
	d.Check(err)
	img := image.NewRGBA(image.Rect(0, 0, int(g.Width), int(g.Height)))
	for i := 0; i+4 <= len(img.Pix) && i+4 <= len(r.Data); i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = r.Data[i+2], r.Data[i+1], r.Data[i], 0xff
	}
	return img
}

// Find is the smallest rectangle around all pixels of a colour.
func Find(img *image.RGBA, c color.RGBA) image.Rectangle {
	var out image.Rectangle
	for y := range img.Rect.Dy() {
		first, last := -1, -1
		for x := range img.Rect.Dx() {
			i := y*img.Stride + 4*x
			if img.Pix[i] == c.R && img.Pix[i+1] == c.G && img.Pix[i+2] == c.B {
				if first < 0 {
					first = x
				}
				last = x
			}
		}
		if first >= 0 {
			out = out.Union(image.Rect(first, y, last+1, y+1))
		}
	}
	return out
}

// Named finds the window with a title among those a window manager shows, or
// without one among all on the screen.
func (d *Driver) Named(ok func(title string) bool) (xproto.Window, bool) {
	d.T.Helper()
	atom := func(name string) xproto.Atom {
		r, err := xproto.InternAtom(d.C, false, uint16(len(name)), name).Reply()
		d.Check(err)
		return r.Atom
	}
	root := xproto.Setup(d.C).DefaultScreen(d.C).Root
	list, err := xproto.GetProperty(d.C, false, root, atom("_NET_CLIENT_LIST"), xproto.GetPropertyTypeAny, 0, 256).Reply()
	d.Check(err)
	var windows []xproto.Window
	for i := 0; i+4 <= len(list.Value); i += 4 {
		windows = append(windows, xproto.Window(uint32(list.Value[i])|uint32(list.Value[i+1])<<8|uint32(list.Value[i+2])<<16|uint32(list.Value[i+3])<<24))
	}
	if len(windows) == 0 {
		tree, err := xproto.QueryTree(d.C, root).Reply()
		d.Check(err)
		windows = tree.Children
	}
	name := atom("_NET_WM_NAME")
	for _, id := range windows {
		r, err := xproto.GetProperty(d.C, false, id, name, xproto.GetPropertyTypeAny, 0, 256).Reply()
		if err == nil && ok(string(r.Value)) {
			return id, true
		}
	}
	return 0, false
}

// Keymap is the keysym of each key of the first group without modifiers.
func (d *Driver) Keymap() map[int]uint32 {
	d.T.Helper()
	s := xproto.Setup(d.C)
	n := byte(s.MaxKeycode - s.MinKeycode + 1)
	r, err := xproto.GetKeyboardMapping(d.C, s.MinKeycode, n).Reply()
	d.Check(err)
	out := map[int]uint32{}
	for i := range int(n) {
		if sym := uint32(r.Keysyms[i*int(r.KeysymsPerKeycode)]); sym != 0 {
			out[int(s.MinKeycode)+i] = sym
		}
	}
	return out
}

// Uncover takes a cover away.
func (d *Driver) Uncover(w xproto.Window) {
	d.T.Helper()
	d.Check(xproto.DestroyWindowChecked(d.C, w).Check())
}

// Size is a window's size.
func (d *Driver) Size(w xproto.Window) image.Point {
	d.T.Helper()
	g, err := xproto.GetGeometry(d.C, xproto.Drawable(w)).Reply()
	d.Check(err)
	return image.Pt(int(g.Width), int(g.Height))
}
