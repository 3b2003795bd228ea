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

// A form is the sheet that a machine is added or changed with. What is typed
// stays there until it is saved, and what is given up can be taken up again.
type form struct {
	screen *Screen
	box    *fyne.Container

	base     keychain.Host // as it was read
	shown    keychain.Host // as the form was filled, to know what was typed
	groups   []keychain.Group
	edit     bool
	saving   bool
	unfolded bool // the folded part is unfolded
	lines    []*formLine

	title     *look.Text
	by        *choice[viewer.Protocol]
	ssh       *sshFields
	name      *field
	address   *field
	port      *field
	user      *field
	group     *combo
	tags      *field
	notes     *field
	quality   *choice[viewer.Quality]
	colors    *choice[viewer.Colors]
	encodings *field
	size      *choice[keychain.SizePolicy]
	keyboard  *choice[keychain.KeyboardWay]
	clipboard *choice[keychain.Sharing]
	proxy     *field
	repeater  *field
	viewOnly  *tick
	exclusive *tick
	encrypted *tick
	favourite *tick
	picture   *tick
	fold      *look.Choice
	folded    *fyne.Container
	desktop   []*fyne.Container // parts that a terminal has no use for
	fault     *widget.RichText
	yes, no   *look.Choice
	scroll    *container.Scroll
}

func newForm(s *Screen) *form {
	f := &form{screen: s, title: look.NewText("", theme.ColorNameForeground, theme.SizeNameSubHeadingText, true)}
	f.fault = look.NewParagraph("", theme.ColorNameError, theme.SizeNameText)
	f.by = newChoice(f, protocols...)
	f.by.OnChanged = func(string) { f.setProtocol() }
	f.name = newField(f, "What to call it", false, func(h *keychain.Host, text string) error {
		if text = strings.TrimSpace(text); text != "" { // else it is called by its address
			h.Name = text
		}
		return nil
	})
	f.address = newField(f, "Host name or IP address", false, f.putAddress)
	f.port = newField(f, strconv.Itoa(viewer.VNC.DefaultPort()), false, f.putPort)
	f.user = newField(f, "Only if the machine asks for one", false, func(h *keychain.Host, text string) error {
		h.User = strings.TrimSpace(text)
		return nil
	})
	f.group = newCombo(f, "None; choose or type a new one", f.putGroup)
	f.tags = newField(f, "Separated by commas", false, func(h *keychain.Host, text string) error {
		h.Tags = strings.Split(text, ",")
		return nil
	})
	f.notes = newField(f, "", true, func(h *keychain.Host, text string) error { h.Notes = text; return nil })
	f.quality, f.colors = newChoice(f, qualities...), newChoice(f, colorChoices...)
	f.encodings = newField(f, "Usual order; else names such as tight, zrle", false, func(h *keychain.Host, text string) error {
		h.Encodings = words(strings.ToLower(text))
		return nil
	})
	f.size, f.keyboard, f.clipboard = newChoice(f, sizes...), newChoice(f, keyboards...), newChoice(f, sharings...)
	f.proxy = newField(f, "socks5://host:port or http://host:port", false, func(h *keychain.Host, text string) error { h.Proxy = text; return nil })
	f.repeater = newField(f, "ID:12345, when the address is a repeater's", false, func(h *keychain.Host, text string) error { h.Repeater = text; return nil })
	f.viewOnly, f.exclusive, f.encrypted = newTick(f, "View only"), newTick(f, "Disconnect other viewers"), newTick(f, "Require encryption")
	f.favourite, f.picture = newTick(f, "Favourite"), newTick(f, "Show the last picture")
	f.yes, f.no = look.NewChoice("Save", widget.HighImportance, f.save), look.NewChoice("Cancel", widget.MediumImportance, f.cancel)
	f.fold = look.NewChoice("", widget.LowImportance, func() { f.unfold(!f.unfolded) })
	f.fold.Alignment, f.fold.IconPlacement = widget.ButtonAlignLeading, widget.ButtonIconLeadingText
	f.yes.OnEscape, f.no.OnEscape, f.fold.OnEscape = f.cancel, f.cancel, f.cancel
	// Tab stays in the form.
	focus := f.screen.config.Canvas.Focus
	f.yes.OnTab = func(back bool) {
		if back {
			focus(f.no)
		} else {
			focus(f.name)
		}
	}
	f.name.tab = func(back bool) {
		switch {
		case !back:
			focus(f.address)
		case f.saving:
			focus(f.no)
		default:
			focus(f.yes)
		}
	}

	f.ssh = newSSHFields(f)
	plain := container.New(labelled{},
		label("Name"), f.name.line.box,
		label("Address"), container.NewVBox(container.New(addressRow{}, f.address, label("Port"), f.port), f.address.line.fault, f.port.line.fault),
		label("Protocol"), f.by.object,
		label("User"), f.user.line.box,
		label("Tags"), f.tags.line.box,
		label(""), container.NewGridWithColumns(2, f.favourite, f.viewOnly),
	)
	pictures := container.New(labelled{},
		heading("Picture"), label(""),
		label(""), f.picture,
		label("Quality"), f.quality.object,
		label("Colours"), f.colors.object,
		label("Encodings"), f.encodings.line.box,
		label("Size"), f.size.object,
		heading("Input"), label(""),
		label("Keyboard"), f.keyboard.object,
	)
	ways := container.New(labelled{}, label(""), container.NewGridWithColumns(2, f.encrypted, f.exclusive), label("Repeater"), f.repeater.line.box)
	f.desktop = []*fyne.Container{pictures, ways}
	f.folded = container.NewVBox(
		container.New(labelled{}, heading("Library"), label(""), label("Group"), f.group.line.box, label("Notes"), f.notes.line.box),
		pictures,
		container.New(labelled{}, label("Clipboard"), f.clipboard.object, heading("Connection"), label(""), label("Proxy"), f.proxy.line.box),
		ways, f.ssh.login, f.ssh.own, f.ssh.terminal,
	)
	for _, l := range []*formLine{f.group.line, f.notes.line, f.encodings.line, f.proxy.line, f.repeater.line} {
		l.more = true
	}
	content := container.NewVBox(plain, f.fold, f.folded)
	f.scroll = container.NewVScroll(container.New(look.Inset{0, 10, 0, 0}, content))
	f.scroll.SetMinSize(fyne.NewSize(100, 80))
	foot := container.New(look.Inset{6, 0, 0, 0}, container.NewVBox(f.fault, container.NewHBox(spacer(), f.no, f.yes)))
	card := look.NewCard(container.NewBorder(container.New(look.Inset{0, 0, 4, 0}, f.title), foot, nil, nil, f.scroll))
	f.box = container.NewStack(look.NewVeil(), container.New(&middle{f}, card))
	f.fault.Hide()
	f.box.Hide()
	return f
}

// protocols are what a machine can be reached over.
var protocols = []option[viewer.Protocol]{{viewer.VNC, "VNC: its desktop", ""}, {viewer.SSH, "SSH: a terminal, files, tunnels", ""}}

// protocol is that of the machine in the form.
func (f *form) protocol() viewer.Protocol {
	was := f.base.Protocol
	if was == "" {
		was = viewer.VNC
	}
	return f.by.get(was)
}

// setProtocol shows what the chosen protocol has.
func (f *form) setProtocol() {
	p := f.protocol()
	f.port.SetPlaceHolder(strconv.Itoa(p.DefaultPort()))
	for _, o := range protocols { // the usual port of the one before
		if o.value != p && f.port.Text == strconv.Itoa(o.value.DefaultPort()) {
			f.port.SetText("")
		}
	}
	f.user.SetPlaceHolder("Only if the machine asks for one")
	if p == viewer.SSH {
		f.user.SetPlaceHolder("Yours here, or as ~/.ssh/config says")
	}
	for _, o := range f.desktop {
		if p == viewer.SSH {
			o.Hide()
		} else {
			o.Show()
		}
	}
	f.ssh.show(p)
	f.changed()
	f.box.Refresh()
}

// putAddress takes what was typed as an address. It may carry a port and a
// user, as in the connect bar.
func (f *form) putAddress(h *keychain.Host, text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("type the address of the machine")
	}
	t, err := viewer.ParseTarget(text, f.protocol())
	if err != nil {
		return errors.New(viewer.Reason(err))
	}
	if t.Protocol != f.protocol() {
		if f.edit {
			return fmt.Errorf("the machine is reached over %s; add another one for %s", f.protocol(), t.Protocol)
		}
		h.Protocol = t.Protocol
	}
	h.Address, h.Port = t.Address, t.Port
	if t.User != "" && h.Login == "" {
		h.User = t.User
	}
	return nil
}

// putPort takes what was typed as a port, which must not contradict one in the
// address.
func (f *form) putPort(h *keychain.Host, text string) error {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("%q is not a port: use a number from 1 to 65535", text)
	}
	if t, err := viewer.ParseTarget(f.address.Text, f.protocol()); err == nil {
		switch {
		case t.Socket():
			return errors.New("a socket of this computer has no port: leave it out")
		case t.Port != t.Protocol.DefaultPort() && t.Port != n:
			return fmt.Errorf("the address names port %d, and the port is given as %d: leave one of them out", t.Port, n)
		}
	}
	h.Port = n
	return nil
}

// putGroup takes the name of a group. A new one is made when the machine is
// saved.
func (f *form) putGroup(h *keychain.Host, text string) error {
	h.Group = ""
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	for _, g := range f.groups {
		if groupPath(f.groups, g) == text {
			h.Group = g.ID
			return nil
		}
	}
	_, err := keychain.Group{Name: text}.Checked()
	return err
}

// newGroup is the name of a group that is not there yet, or "".
func (f *form) newGroup() string {
	var h keychain.Host
	if err := f.putGroup(&h, f.group.Text); err != nil || h.Group != "" {
		return ""
	}
	return strings.TrimSpace(f.group.Text)
}

// open shows the form with a machine's settings. One that is open already
// stays as it is: what was typed is not lost.
func (f *form) open(h keychain.Host, edit bool) {
	if f.box.Visible() {
		f.focus()
		return
	}
	f.screen.dropped.hide("")
	f.base, f.edit, f.saving, f.groups = h, edit, false, f.screen.view.groups
	f.ssh.read(h)
	f.title.SetText("Add a machine")
	if edit {
		f.title.SetText("Edit " + h.Name)
	} else {
		f.base.LastPicture = true
	}
	f.fill(f.base)
	for _, l := range f.lines {
		l.say("")
	}
	f.shown, _ = f.host()
	f.fault.Hide()
	f.working(false)
	f.unfold(false)
	f.scroll.ScrollToTop()
	f.box.Show()
	f.box.Refresh()
	f.focus()
}

// fill writes a host into the form.
func (f *form) fill(h keychain.Host) {
	f.by.ClearSelected()
	if h.Protocol == "" {
		h.Protocol = viewer.VNC
	}
	f.by.set(h.Protocol)
	f.setProtocol()
	if f.edit { // another protocol is another machine
		f.by.Disable()
	} else {
		f.by.Enable()
	}
	f.ssh.fill(h)
	f.name.SetText(h.Name)
	address := h.Address
	if h.Target().Socket() {
		address = "unix:" + address
	}
	f.address.SetText(address)
	f.port.SetText("")
	if h.Port != 0 {
		f.port.SetText(strconv.Itoa(h.Port))
	}
	f.user.SetText(h.User)
	var names []string
	f.group.SetText("")
	for _, g := range f.groups {
		path := groupPath(f.groups, g)
		names = append(names, path)
		if g.ID == h.Group {
			f.group.SetText(path)
		}
	}
	slices.Sort(names)
	f.group.SetOptions(names)
	f.tags.SetText(strings.Join(h.Tags, ", "))
	f.notes.SetText(h.Notes)
	f.quality.set(h.Quality)
	f.colors.set(h.Colors)
	f.encodings.SetText(strings.Join(h.Encodings, ", "))
	f.size.set(h.RemoteResize)
	f.keyboard.set(h.Keyboard)
	f.clipboard.set(h.Clipboard)
	f.proxy.SetText(h.Proxy)
	f.repeater.SetText(h.Repeater)
	f.viewOnly.SetChecked(h.ViewOnly)
	f.exclusive.SetChecked(h.Exclusive)
	f.encrypted.SetChecked(h.Encryption == keychain.EncryptionRequired)
	f.favourite.SetChecked(h.Favourite)
	f.picture.SetChecked(h.LastPicture)
	f.user.Enable()
	if h.Login != "" { // a shared login says who
		f.user.Disable()
	}
}

// unfold shows or hides the folded part.
func (f *form) unfold(on bool) {
	f.unfolded = on
	f.fold.Icon = theme.MenuExpandIcon()
	if on {
		f.fold.Icon = theme.MenuDropDownIcon()
		f.folded.Show()
	} else {
		f.folded.Hide()
	}
	f.changed()
	f.box.Refresh()
}

// changed counts what in the folded part is not as usual, and says so on the
// fold.
func (f *form) changed() {
	n, p := 0, f.protocol()
	all := append(f.ssh.set(p), strings.TrimSpace(f.group.Text) != "", strings.TrimSpace(f.notes.Text) != "",
		f.clipboard.get(f.base.Clipboard) != keychain.ShareBoth, strings.TrimSpace(f.proxy.Text) != "")
	if p != viewer.SSH {
		all = append(all, !f.picture.Checked,
			f.quality.get(f.base.Quality) != viewer.QualityAuto, f.colors.get(f.base.Colors) != viewer.ColorsFull, strings.TrimSpace(f.encodings.Text) != "",
			f.size.get(f.base.RemoteResize) != keychain.SizeKeep, f.keyboard.get(f.base.Keyboard) != keychain.KeyboardAuto,
			f.encrypted.Checked, f.exclusive.Checked, strings.TrimSpace(f.repeater.Text) != "")
	}
	for _, set := range all {
		if set {
			n++
		}
	}
	text := "More settings"
	if n > 0 {
		text += fmt.Sprintf("  ·  %d set", n)
	}
	if f.fold.Text != text {
		f.fold.SetText(text)
	}
}

// typed follows what is typed: a fault that was shown is looked at again, and
// a proxy, of which every mistake keeps the machine away, at each key.
func (f *form) typed(l *formLine) {
	f.fault.Hide()
	f.changed()
	if l.fault.Visible() || l == f.proxy.line {
		l.check()
	}
	if l == f.ssh.via.line {
		f.ssh.offer()
	}
	if l == f.address.line && !f.edit { // ssh://host says it too
		if t, err := viewer.ParseTarget(f.address.Text, f.protocol()); err == nil && t.Protocol != f.protocol() {
			f.by.set(t.Protocol)
		}
	}
	if l == f.address.line && f.port.line.fault.Visible() {
		f.port.line.check()
	}
}

// bring scrolls to what has the keyboard.
func (f *form) bring(o fyne.CanvasObject) {
	d := fyne.CurrentApp().Driver()
	top := d.AbsolutePositionForObject(o).Y - d.AbsolutePositionForObject(f.scroll.Content).Y
	const margin = 24 // a label, a caption
	switch view := f.scroll.Size().Height; {
	case top-margin < f.scroll.Offset.Y:
		f.scroll.ScrollToOffset(fyne.NewPos(0, max(top-margin, 0)))
	case top+o.Size().Height+margin > f.scroll.Offset.Y+view:
		f.scroll.ScrollToOffset(fyne.NewPos(0, top+o.Size().Height+margin-view))
	}
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
	h.Protocol = f.protocol()
	h.Name = ""
	if h.Login == "" {
		h.User = ""
	}
	for _, l := range f.lines {
		if l == f.user.line && (h.Login != "" || strings.TrimSpace(f.user.Text) == "") {
			continue // a shared login says who, or the address does
		}
		if l.put != nil {
			if err := l.put(&h); err != nil {
				return h, err
			}
		}
	}
	if h.Name == "" {
		h.Name = h.Address
	}
	h.Quality, h.Colors, h.RemoteResize = f.quality.get(h.Quality), f.colors.get(h.Colors), f.size.get(h.RemoteResize)
	h.Keyboard, h.Clipboard = f.keyboard.get(h.Keyboard), f.clipboard.get(h.Clipboard)
	h.ViewOnly, h.Exclusive, h.Favourite, h.LastPicture = f.viewOnly.Checked, f.exclusive.Checked, f.favourite.Checked, f.picture.Checked
	h.Encryption = keychain.EncryptionPreferred
	if f.encrypted.Checked {
		h.Encryption = keychain.EncryptionRequired
	}
	f.ssh.put(&h)
	return h.Checked()
}

// say tells what is wrong with the whole.
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
	var first *formLine
	for _, l := range f.lines {
		if !l.check() && first == nil {
			first = l
		}
	}
	if first != nil {
		if first.more {
			f.unfold(true)
		}
		f.screen.config.Canvas.Focus(first.what)
		return
	}
	h, err := f.host()
	if err != nil {
		f.say(Reason(err))
		return
	}
	f.working(true)
	store, edit, group := f.screen.config.Store, f.edit, f.newGroup()
	var saved, now keychain.Host
	f.screen.model.do(func(ctx context.Context) (err error) {
		if group != "" {
			g, err := store.AddGroup(ctx, keychain.Group{Name: group})
			if err != nil {
				return err
			}
			h.Group = g.ID
		}
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
		if groups, gerr := store.Groups(ctx); err != nil && gerr == nil {
			f.screen.config.Fence.Go(func() { f.groups = groups }) // the new one is there
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

// cancel closes the form. What was typed can be taken up again.
func (f *form) cancel() {
	if f.saving { // it is on its way
		return
	}
	f.close()
	if h, err := f.host(); err != nil && !f.untouched() || err == nil && fmt.Sprint(h) != fmt.Sprint(f.shown) {
		name := strings.TrimSpace(f.name.Text)
		if name == "" {
			name = strings.TrimSpace(f.address.Text)
		}
		f.screen.dropped.show(strings.TrimSpace("Not saved: what you typed about " + quoted(name)))
	}
}

// untouched reports whether nothing at all stands in a form for a new machine.
func (f *form) untouched() bool {
	return f.name.Text == f.base.Name && f.address.Text == f.base.Address && f.user.Text == f.base.User && f.tags.Text == "" && f.notes.Text == ""
}

// again shows what was typed before the form was closed.
func (f *form) again() {
	f.box.Show()
	f.box.Refresh()
	f.focus()
}

func (f *form) close() {
	f.box.Hide()
	f.yes.Left()
	f.no.Left()
	f.screen.config.Canvas.Focus(f.screen.shelf)
}
