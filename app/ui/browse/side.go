package browse

import (
	"context"
	"fmt"
	"sync/atomic"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/look"
	"deskvnc/viewer"
	"deskvnc/viewer/files"
)

// maxBack bounds the folders that can be gone back to.
const maxBack = 100

// A side is one half of the browser: a folder and what is in it.
type side struct {
	b     *Browser
	place place
	far   bool // the machine's
	table *table
	order order

	path    string // of the folder shown, exact
	asked   string // that is being read, or could not be
	all     []viewer.FileEntry
	back    []string
	loading bool
	failed  error
	read    bool // a folder has been read

	cancel context.CancelFunc
	ticket int // of the newest reading
	count  atomic.Int64
	tell   *fence.Target

	object  *fyne.Container
	title   *look.Text
	bar     *pathEntry
	goBack  *look.Button
	up      *look.Button
	hidden  *look.Button
	foot    *look.Text
	filter  *look.Text
	state   *fyne.Container // in place of the listing
	head    *look.Text
	text    *widget.RichText
	again   *look.Choice
	instead *look.Choice
	line    *look.Ground // marks the side with the keyboard
}

func newSide(b *Browser, p place, far bool, name string) *side {
	s := &side{b: b, place: p, far: far, table: newTable(b.config.Canvas)}
	t := s.table
	t.chord, t.moved, t.open = b.config.Chord, s.report, s.enter
	t.key, t.typed, t.focus, t.menu = s.key, s.letter, func() { b.activate(s) }, func(at fyne.Position) { b.menu(s, at) }
	t.drag, t.drop = func(at fyne.Position) { b.carry(s, at) }, func(at fyne.Position) { b.letGo(s, at) }
	t.sort, t.order = s.sortBy, func() (column, bool) { return s.order.by, s.order.down }
	s.tell = b.config.Fence.Target(s.progress)

	s.title = look.NewText(name, theme.ColorNameForeground, theme.SizeNameText, true)
	s.bar = newPathEntry(b.config.Chord)
	s.bar.done = func(text string) { s.goTyped(text) }
	s.bar.leave = func() { s.showPath(); s.grab() }
	button := func(icon fyne.Resource, hint string, do func()) *look.Button {
		return look.NewButton("", icon, func() { do(); s.grab() }, b.config.Hint(hint))
	}
	s.goBack = button(theme.NavigateBackIcon(), "Back  (Alt+Left)", s.goBackOne)
	s.up = button(theme.MoveUpIcon(), "Up  (Backspace)", s.goUp)
	home := button(theme.HomeIcon(), "Home", func() { s.load("", true, "") })
	again := button(theme.ViewRefreshIcon(), "Read again  (Ctrl+R)", s.reload)
	s.hidden = button(theme.VisibilityOffIcon(), "Hidden files  (Ctrl+H)", s.toggleHidden)
	s.line = look.NewGround(look.ColorBorder)
	tools := container.NewHBox(s.goBack, s.up, home, again)
	top := container.NewVBox(
		container.New(look.Inset{0, 4, -6, 0}, container.NewBorder(nil, nil, nil, s.hidden, s.title)),
		container.New(look.Inset{0, 4, 0, 0}, container.NewBorder(nil, nil, tools, nil, s.bar)),
	)
	s.foot = look.NewText("", look.ColorMuted, theme.SizeNameCaptionText, false)
	s.filter = look.NewText("", theme.ColorNamePrimary, theme.SizeNameCaptionText, true)
	s.head = look.NewText("", theme.ColorNameForeground, theme.SizeNameSubHeadingText, true)
	s.text = look.NewParagraph("", look.ColorMuted, theme.SizeNameText)
	s.again = look.NewChoice("Try again", widget.HighImportance, func() { s.reload(); s.grab() })
	s.instead = look.NewChoice("Back", widget.MediumImportance, func() { s.giveUp(); s.grab() })
	s.state = container.New(look.Inset{34, 12, 12, 12}, container.NewVBox(s.head, s.text, container.NewHBox(layout.NewSpacer(), s.instead, s.again, layout.NewSpacer())))
	s.state.Hide()
	foot := container.New(look.Inset{-4, 4, -4, 2}, container.New(footRow{}, s.foot, s.filter))
	mark := container.New(thin{}, s.line)
	s.object = container.NewBorder(container.NewVBox(mark, top), foot, nil, nil, container.NewStack(container.New(look.Free{Min: t.MinSize()}, t), s.state))
	return s
}

// grab gives the side the keyboard.
func (s *side) grab() { s.b.config.Canvas.Focus(s.table) }

// load reads a folder; an empty path is home. With keep the folder shown can
// be gone back to; the cursor is put on the name on.
func (s *side) load(folder string, keep bool, on string) {
	s.cancelReading()
	ctx, cancel := s.b.within()
	s.cancel, s.ticket = cancel, s.ticket+1
	ticket := s.ticket
	s.asked, s.loading, s.failed = folder, true, nil
	s.count.Store(0)
	s.b.work.Go(func() {
		defer cancel()
		var all []viewer.FileEntry
		where, err := s.place.list(ctx, folder, func(some []viewer.FileEntry) error {
			all = append(all, some...)
			s.count.Store(int64(len(all)))
			s.tell.Post()
			return ctx.Err()
		})
		s.b.config.Fence.Go(func() {
			if ticket == s.ticket && !s.b.closed {
				s.loaded(folder, where, all, err, keep, on)
			}
		})
	})
	s.update()
}

func (s *side) cancelReading() {
	if s.cancel != nil {
		s.cancel()
		s.cancel = nil
	}
}

// loaded shows what was read.
func (s *side) loaded(asked, where string, all []viewer.FileEntry, err error, keep bool, on string) {
	s.loading = false
	if err != nil {
		s.failed = err
		if where != "" {
			s.asked = where
		}
		s.update()
		return
	}
	other := where != s.path
	if keep && other && s.read {
		if s.back = append(s.back, s.path); len(s.back) > maxBack {
			s.back = s.back[1:]
		}
	}
	s.path, s.asked, s.all, s.read = where, where, all, true
	if other {
		s.order.pattern = ""
	}
	s.arrange()
	if other || on != "" {
		s.table.point(on)
	}
	s.showPath()
	s.update()
}

// arrange sorts and filters anew.
func (s *side) arrange() { s.table.set(s.order.apply(s.all)) }

// reload reads the folder again, and what is chosen stays chosen.
func (s *side) reload() {
	if s.failed != nil {
		s.load(s.asked, true, "")
		return
	}
	s.load(s.path, false, "")
}

// giveUp goes back to what was shown before a folder that cannot be read.
func (s *side) giveUp() {
	s.cancelReading()
	s.ticket++
	s.loading, s.failed, s.asked = false, nil, s.path
	s.arrange()
	s.showPath()
	s.update()
}

func (s *side) goTyped(text string) {
	if text == s.b.shownPath(s.path) { // it may be a cleaned one
		s.reload()
	} else {
		s.load(s.place.typed(s.path, text), true, "")
	}
	s.grab()
}

func (s *side) goUp() {
	if !s.read {
		return
	}
	if up := s.place.parent(s.path); up != s.path {
		s.load(up, true, s.place.base(s.path))
	}
}

func (s *side) goBackOne() {
	if n := len(s.back); n > 0 {
		to := s.back[n-1]
		s.back = s.back[:n-1]
		s.load(to, false, s.place.base(s.path))
	}
}

// enter opens a folder; a file is copied to the other side.
func (s *side) enter(e viewer.FileEntry) {
	switch {
	case e.IsFolder():
		s.load(e.Path, true, "")
	case e.Broken:
		s.b.config.Say(e.Shown+" leads nowhere: "+e.Target, true)
	default:
		s.b.transfer(s, []viewer.FileEntry{e}, false)
	}
}

func (s *side) sortBy(c column) {
	if s.order.by == c {
		s.order.down = !s.order.down
	} else {
		s.order.by, s.order.down = c, c == bySize || c == byTime
	}
	s.arrange()
}

func (s *side) toggleHidden() {
	s.order.hidden = !s.order.hidden
	s.arrange()
	s.update()
}

// letter adds a letter to what names must hold.
func (s *side) letter(r rune) {
	if r == ' ' && s.order.pattern == "" {
		s.table.toggle()
		return
	}
	const most = 100
	if len(s.order.pattern) < most {
		s.setFilter(s.order.pattern + string(r))
	}
}

func (s *side) setFilter(p string) {
	s.order.pattern = p
	s.arrange()
	s.table.top = 0
	if s.table.cursor >= 0 {
		s.table.cursor, s.table.anchor = 0, 0
	}
	s.table.bring()
	s.update()
}

// key takes the keys that are not the table's own.
func (s *side) key(k fyne.KeyName) bool {
	switch k {
	case fyne.KeyBackspace:
		if r := []rune(s.order.pattern); len(r) > 0 {
			s.setFilter(string(r[:len(r)-1]))
		} else {
			s.goUp()
		}
	case "Alt+Left":
		s.goBackOne()
	case "Alt+Up":
		s.goUp()
	case "Ctrl+R":
		s.reload()
	case "Ctrl+H":
		s.toggleHidden()
	case "Ctrl+L":
		s.b.config.Canvas.Focus(s.bar)
	case fyne.KeyTab:
		s.b.other(s).grab()
	case fyne.KeyEscape:
		switch {
		case s.order.pattern != "":
			s.setFilter("")
		case s.loading || s.failed != nil && s.read:
			s.giveUp()
		default:
			clear(s.table.chosen)
			s.table.Refresh()
			s.report()
		}
	default:
		return s.b.key(s, k)
	}
	return true
}

// showPath writes the folder's path into its line.
func (s *side) showPath() { s.bar.SetText(s.b.shownPath(s.asked)) }

// progress tells how much has been read of a large folder.
func (s *side) progress() {
	if s.loading {
		s.report()
	}
}

// report says how much there is, and is chosen.
func (s *side) report() {
	text := fmt.Sprintf("%d items", len(s.table.entries))
	if n := len(s.table.entries); n == 1 {
		text = "1 item"
	}
	if n := len(s.all) - len(s.table.entries); n > 0 && s.order.pattern == "" {
		text += fmt.Sprintf(", %d hidden", n)
	}
	if n := len(s.table.chosen); n > 0 {
		sum, known := int64(0), true
		for _, e := range s.table.entries {
			if s.table.chosen[e.Name] {
				known = known && !e.IsFolder()
				sum += max(e.Size, 0)
			}
		}
		text = fmt.Sprintf("%d of %s chosen", n, text)
		if known {
			text += ", " + bytes(sum)
		}
	}
	if s.loading {
		text = "Reading…"
		if n := s.count.Load(); n > 0 {
			text = fmt.Sprintf("Reading… %d so far", n)
		}
	}
	s.foot.SetText(text)
	if s.b.built() {
		s.b.updateTools()
	}
}

// update shows how the side stands.
func (s *side) update() {
	s.hidden.SetOn(s.order.hidden)
	enable(s.goBack, len(s.back) > 0)
	enable(s.up, s.read && s.place.parent(s.path) != s.path)
	s.filter.SetText("")
	if s.order.pattern != "" {
		s.filter.SetText("Names with “" + s.order.pattern + "”")
	}
	head, text, again, instead := "", "", false, false
	switch {
	case s.failed != nil:
		head, text = faultWords(s.failed, s.far)
		again, instead = true, s.read
	case s.loading && !s.read:
		head, text = "Reading…", "Waiting for the machine."
		if !s.far {
			text = ""
		}
	case s.loading:
	case len(s.table.entries) == 0 && s.order.pattern != "":
		head, text = "No such name", "Escape shows all names again."
	case len(s.all) > 0 && len(s.table.entries) == 0:
		head, text = "Only hidden files", "Ctrl+H shows them."
	case s.read && len(s.all) == 0:
		head, text = "An empty folder", ""
	}
	if head == "" {
		s.state.Hide()
		s.table.Show()
	} else {
		s.head.SetText(head)
		s.head.SetMinWidth(s.head.Natural())
		look.SetParagraph(s.text, text, look.ColorMuted)
		show(s.text, text != "")
		show(s.again, again)
		show(s.instead, instead)
		s.state.Show()
		s.state.Refresh()
		if s.failed != nil || !s.read {
			s.table.set(nil)
		}
	}
	s.report()
	s.object.Refresh()
}

// faultWords says why a folder cannot be shown.
func faultWords(err error, far bool) (head, text string) {
	text = sentence(viewer.Reason(err))
	if !far {
		return "This folder cannot be read", text
	}
	switch viewer.KindOf(err) {
	case viewer.Unsupported:
		return "No files over SSH", text
	case viewer.Credentials, viewer.Denied:
		return "Not logged in over SSH", text
	case viewer.Untrusted:
		return "The machine is not trusted", text
	case viewer.Unreachable, viewer.Timeout, viewer.Closed:
		return "No connection", text
	case viewer.Cancelled:
		return "Not logged in over SSH", text
	case viewer.Missing, viewer.Forbidden, viewer.Invalid:
		return "This folder cannot be read", text
	}
	return "The files cannot be shown", text
}

// shownPath is a path for a person.
func (b *Browser) shownPath(p string) string { return files.Shown(p) }
