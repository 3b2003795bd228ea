package sample

import (
	"image"
	"slices"
	"strings"
)

// maxNote bounds the characters in the text field.
const maxNote = 2000

// A note is the text in the field and where the caret stands in it.
type note struct {
	text  []rune
	caret int
}

// insert puts characters in before the caret. What has no room is dropped.
func (n *note) insert(r ...rune) {
	r = r[:min(len(r), maxNote-len(n.text))]
	n.text = slices.Insert(n.text, n.caret, r...)
	n.caret += len(r)
}

// backspace takes out the character before the caret, del the one after it.
func (n *note) backspace() {
	if n.caret > 0 {
		n.caret--
		n.del()
	}
}

func (n *note) del() {
	if n.caret < len(n.text) {
		n.text = slices.Delete(n.text, n.caret, n.caret+1)
	}
}

// home and end go to the ends of the line that the caret is in.
func (n *note) home() {
	for n.caret > 0 && n.text[n.caret-1] != '\n' {
		n.caret--
	}
}

func (n *note) end() {
	for n.caret < len(n.text) && n.text[n.caret] != '\n' {
		n.caret++
	}
}

// A noteLine is a line as it is shown: a piece of the text.
type noteLine struct{ from, to int }

// lines breaks the text into lines of at most w pixels.
func (n *note) lines(f *face, w int) []noteLine {
	var out []noteLine
	from, wide := 0, 0
	for i, r := range n.text {
		if r == '\n' {
			out = append(out, noteLine{from, i})
			from, wide = i+1, 0
			continue
		}
		cw := f.width(string(r))
		if wide+cw > w && i > from {
			out = append(out, noteLine{from, i})
			from, wide = i, 0
		}
		wide += cw
	}
	return append(out, noteLine{from, len(n.text)})
}

func (n *note) String() string { return string(n.text) }

// drawField draws the text field.
func (s *scene) drawField(c *canvas) {
	r, f := s.lay.field, faces().body
	edge, wide := uint32(0xc3cad8), 1
	if s.focus == onField {
		edge, wide = accent, 2
	}
	c.round(r, 6, allCorners, edge)
	c.round(r.Inset(wide), 5, allCorners, 0xffffff)
	in := r.Inset(8)
	if r.Dy() < f.height+16 {
		in.Min.Y = r.Min.Y + (r.Dy()-f.height)/2 + 1
		in.Max.Y = in.Min.Y + f.height
	}
	box := c.within(r.Inset(2))
	if len(s.note.text) == 0 {
		box.text(f, in.Min.X, in.Min.Y, "Type here", 0xa3abbd)
	}
	lines := s.note.lines(f, in.Dx())
	at := 0 // the line with the caret
	for i, l := range lines {
		if s.note.caret >= l.from && s.note.caret <= l.to {
			at = i
			if s.note.caret < l.to || s.note.caret == len(s.note.text) || s.note.text[s.note.caret] == '\n' {
				break
			}
		}
	}
	fit := max(in.Dy()/f.height, 1)
	first := max(at-fit+1, 0)
	for i := first; i < min(first+fit, len(lines)); i++ {
		y := in.Min.Y + (i-first)*f.height
		text := strings.ReplaceAll(string(s.note.text[lines[i].from:lines[i].to]), "\t", "  ")
		box.text(f, in.Min.X, y, text, ink)
		if i == at && s.focus == onField {
			x := in.Min.X + f.width(string(s.note.text[lines[i].from:s.note.caret]))
			box.fill(image.Rect(x, y, x+1, y+f.height-2), ink)
		}
	}
}
