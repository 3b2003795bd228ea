package files

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskvnc/viewer"
)

// Links inside a folder are followed, loops and links that lead out or nowhere
// are not, and all of it is told.
func TestTreeLinks(t *testing.T) {
	ctx := testContext(t)
	there, here := t.TempDir(), t.TempDir()
	must(t, os.MkdirAll(there+"/top/sub", 0o755))
	write(t, there+"/top/sub/x", []byte("x"), 0o711)
	write(t, there+"/outside", []byte("outside"), 0o644)
	mkfifo(t, there+"/top/pipe")
	for from, to := range map[string]string{
		"top/to-sub": "sub", "top/to-x": "sub/x", "top/sub/parent": "..", "top/self": "self", "top/dead": "nowhere", "top/sub/top": there + "/top", "top/out": "../outside",
	} {
		must(t, os.Symlink(to, filepath.Join(there, from)))
	}
	f := openSSH(t)
	down, err := f.Get(ctx, there+"/top", rootOf(t, here), "down", Options{})
	if err != nil {
		t.Fatal(err)
	}
	// A download takes what a link of the machine leads to, wherever that is.
	want := []string{"down/out", "down/sub/x", "down/to-sub/x", "down/to-x"}
	if got := plainFiles(t, here); !slices.Equal(got, want) {
		t.Errorf("down: got %q, want %q", got, want)
	}
	if info, _ := os.Lstat(here + "/down/to-x"); info.Mode() != 0o711&^currentUmask(t) {
		t.Errorf("what a link leads to came with mode %v", info.Mode())
	}
	wantNotes(t, down.Notes, "sub/parent: a link back", "sub/top: a link back", "to-sub/parent: a link back", "self: a link that leads nowhere", "dead: a link that leads nowhere", "pipe: a pipe")
	// An upload stays in its folder.
	up, err := f.Put(ctx, rootOf(t, there), "top", here+"/up", Options{})
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"sub/x", "to-sub/x", "to-x"}
	got := plainFiles(t, here+"/up")
	if !slices.Contains(got, "out") { // "../outside" stays in the opened root
		t.Errorf("a link within the opened folder was not followed: %q", got)
	}
	got = slices.DeleteFunc(got, func(s string) bool { return s == "out" })
	if !slices.Equal(got, want) {
		t.Errorf("up: got %q, want %q", got, want)
	}
	wantNotes(t, up.Notes, "sub/parent: a link back", "self: a link that leads nowhere", "dead: a link that leads nowhere", "pipe: a pipe", "sub/top: a link that leads nowhere or out")
	up, err = f.Put(ctx, rootOf(t, there+"/top"), ".", here+"/up2", Options{})
	if err != nil || slices.Contains(plainFiles(t, here+"/up2"), "out") {
		t.Errorf("a link out of the folder was followed: %v", err)
	}
	wantNotes(t, up.Notes, "out: a link that leads nowhere or out")
}

func wantNotes(t *testing.T, notes []string, want ...string) {
	t.Helper()
	all := strings.Join(notes, "\n")
	for _, w := range want {
		if !strings.Contains(all, w) {
			t.Errorf("no note %q in\n%s", w, all)
		}
	}
}

// plainFiles lists all regular files below a folder.
func plainFiles(t *testing.T, dir string) (all []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			rel, _ := filepath.Rel(dir, p)
			all = append(all, rel)
		}
		return err
	}))
	return all
}

// The progress of a folder rises from 0 to 100 and stays inside.
func TestTreeProgress(t *testing.T) {
	ctx := testContext(t)
	src, dst := t.TempDir(), t.TempDir()
	must(t, os.Mkdir(src+"/d", 0o755))
	for i := range 20 {
		write(t, fmt.Sprintf("%s/d/%02d", src, i), pattern(i*1_000_003), 0o644)
	}
	f := openSSH(t)
	for _, up := range []bool{true, false} {
		var seen []Progress
		o := Options{Progress: func(p Progress) { seen = append(seen, p) }}
		var r Result
		var err error
		if up {
			r, err = f.Put(ctx, rootOf(t, src), "d", dst+"/d", o)
		} else {
			r, err = f.Get(ctx, dst+"/d", rootOf(t, dst), "back", o)
		}
		if err != nil || r.Files != 20 || r.Size != 190*1_000_003 {
			t.Fatalf("%+v, %v", r, err)
		}
		last := 0.0
		for _, p := range seen {
			if p.Percent() < last || p.Percent() > 100 || p.Files > p.FilesTotal {
				t.Errorf("%+v after %v %%", p, last)
			}
			last = p.Percent()
		}
		if end := seen[len(seen)-1]; last != 100 || end.Files != 20 || end.FilesTotal != 20 || end.Total != r.Size {
			t.Errorf("ends with %+v", end)
		}
	}
}

// One answer holds for the rest of a folder, and a file that cannot be copied
// does not end it.
func TestTreeConflicts(t *testing.T) {
	ctx := testContext(t)
	src, dst := t.TempDir(), t.TempDir()
	must(t, os.Mkdir(src+"/d", 0o755))
	must(t, os.MkdirAll(dst+"/d/c", 0o755)) // a folder where a file should go
	for _, n := range []string{"a", "b", "c", "d"} {
		write(t, src+"/d/"+n, []byte("new"), 0o644)
	}
	write(t, dst+"/d/a", []byte("old"), 0o644)
	write(t, dst+"/d/b", []byte("old"), 0o644)
	f := openSSH(t)
	asked := 0
	o := func(do Action) Options {
		return Options{Exists: func(context.Context, Conflict) (Choice, error) {
			asked++
			return Choice{Do: do, All: true}, nil
		}}
	}
	r, err := f.Put(ctx, rootOf(t, src), "d", dst+"/d", o(Skip))
	wantKind(t, err, viewer.Exists, "1 of its files could not be copied; the first: "+dst+"/d/c: a folder has this name")
	if asked != 1 || r.Skipped != 2 || r.Files != 1 || string(read(t, dst+"/d/a")) != "old" || string(read(t, dst+"/d/d")) != "new" {
		t.Errorf("asked %d, %+v", asked, r)
	}
	asked = 0
	r, err = f.Get(ctx, src+"/d", rootOf(t, dst), "d", o(Replace))
	wantKind(t, err, viewer.Exists, "could not be copied")
	if asked != 1 || r.Files != 3 || r.FailedCount != 1 || string(read(t, dst+"/d/a")) != "new" {
		t.Errorf("asked %d, %+v", asked, r)
	}
}

// Many small files are moved several at a time, and each arrives.
func TestTreeOfSmallFiles(t *testing.T) {
	ctx := testContext(t)
	src, dst := t.TempDir(), t.TempDir()
	const folders, files = 20, 50
	for i := range folders {
		d := fmt.Sprintf("%s/d/%02d/below", src, i)
		must(t, os.MkdirAll(d, 0o755))
		for k := range files {
			write(t, fmt.Sprintf("%s/%02d", d, k), fmt.Appendf(nil, "%d of %d", k, i), 0o644)
		}
	}
	f := openSSH(t)
	r, err := f.Put(ctx, rootOf(t, src), "d", dst+"/d", Options{})
	if err != nil || r.Files != folders*files || r.Folders != 1+2*folders {
		t.Fatalf("%+v, %v", r, err)
	}
	r, err = f.Get(ctx, dst+"/d", rootOf(t, dst), "back", Options{})
	if err != nil || r.Files != folders*files || r.Folders != 1+2*folders {
		t.Fatalf("%+v, %v", r, err)
	}
	for i := range folders {
		for k := range files {
			p := fmt.Sprintf("%s/back/%02d/below/%02d", dst, i, k)
			if got, want := string(read(t, p)), fmt.Sprintf("%d of %d", k, i); got != want {
				t.Errorf("%s: got %q, want %q", p, got, want)
			}
		}
	}
}
