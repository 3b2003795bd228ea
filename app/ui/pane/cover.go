package pane

import "fyne.io/fyne/v2"

// Cover lays something over the pane, which has the keyboard then, below the
// questions of the machine; nil takes it away.
func (p *Pane) Cover(o fyne.CanvasObject, focus func()) {
	if p.closed {
		return
	}
	p.over.RemoveAll()
	p.covered = focus
	if o == nil {
		p.covered = nil
		p.Focus()
		return
	}
	p.LetGo()
	p.drop()
	p.over.Add(o)
	p.Focus()
}
