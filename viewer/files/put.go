package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"deskvnc/viewer"
)

// A content is what is sent to one file.
type content struct {
	r        io.Reader
	at       io.ReaderAt // nil: it cannot be continued or read again
	id       string      // what names it, for continuing a part
	size     int64       // -1: until r ends
	modified time.Time   // zero: the copy's time is now
	mode     uint32      // permission bits, with hasMode only
	hasMode  bool
}

// Store writes what r holds to a file of the machine; size is -1 when it is not
// known. A taken name is treated as o.Exists says.
func (f *FS) Store(ctx context.Context, r io.Reader, size int64, path string, o Options) (Result, error) {
	t := f.transfer(o)
	p, err := f.Path(ctx, path)
	if err != nil {
		return t.finish(err)
	}
	t.m.p.Total = size
	return t.finish(t.putFile(ctx, content{r: r, size: size}, p))
}

// Put copies the file or folder name of dir to a path of the machine. A file is
// written under a temporary name and gets its own when it is whole; the part of
// an earlier attempt is continued when it is of the same version of the file.
// Links in a folder are followed within it; those that lead out of it, and
// pipes, sockets and devices, are left out with a note.
func (f *FS) Put(ctx context.Context, dir *os.Root, name, path string, o Options) (Result, error) {
	t := f.transfer(o)
	p, err := f.Path(ctx, path)
	if err != nil {
		return t.finish(err)
	}
	info, err := dir.Stat(name)
	switch {
	case err != nil:
		return t.finish(local("put", name, err))
	case info.IsDir():
		return t.finish(t.putTree(ctx, dir, name, p))
	}
	t.m.p.Total = info.Size()
	return t.finish(t.putLocal(ctx, dir, name, p))
}

// PutFile is Put of an open file, which it leaves open.
func (f *FS) PutFile(ctx context.Context, file *os.File, path string, o Options) (Result, error) {
	t := f.transfer(o)
	p, err := f.Path(ctx, path)
	if err != nil {
		return t.finish(err)
	}
	return t.finish(t.putOpen(ctx, file, p))
}

// putLocal sends one file of dir.
func (t *transfer) putLocal(ctx context.Context, dir *os.Root, name, p string) error {
	if t.mem.isDone(p) {
		if info, err := dir.Stat(name); err == nil {
			t.m.jump(info.Size())
		}
		t.res.Files++
		t.m.p.Files++
		return nil
	}
	// Looked at before it is opened: opening a pipe would wait for its writer.
	info, err := dir.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errSpecial
	}
	if err != nil {
		return local("put", name, err)
	}
	file, err := dir.Open(name)
	if err != nil {
		return local("put", name, err)
	}
	defer file.Close()
	return t.putOpen(ctx, file, p)
}

var errSpecial = errors.New("neither a file nor a folder; pipes, sockets and devices are not copied")

func (t *transfer) putOpen(ctx context.Context, file *os.File, p string) error {
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errSpecial
	}
	if err != nil {
		return local("put", file.Name(), err)
	}
	if t.m.p.Total < 0 {
		t.m.p.Total = info.Size()
	}
	id, err := filepath.Abs(file.Name())
	if err != nil {
		id = file.Name()
	}
	c := content{r: file, at: file, id: id, size: info.Size(), modified: info.ModTime(), mode: uint32(info.Mode().Perm()), hasMode: true}
	if err := t.putFile(ctx, c, p); err != nil {
		return err
	}
	if now, err := file.Stat(); err == nil && (now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime())) {
		t.res.note(Shown(filepath.Base(p)) + ": changed while it was copied; the copy has what was read")
	}
	return nil
}

// putFile sends one content to the path p.
func (t *transfer) putFile(ctx context.Context, c content, p string) error {
	if t.o.Limit > 0 && c.size > t.o.Limit {
		return tooLarge(p, c.size, t.o.Limit)
	}
	u := &copyUp{t: t, c: c, target: p}
	there, err := t.fs.probe(ctx, p)
	switch {
	case err != nil:
		return failed("put", p, err)
	case there != nil && there.IsFolder():
		return fault("put", p, viewer.Exists, errors.New("a folder has this name"))
	case there != nil:
		got, err := t.decide(ctx, "put", p, Conflict{
			Source: Facts{c.size, c.modified}, Target: Facts{there.Size, there.Modified},
		}, func(n int) (string, bool, error) {
			folder, name := split(p)
			q := Join(folder, nthName(name, n))
			other, err := t.fs.probe(ctx, q)
			return q, other == nil, failed("put", q, err)
		})
		if err != nil {
			return err
		}
		if got.do == Skip {
			t.res.Skipped++
			t.m.jump(max(c.size, 0))
			t.m.p.Files++
			t.mem.finished(p)
			return nil
		}
		u.target, u.replace = got.target, got.do == Replace
		if u.replace {
			u.bits, u.keepBits = there.Mode, there.HasMode && there.Type == viewer.RegularFile
			if there.Type == viewer.Link && !there.Broken {
				// The file behind the link is replaced, not the link.
				if to, err := t.fs.real(ctx, p); err == nil {
					u.target = to
				}
			}
		}
	}
	if err := u.run(ctx); err != nil {
		return err
	}
	t.res.Path = u.target
	t.res.Files++
	t.m.p.Files++
	t.mem.finished(p)
	return nil
}

// probe looks whether a name is taken; nil is free. On a machine that does not
// let us look, a file that can be opened is there.
func (f *FS) probe(ctx context.Context, p string) (*viewer.FileEntry, error) {
	a, err := f.attrsOf(ctx, typeLstat, p)
	if refused(err) {
		a, err = f.attrsOf(ctx, typeStat, p)
	}
	switch {
	case err == nil:
		e := entry(p, a)
		if e.Type == viewer.Link {
			mode := e.Mode
			if b, err := f.attrsOf(ctx, typeStat, p); err == nil {
				to := entry(p, b)
				e.To, e.Size, e.Modified, mode = to.Type, to.Size, to.Modified, to.Mode
			} else {
				e.Broken = true
			}
			e.Mode = mode
		}
		return &e, nil
	case is(err, statusNoSuchFile):
		return nil, nil
	case !refused(err):
		return nil, err
	}
	r, err := f.open(ctx, p, openRead)
	if err != nil {
		if ctx.Err() != nil || f.stream.ended() != nil {
			return nil, err
		}
		return nil, nil
	}
	e := entry(p, attrs{})
	e.Size = r.size(ctx)
	r.drop(nil)
	return &e, nil
}

// A copyUp is one file on its way to the machine.
type copyUp struct {
	t       *transfer
	c       content
	target  string
	replace bool
	// bits are those of the file that is replaced, with keepBits only.
	bits     uint32
	keepBits bool

	part    string // the temporary name
	off     int64  // bytes that were there already
	known   bool   // the part has a name by which it is found again
	noAttrs bool   // the machine lets nobody set modes and times
}

// continueFrom is the least size that is worth continuing; a smaller file is
// sent again in less time than it takes to look.
const continueFrom = 1 << 20

func (u *copyUp) run(ctx context.Context) error {
	folder, name := split(u.target)
	u.part = Join(folder, "."+cutBytes(name, 64)+"."+randomName()+".part")
	flag := uint32(openWrite | openCreate | openNew)
	if u.c.at != nil && u.c.size >= continueFrom {
		part := Join(folder, partName(name, u.c.id, u.c.size, u.c.modified.UnixNano()))
		if u.t.fs.claim(part) { // else another transfer of this session is at it
			defer u.t.fs.release(part)
			u.part, u.known = part, true
			if err := u.find(ctx); err != nil {
				return err
			}
			if flag = openWrite | openCreate; u.off == 0 {
				flag |= openTruncate
			}
		}
	}
	r, err := u.t.fs.open(ctx, u.part, flag)
	if err != nil {
		return u.openError(ctx, err)
	}
	err = u.fill(ctx, r)
	if err == nil {
		err = u.place(ctx)
	}
	if err != nil && !(u.known && u.t.resumable(err)) {
		r.drop(func(ctx context.Context) {
			u.t.fs.command(ctx, typeRemove, packet(nil).text(u.part))
		})
	}
	return err
}

// openError tells why no file could be made beside the target.
func (u *copyUp) openError(ctx context.Context, err error) error {
	folder, _ := split(u.target)
	if is(err, statusPermission) {
		return fault("put", u.target, viewer.Forbidden, fmt.Errorf("permission denied: the folder %s takes no new files from this account", Shown(folder)))
	}
	if is(err, statusNoSuchFile) {
		return fault("put", u.target, viewer.Missing, fmt.Errorf("there is no folder %s", Shown(folder)))
	}
	if is(err, statusFailure) && u.t.fs.isFull(ctx, folder) {
		return fault("put", u.target, viewer.Full, errFull)
	}
	return failed("put", u.target, err)
}

// find looks for the part of an earlier attempt and how much of it is sure: all
// but one window, in which bytes can be missing, and only when it ends there as
// the source does.
func (u *copyUp) find(ctx context.Context) error {
	a, err := u.t.fs.attrsOf(ctx, typeLstat, u.part)
	if err != nil || typeOf(a.mode) != viewer.RegularFile || a.size > u.c.size {
		return plainLoss(u.t.fs, ctx)
	}
	sure := a.size - window
	if sure <= 0 {
		return nil
	}
	r, err := u.t.fs.open(ctx, u.part, openRead)
	if err != nil {
		return plainLoss(u.t.fs, ctx)
	}
	defer r.drop(nil)
	same, err := r.sameTail(ctx, u.c.at, sure)
	if err == nil && same {
		u.off = sure
	}
	return plainLoss(u.t.fs, ctx)
}

// plainLoss is the error of a session or a context that ended, nil while both
// live.
func plainLoss(f *FS, ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return failed("put", "file", err)
	}
	if err := f.stream.ended(); err != nil {
		return lost(err)
	}
	return nil
}

// claim takes a part for one transfer.
func (f *FS) claim(part string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy[part] {
		return false
	}
	f.busy[part] = true
	return true
}

func (f *FS) release(part string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.busy, part)
}

// fill sends the bytes and checks that the machine has them all.
func (u *copyUp) fill(ctx context.Context, r *remote) error {
	t, f := u.t, u.t.fs
	final := u.finalBits()
	if final&0o077 == 0 && u.off == 0 {
		// A private file is private from its first byte.
		if err := u.set(ctx, attrMode, 0o600, time.Time{}); err != nil {
			r.drop(nil)
			return err
		}
	}
	src, sum := u.c.r, hash.Hash(nil)
	if u.c.at != nil {
		src = io.NewSectionReader(u.c.at, u.off, max(u.c.size-u.off, 0))
	}
	if t.o.Verify && u.off == 0 {
		sum = sha256.New()
		src = io.TeeReader(src, sum)
	}
	t.m.p.File = Shown(Base(u.target))
	t.res.Resumed += u.off
	t.m.jump(u.off)
	n, err := r.send(ctx, src, u.off, u.c.size, t.m, &t.res)
	t.res.Bytes += n
	if err != nil {
		r.drop(nil)
		var bad *sourceError
		if errors.As(err, &bad) {
			return local("put", u.target, bad.err)
		}
		return f.writeError(ctx, u.target, err)
	}
	size := r.size(ctx)
	if err := r.close(ctx); err != nil {
		return f.writeError(ctx, u.target, err)
	}
	switch want := u.off + n; {
	case size < 0:
		t.res.note(Shown(Base(u.target)) + ": the machine does not tell the size of the copy, so it could not be checked")
	case size != want:
		return fault("put", u.target, viewer.Differs, fmt.Errorf("the copy has %d bytes on the machine and %d were sent", size, want))
	}
	t.res.Size += u.off + n
	if t.o.Verify {
		if err := u.verify(ctx, sum, u.off+n); err != nil {
			return err
		}
	}
	flags := uint32(attrMode)
	if !u.c.modified.IsZero() {
		flags |= attrTimes
	}
	if u.c.hasMode || t.o.HasMode || u.keepBits || flags&attrTimes != 0 {
		return u.set(ctx, flags, final, u.c.modified)
	}
	return nil
}

// finalBits are the permission bits that the copy ends with.
func (u *copyUp) finalBits() uint32 {
	switch {
	case u.t.o.HasMode:
		return u.t.o.Mode & 0o7777
	case u.keepBits:
		return u.bits & 0o7777
	}
	return newBits(u.c.mode, u.c.hasMode)
}

// set sets mode and time of the part. That the machine does not let us is worth
// a note; the file is there all the same.
func (u *copyUp) set(ctx context.Context, flags, mode uint32, modified time.Time) error {
	if u.noAttrs {
		return nil
	}
	body := packet(nil).text(u.part).uint32(flags)
	if flags&attrMode != 0 {
		body = body.uint32(mode)
	}
	if flags&attrTimes != 0 {
		at := uint32(min(max(modified.Unix(), 0), 1<<32-1))
		body = body.uint32(at).uint32(at)
	}
	err := u.t.fs.command(ctx, typeSetstat, body)
	if err == nil {
		return nil
	}
	if err := plainLoss(u.t.fs, ctx); err != nil {
		return err
	}
	u.noAttrs = true
	u.t.res.note(fmt.Sprintf("%s: stored, but the machine did not let its time and permissions be set: %v", Shown(Base(u.target)), err))
	return nil
}

// verify reads the copy back and compares it with what was sent, or with the
// source when the beginning was sent earlier.
func (u *copyUp) verify(ctx context.Context, sum hash.Hash, size int64) error {
	there, err := u.t.fs.Hash(ctx, u.part, size)
	if err != nil {
		return err
	}
	here := ""
	if sum != nil {
		here = hex.EncodeToString(sum.Sum(nil))
	} else if here, err = hashReader(ctx, io.NewSectionReader(u.c.at, 0, size), -1); err != nil {
		return local("put", u.target, err)
	}
	if here != there {
		return fault("put", u.target, viewer.Differs, errors.New("the copy is not the same as the file: their SHA-256 differ"))
	}
	u.t.res.SHA256 = here
	return nil
}

// place gives the finished part its name.
func (u *copyUp) place(ctx context.Context) error {
	if !u.replace {
		err := u.t.fs.rename(ctx, u.part, u.target)
		if viewer.KindOf(err) == viewer.Invalid {
			if there, e := u.t.fs.probe(ctx, u.target); e == nil && there != nil {
				return fault("put", u.target, viewer.Exists, errors.New("the name was taken meanwhile"))
			}
		}
		return err
	}
	note, err := u.t.fs.supplant(ctx, u.part, u.target)
	u.t.res.note(note)
	return err
}

var errFull = errors.New("the disk of the machine is full")

// writeError tells why the machine did not take bytes.
func (f *FS) writeError(ctx context.Context, p string, err error) error {
	if !is(err, statusFailure) {
		return failed("put", p, err)
	}
	if folder, _ := split(p); f.isFull(ctx, folder) {
		return fault("put", p, viewer.Full, errFull)
	}
	var own *statusError
	if errors.As(err, &own) && own.text != "" && own.text != "Failure" {
		return failed("put", p, err)
	}
	return fault("put", p, viewer.Full, errors.New("the machine could not write; its disk, or the room this account may use, is likely full"))
}

// isFull asks how much room the disk has that holds a folder (OpenSSH PROTOCOL
// 4.4).
func (f *FS) isFull(ctx context.Context, folder string) bool {
	if !f.stream.can("statvfs@openssh.com") {
		return false
	}
	r, err := f.stream.call(ctx, typeExtended, packet(nil).text("statvfs@openssh.com").text(folder), nil)
	if err != nil || answered(r, typeExtendedReply) != nil {
		return false
	}
	in := parser{b: r.body}
	in.uint64()
	block := in.uint64()
	in.uint64() // blocks
	in.uint64() // free for the superuser
	free := in.uint64()
	return in.err == nil && (free == 0 || free < (1<<20)/max(block, 1))
}
