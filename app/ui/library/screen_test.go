package library

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/look"
	"deskvnc/keychain"
	"deskvnc/keychain/store"
	"deskvnc/viewer"
)

// hang bounds every wait of the tests.
const hang = 30 * time.Second

func TestMain(m *testing.M) {
	os.Setenv("LC_ALL", "en_US.UTF-8") // the toolkit complains about C
	os.Exit(m.Run())
}

// shop is the real store with what the screen wants besides.
type shop struct {
	*store.Store
	mu        sync.Mutex
	forgotten []string
}

func (s *shop) Recent(ctx context.Context, n int) ([]Recent, error) {
	found, err := s.Recents(ctx, n)
	var out []Recent
	for _, r := range found {
		out = append(out, Recent(r))
	}
	return out, err
}

func (s *shop) Forget(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten = append(s.forgotten, id)
	return nil
}

func (s *shop) gone() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.forgotten)
}

// lab is a screen over a real store. The test is the goroutine of the widgets.
type lab struct {
	t      testing.TB
	store  *shop
	win    fyne.Window
	s      *Screen
	posts  chan func()
	opened []Entry
	did    []string
	live   fyne.ThemeColorName
}

func newStore(t testing.TB) *shop {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "library.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &shop{Store: s}
}

func newLab(t testing.TB, s *shop, samples ...Entry) *lab {
	t.Helper()
	l := &lab{t: t, store: s, posts: make(chan func(), 4096)}
	test.NewTempApp(t).Settings().SetTheme(look.Theme{})
	l.win = test.NewTempWindow(t, nil)
	l.s = New(Config{
		Store: s, Fence: fence.On(func(fn func()) { l.posts <- fn }), Canvas: l.win.Canvas(), Samples: samples,
		Open: func(e Entry) { l.opened = append(l.opened, e) }, Do: func(id string) { l.did = append(l.did, id) },
		Menu: func() *fyne.Menu { return fyne.NewMenu("") }, More: func() *fyne.Menu { return fyne.NewMenu("") },
		Chord: func(fyne.Shortcut) bool { return false }, Live: func(viewer.Target) fyne.ThemeColorName { return l.live },
		Hint: func(string) func(bool) { return nil }, HeadFocus: func() { l.win.Canvas().Unfocus() },
	})
	t.Cleanup(l.s.Close)
	l.win.SetContent(l.s.Object())
	l.win.Resize(fyne.NewSize(900, 640))
	return l
}

// until runs what is posted until ok is true.
func (l *lab) until(what string, ok func() bool) {
	l.t.Helper()
	limit := time.NewTimer(hang)
	defer limit.Stop()
	for !ok() {
		select {
		case fn := <-l.posts:
			fn()
		case <-limit.C:
			l.t.Fatalf("waited too long for %s; shown: %s", what, l.shown())
		}
	}
}

// shown is what the shelf holds: headings and names.
func (l *lab) shown() string {
	var out []string
	for _, sec := range l.s.shelf.sections {
		if len(sec.Entries) == 0 {
			continue
		}
		var names []string
		for _, e := range sec.Entries {
			names = append(names, e.Name())
		}
		out = append(out, sec.Title+": "+strings.Join(names, " "))
	}
	return strings.Join(out, " | ")
}

func (l *lab) untilShown(want string) {
	l.t.Helper()
	l.until(want, func() bool { return l.s.read && l.shown() == want })
}

func (l *lab) add(h keychain.Host) keychain.Host {
	l.t.Helper()
	if h.Protocol == "" {
		h.Protocol = viewer.VNC
	}
	if h.Address == "" {
		h.Address = "10.0.0.1"
	}
	saved, err := l.store.Add(context.Background(), h)
	if err != nil {
		l.t.Fatal(err)
	}
	return saved
}

func (l *lab) key(names ...fyne.KeyName) {
	for _, n := range names {
		l.win.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: n})
	}
}

func TestEmptyAndNothingFound(t *testing.T) {
	l := newLab(t, newStore(t))
	l.until("the first reading", func() bool { return l.s.read })
	if !l.s.empty.Visible() || !l.s.addBig.Visible() || l.s.emptyT.Value() != "No machines yet" {
		t.Error("an empty library does not say what to do")
	}
	l.add(keychain.Host{Name: "lab"})
	l.untilShown("Machines: lab")
	if l.s.empty.Visible() {
		t.Error("the library is not empty any more")
	}
	l.s.search.SetText("zzz")
	l.untilShown("")
	if !l.s.empty.Visible() || l.s.addBig.Visible() || !strings.Contains(l.s.emptyP.String(), "zzz") {
		t.Errorf("nothing found is shown as %q", l.s.emptyP.String())
	}
}

func TestSections(t *testing.T) {
	s := newStore(t)
	l := newLab(t, s, Entry{Target: viewer.Target{Name: "Sample", Protocol: viewer.VNC, Address: "127.0.0.1", Port: 1}})
	ctx := context.Background()
	g, err := s.AddGroup(ctx, keychain.Group{Name: "Office"})
	if err != nil {
		t.Fatal(err)
	}
	sub, err := s.AddGroup(ctx, keychain.Group{Name: "Attic", Parent: g.ID})
	if err != nil {
		t.Fatal(err)
	}
	l.add(keychain.Host{Name: "b"})
	l.add(keychain.Host{Name: "a", Favourite: true})
	l.add(keychain.Host{Name: "c", Group: g.ID})
	l.add(keychain.Host{Name: "d", Group: sub.ID})
	if err := s.Connected(ctx, viewer.Target{Protocol: viewer.VNC, Address: "elsewhere", Port: 80}); err != nil {
		t.Fatal(err)
	}
	l.s.Again()
	l.untilShown("Favourites: a | Recent: elsewhere:80 | Machines: b | Office: c | Office / Attic: d | Try it: Sample")
	// With many machines, the recent of them come a second time.
	h := l.add(keychain.Host{Name: "r", Address: "10.0.0.9"})
	for i := range manyHosts {
		l.add(keychain.Host{Name: fmt.Sprintf("x%02d", i)})
	}
	if err := s.Connected(ctx, h.Target()); err != nil {
		t.Fatal(err)
	}
	l.s.Again()
	l.until("the recent one", func() bool { return strings.Contains(l.shown(), "Recent: r elsewhere:80 | Machines: b r x00") })
}

func TestSearchAsYouType(t *testing.T) {
	l := newLab(t, newStore(t))
	for _, n := range []string{"alpha", "beta", "gamma"} {
		l.add(keychain.Host{Name: n, Tags: []string{"greek"}})
	}
	l.untilShown("Machines: alpha beta gamma")
	l.s.FocusSearch()
	test.Type(l.s.search, "ga")
	l.untilShown("1 found: gamma")
	l.key(fyne.KeyReturn)
	if len(l.opened) != 1 || l.opened[0].Name() != "gamma" {
		t.Errorf("return opened %v", l.opened)
	}
	l.untilShown("Machines: alpha beta gamma") // it has been found
	test.Type(l.s.search, "greek be")
	l.untilShown("1 found: beta")
	l.key(fyne.KeyEscape)
	l.untilShown("Machines: alpha beta gamma")
	// Typing at the machines is searching.
	l.key(fyne.KeyDown)
	l.win.Canvas().Focused().TypedRune('a')
	l.until("the search", func() bool { return l.s.search.Text == "a" && l.win.Canvas().Focused() == fyne.Focusable(l.s.search) })
}

func TestKeysAndMouse(t *testing.T) {
	l := newLab(t, newStore(t))
	for i := range 30 {
		l.add(keychain.Host{Name: fmt.Sprintf("m%02d", i)})
	}
	l.until("the machines", func() bool { return len(l.s.shelf.entries) == 30 })
	chosen := func() string { e, _ := l.s.Chosen(); return e.Name() }
	l.win.Canvas().Focus(l.s.shelf)
	n := l.s.shelf.columns
	if n < 2 {
		t.Fatalf("%d columns", n)
	}
	for _, c := range []struct {
		key  fyne.KeyName
		want int
	}{{fyne.KeyRight, 1}, {fyne.KeyDown, 1 + n}, {fyne.KeyLeft, n}, {fyne.KeyUp, 0}, {fyne.KeyEnd, 29}, {fyne.KeyDown, 29}, {fyne.KeyUp, 29 - n}, {fyne.KeyHome, 0}} {
		l.key(c.key)
		if want := fmt.Sprintf("m%02d", c.want); chosen() != want {
			t.Errorf("%s chooses %s, want %s", c.key, chosen(), want)
		}
		if l.s.shelf.items[l.s.shelf.selected] == nil {
			t.Errorf("%s: the chosen one cannot be seen", c.key)
		}
	}
	l.key(fyne.KeyReturn, fyne.KeyDelete, fyne.KeyF2)
	if len(l.opened) != 1 || l.opened[0].Name() != "m00" || !slices.Equal(l.did, []string{"host.delete", "host.edit"}) {
		t.Errorf("opened %v, did %v", l.opened, l.did)
	}
	l.key(fyne.KeyUp)
	if l.win.Canvas().Focused() != fyne.Focusable(l.s.search) {
		t.Error("up from the first line does not lead to the search")
	}
	it := l.s.shelf.items[3]
	it.MouseDown(&desktop.MouseEvent{})
	if chosen() != "m03" || l.win.Canvas().Focused() != fyne.Focusable(l.s.shelf) {
		t.Error("a click does not choose")
	}
	it.DoubleTapped(nil)
	if len(l.opened) != 2 || l.opened[1].Name() != "m03" {
		t.Error("a double click does not connect")
	}
	l.s.shelf.TypedShortcut(&fyne.ShortcutUndo{})
	if l.did[len(l.did)-1] != "host.undelete" {
		t.Error("undo among the machines does nothing")
	}
	// What a session does is seen.
	l.live = theme.ColorNameSuccess
	l.s.Update()
	if l.s.shelf.items[0].live != theme.ColorNameSuccess || !l.s.shelf.items[0].dot.Visible() {
		t.Error("the dot of an open session is not shown")
	}
}

func TestForm(t *testing.T) {
	s := newStore(t)
	l := newLab(t, s)
	f := l.s.form
	l.s.Add(keychain.Host{Protocol: viewer.VNC})
	if l.win.Canvas().Focused() != fyne.Focusable(f.name) {
		t.Error("the name has not got the keyboard")
	}
	for _, c := range []struct{ name, address, port, tags, want string }{
		{"x", "", "", "", "type the address"},
		{"x", "a b", "", "", "cannot contain"},
		{"x", "h", "70000", "", "not a port"},
		{"x", "h:3", "5999", "", "leave one of them out"},
		{strings.Repeat("x", 200), "h", "", "", "200 characters, more than 128"},
		{"x", "h", "", strings.Repeat("t", 99), "more than 64"},
		{"x", "vnc://u:secret@h", "", "", "leave the password out"},
	} {
		f.name.SetText(c.name)
		f.address.SetText(c.address)
		f.port.SetText(c.port)
		f.tags.SetText(c.tags)
		f.save()
		if !strings.Contains(strings.ToLower(f.faults()), c.want) {
			t.Errorf("%q %q %q: the form says %q, want %q", c.name, c.address, c.port, f.faults(), c.want)
		}
		if strings.Contains(f.faults(), "secret") {
			t.Error("a password is repeated")
		}
	}
	f.name.SetText("")
	f.address.SetText("LAB01.:2")
	f.port.SetText("")
	f.tags.SetText(" red, blue ,,red")
	f.notes.SetText("in the\ncellar")
	f.user.SetText("alice")
	f.clipboard.SetSelected("Off")
	for _, c := range []interface{ SetChecked(bool) }{f.viewOnly, f.exclusive, f.encrypted, f.favourite} {
		c.SetChecked(true)
	}
	f.name.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	l.until("the new machine to be chosen", func() bool { e, ok := l.s.Chosen(); return ok && e.Name() == "lab01" })
	if f.box.Visible() {
		t.Error("the form stays after saving")
	}
	e, _ := l.s.Chosen()
	got := e.Host
	want := keychain.Host{
		ID: got.ID, Revision: got.Revision, Created: got.Created, Changed: got.Changed, Name: "lab01", Protocol: viewer.VNC, Address: "lab01", Port: 5902, User: "alice",
		Tags: []string{"red", "blue"}, Notes: "in the\ncellar", Favourite: true, ViewOnly: true, Exclusive: true, Encryption: keychain.EncryptionRequired, Clipboard: keychain.ShareOff, LastPicture: true,
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("saved\n%+v, want\n%+v", got, want)
	}

	// Somebody else changes it while the form is open: it is said, and saving
	// again puts this one's in place.
	l.s.EditID(got.ID)
	l.until("the form", func() bool { return f.box.Visible() })
	other := got
	other.Notes = "theirs"
	if _, err := s.Update(context.Background(), other); err != nil {
		t.Fatal(err)
	}
	f.notes.SetText("mine")
	f.save()
	l.until("the conflict", func() bool { return f.fault.Visible() && !f.saving })
	if !strings.Contains(f.fault.String(), "Somebody else has changed it") || f.notes.Text != "mine" || !f.box.Visible() {
		t.Errorf("a conflict says %q", f.fault.String())
	}
	f.save()
	l.until("the saving", func() bool { return !f.box.Visible() })
	if h, err := s.Get(context.Background(), got.ID); err != nil || h.Notes != "mine" {
		t.Errorf("notes %q, %v", h.Notes, err)
	}

	// Escape changes nothing.
	l.s.EditID(got.ID)
	l.until("the form", func() bool { return f.box.Visible() })
	f.name.SetText("other")
	f.name.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if f.box.Visible() {
		t.Error("escape does not close the form")
	}

	// What cannot be saved stays on the screen (C256).
	l.s.Add(keychain.Host{Protocol: viewer.VNC})
	f.name.SetText("lost?")
	f.address.SetText("10.0.0.3")
	s.Close()
	f.save()
	l.until("the failure", func() bool { return f.fault.Visible() && !f.saving })
	if !f.box.Visible() || f.name.Text != "lost?" || !strings.HasPrefix(strings.TrimSpace(f.fault.String()), "Not saved.") {
		t.Errorf("a save that fails says %q", f.fault.String())
	}
}

func TestDeleteAndUndo(t *testing.T) {
	s := newStore(t)
	l := newLab(t, s)
	a, b := l.add(keychain.Host{Name: "a"}), l.add(keychain.Host{Name: "b"})
	l.untilShown("Machines: a b")
	l.s.shelf.choose(0, true)
	l.s.Delete(a)
	l.untilShown("Machines: b")
	l.until("the bar", func() bool { return l.s.undo.object.Visible() })
	if l.s.CanUndo() != "a" || len(s.gone()) != 0 {
		t.Errorf("undo %q, forgotten %v", l.s.CanUndo(), s.gone())
	}
	if e, ok := l.s.Chosen(); !ok || e.Name() != "b" {
		t.Error("what comes after the deleted one is not chosen")
	}
	if !l.s.Undo() {
		t.Fatal("nothing to undo")
	}
	l.untilShown("Machines: a b")
	l.until("the restored one to be chosen", func() bool { e, ok := l.s.Chosen(); return ok && e.Name() == "a" })
	if l.s.undo.object.Visible() || l.s.Undo() {
		t.Error("the offer stays")
	}
	// Another deletion ends the first offer; closing ends the last.
	l.s.Delete(a)
	l.until("the bar", func() bool { return l.s.CanUndo() == "a" })
	l.s.Delete(b)
	l.until("the second bar", func() bool { return l.s.CanUndo() == "b" })
	l.until("the first secret to go", func() bool { return slices.Equal(s.gone(), []string{a.ID}) || pump(l) })
	l.s.Close()
	if got := s.gone(); !slices.Equal(got, []string{a.ID, b.ID}) {
		t.Errorf("forgotten %v, want both", got)
	}
	if left := setting[[]string](context.Background(), s, keyDeleted); len(left) != 0 {
		t.Errorf("still to be forgotten: %v", left)
	}
}

// pump runs one posted function, if there is one; it gives false.
func pump(l *lab) bool {
	select {
	case fn := <-l.posts:
		fn()
	case <-time.After(time.Millisecond): // not everything is posted here
	}
	return false
}

// A run that ended before the offer did leaves the rest to the next one.
func TestForgottenAtTheNextStart(t *testing.T) {
	s := newStore(t)
	if err := setSetting(context.Background(), s, keyDeleted, []string{"h_gone"}); err != nil {
		t.Fatal(err)
	}
	l := newLab(t, s)
	l.until("the secrets to go", func() bool { return slices.Equal(s.gone(), []string{"h_gone"}) || pump(l) })
}

func TestRowsAreRemembered(t *testing.T) {
	s := newStore(t)
	l := newLab(t, s)
	l.add(keychain.Host{Name: "a"})
	l.untilShown("Machines: a")
	l.s.SetCards(false)
	l.s.Close() // waits for what is being saved
	again := newLab(t, s)
	again.until("rows", func() bool { return !again.s.Cards() })
	again.untilShown("Machines: a")
	if h := again.s.shelf.items[0].Size().Height; h != rowHeight {
		t.Errorf("a row is %v high", h)
	}
}

func TestDuplicateAndFavourite(t *testing.T) {
	l := newLab(t, newStore(t))
	h := l.add(keychain.Host{Name: "a"})
	l.untilShown("Machines: a")
	l.s.Duplicate(h.ID)
	l.until("the copy to be chosen", func() bool { e, ok := l.s.Chosen(); return ok && e.Host.ID != h.ID })
	l.s.SetFavourite(h.ID, true)
	l.until("the favourite", func() bool { return strings.HasPrefix(l.shown(), "Favourites: a | Machines: ") })
	if !l.s.shelf.items[0].star.Visible() {
		t.Error("a favourite has no star")
	}
}

func TestLastPicture(t *testing.T) {
	s := newStore(t)
	l := newLab(t, s)
	h, plain := l.add(keychain.Host{Name: "a", LastPicture: true}), l.add(keychain.Host{Name: "b"})
	l.untilShown("Machines: a b")
	img := image.NewRGBA(image.Rect(0, 0, 64, 40))
	for i := range img.Pix {
		img.Pix[i] = 0x80
	}
	encoded := 0
	encode := func() ([]byte, error) {
		encoded++
		var b bytes.Buffer
		err := jpeg.Encode(&b, img, nil)
		return b.Bytes(), err
	}
	l.s.KeepPicture(plain.ID, encode)
	l.s.KeepPicture(h.ID, encode)
	l.until("the picture", func() bool { return l.s.shelf.items[0].thumb != nil })
	if c := color.GrayModel.Convert(l.s.shelf.items[0].thumb.At(5, 5)).(color.Gray).Y; c < 0x70 || c > 0x90 {
		t.Errorf("the picture shows %#x", c)
	}
	if !l.s.shelf.items[0].picture.Visible() || l.s.shelf.items[1].thumb != nil {
		t.Error("the wrong machine has a picture")
	}
	l.s.Close()
	if encoded != 1 {
		t.Errorf("%d pictures were made, one was wanted", encoded)
	}
}

func TestWithoutLibrary(t *testing.T) {
	l := &lab{t: t, posts: make(chan func(), 4096)}
	test.NewTempApp(t).Settings().SetTheme(look.Theme{})
	l.win = test.NewTempWindow(t, nil)
	why := &keychain.Error{Op: "open", Kind: keychain.Newer, Err: errors.New("the library was written by a newer version")}
	l.s = New(Config{
		Store: None(why), Fence: fence.On(func(fn func()) { l.posts <- fn }), Canvas: l.win.Canvas(),
		Samples: []Entry{{Target: viewer.Target{Name: "Sample", Protocol: viewer.VNC, Address: "127.0.0.1", Port: 1}}},
		Live:    func(viewer.Target) fyne.ThemeColorName { return "" }, Hint: func(string) func(bool) { return nil },
	})
	defer l.s.Close()
	l.untilShown("Try it: Sample")
	if !l.s.fault.object.Visible() || !strings.Contains(l.s.fault.said, "newer version.") {
		t.Errorf("the screen says %q", l.s.fault.said)
	}
}

func TestURL(t *testing.T) {
	for _, text := range []string{"vnc://lab:5900", "vnc://lab:80", "vnc://[::1]:5901", "rdp://al%20ice@office:3390", "ssh://lab:22"} {
		target, ok := ParseURL(text)
		if !ok || URL(target) != text {
			t.Errorf("%s is read as %+v, %v, and written as %s", text, target, ok, URL(target))
		}
	}
	for _, text := range []string{"", "vnc://", "http://x:80"} {
		if target, ok := ParseURL(text); ok {
			t.Errorf("%q is read as %+v", text, target)
		}
	}
}

// thousands fills a store.
func thousands(t testing.TB, n int) *shop {
	t.Helper()
	s := newStore(t)
	for i := range n {
		h := keychain.Host{Name: fmt.Sprintf("machine-%05d", i), Protocol: viewer.VNC, Address: fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), Tags: []string{"rack" + fmt.Sprint(i%40)}}
		if _, err := s.Add(context.Background(), h); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// However many machines there are, only what can be seen is made.
func TestManyMachines(t *testing.T) {
	const n = 1500
	l := newLab(t, thousands(t, n))
	l.until("all machines", func() bool { return len(l.s.shelf.entries) == n })
	for _, cards := range []bool{true, false} {
		l.s.SetCards(cards)
		l.win.Canvas().Focus(l.s.shelf)
		l.key(fyne.KeyEnd)
		if l.s.shelf.items[n-1] == nil {
			t.Error("the last machine is not shown at the end")
		}
		l.key(fyne.KeyHome)
		for range 100 {
			l.key(fyne.KeyPageDown)
		}
		if made := len(l.s.shelf.items) + len(l.s.shelf.spare); made > 80 {
			t.Errorf("cards %v: %d items were made", cards, made)
		}
		if got := len(l.s.shelf.board.Objects); got > 90 {
			t.Errorf("cards %v: the board has %d objects", cards, got)
		}
	}
}
