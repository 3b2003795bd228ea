package browse

import (
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/viewer/files"
)

// A jobRow is one transfer in the strip.
type jobRow struct {
	widget.BaseWidget
	s       *strip
	id      int
	state   files.State
	icon    *widget.Icon
	name    *look.Text
	text    *look.Text
	bar     *meter
	hold    *look.Button
	end     *look.Button
	content *fyne.Container
}

func newJobRow(s *strip) *jobRow {
	r := &jobRow{
		s: s, icon: widget.NewIcon(theme.DownloadIcon()), bar: newMeter(),
		name: look.NewText("", theme.ColorNameForeground, theme.SizeNameText, false),
		text: look.NewText("", look.ColorMuted, theme.SizeNameCaptionText, false),
	}
	hint := s.b.config.Hint
	r.hold = look.NewButton("", theme.MediaPauseIcon(), r.holdOrGo, hint("Pause, go on, or try again"))
	r.end = look.NewButton("", theme.CancelIcon(), func() { s.b.queue.Cancel(r.id) }, hint("Cancel"))
	r.content = container.New(&jobLayout{r})
	for _, o := range []fyne.CanvasObject{r.icon, r.name, r.bar, r.text, r.hold, r.end} {
		r.content.Add(o)
	}
	r.ExtendBaseWidget(r)
	return r
}

func (r *jobRow) holdOrGo() {
	q := r.s.b.queue
	switch r.state {
	case files.Failed, files.Cancelled:
		q.Retry(r.id)
	case files.Paused:
		q.Resume(r.id)
	case files.Done:
	default:
		q.Pause(r.id)
	}
}

// show shows a transfer.
func (r *jobRow) show(j files.JobState) {
	r.id, r.state = j.ID, j.State
	icon, path := theme.DownloadIcon(), files.Base(j.Job.Remote)
	if j.Job.Direction == files.Upload {
		icon, path = theme.UploadIcon(), filepath.Base(j.Job.Local)
	}
	if r.icon.Resource != icon {
		r.icon.SetResource(icon)
	}
	r.name.SetText(files.Shown(path))
	text, trouble := jobText(j)
	r.text.SetText(text)
	color := look.ColorMuted
	if trouble {
		color = theme.ColorNameError
	}
	r.text.SetColor(color)
	part := j.Progress.Percent() / 100
	if j.State == files.Done {
		part = 1
	}
	r.bar.set(part, j.State != files.Done, trouble)
	hold := theme.MediaPauseIcon()
	switch j.State {
	case files.Failed, files.Cancelled:
		hold = theme.ViewRefreshIcon()
	case files.Paused:
		hold = theme.MediaPlayIcon()
	}
	if r.hold.Icon.Name() != hold.Name() {
		r.hold.SetIcon(hold)
	}
	show(r.hold, j.State != files.Done)
	show(r.end, !over(j.State))
}

// CreateRenderer is called by the toolkit.
func (r *jobRow) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(r.content) }

// jobLayout puts the parts of a transfer into one line.
type jobLayout struct{ r *jobRow }

// Layout is called by the toolkit.
func (l *jobLayout) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	r := l.r
	put := func(o fyne.CanvasObject, x, w, h float32) {
		o.Move(fyne.NewPos(x, (size.Height-h)/2))
		o.Resize(fyne.NewSize(max(w, 0), h))
	}
	const icon, button, bar = 16, 28, 90
	put(r.icon, 10, icon, icon)
	put(r.end, size.Width-button-6, button, button)
	put(r.hold, size.Width-2*button-6, button, button)
	left, right := float32(icon+12), size.Width-2*button-10
	wide := (right - left) * 0.38
	put(r.name, left, wide, r.name.MinSize().Height)
	x := left + wide
	if size.Width > 420 {
		put(r.bar, x+4, bar, 3)
		r.bar.Show()
		x += bar + 8
	} else {
		r.bar.Hide()
	}
	put(r.text, x, right-x, r.text.MinSize().Height)
}

// MinSize is called by the toolkit.
func (*jobLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(100, jobHeight-theme.Padding())
}
