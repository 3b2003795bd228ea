package pane

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/look"
)

// noticeTime is how long a notice stays by itself.
const noticeTime = 8 * time.Second

// A notice is a short bar at the upper edge of the pane: what a person should
// know about the connection although nothing has failed. It goes by itself.
type notice struct {
	object *fyne.Container
	text   *widget.RichText
	fence  *fence.Fence
	timer  *time.Timer
	said   int // counts what was said
}

func newNotice(f *fence.Fence) *notice {
	n := &notice{fence: f, text: look.NewParagraph("", theme.ColorNameForeground, theme.SizeNameText)}
	end := look.NewButton("", theme.CancelIcon(), n.hide, nil)
	bar := container.NewStack(look.NewPanel(look.ColorCard, look.ColorBorder, 8),
		container.New(look.Inset{2, 4, 2, 8}, container.NewBorder(nil, nil, nil, container.NewCenter(end), n.text)))
	n.object = container.New(atTop{}, bar)
	n.object.Hide()
	return n
}

// atTop is a layout that puts one object at the upper edge, as wide as a card.
type atTop struct{}

// Layout is called by the toolkit.
func (atTop) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	const margin = 8
	for _, o := range objects {
		w := max(min(cardWidth+80, size.Width-2*margin), 60)
		o.Resize(fyne.NewSize(w, o.Size().Height)) // wrapped text knows its height only then
		o.Resize(fyne.NewSize(w, o.MinSize().Height))
		o.Move(fyne.NewPos((size.Width-w)/2, margin))
	}
}

// MinSize asks for nothing.
func (atTop) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(60, 20) }

// show says something, in place of what was said before. Trouble stays until
// the person takes it away.
func (n *notice) show(text string, trouble bool) {
	n.stop()
	n.said++
	color := theme.ColorNameForeground
	if trouble {
		color = theme.ColorNameError
	}
	look.SetParagraph(n.text, text, color)
	n.object.Show()
	n.object.Refresh()
	if trouble {
		return
	}
	said := n.said
	n.timer = time.AfterFunc(noticeTime, func() {
		n.fence.Go(func() {
			if n.said == said {
				n.hide()
			}
		})
	})
}

func (n *notice) hide() {
	n.stop()
	n.object.Hide()
}

// stop ends the time that a notice stays.
func (n *notice) stop() {
	if n.timer != nil {
		n.timer.Stop()
		n.timer = nil
	}
}

// Tell shows a short bar at the upper edge of the pane.
func (p *Pane) Tell(text string, trouble bool) {
	if !p.closed {
		p.notice.show(text, trouble)
	}
}
