package library

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/keychain"
	"deskvnc/viewer"
)

// sharings are the ways of the clipboard and what they are called.
var sharings = []struct {
	way  keychain.Sharing
	name string
}{
	{keychain.ShareBoth, "Both ways"},
	{keychain.ShareToRemote, "Only to the machine"},
	{keychain.ShareFromRemote, "Only from the machine"},
	{keychain.ShareOff, "Off"},
}

// A form is the sheet that a machine is added or changed with. What is typed
// stays there until it is saved or the person cancels.
type form struct {
	screen *Screen
	box    *fyne.Container

	base   keychain.Host // as it was read
	edit   bool
	saving bool

	title     *look.Text
	name      *field
	address   *field
	port      *field
	user      *field
	tags      *field
	notes     *field
	clipboard *widget.Select
	viewOnly  *widget.Check
	exclusive *widget.Check
	encrypted *widget.Check
	favourite *widget.Check
	picture   *widget.Check
	fault     *widget.RichText
	yes, no   *look.Choice
	scroll    *container.Scroll
}

// A field is a line of the form: Escape cancels, Return saves.
type field struct {
	widget.Entry
	form *form
}

func newField(f *form, hint string, lines bool) *field {
	e := &field{form: f}
	e.MultiLine = lines
	if lines {
		e.Wrapping = fyne.TextWrapWord
		e.SetMinRowsVisible(2)
	}
	e.ExtendBaseWidget(e)
	e.SetPlaceHolder(hint)
	e.OnChanged = func(string) { f.fault.Hide() }
	if !lines {
		e.OnSubmitted = func(string) { f.save() }
	}
	return e
}

// TypedKey is called by the toolkit.
func (e *field) TypedKey(ev *fyne.KeyEvent) {
	if ev.Name == fyne.KeyEscape {
		e.form.cancel()
		return
	}
	e.Entry.TypedKey(ev)
}

// TypedShortcut is called by the toolkit: the viewer's chords work here too.
func (e *field) TypedShortcut(c fyne.Shortcut) {
	if !e.form.screen.config.Chord(c) {
		e.Entry.TypedShortcut(c)
	}
}

func newForm(s *Screen) *form {
	f := &form{screen: s, title: look.NewText("", theme.ColorNameForeground, theme.SizeNameSubHeadingText, true)}
	f.fault = look.NewParagraph("", theme.ColorNameError, theme.SizeNameText)
	f.name = newField(f, "What to call it", false)
	f.address = newField(f, "Host name or IP address", false)
	f.port = newField(f, strconv.Itoa(viewer.VNC.DefaultPort()), false)
	f.user = newField(f, "Only if the machine asks for one", false)
	f.tags = newField(f, "Separated by commas", false)
	f.notes = newField(f, "", true)
	var names []string
	for _, w := range sharings {
		names = append(names, w.name)
	}
	f.clipboard = widget.NewSelect(names, nil)
	check := func(text string) *widget.Check { return widget.NewCheck(text, nil) }
	f.viewOnly, f.exclusive, f.encrypted = check("View only"), check("Disconnect other viewers"), check("Require encryption")
	f.favourite, f.picture = check("Favourite"), check("Show the last picture")
	f.yes, f.no = look.NewChoice("Save", widget.HighImportance, f.save), look.NewChoice("Cancel", widget.MediumImportance, f.cancel)
	f.yes.OnEscape, f.no.OnEscape = f.cancel, f.cancel
	fields := container.New(labelled{},
		label("Name"), f.name,
		label("Address"), container.NewBorder(nil, nil, nil, container.NewHBox(label("Port"), container.New(wide{74}, f.port)), f.address),
		label("User"), f.user,
		label("Tags"), f.tags,
		label("Clipboard"), f.clipboard,
		label("Notes"), f.notes,
	)
	checks := container.NewGridWithColumns(2, f.favourite, f.viewOnly, f.encrypted, f.exclusive, f.picture)
	f.scroll = container.NewVScroll(container.New(look.Inset{0, 10, 0, 0}, container.NewVBox(fields, checks)))
	f.scroll.SetMinSize(fyne.NewSize(100, 80))
	foot := container.New(look.Inset{6, 0, 0, 0}, container.NewVBox(f.fault, container.NewHBox(spacer(), f.no, f.yes)))
	card := look.NewCard(container.NewBorder(container.New(look.Inset{0, 0, 4, 0}, f.title), foot, nil, nil, f.scroll))
	f.box = container.NewStack(newVeil(), container.New(&middle{f}, card))
	f.fault.Hide()
	f.box.Hide()
	return f
}

// open shows the form with a machine's settings.
func (f *form) open(h keychain.Host, edit bool) {
	f.base, f.edit, f.saving = h, edit, false
	f.title.SetText("Add a machine")
	if edit {
		f.title.SetText("Edit " + h.Name)
	} else {
		f.base.LastPicture = true
	}
	f.name.SetText(h.Name)
	f.address.SetText(h.Address)
	f.port.SetText("")
	if h.Port != 0 {
		f.port.SetText(strconv.Itoa(h.Port))
	}
	f.user.SetText(h.User)
	f.tags.SetText(strings.Join(h.Tags, ", "))
	f.notes.SetText(h.Notes)
	for _, w := range sharings {
		if w.way == h.Clipboard {
			f.clipboard.SetSelected(w.name)
		}
	}
	f.viewOnly.SetChecked(h.ViewOnly)
	f.exclusive.SetChecked(h.Exclusive)
	f.encrypted.SetChecked(h.Encryption == keychain.EncryptionRequired)
	f.favourite.SetChecked(h.Favourite)
	f.picture.SetChecked(f.base.LastPicture)
	f.user.Enable()
	if h.Login != "" { // a shared login says who
		f.user.Disable()
	}
	f.fault.Hide()
	f.working(false)
	f.scroll.ScrollToTop()
	f.box.Show()
	f.box.Refresh()
	f.focus()
}

// focus puts the cursor where something is to be typed.
func (f *form) focus() {
	to := f.name
	if f.edit || f.name.Text != "" && f.address.Text == "" {
		to = f.address
	}
	to.CursorColumn = len([]rune(to.Text))
	f.screen.config.Canvas.Focus(to)
}

func (f *form) working(on bool) {
	f.saving = on
	if on {
		f.yes.Disable()
	} else {
		f.yes.Enable()
	}
}

// host is what has been typed, or what is wrong with it.
func (f *form) host() (keychain.Host, error) {
	h := f.base
	if h.Protocol == "" {
		h.Protocol = viewer.VNC
	}
	text := strings.TrimSpace(f.address.Text)
	if text == "" {
		return h, errors.New("type the address of the machine")
	}
	t, err := viewer.ParseTarget(text, h.Protocol)
	if err != nil {
		return h, errors.New(viewer.Reason(err))
	}
	if t.Protocol != h.Protocol && !f.edit {
		h.Protocol = t.Protocol
	}
	// The address may carry its port, as in the connect bar; one that is
	// typed into its own field counts more.
	h.Address, h.Port = t.Address, t.Port
	if p := strings.TrimSpace(f.port.Text); p != "" {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 || n > 65535 {
			return h, fmt.Errorf("%q is not a port: use a number from 1 to 65535", p)
		}
		if t.Port != t.Protocol.DefaultPort() && t.Port != n {
			return h, fmt.Errorf("the address names port %d, and the port is given as %d: leave one of them out", t.Port, n)
		}
		h.Port = n
	}
	h.Name = strings.TrimSpace(f.name.Text)
	if h.Name == "" {
		h.Name = h.Address
	}
	if h.Login == "" {
		h.User = strings.TrimSpace(f.user.Text)
		if h.User == "" {
			h.User = t.User
		}
	}
	h.Tags = nil
	for tag := range strings.SplitSeq(f.tags.Text, ",") {
		h.Tags = append(h.Tags, tag)
	}
	h.Notes = f.notes.Text
	if i := slices.Index(f.clipboard.Options, f.clipboard.Selected); i >= 0 {
		h.Clipboard = sharings[i].way
	}
	h.ViewOnly, h.Exclusive, h.Favourite, h.LastPicture = f.viewOnly.Checked, f.exclusive.Checked, f.favourite.Checked, f.picture.Checked
	h.Encryption = keychain.EncryptionPreferred
	if f.encrypted.Checked {
		h.Encryption = keychain.EncryptionRequired
	}
	return h.Checked()
}

func (f *form) say(text string) {
	look.SetParagraph(f.fault, text, theme.ColorNameError)
	f.fault.Show()
	f.box.Refresh()
}

// save keeps what has been typed. The form stays until that has happened.
func (f *form) save() {
	if f.saving {
		return
	}
	h, err := f.host()
	if err != nil {
		f.say(Reason(err))
		return
	}
	f.working(true)
	store, edit := f.screen.config.Store, f.edit
	var saved, now keychain.Host
	f.screen.model.do(func(ctx context.Context) (err error) {
		if edit {
			saved, err = store.Update(ctx, h)
		} else {
			saved, err = store.Add(ctx, h)
		}
		if kindOf(err) == keychain.Conflict {
			if again, gerr := store.Get(ctx, h.ID); gerr == nil {
				now = again
			}
		}
		return err
	}, func(err error) {
		f.working(false)
		switch {
		case err == nil:
			f.close()
			f.screen.Reveal(saved.ID)
		case now.ID != "":
			f.base.Revision = now.Revision
			f.say(fmt.Sprintf("Somebody else has changed it meanwhile: it is now %s at %s. Save again to put yours in its place, or cancel.", now.Name, now.Target().HostPort()))
		default:
			f.say("Not saved. " + Reason(err))
		}
	})
}

func kindOf(err error) keychain.Kind {
	var k *keychain.Error
	if errors.As(err, &k) {
		return k.Kind
	}
	return ""
}

func (f *form) cancel() {
	if !f.saving { // else it is on its way
		f.close()
	}
}

func (f *form) close() {
	f.box.Hide()
	f.screen.config.Canvas.Focus(f.screen.shelf)
}
