package sample

import (
	"image"
	"image/color"
)

// The sizes that a sample desktop can have.
const (
	MinWidth  = 320
	MinHeight = 200
	MaxSide   = 8192
)

// The size of a sample desktop unless Options say otherwise.
const (
	DefaultWidth  = 1920
	DefaultHeight = 1080
)

// The pad's size on a desktop with room for it.
const (
	PadWidth  = 400
	PadHeight = 300
)

// padColors are what the pad turns through, one a click. Neighbours differ by
// far more than any lossy encoding can blur.
var padColors = [...]color.RGBA{
	{0x2f, 0x6f, 0xed, 0xff}, // blue
	{0xf0, 0x8c, 0x1a, 0xff}, // orange
	{0x1f, 0x9d, 0x61, 0xff}, // green
	{0xd6, 0x33, 0x6c, 0xff}, // rose
	{0x0f, 0xa3, 0xb1, 0xff}, // teal
	{0xf2, 0xc4, 0x0f, 0xff}, // yellow
	{0x7a, 0x3f, 0xc8, 0xff}, // violet
	{0x5b, 0x64, 0x75, 0xff}, // slate
}

// PadColor is the pad's colour after that many clicks. The pad is plain but
// for a line of text in the lowest part of it.
func PadColor(clicks int) color.RGBA {
	n := len(padColors)
	return padColors[(clicks%n+n)%n]
}

// PadRect is where the pad is on a desktop of w times h pixels: exactly in
// the middle, [PadWidth] by [PadHeight], or half the desktop if that is less.
func PadRect(w, h int) image.Rectangle {
	pw, ph := min(PadWidth, w/2), min(PadHeight, h/2)
	x, y := (w-pw)/2, (h-ph)/2
	return image.Rect(x, y, x+pw, y+ph)
}

// FieldRect is the text field's inside, where a click gives it the focus.
func FieldRect(w, h int) image.Rectangle { return newLayout(w, h).field }

// ListRect is the part of the list that scrolls; empty when the desktop is too
// small to show it.
func ListRect(w, h int) image.Rectangle { return newLayout(w, h).rows }

// SwitchRect is the switch that starts and stops the animation; empty when
// the desktop is too small to show it.
func SwitchRect(w, h int) image.Rectangle { return newLayout(w, h).toggle }

// AnimationRect is where the animation plays; empty when the desktop is too
// small to show it.
func AnimationRect(w, h int) image.Rectangle { return newLayout(w, h).bars }

// Measures of the drawing, in pixels.
const (
	barHeight    = 36
	headHeight   = 34 // of a card
	rowHeight    = 36 // of the list
	cardRadius   = 10
	shadowSpread = 22
	maxColumn    = 480 // width of the cards beside the pad
	maxTall      = 780 // height of the cards beside the pad
	minColumn    = 110 // under this, the cards beside the pad are left out
	thumbWidth   = 6
)

// A layout is where everything is on a desktop of one size. Rectangles of
// what has no room are empty.
type layout struct {
	w, h int

	bar, clock, title image.Rectangle

	welcome image.Rectangle // card of explaining words
	padCard image.Rectangle
	pad     image.Rectangle

	note     image.Rectangle // card with the field
	field    image.Rectangle
	clipLine image.Rectangle
	help     image.Rectangle // words under the field, where tips has no room
	tips     image.Rectangle // card of things to try

	list  image.Rectangle // card
	rows  image.Rectangle // moves when it scrolls
	track image.Rectangle // of the scroll bar

	motion image.Rectangle // card with the animation
	toggle image.Rectangle
	bars   image.Rectangle
}

func newLayout(w, h int) layout {
	l := layout{w: w, h: h, pad: PadRect(w, h)}
	bar := barHeight
	if h < 400 {
		bar = 26
	}
	l.bar = image.Rect(0, 0, w, bar)
	l.clock = image.Rect(w-min(170, w/2), 0, w, bar)
	l.title = image.Rect(0, 0, w-l.clock.Dx(), bar)
	head := headHeight
	if h < 400 {
		head = 0
	}
	l.padCard = image.Rect(l.pad.Min.X, l.pad.Min.Y-head, l.pad.Max.X, l.pad.Max.Y)
	if head > 0 {
		l.padCard = l.padCard.Inset(-6)
		l.padCard.Min.Y += 6
	}

	gap := min(max((w-l.pad.Dx())/24, 10), 40)
	column := min(maxColumn, (w-l.pad.Dx())/2-2*gap)
	if column < minColumn || h < 400 {
		l.small(bar)
		return l
	}
	vgap := min(max(h/60, 10), 28)
	top, bottom := bar+vgap, h-vgap
	if bottom-top > maxTall {
		top = (h - maxTall) / 2
		bottom = top + maxTall
	}

	l.note = image.Rect(l.pad.Min.X-gap-column, top, l.pad.Min.X-gap, bottom)
	l.list = image.Rect(l.pad.Max.X+gap, top, l.pad.Max.X+gap+column, bottom)
	if bottom-top >= 560 && column >= 240 {
		l.tips = l.note
		l.note.Max.Y = l.padCard.Max.Y - (l.padCard.Dy() / 3)
		l.tips.Min.Y = l.note.Max.Y + vgap
	}
	inner := 14
	if column < 200 {
		inner = 10
	}
	in := l.note.Inset(inner)
	in.Min.Y = l.note.Min.Y + headHeight + 10
	if l.tips.Empty() {
		f := faces().small
		tall := len(f.wrap(helpText, in.Dx())) * f.height
		l.help = image.Rect(in.Min.X, in.Max.Y-tall, in.Max.X, in.Max.Y)
		in.Max.Y -= tall + 8
	}
	l.clipLine = image.Rect(in.Min.X, in.Max.Y-22, in.Max.X, in.Max.Y)
	l.field = image.Rect(in.Min.X, in.Min.Y, in.Max.X, l.clipLine.Min.Y-10)

	l.rows = image.Rect(l.list.Min.X+1, l.list.Min.Y+headHeight+1, l.list.Max.X-14, l.list.Max.Y-cardRadius)
	l.track = image.Rect(l.list.Max.X-11, l.rows.Min.Y+3, l.list.Max.X-11+thumbWidth, l.rows.Max.Y-3)

	if a := (image.Rectangle{image.Pt(l.padCard.Min.X, top), image.Pt(l.padCard.Max.X, l.padCard.Min.Y-vgap)}); a.Dy() >= 40 {
		l.welcome = a
	}
	if a := (image.Rectangle{image.Pt(l.padCard.Min.X, l.padCard.Max.Y+vgap), image.Pt(l.padCard.Max.X, bottom)}); a.Dy() >= headHeight+30 {
		l.motion = a
		l.toggle = image.Rect(a.Max.X-14-40, a.Min.Y+6, a.Max.X-14, a.Min.Y+6+22)
		l.bars = image.Rect(a.Min.X+14, a.Min.Y+headHeight+8, a.Max.X-14, a.Max.Y-12)
	}
	return l
}

// small places what a small desktop still shows: the pad, and a field of one
// line under it.
func (l *layout) small(bar int) {
	m := 12
	under := l.h - l.padCard.Max.Y
	tall := min(30, under-12)
	y := l.padCard.Max.Y + (under-tall)/2
	l.field = image.Rect(m, y, l.w-m, y+tall)
}
