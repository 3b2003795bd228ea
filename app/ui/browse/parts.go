package browse

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
)

// A pathEntry is the line with the path of a folder.
type pathEntry struct {
	widget.Entry
	chord func(fyne.Shortcut) bool
	done  func(text string)
	leave func()
}

func newPathEntry(chord func(fyne.Shortcut) bool) *pathEntry {
	e := &pathEntry{chord: chord}
	e.ExtendBaseWidget(e)
	e.OnSubmitted = func(text string) { e.done(text) }
	return e
}

// TypedKey is called by the toolkit.
func (e *pathEntry) TypedKey(ev *fyne.KeyEvent) {
	if ev.Name == fyne.KeyEscape {
		e.leave()
		return
	}
	e.Entry.TypedKey(ev)
}

// TypedShortcut is called by the toolkit: the viewer's chords work here too.
func (e *pathEntry) TypedShortcut(s fyne.Shortcut) {
	if !e.chord(s) {
		e.Entry.TypedShortcut(s)
	}
}

// thin is the layout of a line.
type thin struct{}

// Layout is called by the toolkit.
func (thin) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Resize(size)
	}
}

// MinSize is called by the toolkit.
func (thin) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(1, 2) }

// footRow is a layout of a text and one at the right of it.
type footRow struct{}

// Layout is called by the toolkit.
func (footRow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	right := objects[1].(*look.Text)
	w := min(right.Natural(), size.Width)
	if right.Value() == "" {
		w = 0
	}
	h := objects[0].MinSize().Height
	objects[0].Move(fyne.NewPos(0, 0))
	objects[0].Resize(fyne.NewSize(max(size.Width-w, 0), h))
	right.Move(fyne.NewPos(size.Width-w, 0))
	right.Resize(fyne.NewSize(w, h))
}

// MinSize is called by the toolkit.
func (footRow) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }

// halves is a layout of two things beside each other with a line between, or
// below each other where there is little width.
type halves struct{}

// narrow is the width below which the sides are below each other.
const narrow = 430

// Layout is called by the toolkit.
func (halves) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	a, line, b := objects[0], objects[1], objects[2]
	if size.Width < narrow {
		h := (size.Height - 1) / 2
		a.Move(fyne.NewPos(0, 0))
		a.Resize(fyne.NewSize(size.Width, h))
		line.Move(fyne.NewPos(0, h))
		line.Resize(fyne.NewSize(size.Width, 1))
		b.Move(fyne.NewPos(0, h+1))
		b.Resize(fyne.NewSize(size.Width, h))
		return
	}
	w := (size.Width - 1) / 2
	a.Move(fyne.NewPos(0, 0))
	a.Resize(fyne.NewSize(w, size.Height))
	line.Move(fyne.NewPos(w, 0))
	line.Resize(fyne.NewSize(1, size.Height))
	b.Move(fyne.NewPos(w+1, 0))
	b.Resize(fyne.NewSize(w, size.Height))
}

// MinSize is called by the toolkit.
func (halves) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(240, 120) }

func show(o fyne.CanvasObject, on bool) {
	if on {
		o.Show()
	} else {
		o.Hide()
	}
}

func enable(b *look.Button, on bool) {
	if on {
		b.Enable()
	} else {
		b.Disable()
	}
}

// sentence makes a reason one.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	r := []rune(s)
	if r[0] >= 'a' && r[0] <= 'z' {
		r[0] += 'A' - 'a'
	}
	if last := r[len(r)-1]; last != '.' && last != '!' && last != '?' {
		r = append(r, '.')
	}
	return string(r)
}
