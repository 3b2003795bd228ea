//go:build unix

package paths

import (
	"errors"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// fixture is the folder of the contract's table (section 5.5).
func fixture(t *testing.T) string {
	t.Helper()
	b, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, d := range []string{"in/sub", "in/secretdir", "out", "outside/x", "in2", "out2"} {
		must(t, os.MkdirAll(filepath.Join(b, d), 0o755))
	}
	for _, f := range []string{"in/a.key", "out/plain.txt", "outside/secret.key", "in2/b.key"} {
		must(t, os.WriteFile(filepath.Join(b, f), []byte(f), 0o644))
	}
	for from, to := range map[string]string{
		"in/leak.key": b + "/outside/secret.key", "in/alias": b + "/in/sub", "in/relup": "../outside",
		"out/away": b + "/outside", "out/dead.png": b + "/outside/gone.png", "out/deaddir": b + "/outside/nodir",
		"out/loop": b + "/out/loop", "in-link": b + "/in", "in/l": b + "/outside/x/",
	} {
		must(t, os.Symlink(to, filepath.Join(b, from)))
	}
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantText checks an error's words; empty wants none.
func wantText(t testing.TB, err error, words string) {
	t.Helper()
	switch {
	case words == "" && err != nil:
		t.Errorf("got %q, want none", err)
	case words != "" && (err == nil || !strings.Contains(err.Error(), words)):
		t.Errorf("got %v, want %q", err, words)
	}
}

// The rows of the contract's table that speak of one path, on this system.
func TestTable(t *testing.T) {
	b := fixture(t)
	r, err := FromFlags([]string{b + "/in"}, []string{b + "/out"})
	must(t, err)
	outR := "automation path rejected: outside the read root " + b + "/in: "
	outW := "automation path rejected: outside the write root " + b + "/out: "
	for _, c := range []struct {
		row, wd string
		a       access
		path    string
		want    string
	}{
		{"1", "", read, b + "/in/a.key", ""},
		{"2", "", read, b + "/in", ""},
		{"3", "", read, b + "/in/sub/new.key", ""},
		{"4", "", write, b + "/out/x.png", ""},
		{"5", "", write, b + "/out/new/deeper/x.png", ""},
		{"6", "", read, b + "/outside/secret.key", outR},
		{"7", "", write, b + "/in/a.key", outW},
		{"8", "", read, b + "/out/plain.txt", outR},
		{"9", "", read, b + "/in2/b.key", outR},
		{"10", "", read, b + "/in2/none.key", outR},
		{"11", "", write, b + "/out2", outW},
		{"12", "", read, b + "/in/../outside/secret.key", outR},
		{"13", "", read, b + "/in/sub/../a.key", ""},
		{"14", "", read, b + "/outside/../in/a.key", ""},
		{"15", "", write, b + "/out/nope/../../outside/x", `".." below a missing folder: `},
		{"16", "", write, b + "/out/nope/../x.png", `".." below a missing folder: `},
		{"17", "", read, b + "/in/l/../secret.key", outR},
		{"18", "", read, "a.key", outR},
		{"19", "in", read, "a.key", ""},
		{"20", "in", read, "./sub/../a.key", ""},
		{"21", "in/sub", read, "..", ""},
		{"21", "in", read, "..", outR},
		{"22", "in", read, ".", ""},
		{"23", "", read, "", "automation path rejected: empty path"},
		{"24", "out", write, " ", ""},
		{"25", "", read, b + "/in/leak.key", outR},
		{"26", "", write, b + "/out/away/new.png", outW},
		{"27", "", read, b + "/in/relup/secret.key", outR},
		{"28", "", write, b + "/out/dead.png", "dangling link: "},
		{"29", "", write, b + "/out/deaddir/x.png", "dangling link: "},
		{"30", "", write, b + "/out/loop", "dangling link: "},
		{"31", "", read, b + "/in/alias/x.key", ""},
		{"36", "", write, b + "/out/plain.txt/x.png", "cannot resolve (not a directory): "},
		{"37", "", read, b + "/in/", ""},
		{"38", "", read, b + "/in//sub/./new", ""},
		{"39", "", read, b + "/in/a.key\x00.png", "cannot resolve ("},
		{"40", "", write, b + "/out/" + strings.Repeat("n", 5000), "cannot resolve (file name too long): "},
		{"41", "in", read, "~/a.key", ""},
		{"42", "in", read, "$HOME/a.key", ""},
		{"42", "in", read, `%USERPROFILE%\a.key`, ""},
		{"43", "", read, b + "/in/%2e%2e/outside/secret.key", ""},
		{"44", "", read, "file:///" + b + "/in/a.key", outR},
		{"45", "in", read, `..\outside\secret.key`, ""},
		{"46", "", write, b + "/out/NUL", ""},
		{"46", "", write, b + "/out/con.txt", ""},
		{"47", "", read, b + "/IN/a.key", outR},
		{"94", "", write, b + "/out/dead.png/", "dangling link: "},
		{"94", "", write, b + "/out/dead.png/.", "dangling link: "},
		{"94", "", write, b + "/out/dead.png/./", "dangling link: "},
		{"95", "", write, b + "/out", ""},
	} {
		t.Run(c.row, func(t *testing.T) {
			wd := b
			if c.wd != "" {
				wd = filepath.Join(b, c.wd)
			}
			t.Chdir(wd)
			check := r.CheckRead
			if c.a == write {
				check = r.CheckWrite
			}
			err := check(c.path)
			wantText(t, err, c.want)
			if c.want != "" && !strings.HasSuffix(err.Error(), c.path) {
				t.Errorf("%q does not end in the path as it was given", err)
			}
			var refusal *Refusal
			if policy := strings.Contains(c.want, "outside the"); c.want != "" && (!errors.As(err, &refusal) || refusal.Policy != policy) {
				t.Errorf("got %#v, want policy %v", err, policy)
			}
		})
	}
	for _, made := range []string{"outside/gone.png", "outside/nodir", "outside/new.png"} {
		if _, err := os.Lstat(filepath.Join(b, made)); err == nil {
			t.Errorf("%s was made", made)
		}
	}
}

func TestRootsThemselves(t *testing.T) {
	b := fixture(t)
	// 32, 33, 34: a root's own link is followed once.
	r, err := Confined([]string{b + "/in-link"}, nil)
	must(t, err)
	wantText(t, r.CheckRead(b+"/in/a.key"), "")
	wantText(t, r.CheckRead(b+"/in-link/a.key"), "")
	must(t, os.Remove(b+"/in-link"))
	must(t, os.Symlink(b+"/outside", b+"/in-link"))
	wantText(t, r.CheckRead(b+"/in-link/secret.key"), "outside the read root "+b+"/in: ")
	// 67, 68: a kind without a root grants none.
	wantText(t, r.CheckWrite(b+"/out/x.png"), "automation filesystem access is not granted: write authority is absent: "+b+"/out/x.png")
	r, err = FromFlags(nil, []string{b + "/out"})
	must(t, err)
	wantText(t, r.CheckRead(b+"/in/a.key"), "automation filesystem access is not granted: read authority is absent: ")
	// 70: no flag confines nothing; a grant without folders reaches nothing.
	r, err = FromFlags(nil, nil)
	must(t, err)
	wantText(t, r.CheckRead(b+"/outside/secret.key"), "")
	wantText(t, r.CheckWrite(b+"/outside/new"), "")
	r, err = Confined(nil, nil)
	must(t, err)
	wantText(t, r.CheckRead(b+"/in/a.key"), "read authority is absent")
	// 71 to 73: several roots, also inside each other.
	r, err = Confined([]string{b + "/in", b + "/in2", b + "/in/sub"}, nil)
	must(t, err)
	wantText(t, r.CheckRead(b+"/in2/b.key"), "")
	wantText(t, r.CheckRead(b+"/in/sub/x"), "")
	wantText(t, r.CheckRead(b+"/outside/secret.key"), "outside the read roots "+b+"/in, "+b+"/in2, "+b+"/in/sub: ")
	// 74 to 76: a root must be a folder.
	_, err = FromFlags([]string{b + "/none"}, nil)
	wantText(t, err, `automation read root "`+b+`/none" cannot be used: no such file or directory`)
	_, err = FromFlags(nil, []string{b + "/in/a.key"})
	wantText(t, err, `automation write root "`+b+`/in/a.key" cannot be used: not a directory`)
	_, err = FromFlags([]string{""}, nil)
	wantText(t, err, `automation read root "" cannot be used`)
	// 90: a root that is gone, or another in its place, opens nothing.
	r, err = Confined([]string{b + "/in2"}, nil)
	must(t, err)
	must(t, os.Rename(b+"/in2", b+"/was"))
	wantText(t, r.CheckRead(b+"/in2/b.key"), "")
	_, err = r.Open(b + "/in2/b.key")
	wantText(t, err, "no such file or directory")
	must(t, os.Mkdir(b+"/in2", 0o755))
	must(t, os.WriteFile(b+"/in2/b.key", nil, 0o644))
	_, err = r.Open(b + "/in2/b.key")
	wantText(t, err, "replaced by another")
}

func TestNoPermission(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may enter everything")
	}
	b := fixture(t)
	must(t, os.Chmod(b+"/in/secretdir", 0))
	t.Cleanup(func() { os.Chmod(b+"/in/secretdir", 0o755) })
	r, err := Confined([]string{b + "/in"}, nil)
	must(t, err)
	wantText(t, r.CheckRead(b+"/in/secretdir/x"), "cannot resolve (permission denied): ")
}

func TestOpen(t *testing.T) {
	b := fixture(t)
	r, err := Confined([]string{b + "/in"}, []string{b + "/out"})
	must(t, err)
	must(t, syscall.Mkfifo(b+"/in/pipe", 0o644))
	must(t, os.Symlink(b+"/in/a.key", b+"/in/good"))
	for path, want := range map[string]string{
		b + "/in/a.key": "", b + "/in/good": "", b + "/in/sub/../a.key": "",
		b + "/in/leak.key": "outside the read root", b + "/in/sub": "a folder, not a file", b + "/in/pipe": "not a regular file",
		b + "/in/none": "no such file or directory", "a.key": "must be absolute", "": "empty path", b + "/outside/secret.key": "outside",
	} {
		f, err := r.Open(path)
		wantText(t, err, want)
		if err == nil {
			got, _ := io.ReadAll(f)
			f.Close()
			if string(got) != "in/a.key" {
				t.Errorf("%s: read %q", path, got)
			}
		}
	}
	_, err = Everything().Open("/dev/null")
	wantText(t, err, "not a regular file")
	if f, err := Everything().Open(b + "/outside/secret.key"); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
}

func TestCreate(t *testing.T) {
	b := fixture(t)
	r, err := Confined([]string{b + "/in"}, []string{b + "/out"})
	must(t, err)
	must(t, os.Mkdir(b+"/out/folder", 0o755))
	must(t, os.Symlink("plain.txt", b+"/out/to-plain"))
	must(t, os.Chmod(b+"/out/plain.txt", 0o640))
	must(t, os.Symlink(b+"/outside/secret.key", b+"/out/folder/evil"))
	must(t, syscall.Mkfifo(b+"/out/pipe", 0o644))
	for _, c := range []struct{ path, base, at, want string }{
		{b + "/out/new", "x", b + "/out/new", ""},
		{b + "/out/folder", "base", b + "/out/folder/base", ""},
		{b + "/out/folder/", "other", b + "/out/folder/other", ""},
		{b + "/out/to-plain", "x", b + "/out/plain.txt", ""},
		{b + "/out/folder", "evil", "", "outside the write root"},
		{b + "/out/folder", "../up", "", "not a plain file name"},
		{b + "/out/folder", "..", "", "not a plain file name"},
		{b + "/out/folder", "", "", "not a plain file name"},
		{b + "/out/no/such", "x", "", "the folder to save in does not exist"},
		{b + "/out/dead.png", "x", "", "dangling link"},
		{b + "/out/away/new", "x", "", "outside the write root"},
		{b + "/out/pipe", "x", "", "not a regular file"},
		{b + "/in/a.key", "x", "", "outside the write root"},
		{"new", "x", "", "must be absolute"},
	} {
		f, err := r.Create(c.path, c.base)
		wantText(t, err, c.want)
		if err != nil {
			continue
		}
		if f.Path() != c.at {
			t.Errorf("%s: will be at %s, want %s", c.path, f.Path(), c.at)
		}
		before, _ := os.ReadFile(c.at)
		if _, err := io.WriteString(f, "new "+c.path); err != nil {
			t.Error(err)
		}
		if now, _ := os.ReadFile(c.at); string(now) != string(before) {
			t.Errorf("%s changed before it was whole", c.at)
		}
		must(t, f.Commit())
		f.Abort() // does nothing
		if now, _ := os.ReadFile(c.at); string(now) != "new "+c.path {
			t.Errorf("%s holds %q", c.at, now)
		}
	}
	if info, _ := os.Stat(b + "/out/plain.txt"); info.Mode() != 0o640 {
		t.Errorf("the replaced file's bits became %v", info.Mode())
	}
	if to, err := os.Readlink(b + "/out/to-plain"); err != nil || to != "plain.txt" {
		t.Errorf("the link became %q, %v", to, err)
	}
	f, err := r.Create(b+"/out/given-up", "x")
	must(t, err)
	f.Abort()
	if left, _ := filepath.Glob(b + "/out/.*"); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	if got, _ := os.ReadFile(b + "/outside/secret.key"); string(got) != "outside/secret.key" {
		t.Error("a file outside was changed")
	}
}

// A link that is swapped between the look and the open leads nowhere else (row
// 92), from any goroutine (row 93).
func TestSwappedLinks(t *testing.T) {
	b := fixture(t)
	r, err := Confined([]string{b + "/in"}, []string{b + "/out"})
	must(t, err)
	must(t, os.Mkdir(b+"/out/real", 0o755))
	stop := make(chan struct{})
	var swapper, users sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Symlink(b+"/outside", b+"/out/new")
			os.Rename(b+"/out/new", b+"/out/swap")
			os.Remove(b + "/out/swap")
			os.Mkdir(b+"/out/swap", 0o755)
			os.Remove(b + "/out/swap")
		}
	})
	for range 4 {
		users.Go(func() {
			for range 300 {
				if f, err := r.Create(b+"/out/swap/x", "x"); err == nil {
					io.WriteString(f, "x")
					f.Commit()
				}
			}
		})
	}
	users.Wait()
	close(stop)
	swapper.Wait()
	all, err := os.ReadDir(b + "/outside")
	must(t, err)
	if len(all) != 2 { // secret.key and x/
		t.Errorf("outside holds %v", all)
	}
}

// Whatever the text, replies are well formed and every file that comes to be is
// inside the write root (row 96).
func TestAnyTail(t *testing.T) {
	b := fixture(t)
	r, err := Confined([]string{b + "/in"}, []string{b + "/out"})
	must(t, err)
	words := []string{"..", ".", "", "a", "NUL", "out", "outside", "away", "dead.png", "l", "x.png", `..\..`, " ", "\x00", "é", "new", "loop", strings.Repeat("n", 300)}
	rnd := rand.New(rand.NewSource(1))
	before := tree(t, b)
	for range 4000 {
		p := b + []string{"/out", "/in", "", "/out/../in"}[rnd.Intn(4)]
		for range rnd.Intn(5) {
			p += []string{"/", "//", `\`}[rnd.Intn(3)] + words[rnd.Intn(len(words))]
		}
		if f, err := r.Create(p, words[rnd.Intn(len(words))]); err == nil {
			must(t, f.Commit())
		}
		if f, err := r.Open(p); err == nil {
			f.Close()
		}
	}
	for p := range tree(t, b) {
		if !before[p] && !strings.HasPrefix(p, b+"/out/") {
			t.Errorf("%s came to be", p)
		}
	}
}

func tree(t *testing.T, dir string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	must(t, filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		all[p] = true
		return err
	}))
	return all
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{"/", "//", "/.", "..", "a/../b", "/tmp/./x/", "\x00", "/proc/self/root/etc", "."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, p string) {
		at, err := find(p)
		if err != nil {
			return
		}
		if !filepath.IsAbs(at.path) || filepath.Clean(at.path) != at.path {
			t.Errorf("%q leads to %q", p, at.path)
		}
		if !inside("/", at.path) || inside(at.path+"/below", at.path) {
			t.Errorf("%q: a path is not where it is", at.path)
		}
	})
}
