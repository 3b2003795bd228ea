package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
)

func TestHomeAndPaths(t *testing.T) {
	ctx := testContext(t)
	dir := t.TempDir()
	f := openSSH(t, "-d", dir)
	home, err := f.Home(ctx)
	if err != nil || home != dir {
		t.Fatalf("got home %q, %v, want %q", home, err, dir)
	}
	for in, want := range map[string]string{
		"": dir, "~": dir, ".": dir, "~/x": dir + "/x", "x y": dir + "/x y", "./a/../b": dir + "/a/../b", "/etc": "/etc", "~root": dir + "/~root",
	} {
		if got, err := f.Path(ctx, in); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
	_, err = f.Path(ctx, "a\x00b")
	wantKind(t, err, viewer.Invalid, "zero byte")
}

// Names are bytes: whatever is there can be listed, fetched, renamed and
// removed.
func TestOddNames(t *testing.T) {
	ctx := testContext(t)
	dir, here := t.TempDir(), t.TempDir()
	odd := []string{
		"é", "e\u0301", "a b", "-rf", "it's", `say "x"`, "x\ny", "\xff\xfe", "tab\there", `back\slash`, "*", "~", " ", "...", "日本語",
		strings.Repeat("n", 255), strings.Repeat("é", 127), "\u202egnp.exe", "$HOME", "con", "a:b",
	}
	for i, n := range odd {
		write(t, filepath.Join(dir, n), []byte(fmt.Sprint(i)), 0o644)
	}
	f := openSSH(t)
	all, l, err := f.All(ctx, dir)
	if err != nil || l.Count != len(odd) {
		t.Fatalf("listed %d of %d: %v", l.Count, len(odd), err)
	}
	root := rootOf(t, here)
	for i, n := range odd {
		k := slices.IndexFunc(all, func(e viewer.FileEntry) bool { return e.Name == n })
		if k < 0 {
			t.Errorf("%q is not listed", n)
			continue
		}
		e := all[k]
		if strings.ContainsAny(e.Shown, "\n\t\u202e") || e.Shown == "" {
			t.Errorf("%q is shown as %q", n, e.Shown)
		}
		if _, err := f.Get(ctx, e.Path, root, LocalName(e.Name), Options{}); err != nil {
			t.Errorf("get %q: %v", n, err)
			continue
		}
		if got := string(read(t, filepath.Join(here, n))); got != fmt.Sprint(i) {
			t.Errorf("%q holds %q", n, got)
		}
		if _, err := f.Put(ctx, root, n, Join(dir, n), Options{Exists: Always(Replace)}); err != nil {
			t.Errorf("put %q: %v", n, err)
		}
		if err := f.Rename(ctx, e.Path, e.Path[:len(e.Path)-1]+"Z", false); err != nil {
			t.Errorf("rename %q: %v", n, err)
			continue
		}
		if err := f.Remove(ctx, e.Path[:len(e.Path)-1]+"Z", false); err != nil {
			t.Errorf("remove %q: %v", n, err)
		}
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// One bad link neither hides a folder nor fails it, and a link to a folder can
// be entered.
func TestListLinks(t *testing.T) {
	ctx := testContext(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "good"), []byte("12345"), 0o640)
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o755))
	for name, to := range map[string]string{"to-good": "good", "to-folder": "folder", "dangling": "nowhere", "self": "self", "up": ".."} {
		must(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	f := openSSH(t)
	all, _, err := f.All(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	type seen struct {
		Type, To viewer.FileType
		Broken   bool
		Target   string
	}
	got := map[string]seen{}
	for _, e := range all {
		got[e.Name] = seen{e.Type, e.To, e.Broken, e.Target}
	}
	want := map[string]seen{
		"good":      {viewer.RegularFile, "", false, ""},
		"folder":    {viewer.Folder, "", false, ""},
		"to-good":   {viewer.Link, viewer.RegularFile, false, "good"},
		"to-folder": {viewer.Link, viewer.Folder, false, "folder"},
		"dangling":  {viewer.Link, "", true, "nowhere"},
		"self":      {viewer.Link, "", true, "self"},
		"up":        {viewer.Link, viewer.Folder, false, ".."},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if _, err := f.List(ctx, Join(dir, "to-folder"), func([]viewer.FileEntry) error { return nil }); err != nil {
		t.Errorf("a link to a folder cannot be entered: %v", err)
	}
	e, err := f.Stat(ctx, Join(dir, "to-good"))
	if err != nil || e.Size != 5 || e.To != viewer.RegularFile {
		t.Errorf("got %+v, %v", e, err)
	}
	_, err = f.List(ctx, Join(dir, "good"), func([]viewer.FileEntry) error { return nil })
	wantKind(t, err, viewer.Invalid, "not a folder")
	_, err = f.List(ctx, Join(dir, "nothing"), func([]viewer.FileEntry) error { return nil })
	wantKind(t, err, viewer.Missing, "no such file or folder")
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestListManyStreamed(t *testing.T) {
	ctx := testContext(t)
	dir := t.TempDir()
	const n = 20_000
	for i := range n {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%05d", i)), nil, 0o644))
	}
	f := openSSH(t)
	seen, parts := map[string]bool{}, 0
	l, err := f.List(ctx, dir, func(some []viewer.FileEntry) error {
		parts++
		for _, e := range some {
			seen[e.Name] = true
		}
		return nil
	})
	if err != nil || l.Count != n || len(seen) != n || parts < 10 {
		t.Errorf("listed %d, %d different, in %d parts: %v", l.Count, len(seen), parts, err)
	}
	enough := errors.New("enough")
	if _, err := f.List(ctx, dir, func([]viewer.FileEntry) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v, want the callback's own error", err)
	}
	// The session is as good as before.
	if _, err := f.Home(ctx); err != nil {
		t.Error(err)
	}
}

func TestTransferRoundTrip(t *testing.T) {
	ctx := testContext(t)
	here, there := t.TempDir(), t.TempDir()
	root := rootOf(t, here)
	f := openSSH(t)
	for _, n := range []int{0, 1, 4095, 32 << 10, maxChunk, maxChunk + 1, 3*maxChunk - 1, 20<<20 + 7} {
		b := pattern(n)
		write(t, filepath.Join(here, "src"), b, 0o644)
		old := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
		must(t, os.Chtimes(filepath.Join(here, "src"), old, old))
		up, err := f.Put(ctx, root, "src", there+"/dst", Options{Exists: Always(Replace), Verify: true})
		if err != nil || up.Size != int64(n) || up.Bytes != int64(n) || up.Path != there+"/dst" {
			t.Fatalf("%d bytes up: %+v, %v", n, up, err)
		}
		if !bytes.Equal(read(t, there+"/dst"), b) {
			t.Fatalf("%d bytes: the copy differs", n)
		}
		var last Progress
		down, err := f.Get(ctx, there+"/dst", root, "back", Options{Exists: Always(Replace), Verify: true, Progress: func(p Progress) { last = p }})
		if err != nil || down.Size != int64(n) || down.SHA256 != up.SHA256 {
			t.Fatalf("%d bytes down: %+v, %v", n, down, err)
		}
		if last.Done != int64(n) || last.Files != 1 || last.Percent() != 100 {
			t.Errorf("%d bytes: last progress %+v", n, last)
		}
		if !bytes.Equal(read(t, here+"/back"), b) {
			t.Fatalf("%d bytes: the copy of the copy differs", n)
		}
		for _, p := range []string{there + "/dst", here + "/back"} {
			if info, err := os.Stat(p); err != nil || !info.ModTime().Equal(old) {
				t.Errorf("%s: time %v, %v, want %v", p, info.ModTime(), err, old)
			}
		}
		var buf bytes.Buffer
		if r, err := f.Fetch(ctx, there+"/dst", &buf, Options{}); err != nil || !bytes.Equal(buf.Bytes(), b) || r.Size != int64(n) {
			t.Errorf("%d bytes fetched: %+v, %v", n, r, err)
		}
		if r, err := f.Store(ctx, bytes.NewReader(b), -1, there+"/stored", Options{Exists: Always(Replace), Mode: 0o4750, HasMode: true}); err != nil || r.Size != int64(n) {
			t.Errorf("%d bytes stored: %+v, %v", n, r, err)
		}
		if info, _ := os.Stat(there + "/stored"); info.Mode() != 0o750|os.ModeSetuid {
			t.Errorf("the mode is %v, want the one named", info.Mode())
		}
	}
	if left := append(leftOvers(t, here), leftOvers(t, there)...); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestFetchLimit(t *testing.T) {
	ctx := testContext(t)
	dir := t.TempDir()
	write(t, dir+"/big", pattern(300_000), 0o644)
	f := openSSH(t)
	var buf bytes.Buffer
	_, err := f.Fetch(ctx, dir+"/big", &buf, Options{Limit: 262_144})
	wantKind(t, err, viewer.Limit, "300000 bytes; the most is 262144")
	if buf.Len() != 0 {
		t.Errorf("%d bytes came all the same", buf.Len())
	}
	// A file whose size is told wrong is stopped while it is read.
	_, err = f.Fetch(ctx, "/proc/self/maps", &buf, Options{Limit: 16})
	wantKind(t, err, viewer.Limit, "the most is 16")
	if _, err := f.Fetch(ctx, "/proc/self/status", &buf, Options{}); err != nil || !strings.Contains(buf.String(), "VmRSS") {
		t.Errorf("a file without a size: %d bytes, %v", buf.Len(), err)
	}
}

// What is no file is never opened: it would wait for ever.
func TestSpecialFiles(t *testing.T) {
	ctx := testContext(t)
	dir := t.TempDir()
	root := rootOf(t, dir)
	mkfifo(t, dir+"/pipe")
	must(t, os.Mkdir(dir+"/folder", 0o755))
	f := openSSH(t)
	_, err := f.Get(ctx, dir+"/pipe", root, "x", Options{})
	wantKind(t, err, viewer.Invalid, "neither a file nor a folder")
	_, err = f.Get(ctx, "/dev/zero", root, "x", Options{})
	wantKind(t, err, viewer.Invalid, "neither a file nor a folder")
	_, err = f.Put(ctx, root, "pipe", dir+"/x", Options{})
	wantKind(t, err, viewer.Invalid, "neither a file nor a folder")
	_, err = f.Fetch(ctx, dir+"/folder", &bytes.Buffer{}, Options{})
	wantKind(t, err, viewer.Invalid, "a folder")
}

func TestConflicts(t *testing.T) {
	ctx := testContext(t)
	here, there := t.TempDir(), t.TempDir()
	root := rootOf(t, here)
	write(t, here+"/a.txt", []byte("new"), 0o644)
	write(t, there+"/a.txt", []byte("old one"), 0o640)
	f := openSSH(t)
	_, err := f.Put(ctx, root, "a.txt", there+"/a.txt", Options{})
	wantKind(t, err, viewer.Exists, "the name is taken")
	var asked []Conflict
	answer := func(a Action) Options {
		return Options{Exists: func(_ context.Context, c Conflict) (Choice, error) {
			asked = append(asked, c)
			return Choice{Do: a}, nil
		}}
	}
	r, err := f.Put(ctx, root, "a.txt", there+"/a.txt", answer(Skip))
	if err != nil || r.Skipped != 1 || string(read(t, there+"/a.txt")) != "old one" {
		t.Errorf("skip: %+v, %v", r, err)
	}
	if len(asked) != 1 || asked[0].Source.Size != 3 || asked[0].Target.Size != 7 || asked[0].Path != there+"/a.txt" {
		t.Errorf("asked %+v", asked)
	}
	r, err = f.Put(ctx, root, "a.txt", there+"/a.txt", answer(KeepBoth))
	if err != nil || r.Path != there+"/a (2).txt" || string(read(t, there+"/a (2).txt")) != "new" || string(read(t, there+"/a.txt")) != "old one" {
		t.Errorf("keep both: %+v, %v", r, err)
	}
	r, err = f.Put(ctx, root, "a.txt", there+"/a.txt", answer(Replace))
	if info, _ := os.Stat(there + "/a.txt"); err != nil || string(read(t, there+"/a.txt")) != "new" || info.Mode() != 0o640 {
		t.Errorf("replace: %+v, %v, %v", r, err, info)
	}
	r, err = f.Get(ctx, there+"/a (2).txt", root, "a.txt", answer(KeepBoth))
	if err != nil || string(read(t, here+"/a (2).txt")) != "new" {
		t.Errorf("keep both here: %+v, %v", r, err)
	}
	_, err = f.Get(ctx, there+"/a.txt", root, "a.txt", Options{})
	wantKind(t, err, viewer.Exists, "the name is taken")
	no := errors.New("a person closed the question")
	_, err = f.Get(ctx, there+"/a.txt", root, "a.txt", Options{Exists: func(context.Context, Conflict) (Choice, error) { return Choice{}, no }})
	if !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
	// The file behind a link is replaced, the link stays.
	must(t, os.Symlink("a.txt", there+"/link"))
	write(t, here+"/b", []byte("through"), 0o600)
	if _, err := f.Put(ctx, root, "b", there+"/link", Options{Exists: Always(Replace)}); err != nil {
		t.Error(err)
	}
	if to, _ := os.Readlink(there + "/link"); to != "a.txt" || string(read(t, there+"/a.txt")) != "through" {
		t.Errorf("the link leads to %q", to)
	}
}

func TestModes(t *testing.T) {
	ctx := testContext(t)
	here, there := t.TempDir(), t.TempDir()
	root := rootOf(t, here)
	for _, umask := range []string{"077", "022"} {
		f := openSSH(t, "-u", umask)
		for _, c := range []struct {
			name       string
			mode, want os.FileMode
		}{
			{"script", 0o755, 0o755}, {"key", 0o600, 0o600}, {"open", 0o666, 0o644}, {"read-only", 0o444, 0o644}, {"odd", 0o711, 0o711}, {"setuid", 0o755 | os.ModeSetuid, 0o755},
		} {
			name := c.name + umask
			write(t, here+"/"+name, []byte("x"), c.mode)
			if r, err := f.Put(ctx, root, name, there+"/"+name, Options{}); err != nil || len(r.Notes) != 0 {
				t.Errorf("%s: %+v, %v", name, r, err)
				continue
			}
			if info, _ := os.Stat(there + "/" + name); info.Mode() != c.want {
				t.Errorf("%s up: got %v, want %v", name, info.Mode(), c.want)
			}
			write(t, there+"/"+name, []byte("x"), c.mode)
			if _, err := f.Get(ctx, there+"/"+name, root, "down-"+name, Options{}); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			want := c.want &^ currentUmask(t)
			if info, _ := os.Stat(here + "/down-" + name); info.Mode() != want {
				t.Errorf("%s down: got %v, want %v", name, info.Mode(), want)
			}
		}
	}
}

// currentUmask learns the umask from what a new file gets.
func currentUmask(t *testing.T) os.FileMode {
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "u"), os.O_CREATE|os.O_WRONLY, 0o777)
	must(t, err)
	defer f.Close()
	info, err := f.Stat()
	must(t, err)
	return 0o777 &^ info.Mode()
}

func TestRemoveAndRename(t *testing.T) {
	ctx := testContext(t)
	dir := t.TempDir()
	f := openSSH(t)
	must(t, f.Mkdir(ctx, dir+"/full"))
	must(t, f.Mkdir(ctx, dir+"/full/sub"))
	write(t, dir+"/full/sub/x", nil, 0o644)
	write(t, dir+"/outside", []byte("stays"), 0o644)
	must(t, os.Mkdir(dir+"/kept", 0o755))
	write(t, dir+"/kept/y", nil, 0o644)
	must(t, os.Symlink("../outside", dir+"/full/to-file"))
	must(t, os.Symlink("../kept", dir+"/full/to-folder"))
	wantKind(t, f.Mkdir(ctx, dir+"/full"), viewer.Exists, "the name is taken")
	wantKind(t, f.Mkdir(ctx, dir+"/no/parent"), viewer.Missing, "no such file or folder")
	wantKind(t, f.Remove(ctx, dir+"/full", false), viewer.NotEmpty, "the folder is not empty")
	wantKind(t, f.Remove(ctx, dir+"/nothing", false), viewer.Missing, "no such file or folder")
	wantKind(t, f.Remove(ctx, dir+"/full/..", true), viewer.Invalid, "name what is to be removed")
	wantKind(t, f.Rename(ctx, dir+"/nothing", dir+"/x", false), viewer.Missing, "no such file or folder")
	wantKind(t, f.Rename(ctx, dir+"/outside", dir+"/kept/y", false), viewer.Exists, "the name is taken")
	wantKind(t, f.Rename(ctx, dir+"/outside", dir+"/kept", true), viewer.Exists, "a folder has this name")
	must(t, f.Rename(ctx, dir+"/full", dir+"/moved", false))
	must(t, f.Remove(ctx, dir+"/moved", true))
	if got := names(t, dir); !slices.Equal(got, []string{"kept", "outside"}) {
		t.Errorf("left %q", got)
	}
	if got := names(t, dir+"/kept"); !slices.Equal(got, []string{"y"}) {
		t.Errorf("a link was followed: %q", got)
	}
	must(t, f.Rename(ctx, dir+"/outside", dir+"/kept/y", true))
	if string(read(t, dir+"/kept/y")) != "stays" {
		t.Error("the file did not take the other's place")
	}
	must(t, f.Chmod(ctx, dir+"/kept/y", 0o400))
	if e, err := f.Stat(ctx, dir+"/kept/y"); err != nil || e.Mode != 0o400 {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestShown(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "a\nb": `a\nb`, "\xff": `\xff`, "\x1b[31m": `\x1b[31m`, "\u202egnp": `\u202egnp`, "é": "é", "e\u0301": "e\u0301",
		strings.Repeat("x", 600): strings.Repeat("x", 512) + "…",
	} {
		if got := Shown(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestLocalName(t *testing.T) {
	for _, c := range []struct{ system, in, want string }{
		{"linux", "..", "_.."}, {"linux", ".", "_."}, {"linux", "", "_"}, {"linux", "../../x", ".._.._x"}, {"linux", "/etc/passwd", "_etc_passwd"},
		{"linux", "a\x00b", "a_b"}, {"linux", "\xff", "\xff"}, {"linux", `a\b`, `a\b`}, {"linux", "con", "con"}, {"linux", "e\u0301", "e\u0301"},
		{"linux", strings.Repeat("é", 128), strings.Repeat("é", 127)},
		{"darwin", "\xff", `\xff`},
		{"windows", "NUL", "_NUL"}, {"windows", "nul.txt", "_nul.txt"}, {"windows", "COM¹.log", "_COM¹.log"}, {"windows", "com10", "com10"},
		{"windows", `..\..\x`, ".._.._x"}, {"windows", "a:stream", "a_stream"}, {"windows", "x.", "x_"}, {"windows", "x. .", "x___"},
		{"windows", "..", "__"}, {"windows", "a\x01b", "a_b"}, {"windows", "a?*<>|\"b", "a______b"}, {"windows", "NUL .txt", "_NUL .txt"}, {"windows", "CONIN$", "_CONIN$"},
		{"windows", "console.txt", "console.txt"},
	} {
		if got := localName(c.in, c.system); got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.system, c.in, got, c.want)
		}
	}
}
