package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"deskvnc/viewer"
)

// Fetch copies a file of the machine into w. The result's Path is its path from
// the root. What w was given is of no use after an error.
func (f *FS) Fetch(ctx context.Context, path string, w io.Writer, o Options) (Result, error) {
	t := f.transfer(o)
	p, err := f.Path(ctx, path)
	if err != nil {
		return t.finish(err)
	}
	t.res.Path = p
	e, err := f.source(ctx, p)
	if err != nil {
		return t.finish(err)
	}
	var sum hash.Hash
	if o.Verify {
		sum = sha256.New()
		w = io.MultiWriter(w, sum)
	}
	r, err := t.openSource(ctx, e)
	if err != nil {
		return t.finish(err)
	}
	t.m.p.Total = e.Size
	if err := t.pull(ctx, r, e, w, 0); err != nil {
		return t.finish(err)
	}
	t.res.Files, t.res.Size, t.m.p.Files = 1, t.res.Bytes, 1
	if sum != nil {
		t.res.SHA256 = hex.EncodeToString(sum.Sum(nil))
		again, err := f.Hash(ctx, p, e.Size)
		if err == nil && again != t.res.SHA256 {
			err = fault("get", p, viewer.Differs, errors.New("read twice, the file was not the same"))
		}
		if err != nil {
			return t.finish(err)
		}
	}
	return t.finish(nil)
}

// Get copies a file or folder of the machine to the name in dir. A file is
// written under a temporary name and gets its own when it is whole; the part of
// an earlier attempt is continued when it is of the same version of the file.
func (f *FS) Get(ctx context.Context, path string, dir *os.Root, name string, o Options) (Result, error) {
	t := f.transfer(o)
	p, err := f.Path(ctx, path)
	if err != nil {
		return t.finish(err)
	}
	a, err := f.attrsOf(ctx, typeStat, p)
	if err == nil && a.flags&attrMode != 0 && a.mode&modeType == modeFolder {
		return t.finish(t.getTree(ctx, p, dir, name))
	}
	e, err := f.source(ctx, p)
	if err != nil {
		return t.finish(err)
	}
	t.m.p.Total = e.Size
	return t.finish(t.getFile(ctx, e, dir, name))
}

// source looks at a file that is to be read, through links. A machine that does
// not let us look leaves size and time open.
func (f *FS) source(ctx context.Context, p string) (viewer.FileEntry, error) {
	a, err := f.attrsOf(ctx, typeStat, p)
	if refused(err) {
		return viewer.FileEntry{Path: p, Name: Base(p), Shown: Shown(Base(p)), Type: viewer.RegularFile, Size: -1}, nil
	}
	if err != nil {
		return viewer.FileEntry{}, failed("get", p, err)
	}
	e := entry(p, a)
	switch e.Type {
	case viewer.Folder:
		return e, fault("get", p, viewer.Invalid, errors.New("a folder, not a file"))
	case viewer.RegularFile:
		return e, nil
	}
	return e, fault("get", p, viewer.Invalid, errors.New("neither a file nor a folder; pipes, sockets and devices are not copied"))
}

// openSource opens a file for reading and learns its size if it can.
func (t *transfer) openSource(ctx context.Context, e viewer.FileEntry) (*remote, error) {
	if t.o.Limit > 0 && e.Size > t.o.Limit {
		return nil, tooLarge(e.Path, e.Size, t.o.Limit)
	}
	r, err := t.fs.open(ctx, e.Path, openRead)
	if err != nil {
		return nil, failed("get", e.Path, err)
	}
	return r, nil
}

func tooLarge(path string, size, limit int64) error {
	return fault("get", path, viewer.Limit, fmt.Errorf("the file has %d bytes; the most is %d", size, limit))
}

// A limited writer refuses more than its bound.
type limited struct {
	w    io.Writer
	path string
	left int64
	most int64
}

func (l *limited) Write(p []byte) (int, error) {
	if int64(len(p)) > l.left {
		return 0, tooLarge(l.path, l.most-l.left+int64(len(p)), l.most)
	}
	l.left -= int64(len(p))
	return l.w.Write(p)
}

// pull moves the bytes of an open source from off on into w and closes it.
func (t *transfer) pull(ctx context.Context, r *remote, e viewer.FileEntry, w io.Writer, off int64) error {
	end := e.Size
	if end <= 0 { // not told, or a file whose size is not known before it is read
		if end = r.size(ctx); end <= 0 {
			end = -1
		}
	}
	if t.o.Limit > 0 {
		if end > t.o.Limit {
			r.drop(nil)
			return tooLarge(e.Path, end, t.o.Limit)
		}
		w = &limited{w: w, path: e.Path, left: t.o.Limit - off, most: t.o.Limit}
	}
	t.m.p.File = e.Shown
	n, err := r.receive(ctx, w, off, end, t.m, &t.res)
	t.res.Bytes += n
	if err != nil {
		r.drop(nil)
		return failed("get", e.Path, err)
	}
	if err := r.close(ctx); err != nil && (ctx.Err() != nil || t.fs.stream.ended() != nil) {
		return failed("get", e.Path, err)
	}
	return t.unchanged(ctx, e)
}

// unchanged notes when the source has another size or time than before.
func (t *transfer) unchanged(ctx context.Context, e viewer.FileEntry) error {
	if e.Size < 0 || e.Modified.IsZero() {
		return nil
	}
	a, err := t.fs.attrsOf(ctx, typeStat, e.Path)
	switch {
	case err != nil && (ctx.Err() != nil || t.fs.stream.ended() != nil):
		return failed("get", e.Path, err)
	case err != nil:
		return nil // it was read whole all the same
	}
	if now := entry(e.Path, a); now.Size != e.Size || !now.Modified.Equal(e.Modified) {
		t.res.note(e.Shown + ": changed while it was copied; the copy has what was read")
	}
	return nil
}

// getFile copies one file to dir/rel.
func (t *transfer) getFile(ctx context.Context, e viewer.FileEntry, dir *os.Root, rel string) error {
	if t.mem.isDone(rel) {
		t.m.jump(max(e.Size, 0))
		t.res.Files++
		t.m.p.Files++
		return nil
	}
	there, err := dir.Lstat(rel)
	replace := false
	target := rel
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return local("get", rel, err)
	case there.IsDir():
		return fault("get", rel, viewer.Exists, errors.New("a folder of this side has this name"))
	default:
		got, err := t.decide(ctx, "get", rel, Conflict{
			Source: Facts{e.Size, e.Modified}, Target: Facts{there.Size(), there.ModTime()},
		}, func(n int) (string, bool, error) {
			p := filepath.Join(filepath.Dir(rel), nthName(filepath.Base(rel), n))
			_, err := dir.Lstat(p)
			return p, errors.Is(err, fs.ErrNotExist), nil
		})
		if err != nil {
			return err
		}
		if got.do == Skip {
			t.res.Skipped++
			t.m.jump(max(e.Size, 0))
			t.m.p.Files++
			t.mem.finished(rel)
			return nil
		}
		replace, target = got.do == Replace, got.target
	}
	c := &copyDown{t: t, e: e, dir: dir, target: target, replace: replace}
	if replace {
		c.bits, c.keepBits = there.Mode().Perm(), there.Mode().IsRegular()
	}
	if err := c.run(ctx); err != nil {
		return err
	}
	t.res.Path = filepath.Join(dir.Name(), target)
	t.res.Files++
	t.m.p.Files++
	t.mem.finished(rel)
	return nil
}

// A copyDown is one file on its way to this side.
type copyDown struct {
	t       *transfer
	e       viewer.FileEntry
	dir     *os.Root
	target  string
	replace bool
	// bits are those of the file that is replaced, with keepBits only.
	bits     os.FileMode
	keepBits bool

	part  string // the temporary name
	known bool   // by which it is found again
	file  *os.File
	off   int64 // bytes that were there already
}

func (c *copyDown) run(ctx context.Context) error {
	r, err := c.t.openSource(ctx, c.e)
	if err != nil {
		return err
	}
	if err := c.openPart(ctx, r); err != nil {
		r.drop(nil)
		return err
	}
	err = c.fill(ctx, r)
	if err != nil && !(c.known && c.t.resumable(err)) {
		c.dir.Remove(c.part)
	}
	return err
}

// openPart finds the part of an earlier attempt or makes a new one.
func (c *copyDown) openPart(ctx context.Context, r *remote) error {
	folder, name := filepath.Dir(c.target), filepath.Base(c.target)
	c.known = c.e.Size > 0 && !c.e.Modified.IsZero()
	c.part = filepath.Join(folder, "."+cutBytes(name, 64)+"."+randomName()+".part")
	if c.known {
		c.part = filepath.Join(folder, partName(name, c.e.Path, c.e.Size, c.e.Modified.Unix()))
		if err := c.continuePart(ctx, r); err != nil || c.file != nil {
			return err
		}
	}
	bits := newBits(c.e.Mode, c.e.HasMode)
	if c.t.o.HasMode {
		bits = c.t.o.Mode&0o777 | 0o600
	}
	file, err := c.dir.OpenFile(c.part, os.O_RDWR|os.O_CREATE|os.O_EXCL, os.FileMode(bits))
	if err != nil {
		return local("get", c.target, err)
	}
	c.file = file
	return nil
}

// continuePart opens a part that is there when it begins as the source does; a
// part that does not is removed.
func (c *copyDown) continuePart(ctx context.Context, r *remote) error {
	info, err := c.dir.Lstat(c.part)
	if err != nil {
		return nil
	}
	if info.Mode().IsRegular() && info.Size() > 0 && info.Size() <= c.e.Size {
		file, err := c.dir.OpenFile(c.part, os.O_RDWR, 0)
		if err == nil {
			same, err := r.sameTail(ctx, file, info.Size())
			if err == nil && same {
				if _, err = file.Seek(info.Size(), io.SeekStart); err == nil {
					c.file, c.off = file, info.Size()
					return nil
				}
			}
			file.Close()
			if err != nil {
				return failed("get", c.e.Path, err)
			}
		}
	}
	if err := c.dir.Remove(c.part); err != nil {
		return local("get", c.part, err)
	}
	return nil
}

// fill moves the bytes, checks them, and gives the file its name.
func (c *copyDown) fill(ctx context.Context, r *remote) error {
	t := c.t
	t.res.Resumed += c.off
	t.m.jump(c.off)
	var sum hash.Hash
	to := &diskWriter{c.file, c.target}
	var w io.Writer = to
	if t.o.Verify && c.off == 0 {
		sum = sha256.New()
		w = io.MultiWriter(w, sum)
	}
	before := t.res.Bytes
	if err := t.pull(ctx, r, c.e, w, c.off); err != nil {
		c.file.Close()
		return err
	}
	size := c.off + t.res.Bytes - before
	if err := c.file.Close(); err != nil {
		return local("get", c.target, err)
	}
	info, err := c.dir.Lstat(c.part)
	if err != nil {
		return local("get", c.target, err)
	}
	if info.Size() != size {
		return fault("get", c.target, viewer.Differs, fmt.Errorf("the copy has %d bytes on this side and %d were received", info.Size(), size))
	}
	t.res.Size += size
	if t.o.Verify {
		if err := c.verify(ctx, sum, size); err != nil {
			return err
		}
	}
	switch {
	case t.o.HasMode:
		err = c.dir.Chmod(c.part, os.FileMode(t.o.Mode&0o777))
	case c.keepBits:
		err = c.dir.Chmod(c.part, c.bits)
	}
	if err != nil {
		t.res.note(Shown(c.target) + ": its permissions could not be set")
	}
	if !c.e.Modified.IsZero() {
		if err := c.dir.Chtimes(c.part, time.Time{}, c.e.Modified); err != nil {
			t.res.note(Shown(c.target) + ": its time could not be kept")
		}
	}
	return c.place()
}

// verify reads what is on this side's disk again and compares it with what the
// machine sent, or has when the beginning came earlier.
func (c *copyDown) verify(ctx context.Context, sum hash.Hash, size int64) error {
	t := c.t
	file, err := c.dir.Open(c.part)
	if err != nil {
		return local("get", c.target, err)
	}
	defer file.Close()
	here, err := hashReader(ctx, file, -1)
	if err != nil {
		return local("get", c.target, err)
	}
	there := ""
	if sum != nil {
		there = hex.EncodeToString(sum.Sum(nil))
	} else if there, err = t.fs.Hash(ctx, c.e.Path, size); err != nil {
		return err
	}
	if here != there {
		return fault("get", c.target, viewer.Differs, errors.New("the copy is not the same as the file: their SHA-256 differ"))
	}
	t.res.SHA256 = here
	return nil
}

// place gives the finished part its name. Without leave to replace, a name that
// was taken meanwhile is refused.
func (c *copyDown) place() error {
	if !c.replace {
		err := c.dir.Link(c.part, c.target)
		if err == nil {
			c.dir.Remove(c.part)
			return nil
		}
		if _, taken := c.dir.Lstat(c.target); taken == nil {
			return fault("get", c.target, viewer.Exists, errors.New("the name was taken meanwhile"))
		}
	}
	if err := c.dir.Rename(c.part, c.target); err != nil {
		return local("get", c.target, err)
	}
	return nil
}

// A diskWriter words what this side's disk says.
type diskWriter struct {
	f    *os.File
	name string
}

func (d *diskWriter) Write(p []byte) (int, error) {
	n, err := d.f.Write(p)
	if err != nil {
		return n, local("get", d.name, err)
	}
	return n, nil
}

// tailBytes is how much of a part's end is compared before it is continued.
const tailBytes = 64 << 10

// sameTail reports whether what stands before off is the same on both sides.
func (r *remote) sameTail(ctx context.Context, here io.ReaderAt, off int64) (bool, error) {
	n := min(off, tailBytes)
	mine := make([]byte, n)
	if _, err := here.ReadAt(mine, off-n); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	var theirs bytes.Buffer
	_, err := r.receive(ctx, &theirs, off-n, off, newMeter(Options{}), &Result{})
	if viewer.KindOf(err) == viewer.Differs && ctx.Err() == nil {
		return false, nil // it is shorter now
	}
	return err == nil && bytes.Equal(mine, theirs.Bytes()), err
}
