package term

import (
	"fmt"
	"image"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/look"
)

// labelTime is how long the size is shown.
const labelTime = 900 * time.Millisecond

// A sizeLabel shows for a moment how many columns and rows there are.
type sizeLabel struct {
	object *fyne.Container
	text   *look.Text
	fence  *fence.Fence
	timer  *time.Timer
	said   int
}

func newSizeLabel(f *fence.Fence) *sizeLabel {
	l := &sizeLabel{fence: f, text: look.NewText("", theme.ColorNameForeground, theme.SizeNameSubHeadingText, true)}
	l.object = container.NewStack(look.NewPanel(look.ColorCard, look.ColorBorder, 8), container.New(look.Inset{8, 14, 8, 14}, l.text))
	l.object.Hide()
	return l
}

func (l *sizeLabel) show(cells image.Point) {
	l.stop()
	l.said++
	said := l.said
	l.text.SetText(fmt.Sprintf("%d × %d", cells.X, cells.Y))
	l.text.SetMinWidth(l.text.Natural())
	l.object.Show()
	l.timer = time.AfterFunc(labelTime, func() {
		l.fence.Go(func() {
			if l.said == said {
				l.object.Hide()
			}
		})
	})
}

// place puts the label into the middle.
func (l *sizeLabel) place(size fyne.Size) {
	m := l.object.MinSize()
	l.object.Resize(m)
	l.object.Move(fyne.NewPos((size.Width-m.Width)/2, (size.Height-m.Height)/2))
}

func (l *sizeLabel) stop() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}
