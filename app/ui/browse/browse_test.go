//go:build unix

package browse

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/look"
	"deskvnc/viewer/files"
	"deskvnc/viewer/sshdial"
	"deskvnc/viewer/sshdial/sshtest"
)

// hang bounds what would wait for ever.
const hang = 60 * time.Second

// A lab is a browser between a folder here and one of a real sshd. The test is
// the goroutine of the widgets.
type lab struct {
	t           *testing.T
	b           *Browser
	posts       chan func()
	here, there string // the folders
	said        []string
	locked      error
	s           *sshtest.Server
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{t: t, posts: make(chan func(), 4096), here: t.TempDir(), there: t.TempDir(), s: sshtest.Start(t, sshtest.Options{})}
	test.NewTempApp(t).Settings().SetTheme(look.Theme{})
	w := test.NewTempWindow(t, nil)
	known := l.s.KnownHosts()
	open := func(ctx context.Context) (*files.FS, error) {
		c, err := sshdial.Dial(ctx, sshdial.Config{Target: l.s.Target(), Login: sshdial.Login{KeyFile: l.s.KeyFile, NoAgent: true}, NoConfig: true, KnownHostsFiles: []string{known}, Home: l.s.Dir}, sshEnv())
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { c.Close() })
		return files.Open(ctx, c.SSH())
	}
	var shared *files.FS
	turn := make(chan struct{}, 1)
	l.b = New(Config{
		Fence: fence.On(func(fn func()) { l.posts <- fn }), Canvas: w.Canvas(), Name: "lab", Own: open, Home: l.here,
		Files: func(ctx context.Context) (*files.FS, error) {
			turn <- struct{}{}
			defer func() { <-turn }()
			if shared != nil {
				return shared, nil
			}
			fs, err := open(ctx)
			shared = fs
			return fs, err
		},
		ReadOnly: func() error { return l.locked }, Chord: func(fyne.Shortcut) bool { return false }, Hint: func(string) func(bool) { return nil },
		Say: func(text string, _ bool) { l.said = append(l.said, text) }, Close: func() {},
	})
	t.Cleanup(func() {
		l.b.Close()
		select {
		case <-l.b.Ended():
		case <-time.After(hang):
			t.Error("the browser does not end")
		}
		if shared != nil {
			shared.Close()
		}
	})
	w.SetContent(l.b.Object())
	w.Resize(fyne.NewSize(1000, 640))
	return l
}

// open shows both folders.
func (l *lab) open() {
	l.t.Helper()
	l.b.Open()
	l.until("home of the machine", func() bool { return l.b.there.read && l.b.here.read })
	l.b.there.load(l.there, true, "")
	l.until("the folder of the machine", func() bool { return l.b.there.path == l.there && !l.b.there.loading })
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
			l.t.Fatalf("waited too long for %s; failed: %v %v, said %q, jobs %+v", what, l.b.here.failed, l.b.there.failed, l.said, l.b.queue.Jobs())
		}
	}
}

// names are what a side lists.
func (s *side) names() (out []string) {
	for _, e := range s.table.entries {
		out = append(out, e.Name)
	}
	return out
}

func (l *lab) write(dir, name, text string) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) content(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Files go both ways; the question about a name that is taken is answered for
// all, and the listing shows what came.
func TestTransfersBothWays(t *testing.T) {
	l := newLab(t)
	l.write(l.here, "a.txt", "from here a")
	l.write(l.here, "b.txt", "from here b")
	l.write(l.there, "a.txt", "old a")
	l.write(l.there, "b.txt", "old b")
	odd := "x\ny \xff"
	l.write(l.there, odd, "odd")
	l.open()

	l.b.here.grab()
	l.b.here.table.all()
	l.b.key(l.b.here, fyne.KeyF5)
	l.until("the question", l.b.sheet.shown)
	l.b.sheet.all.SetChecked(true)
	l.b.sheet.choices[2].OnTapped() // keep both
	l.until("both copies", func() bool { return l.b.Busy() == 0 && len(l.b.there.names()) == 5 })
	if l.content(l.there, "a.txt") != "old a" || l.content(l.there, "b.txt") != "old b" || l.b.sheet.shown() {
		t.Errorf("kept %q and %q, asked again: %v", l.content(l.there, "a.txt"), l.content(l.there, "b.txt"), l.b.sheet.shown())
	}

	l.b.there.table.point(odd)
	l.b.there.table.toggle()
	if e, _ := l.b.there.table.at(l.b.there.table.cursor); strings.Contains(e.Shown, "\n") || !utf8.ValidString(e.Shown) {
		t.Errorf("the odd name is shown as %q", e.Shown)
	}
	l.b.key(l.b.there, fyne.KeyF5)
	l.until("the odd file", func() bool { return l.b.Busy() == 0 && len(l.b.here.names()) == 3 })
	if got := l.content(l.here, files.LocalName(odd)); got != "odd" {
		t.Errorf("the odd file holds %q", got)
	}
}

// Deleting asks, and names what goes; a machine that is view only is not
// changed.
func TestDeleteAsks(t *testing.T) {
	l := newLab(t)
	l.write(l.there, "gone", "")
	l.write(l.there, "stays", "")
	l.open()
	l.b.there.table.point("gone")
	l.locked = fmt.Errorf("view only")
	l.b.key(l.b.there, fyne.KeyDelete)
	if l.b.sheet.shown() || len(l.said) != 1 {
		t.Fatalf("asked %v, said %q", l.b.sheet.shown(), l.said)
	}
	l.locked = nil
	l.b.key(l.b.there, fyne.KeyDelete)
	if !strings.Contains(l.b.sheet.text.String(), "gone") {
		t.Errorf("asked %q", l.b.sheet.text.String())
	}
	if l.b.config.Canvas.Focused() != fyne.Focusable(l.b.sheet.choices[0]) {
		t.Error("Return would delete")
	}
	l.b.sheet.choices[1].OnTapped()
	l.until("the deletion", func() bool { return len(l.b.there.names()) == 1 })
	if _, err := os.Stat(filepath.Join(l.there, "stays")); err != nil {
		t.Error(err)
	}
}

// A folder of many entries is drawn as the rows that can be seen.
func TestManyEntries(t *testing.T) {
	l := newLab(t)
	const many = 20_000
	for i := range many {
		l.write(l.there, fmt.Sprintf("file-%d", i), "")
	}
	l.open()
	tb := l.b.there.table
	if len(tb.entries) != many || tb.entries[2].Name != "file-2" || tb.entries[10].Name != "file-10" {
		t.Fatalf("%d entries, the third is %q", len(tb.entries), tb.entries[2].Name)
	}
	tb.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
	if tb.cursor != many-1 || tb.top != many-tb.rows() || len(tb.r.rows) > tb.rows() {
		t.Errorf("cursor %d, top %d, %d rows are drawn", tb.cursor, tb.top, len(tb.r.rows))
	}
	for _, r := range "19999" {
		tb.TypedRune(r)
	}
	if got := l.b.there.names(); len(got) != 1 || got[0] != "file-19999" {
		t.Errorf("filtered to %q", got)
	}
}

// A folder that cannot be read says why, and one can go back.
func TestFaults(t *testing.T) {
	l := newLab(t)
	l.open()
	l.b.there.goTyped("/no/such/folder")
	l.until("the fault", func() bool { return l.b.there.failed != nil })
	if l.b.there.head.Value() != "This folder cannot be read" || !l.b.there.state.Visible() {
		t.Errorf("says %q", l.b.there.head.Value())
	}
	l.b.there.giveUp()
	if l.b.there.path != l.there || l.b.there.head.Value() != "An empty folder" {
		t.Errorf("back at %q, says %q", l.b.there.path, l.b.there.head.Value())
	}
}
