package files

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deskvnc/viewer"
)

// maxDepth bounds how deep folders are followed down, both ways.
const maxDepth = 200

// Mkdir makes one folder. Its parent must exist.
func (f *FS) Mkdir(ctx context.Context, path string) error {
	p, err := f.Path(ctx, path)
	if err != nil {
		return err
	}
	return f.mkdir(ctx, p)
}

func (f *FS) mkdir(ctx context.Context, p string) error {
	err := f.command(ctx, typeMkdir, packet(nil).text(p).uint32(0))
	if is(err, statusFailure) {
		if _, e := f.attrsOf(ctx, typeLstat, p); e == nil {
			return fault("mkdir", p, viewer.Exists, errors.New("the name is taken"))
		}
	}
	return failed("mkdir", p, err)
}

// Remove removes a file, a link (never what it leads to) or an empty folder;
// with recursive, a folder and all that is in it.
func (f *FS) Remove(ctx context.Context, path string, recursive bool) error {
	p, err := f.Path(ctx, path)
	if err != nil {
		return err
	}
	if name := Base(p); name == "" || name == "." || name == ".." {
		return fault("remove", p, viewer.Invalid, errors.New("name what is to be removed; this names a folder by where it is"))
	}
	a, err := f.attrsOf(ctx, typeLstat, p)
	switch {
	case refused(err):
		// Without a look only the machine's own two answers are left.
		if err = f.removeFile(ctx, p); err != nil {
			if e := f.removeFolder(ctx, p); e == nil {
				return nil
			}
		}
		return err
	case err != nil:
		return failed("remove", p, err)
	case typeOf(a.mode) != viewer.Folder:
		return f.removeFile(ctx, p)
	case recursive:
		return f.removeTree(ctx, p, 0)
	}
	return f.removeFolder(ctx, p)
}

func (f *FS) removeFile(ctx context.Context, p string) error {
	return failed("remove", p, f.command(ctx, typeRemove, packet(nil).text(p)))
}

func (f *FS) removeFolder(ctx context.Context, p string) error {
	err := f.command(ctx, typeRmdir, packet(nil).text(p))
	if is(err, statusFailure) && f.holdsSomething(ctx, p) {
		return fault("remove", p, viewer.NotEmpty, errors.New("the folder is not empty"))
	}
	return failed("remove", p, err)
}

var errEnough = errors.New("enough")

func (f *FS) holdsSomething(ctx context.Context, p string) bool {
	_, err := f.List(ctx, p, func([]viewer.FileEntry) error { return errEnough })
	return errors.Is(err, errEnough)
}

// removeTree removes a folder from the leaves up. Links are removed, never
// followed: what an entry is comes from the listing, which does not follow.
func (f *FS) removeTree(ctx context.Context, p string, depth int) error {
	if depth > maxDepth {
		return fault("remove", p, viewer.Limit, fmt.Errorf("more than %d folders inside each other", maxDepth))
	}
	all, l, err := f.All(ctx, p)
	if err != nil {
		return err
	}
	for _, e := range all {
		switch {
		case e.Type == viewer.Folder:
			err = f.removeTree(ctx, e.Path, depth+1)
		case !e.HasMode: // the listing did not tell what it is
			err = f.Remove(ctx, e.Path, true)
		default:
			err = f.removeFile(ctx, e.Path)
		}
		if err != nil {
			return err
		}
	}
	if l.More {
		return f.removeTree(ctx, p, depth+1)
	}
	return f.removeFolder(ctx, p)
}

// Rename gives a file or folder another path. A name that is taken is refused
// with kind Exists, or with replace gives way: in one step where the server can
// (posix-rename@openssh.com), else by setting it aside first and back when that
// fails, so that never both are lost.
func (f *FS) Rename(ctx context.Context, from, to string, replace bool) error {
	p, err := f.Path(ctx, from)
	if err != nil {
		return err
	}
	q, err := f.Path(ctx, to)
	if err != nil {
		return err
	}
	if p == q {
		return nil
	}
	a, err := f.attrsOf(ctx, typeLstat, p)
	if err != nil && !refused(err) {
		return failed("rename", p, err)
	}
	b, there := f.attrsOf(ctx, typeLstat, q)
	switch {
	case there != nil:
		return f.rename(ctx, p, q)
	case !replace:
		return fault("rename", q, viewer.Exists, errors.New("the name is taken"))
	case typeOf(b.mode) == viewer.Folder:
		return fault("rename", q, viewer.Exists, errors.New("a folder has this name; remove it first"))
	case err == nil && typeOf(a.mode) == viewer.Folder:
		return fault("rename", q, viewer.Exists, errors.New("a file has this name; remove it first"))
	}
	note, err := f.supplant(ctx, p, q)
	if err == nil && note != "" {
		return fault("rename", q, viewer.Forbidden, errors.New(note))
	}
	return err
}

// rename is the plain request, for a name that is free.
func (f *FS) rename(ctx context.Context, from, to string) error {
	err := f.command(ctx, typeRename, packet(nil).text(from).text(to))
	if is(err, statusFailure) || is(err, statusUnsupported) {
		// Some file systems cannot link, which the plain request of OpenSSH
		// does to be sure that it replaces nothing.
		if f.stream.can("posix-rename@openssh.com") {
			if _, e := f.attrsOf(ctx, typeLstat, to); is(e, statusNoSuchFile) {
				err = f.posixRename(ctx, from, to)
			}
		}
	}
	return failed("rename", from, err)
}

func (f *FS) posixRename(ctx context.Context, from, to string) error {
	return f.command(ctx, typeExtended, packet(nil).text("posix-rename@openssh.com").text(from).text(to))
}

// supplant renames over a file that is there. The note tells of a file that was
// left behind.
func (f *FS) supplant(ctx context.Context, from, to string) (note string, err error) {
	if f.stream.can("posix-rename@openssh.com") {
		err := f.posixRename(ctx, from, to)
		if err == nil || !refused(err) && !is(err, statusFailure) {
			return "", failed("rename", from, err)
		}
		// Offered and denied: the long way.
	}
	folder, name := split(to)
	aside := Join(folder, "."+cutBytes(name, 64)+"."+randomName()+".old")
	if err := f.command(ctx, typeRename, packet(nil).text(to).text(aside)); err != nil {
		return "", failed("rename", to, err)
	}
	if err := f.command(ctx, typeRename, packet(nil).text(from).text(to)); err != nil {
		// Also when the caller has left: both files must have their names.
		back, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
		defer cancel()
		if e := f.command(back, typeRename, packet(nil).text(aside).text(to)); e != nil {
			return "", fault("rename", to, viewer.Invalid, fmt.Errorf("%w; the file that was there is now %s", err, Shown(aside)))
		}
		return "", failed("rename", from, err)
	}
	if err := f.command(ctx, typeRemove, packet(nil).text(aside)); err != nil {
		return fmt.Sprintf("the replaced file could not be removed and is now %s: %v", Shown(aside), err), nil
	}
	return "", nil
}

// Chmod sets the permission bits (07777) of a file or folder.
func (f *FS) Chmod(ctx context.Context, path string, mode uint32) error {
	p, err := f.Path(ctx, path)
	if err != nil {
		return err
	}
	return failed("chmod", p, f.setMode(ctx, p, mode))
}

func (f *FS) setMode(ctx context.Context, p string, mode uint32) error {
	return f.command(ctx, typeSetstat, packet(nil).text(p).uint32(attrMode).uint32(mode&0o7777))
}

// Touch sets the time of the last change, to the second.
func (f *FS) Touch(ctx context.Context, path string, modified time.Time) error {
	p, err := f.Path(ctx, path)
	if err != nil {
		return err
	}
	return failed("touch", p, f.setTime(ctx, p, modified))
}

func (f *FS) setTime(ctx context.Context, p string, modified time.Time) error {
	t := uint32(min(max(modified.Unix(), 0), 1<<32-1))
	return f.command(ctx, typeSetstat, packet(nil).text(p).uint32(attrTimes).uint32(t).uint32(t))
}
