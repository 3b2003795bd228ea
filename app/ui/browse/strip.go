package browse

import (
	"fmt"
	"image/color"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/viewer"
	"deskvnc/viewer/files"
)

// jobHeight is the height of a transfer in the strip.
const jobHeight = 30

// A strip shows the transfers below the two sides.
type strip struct {
	b      *Browser
	object *fyne.Container
	title  *look.Text
	bar    *meter
	list   *widget.List
	jobs   []files.JobState
	busy   int // not over
	high   int // transfers that there is room for
	fold   *look.Button
	pause  *look.Button
	retry  *look.Button
	stop   *look.Button
	clear  *look.Button
	folded bool
	room   *rowsHigh
}

func newStrip(b *Browser) *strip {
	s := &strip{b: b, bar: newMeter(), title: look.NewText("", theme.ColorNameForeground, theme.SizeNameText, true)}
	button := func(icon fyne.Resource, hint string, do func()) *look.Button {
		return look.NewButton("", icon, do, b.config.Hint(hint))
	}
	s.pause = button(theme.MediaPauseIcon(), "Pause or go on with all", s.pauseAll)
	s.retry = button(theme.ViewRefreshIcon(), "Try what failed again", func() { s.each(files.Failed, b.queue.Retry) })
	s.stop = button(theme.MediaStopIcon(), "Cancel all", func() { b.queue.Cancel() })
	s.clear = button(theme.ContentClearIcon(), "Take finished ones off the list", func() { b.queue.Clear(); s.update(b.queue.Jobs()) })
	s.fold = button(theme.MenuDropDownIcon(), "Show or hide the transfers", func() { s.folded = !s.folded; s.update(s.jobs) })
	s.list = widget.NewList(func() int { return len(s.jobs) }, func() fyne.CanvasObject { return newJobRow(s) }, func(i int, o fyne.CanvasObject) {
		if i < len(s.jobs) {
			o.(*jobRow).show(s.jobs[i])
		}
	})
	s.list.HideSeparators = true
	s.list.OnSelected = func(i int) { s.list.Unselect(i) }
	head := container.NewBorder(nil, nil, s.fold, container.NewHBox(s.pause, s.retry, s.stop, s.clear), s.title)
	s.room = &rowsHigh{}
	s.object = container.NewVBox(thinLine(), container.NewStack(look.NewGround(look.ColorBar), container.NewVBox(container.New(look.Inset{0, 4, -4, 0}, head), container.New(look.Inset{0, 8, 0, 8}, s.bar), container.New(s.room, s.list))))
	s.object.Hide()
	return s
}

// each does something to the jobs of a state.
func (s *strip) each(state files.State, do func(...int)) {
	var ids []int
	for _, j := range s.jobs {
		if j.State == state {
			ids = append(ids, j.ID)
		}
	}
	if len(ids) > 0 {
		do(ids...)
	}
}

// pauseAll holds everything, or lets it go on when all that is not over is
// held.
func (s *strip) pauseAll() {
	held := 0
	for _, j := range s.jobs {
		if j.State == files.Paused {
			held++
		}
	}
	if held > 0 && held == s.busy {
		s.b.queue.Resume()
	} else {
		s.b.queue.Pause()
	}
}

// update shows the transfers as they are.
func (s *strip) update(jobs []files.JobState) {
	more := len(jobs) > len(s.jobs)
	s.jobs = jobs
	if len(jobs) == 0 {
		s.busy = 0
		if s.object.Visible() {
			s.object.Hide()
			s.b.object.Refresh()
		}
		return
	}
	var done, failed, held int
	for _, j := range jobs {
		switch j.State {
		case files.Done:
			done++
		case files.Failed:
			failed++
		case files.Paused:
			held++
		}
	}
	s.busy = 0
	for _, j := range jobs {
		if !over(j.State) {
			s.busy++
		}
	}
	sum := s.b.queue.Totals()
	s.title.SetText(totals(len(jobs), done, failed, held, s.busy, sum))
	s.bar.set(sum.Percent()/100, s.busy > 0, failed > 0)
	enable(s.pause, s.busy > 0)
	icon := theme.MediaPauseIcon()
	if held > 0 && held == s.busy {
		icon = theme.MediaPlayIcon()
	}
	if s.pause.Icon.Name() != icon.Name() {
		s.pause.SetIcon(icon)
	}
	enable(s.stop, s.busy > 0)
	enable(s.retry, failed > 0)
	enable(s.clear, s.busy < len(jobs))
	high := min(len(jobs), 4)
	if s.folded {
		high = 0
	}
	show(s.list, high > 0)
	if high != s.high || !s.object.Visible() {
		s.high, s.room.high = high, float32(high)*jobHeight
		s.object.Show()
		s.b.object.Refresh()
	}
	s.list.Refresh()
	if more {
		s.list.ScrollToBottom()
	}
}

// totals is how far all transfers are, in words.
func totals(all, done, failed, held, busy int, p files.Progress) string {
	var out []string
	switch {
	case busy == 0 && failed == 0 && done == all:
		out = append(out, fmt.Sprintf("%d done", done))
	case busy == 0:
		out = append(out, fmt.Sprintf("%d of %d done", done, all))
	default:
		out = append(out, fmt.Sprintf("%d of %d done", done, all), fmt.Sprintf("%s of %s", bytes(p.Done), bytes(p.Total)))
	}
	if failed > 0 {
		out = append(out, fmt.Sprintf("%d failed", failed))
	}
	if held > 0 && held == busy {
		out = append(out, "paused")
	} else if busy > 0 && p.Rate >= 1 {
		out = append(out, bytes(int64(p.Rate))+"/s")
		if p.Left >= 0 {
			out = append(out, left(p.Left))
		}
	}
	return strings.Join(out, "  ·  ")
}

// left is how long something takes yet.
func left(d time.Duration) string {
	switch {
	case d < time.Second:
		return "nearly done"
	case d < time.Minute:
		return fmt.Sprintf("%d s left", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s left", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min left", int(d.Hours()), int(d.Minutes())%60)
}

// jobText is how a transfer stands.
func jobText(j files.JobState) (text string, trouble bool) {
	p := j.Progress
	moved := bytes(p.Done)
	if p.Total >= 0 {
		moved += " of " + bytes(p.Total)
	}
	if p.FilesTotal > 1 {
		moved += fmt.Sprintf(", %d of %d files", p.Files, p.FilesTotal)
	}
	switch j.State {
	case files.Waiting:
		return "waits", false
	case files.Paused:
		return moved + "  ·  paused", false
	case files.Reconnecting:
		return moved + "  ·  the link is lost; trying again", true
	case files.Cancelled:
		return "cancelled", false
	case files.Failed:
		return sentence(viewer.Reason(j.Err)), true
	case files.Done:
		text = bytes(j.Result.Size)
		switch {
		case j.Result.FailedCount > 0:
			return fmt.Sprintf("%d files failed: %s", j.Result.FailedCount, first(j.Result)), true
		case j.Result.Skipped > 0 && j.Result.Files == 0:
			return "skipped: it was there already", false
		case j.Result.Skipped > 0:
			text += fmt.Sprintf(", %d skipped", j.Result.Skipped)
		}
		if len(j.Result.Notes) > 0 {
			text += "; " + j.Result.Notes[0]
		}
		return text, false
	}
	text = moved
	if p.Rate >= 1 {
		text += "  ·  " + bytes(int64(p.Rate)) + "/s"
		if p.Left >= 0 {
			text += "  ·  " + left(p.Left)
		}
	}
	return text, false
}

// first names the first file that could not be copied.
func first(r files.Result) string {
	if len(r.Failed) == 0 {
		return ""
	}
	return r.Failed[0].Path + ": " + viewer.Reason(r.Failed[0].Err)
}

// rowsHigh is a layout of a fixed height.
type rowsHigh struct{ high float32 }

// Layout is called by the toolkit.
func (r *rowsHigh) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Resize(size)
	}
}

// MinSize is called by the toolkit.
func (r *rowsHigh) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(60, r.high) }

// A meter is a thin bar that fills.
type meter struct {
	widget.BaseWidget
	part          float64
	live, trouble bool
	track, fill   *canvas.Rectangle
}

func newMeter() *meter {
	m := &meter{track: canvas.NewRectangle(color.Transparent), fill: canvas.NewRectangle(color.Transparent)}
	m.track.CornerRadius, m.fill.CornerRadius = 1.5, 1.5
	m.ExtendBaseWidget(m)
	return m
}

func (m *meter) set(part float64, live, trouble bool) {
	if m.part != part || m.live != live || m.trouble != trouble {
		m.part, m.live, m.trouble = part, live, trouble
		m.Refresh()
	}
}

// MinSize is called by the toolkit.
func (m *meter) MinSize() fyne.Size { return fyne.NewSize(30, 3) }

// CreateRenderer is called by the toolkit.
func (m *meter) CreateRenderer() fyne.WidgetRenderer { return &meterRenderer{m} }

type meterRenderer struct{ m *meter }

// Layout is called by the toolkit.
func (r *meterRenderer) Layout(size fyne.Size) {
	r.m.track.Resize(size)
	r.m.fill.Resize(fyne.NewSize(size.Width*float32(min(max(r.m.part, 0), 1)), size.Height))
}

// MinSize is called by the toolkit.
func (r *meterRenderer) MinSize() fyne.Size { return r.m.MinSize() }

// Refresh is called by the toolkit.
func (r *meterRenderer) Refresh() {
	m := r.m
	m.track.FillColor = look.Color(look.ColorBorder)
	name := theme.ColorNamePrimary
	switch {
	case m.trouble:
		name = theme.ColorNameError
	case !m.live:
		name = theme.ColorNameSuccess
	}
	m.fill.FillColor = look.Color(name)
	r.Layout(m.Size())
	m.track.Refresh()
	m.fill.Refresh()
}

// Objects is called by the toolkit.
func (r *meterRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.m.track, r.m.fill}
}

// Destroy is called by the toolkit.
func (r *meterRenderer) Destroy() {}
