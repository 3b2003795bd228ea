package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"deskvnc/viewer"
)

// maxTree bounds the entries of one folder transfer, so that links among
// folders cannot make it endless.
const maxTree = 1_000_000

// A leaf is one entry of a planned folder transfer.
type leaf struct {
	entry  viewer.FileEntry // of the machine; for a download
	from   string           // on this side; for an upload
	to     string           // where the copy goes
	size   int64
	mode   uint32
	folder bool
}

// getTree copies a folder of the machine to dir/rel: first all is listed, so
// that the totals are known, then moved.
func (t *transfer) getTree(ctx context.Context, p string, dir *os.Root, rel string) error {
	w := &downWalk{t: t}
	here, err := t.fs.real(ctx, p)
	if err != nil {
		here = p
	}
	if err := w.walk(ctx, p, rel, []string{here}); err != nil {
		return err
	}
	err = t.each(ctx, w.leaves, func(ctx context.Context, t *transfer, l leaf) error {
		if l.folder {
			return t.makeLocal(dir, l.to)
		}
		return t.getFile(ctx, l.entry, dir, l.to)
	})
	t.res.Path = filepath.Join(dir.Name(), rel)
	if err != nil {
		return err
	}
	return t.missed("get", p)
}

// plan sets the totals.
func (t *transfer) plan(leaves []leaf) {
	t.m.p.Total, t.m.p.FilesTotal = 0, 0
	for _, l := range leaves {
		if !l.folder {
			t.m.p.Total += max(l.size, 0)
			t.m.p.FilesTotal++
		}
	}
	t.m.say()
}

// atOnce is how many files of a folder are moved at a time: a small one is
// mostly waiting for answers.
const atOnce = 4

// each does the planned entries: folders in their order, before what is in them,
// and files a few at a time. What one file could not do is counted and the rest
// goes on; what stops all is returned.
func (t *transfer) each(ctx context.Context, leaves []leaf, do func(context.Context, *transfer, leaf) error) error {
	t.plan(leaves)
	var mu sync.Mutex // guards t.res and first while files are moved
	var first error   // that ends it all
	// What is under way when that happens ends by itself: a lost link ends it
	// too, and its part is kept.
	stopped := make(chan struct{})
	one := func(l leaf) {
		below := &transfer{fs: t.fs, o: t.o, mem: t.mem, m: t.m.below(l.size)}
		err := do(ctx, below, l)
		mu.Lock()
		defer mu.Unlock()
		t.res.add(below.res)
		switch {
		case err != nil && stops(err):
			if first == nil {
				first = err
				close(stopped)
			}
			return
		case err != nil:
			t.miss(l.name(), err)
		}
		if !l.folder {
			below.m.jump(max(l.size, 0) - below.m.p.Done) // the total is reached
			t.m.fileDone(err == nil)
		}
	}
	files := make(chan leaf)
	var lanes sync.WaitGroup
	for range atOnce {
		lanes.Go(func() {
			for l := range files {
				one(l)
			}
		})
	}
	for _, l := range leaves {
		if t.m.hold(ctx) != nil || over(stopped) {
			break
		}
		if l.folder {
			one(l)
			continue
		}
		select {
		case files <- l:
		case <-stopped:
		case <-ctx.Done():
		}
	}
	close(files)
	lanes.Wait()
	if first == nil && ctx.Err() != nil {
		first = failed("copy", leaves[0].name(), ctx.Err())
	}
	return first
}

// over reports whether a channel is closed.
func over(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// name is what a leaf is called in errors.
func (l leaf) name() string {
	if l.from != "" {
		return l.from
	}
	return l.entry.Path
}

// add takes over what one file of a folder came to.
func (r *Result) add(one Result) {
	r.Bytes += one.Bytes
	r.Size += one.Size
	r.Resumed += one.Resumed
	r.Files += one.Files
	r.Folders += one.Folders
	r.Skipped += one.Skipped
	r.Windows += one.Windows
	for _, n := range one.Notes {
		r.note(n)
	}
}

// makeLocal makes a folder of this side; one that is there is used.
func (t *transfer) makeLocal(dir *os.Root, rel string) error {
	err := dir.Mkdir(rel, 0o755)
	if errors.Is(err, fs.ErrExist) {
		info, e := dir.Stat(rel)
		if e == nil && info.IsDir() {
			return nil
		}
		return fault("get", rel, viewer.Exists, errors.New("a file of this side has this name"))
	}
	if err != nil {
		return local("get", rel, err)
	}
	t.res.Folders++
	return nil
}

// A downWalk lists a folder of the machine and all below it.
type downWalk struct {
	t      *transfer
	leaves []leaf
}

// walk adds the folder p and what is in it. above are the folders that lead to
// it, as the machine itself names them: a link to one of them is a loop.
func (w *downWalk) walk(ctx context.Context, p, rel string, above []string) error {
	if len(above) > maxDepth {
		return fault("get", p, viewer.Limit, fmt.Errorf("more than %d folders inside each other", maxDepth))
	}
	w.leaves = append(w.leaves, leaf{folder: true, to: rel, entry: viewer.FileEntry{Path: p}})
	all, l, err := w.t.fs.All(ctx, p)
	if err != nil {
		if len(above) == 1 || stops(err) {
			return err
		}
		w.t.miss(p, err)
		return nil
	}
	if l.More {
		return fault("get", p, viewer.Limit, fmt.Errorf("the folder holds more than %d entries", maxListed))
	}
	if l.Odd > 0 {
		w.t.res.note(fmt.Sprintf("%s: %d entries have names that no folder can hold; left out", Shown(p), l.Odd))
	}
	names := map[string]bool{}
	for _, e := range all {
		if len(w.leaves) >= maxTree {
			return fault("get", p, viewer.Limit, fmt.Errorf("the folder has more than %d entries", maxTree))
		}
		to := filepath.Join(rel, freeName(names, LocalName(e.Name)))
		switch {
		case e.Broken:
			w.t.res.note(Shown(e.Path) + ": a link that leads nowhere; left out")
			w.t.res.Skipped++
		case e.IsFolder():
			if err := w.enter(ctx, e, to, above); err != nil {
				return err
			}
		case e.Type == viewer.Special || e.To == viewer.Special:
			w.t.res.note(Shown(e.Path) + ": a pipe, socket or device; left out")
			w.t.res.Skipped++
		default:
			if e.Type == viewer.Link {
				e.HasMode = false // the bits are the link's own
				if src, err := w.t.fs.source(ctx, e.Path); err == nil {
					e.Mode, e.HasMode = src.Mode, src.HasMode
				}
			}
			w.leaves = append(w.leaves, leaf{entry: e, to: to, size: e.Size})
		}
	}
	return nil
}

// enter walks into a folder, or a link to one that does not lead back.
func (w *downWalk) enter(ctx context.Context, e viewer.FileEntry, to string, above []string) error {
	here := Join(above[len(above)-1], e.Name)
	if e.Type == viewer.Link {
		there, err := w.t.fs.real(ctx, e.Path)
		if err != nil {
			w.t.miss(e.Path, err)
			return nil
		}
		if slices.Contains(above, there) {
			w.t.res.note(Shown(e.Path) + ": a link back to a folder above it; left out")
			w.t.res.Skipped++
			return nil
		}
		here = there
	}
	return w.walk(ctx, e.Path, to, append(above[:len(above):len(above)], here))
}

// freeName gives each entry of one folder a name of its own, also where the
// system takes two of the machine's names for one.
func freeName(taken map[string]bool, name string) string {
	fold := func(s string) string {
		if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
			return strings.ToLower(s)
		}
		return s
	}
	free := name
	for n := 2; taken[fold(free)]; n++ {
		free = nthName(name, n)
	}
	taken[fold(free)] = true
	return free
}

// putTree copies the folder dir/rel to the path p of the machine.
func (t *transfer) putTree(ctx context.Context, dir *os.Root, rel, p string) error {
	w := &upWalk{t: t, dir: dir}
	info, err := dir.Stat(rel)
	if err != nil {
		return local("put", rel, err)
	}
	if err := w.walk(ctx, rel, p, []fs.FileInfo{info}); err != nil {
		return err
	}
	err = t.each(ctx, w.leaves, func(ctx context.Context, t *transfer, l leaf) error {
		if l.folder {
			return t.makeRemote(ctx, l.to)
		}
		return t.putLocal(ctx, dir, l.from, l.to)
	})
	t.res.Path = p
	if err != nil {
		return err
	}
	return t.missed("put", p)
}

// makeRemote makes a folder of the machine; one that is there is used.
func (t *transfer) makeRemote(ctx context.Context, p string) error {
	if t.mem.isDone(p) {
		return nil
	}
	err := t.fs.mkdir(ctx, p)
	if err != nil && ctx.Err() == nil {
		if there, e := t.fs.probe(ctx, p); e == nil && there != nil {
			if there.IsFolder() {
				return nil
			}
			return fault("put", p, viewer.Exists, errors.New("a file has this name"))
		}
	}
	if err != nil {
		return err
	}
	t.res.Folders++
	t.mem.finished(p)
	return nil
}

// An upWalk lists a folder of this side and all below it.
type upWalk struct {
	t      *transfer
	dir    *os.Root
	leaves []leaf
}

// walk adds the folder rel and what is in it; above are the folders that lead
// to it.
func (w *upWalk) walk(ctx context.Context, rel, p string, above []fs.FileInfo) error {
	if err := ctx.Err(); err != nil {
		return failed("put", rel, err)
	}
	if len(above) > maxDepth {
		return fault("put", rel, viewer.Limit, fmt.Errorf("more than %d folders inside each other", maxDepth))
	}
	w.leaves = append(w.leaves, leaf{folder: true, from: rel, to: p})
	folder, err := w.dir.Open(rel)
	if err != nil {
		if len(above) == 1 {
			return local("put", rel, err)
		}
		w.t.miss(rel, local("put", rel, err))
		return nil
	}
	names, err := folder.Readdirnames(-1)
	folder.Close()
	if err != nil {
		w.t.miss(rel, local("put", rel, err))
		return nil
	}
	slices.Sort(names)
	for _, name := range names {
		if len(w.leaves) >= maxTree {
			return fault("put", rel, viewer.Limit, fmt.Errorf("the folder has more than %d entries", maxTree))
		}
		if err := w.add(ctx, filepath.Join(rel, name), Join(p, name), above); err != nil {
			return err
		}
	}
	return nil
}

// add adds one entry of a folder.
func (w *upWalk) add(ctx context.Context, rel, p string, above []fs.FileInfo) error {
	left := func(why string) error {
		w.t.res.note(Shown(rel) + ": " + why + "; left out")
		w.t.res.Skipped++
		return nil
	}
	info, err := w.dir.Stat(rel) // follows links, but not out of dir
	switch {
	case err != nil:
		if l, e := w.dir.Lstat(rel); e == nil && l.Mode()&fs.ModeSymlink != 0 {
			return left("a link that leads nowhere or out of the folder")
		}
		w.t.miss(rel, local("put", rel, err))
		return nil
	case info.IsDir():
		if slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }) {
			return left("a link back to a folder above it")
		}
		return w.walk(ctx, rel, p, append(above[:len(above):len(above)], info))
	case !info.Mode().IsRegular():
		return left("a pipe, socket or device")
	}
	w.leaves = append(w.leaves, leaf{from: rel, to: p, size: info.Size(), mode: uint32(info.Mode().Perm())})
	return nil
}
