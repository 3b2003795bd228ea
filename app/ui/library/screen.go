package library

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/look"
	"deskvnc/keychain"
	"deskvnc/viewer"
)

// What the window keeps, by its key in [Notes].
const (
	keyRows    = "window.library.rows" // rows, not cards
	keyDeleted = "window.deleted"      // ids whose secrets are to be removed
)

// Config is what a [Screen] is made of. Functions are called on the goroutine
// of the widgets.
type Config struct {
	Store   Store
	Fence   *fence.Fence
	Canvas  fyne.Canvas
	Samples []Entry
	// Open goes to the session of a machine, or begins one.
	Open func(Entry)
	// Do runs a command of the window for a person: a button, a menu item.
	Do func(id string)
	// Menu is the menu of the machine that is chosen, and More that of the
	// library's own button.
	Menu, More func() *fyne.Menu
	// Chord runs the command of a toolkit shortcut, if there is one.
	Chord func(fyne.Shortcut) bool
	// Live is the colour of the open session to a machine; "" for none.
	Live func(viewer.Target) fyne.ThemeColorName
	// Hint shows what the thing under the pointer does.
	Hint func(text string) func(bool)
	// Head is what stands above the machines.
	Head fyne.CanvasObject
	// HeadFocus gives the keyboard to what is above.
	HeadFocus func()
}

// A Screen is the library on the window.
type Screen struct {
	config Config
	model  *Model
	object *fyne.Container

	search  *searchEntry
	shelf   *shelf
	cards   *look.Button
	rows    *look.Button
	empty   *fyne.Container
	emptyT  *look.Text
	emptyP  *widget.RichText
	addBig  *look.Choice
	fault   *note
	undo    *note
	dropped *note // what was typed into the form and not saved
	form    *form
	view    view
	read    bool // something has been read
	deleted *keychain.Host
	reveal  string // id of the host to be chosen once it is shown
}

// New returns the screen and begins to read the machines.
func New(c Config) *Screen {
	s := &Screen{config: c}
	s.shelf = newShelf(c.Canvas)
	s.shelf.cards = true
	s.shelf.open, s.shelf.live = s.open, c.Live
	s.shelf.short = func(sc fyne.Shortcut) bool {
		if _, ok := sc.(*fyne.ShortcutUndo); ok {
			c.Do("host.undelete")
			return true
		}
		return c.Chord(sc)
	}
	s.shelf.change = func() {}
	s.shelf.menu = func(_ Entry, at fyne.Position) { widget.ShowPopUpMenuAtPosition(c.Menu(), c.Canvas, at) }
	s.shelf.thumb = func(id string) image.Image { return s.model.thumbOf(id) }
	s.shelf.typed = func(r rune) {
		if r > ' ' {
			s.search.SetText(s.search.Text + string(r))
			s.search.CursorColumn = len([]rune(s.search.Text))
			s.FocusSearch()
		}
	}
	s.shelf.key = s.shelfKey
	s.search = newSearchEntry(s)
	button := func(id, text string, icon fyne.Resource) *look.Button {
		return look.NewButton("", icon, func() { c.Do(id) }, c.Hint(text))
	}
	add := widget.NewButtonWithIcon("Add", theme.ContentAddIcon(), func() { c.Do("host.add") })
	s.cards = button("library.cards", "Show as cards", theme.GridIcon())
	s.rows = button("library.rows", "Show as a list", theme.ListIcon())
	more := look.NewButton("", theme.MoreVerticalIcon(), nil, c.Hint("More"))
	more.OnTapped = func() {
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(more)
		pop := widget.NewPopUpMenu(c.More(), c.Canvas)
		pop.ShowAtPosition(fyne.NewPos(at.X+more.Size().Width-pop.MinSize().Width, at.Y+more.Size().Height))
	}
	bar := container.NewBorder(nil, nil, nil, container.NewHBox(s.cards, s.rows, add, more), s.search)
	s.fault = newNote(theme.ColorNameError, "", nil)
	s.undo = newNote(theme.ColorNameForeground, "Undo", func() { c.Do("host.undelete") })
	s.undo.closed = s.forgetDeleted
	s.dropped = newNote(theme.ColorNameForeground, "Go back", func() { s.dropped.hide(""); s.form.again() })

	s.emptyT = look.NewText("", theme.ColorNameForeground, theme.SizeNameSubHeadingText, true)
	s.emptyP = look.NewParagraph("", look.ColorMuted, theme.SizeNameText)
	s.addBig = look.NewChoice("Add a machine", widget.MediumImportance, func() { c.Do("host.add") })
	s.empty = container.New(column{440}, container.New(look.Inset{28, 0, 0, 0}, container.NewVBox(s.emptyT, s.emptyP, container.NewHBox(s.addBig))))
	s.empty.Hide()

	s.model = newModel(c.Store, c.Fence, s.show, s.shelf.update)
	s.form = newForm(s)
	body := container.NewBorder(container.NewVBox(bar, s.fault.object, s.undo.object, s.dropped.object), nil, nil, nil, container.NewStack(s.shelf, s.empty))
	s.object = container.NewStack(
		look.NewGround(theme.ColorNameBackground),
		container.New(look.Inset{16, 10, 0, 16}, container.NewBorder(c.Head, nil, nil, nil, container.New(look.Inset{8, 0, 0, 0}, body))),
		s.form.box,
	)
	s.paintMode()
	s.begin()
	return s
}

// begin takes up what the window kept.
func (s *Screen) begin() {
	rows := false
	s.model.do(func(ctx context.Context) error {
		rows = setting[bool](ctx, s.config.Store, keyRows)
		// Deleted in another run, and not wanted back there.
		ids := setting[[]string](ctx, s.config.Store, keyDeleted)
		var left []string
		for _, id := range ids {
			if _, err := s.config.Store.Get(ctx, id); err == nil {
				continue // somebody has restored it
			}
			if s.config.Store.Forget(ctx, id) != nil {
				left = append(left, id) // a locked keychain: the next time
			}
		}
		if len(left) == len(ids) {
			return nil
		}
		return setSetting(ctx, s.config.Store, keyDeleted, left)
	}, func(error) {
		if rows {
			s.shelf.setCards(false)
			s.paintMode()
		}
	})
}

// Object is what to put on the canvas.
func (s *Screen) Object() fyne.CanvasObject { return s.object }

// Close ends the screen's work; what is being saved is waited for.
func (s *Screen) Close() {
	if s.deleted != nil {
		s.forgetDeleted()
	}
	s.model.close()
}

// Update shows the states of the sessions as they are now.
func (s *Screen) Update() { s.shelf.update() }

// Again reads the machines again, for what the store does not tell of: who was
// connected to.
func (s *Screen) Again() { s.model.again() }

// Chosen is the machine that is chosen.
func (s *Screen) Chosen() (Entry, bool) { return s.shelf.chosen() }

// Cards reports whether cards are shown, not rows.
func (s *Screen) Cards() bool { return s.shelf.cards }

// Busy reports whether the form is open.
func (s *Screen) Busy() bool { return s.form.box.Visible() }

// SetCards changes between cards and rows and remembers it.
func (s *Screen) SetCards(on bool) {
	if s.shelf.cards == on {
		return
	}
	s.shelf.setCards(on)
	s.paintMode()
	s.model.do(func(ctx context.Context) error { return setSetting(ctx, s.config.Store, keyRows, !on) }, s.failed)
}

func (s *Screen) paintMode() {
	s.cards.SetOn(s.shelf.cards)
	s.rows.SetOn(!s.shelf.cards)
}

// FocusSearch gives the search the keyboard.
func (s *Screen) FocusSearch() {
	if !s.Busy() {
		s.config.Canvas.Focus(s.search)
	}
}

// Focus gives the keyboard back to whatever is to have it: the form, when it
// is open.
func (s *Screen) Focus() bool {
	if s.Busy() {
		s.form.focus()
		return true
	}
	return false
}

// show shows what has been read.
func (s *Screen) show(v view) {
	s.read = true
	s.view = v
	if v.err != nil {
		s.fault.show(Reason(v.err))
	} else {
		s.fault.hide("")
	}
	s.shelf.set(s.sections(v))
	if s.reveal != "" && s.shelf.chooseHost(s.reveal) {
		s.reveal = ""
	}
	s.paintEmpty()
}

// open goes to a machine; what was searched for has been found.
func (s *Screen) open(e Entry) {
	if s.search.Text != "" {
		s.search.SetText("")
	}
	s.config.Open(e)
}

// paintEmpty says what to do where there is nothing.
func (s *Screen) paintEmpty() {
	switch {
	case !s.read || len(s.view.hosts) > 0:
		s.empty.Hide()
		return
	case s.view.query != "":
		s.emptyT.SetText("Nothing found")
		look.SetParagraph(s.emptyP, fmt.Sprintf("No saved machine has %s in its name, address, user, tags or notes.", quoted(s.view.query)), look.ColorMuted)
		s.addBig.Hide()
	case len(s.shelf.entries) > 0: // a sample, or one that was connected to
		s.empty.Hide()
		return
	default:
		s.emptyT.SetText("No machines yet")
		look.SetParagraph(s.emptyP, "Type an address above to connect now, or add a machine to keep it here.", look.ColorMuted)
		s.addBig.Show()
	}
	s.empty.Show()
	s.empty.Refresh()
}

func quoted(s string) string {
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return "“" + s + "”"
}

// sections puts machines in order.
func (s *Screen) sections(v view) []Section {
	entry := func(h keychain.Host) Entry { return Entry{Host: h, Saved: true, Target: h.Target()} }
	if v.query != "" {
		sec := Section{Title: fmt.Sprintf("%d found", len(v.hosts))}
		for _, h := range v.hosts {
			sec.Entries = append(sec.Entries, entry(h))
		}
		for _, e := range s.config.Samples {
			if strings.Contains(strings.ToLower(e.Name()), strings.ToLower(v.query)) {
				sec.Entries = append(sec.Entries, e)
			}
		}
		return []Section{sec}
	}
	favourites := Section{Title: "Favourites"}
	rest := Section{Title: "Machines", Entries: make([]Entry, 0, len(v.hosts))}
	groups := make([]Section, len(v.groups))
	for i, g := range v.groups {
		groups[i].Title = groupPath(v.groups, g)
	}
	for _, h := range v.hosts {
		in := slices.IndexFunc(v.groups, func(g keychain.Group) bool { return g.ID == h.Group })
		switch {
		case h.Favourite:
			favourites.Entries = append(favourites.Entries, entry(h))
		case in >= 0:
			groups[in].Entries = append(groups[in].Entries, entry(h))
		default:
			rest.Entries = append(rest.Entries, entry(h))
		}
	}
	slices.SortStableFunc(groups, func(a, b Section) int { return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)) })
	all := []Section{favourites, {Title: "Recent", Entries: v.recent}, rest}
	all = append(all, groups...)
	return append(all, Section{Title: "Try it", Entries: s.config.Samples})
}

// groupPath is the name of a group with those it is in.
func groupPath(all []keychain.Group, g keychain.Group) string {
	path := g.Name
	for range all { // no longer than there are groups
		i := slices.IndexFunc(all, func(o keychain.Group) bool { return o.ID == g.Parent })
		if i < 0 {
			break
		}
		g = all[i]
		path = g.Name + " / " + path
	}
	return path
}

// shelfKey takes the keys that the shelf does not use.
func (s *Screen) shelfKey(ev *fyne.KeyEvent) bool {
	switch ev.Name {
	case fyne.KeyDelete:
		s.config.Do("host.delete")
	case fyne.KeyF2:
		s.config.Do("host.edit")
	case fyne.KeyUp:
		s.FocusSearch()
	case fyne.KeyBackspace:
		s.FocusSearch()
	case fyne.KeyEscape:
		if s.search.Text != "" {
			s.search.SetText("")
		} else {
			s.config.HeadFocus()
		}
	case desktop.KeyMenu:
		if it := s.shelf.items[s.shelf.selected]; it != nil && s.shelf.hasSelected {
			at := fyne.CurrentApp().Driver().AbsolutePositionForObject(it)
			s.shelf.menu(it.entry, at.AddXY(it.Size().Width/3, it.Size().Height/2))
		}
	default:
		return false
	}
	return true
}

// failed says what went wrong with a change.
func (s *Screen) failed(err error) {
	if err != nil {
		s.fault.show(Reason(err))
	}
}

// Add opens the form of a new machine, with what is known of it.
func (s *Screen) Add(h keychain.Host) { s.form.open(h, false) }

// Edit opens the form of a saved machine.
func (s *Screen) Edit(h keychain.Host) { s.form.open(h, true) }

// EditID opens the form of a saved machine as it is now.
func (s *Screen) EditID(id string) {
	var h keychain.Host
	s.model.do(func(ctx context.Context) (err error) {
		h, err = s.config.Store.Get(ctx, id)
		return err
	}, func(err error) {
		if s.failed(err); err == nil {
			s.Edit(h)
		}
	})
}

// Keep remembers a small thing of the window.
func (s *Screen) Keep(key string, value any) {
	s.model.do(func(ctx context.Context) error { return setSetting(ctx, s.config.Store, key, value) }, s.failed)
}

// Later works on the library and says so here when that fails.
func (s *Screen) Later(work func(ctx context.Context) error) { s.After(work, s.failed) }

// After works on the library and then calls done.
func (s *Screen) After(work func(ctx context.Context) error, done func(error)) {
	s.model.do(work, done)
}

// Duplicate saves a copy of a machine and chooses it.
func (s *Screen) Duplicate(id string) {
	var made keychain.Host
	s.model.do(func(ctx context.Context) (err error) {
		made, err = s.config.Store.Duplicate(ctx, id, "")
		return err
	}, func(err error) {
		s.failed(err)
		if err == nil {
			s.Reveal(made.ID)
		}
	})
}

// Reveal chooses a host as soon as it is shown.
func (s *Screen) Reveal(id string) {
	if !s.shelf.chooseHost(id) {
		s.reveal = id
	}
}

// SetFavourite makes a machine a favourite, or no longer one.
func (s *Screen) SetFavourite(id string, on bool) {
	s.model.do(func(ctx context.Context) error {
		h, err := s.config.Store.Get(ctx, id)
		if err != nil || h.Favourite == on {
			return err
		}
		h.Favourite = on
		_, err = s.config.Store.Update(ctx, h)
		return err
	}, s.failed)
}

// Delete takes a machine away and offers to bring it back. Its secrets stay
// until the offer has gone.
func (s *Screen) Delete(h keychain.Host) {
	if s.deleted != nil {
		s.forgetDeleted()
	}
	s.model.do(func(ctx context.Context) error {
		ids := setting[[]string](ctx, s.config.Store, keyDeleted)
		if err := s.config.Store.Delete(ctx, h.ID); err != nil {
			return err
		}
		return setSetting(ctx, s.config.Store, keyDeleted, append(ids, h.ID))
	}, func(err error) {
		var k *keychain.Error
		if errors.As(err, &k) && k.Kind == keychain.NotFound {
			return // gone already
		}
		if s.failed(err); err == nil {
			s.deleted = &h
			s.undo.show("Deleted " + h.Name)
		}
	})
}

// Undo brings the machine back that was deleted last; false without one.
func (s *Screen) Undo() bool {
	h := s.deleted
	if h == nil {
		return false
	}
	s.deleted = nil
	s.undo.hide("")
	s.model.do(func(ctx context.Context) error {
		if _, err := s.config.Store.Restore(ctx, h.ID); err != nil {
			return err
		}
		return s.notDeleted(ctx, h.ID)
	}, func(err error) {
		if err != nil {
			s.deleted = h
			s.undo.show("Deleted " + h.Name)
			s.failed(err)
			return
		}
		s.Reveal(h.ID)
	})
	return true
}

// CanUndo is the name of the machine that can be brought back, or "".
func (s *Screen) CanUndo() string {
	if s.deleted == nil {
		return ""
	}
	return s.deleted.Name
}

// notDeleted takes an id off the list of those whose secrets are to go.
func (s *Screen) notDeleted(ctx context.Context, id string) error {
	ids := setting[[]string](ctx, s.config.Store, keyDeleted)
	return setSetting(ctx, s.config.Store, keyDeleted, slices.DeleteFunc(ids, func(o string) bool { return o == id }))
}

// forgetDeleted ends the offer: the secrets of the deleted machine go too.
func (s *Screen) forgetDeleted() {
	h := s.deleted
	s.deleted = nil
	s.undo.hide("")
	if h == nil {
		return
	}
	s.model.do(func(ctx context.Context) error {
		if err := s.config.Store.Forget(ctx, h.ID); err != nil {
			return fmt.Errorf("the saved password of %s could not be removed and is tried again at the next start: %w", h.Name, err)
		}
		return s.notDeleted(ctx, h.ID)
	}, s.failed)
}

// KeepPicture keeps how a machine looked last; see [Memory].
func (s *Screen) KeepPicture(id string, encode func() ([]byte, error)) {
	s.model.keepPicture(id, encode)
}

// column is a layout of one object in a column of bounded width.
type column struct{ width float32 }

// Layout is called by the toolkit.
func (c column) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	w := min(c.width, size.Width)
	for _, o := range objects {
		o.Move(fyne.NewPos((size.Width-w)/2, 0))
		o.Resize(fyne.NewSize(w, size.Height))
	}
}

// MinSize is called by the toolkit.
func (c column) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(100, 40)
}

// spacer takes what room is left.
func spacer() fyne.CanvasObject { return layout.NewSpacer() }
