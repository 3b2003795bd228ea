package browse

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deskvnc/viewer"
	"deskvnc/viewer/files"
)

// local is this computer.
type local struct{}

// pieces is how many entries are read at a time.
const pieces = 512

func (local) list(ctx context.Context, folder string, each func([]viewer.FileEntry) error) (string, error) {
	folder, err := whole(folder)
	if err != nil {
		return folder, fault("list", folder, err)
	}
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() { // a pipe would wait for ever
		err = &viewer.Error{Op: "list", Kind: viewer.Invalid, Err: errors.New(files.Shown(folder) + ": is not a folder")}
	}
	if err != nil {
		return folder, fault("list", folder, err)
	}
	d, err := os.Open(folder)
	if err != nil {
		return folder, fault("list", folder, err)
	}
	defer d.Close()
	for {
		if ctx.Err() != nil {
			return folder, ctx.Err()
		}
		found, err := d.ReadDir(pieces)
		out := make([]viewer.FileEntry, 0, len(found))
		for _, e := range found {
			out = append(out, entryOf(folder, e))
		}
		if err := each(out); err != nil {
			return folder, err
		}
		if errors.Is(err, io.EOF) || err == nil && len(found) == 0 {
			return folder, nil
		}
		if err != nil {
			return folder, fault("list", folder, err)
		}
	}
}

// entryOf describes an entry of a folder. What cannot be looked at is listed
// all the same.
func entryOf(folder string, d fs.DirEntry) viewer.FileEntry {
	e := viewer.FileEntry{Name: d.Name(), Path: filepath.Join(folder, d.Name()), Shown: files.Shown(d.Name()), Type: kind(d.Type()), Size: -1}
	if info, err := d.Info(); err == nil {
		e.Size, e.Modified = info.Size(), info.ModTime()
		e.Mode, e.HasMode = bits(info.Mode()), true
	}
	if e.Type != viewer.Link {
		return e
	}
	if to, err := os.Readlink(e.Path); err == nil {
		e.Target = files.Shown(to)
	}
	if info, err := os.Stat(e.Path); err == nil {
		e.To, e.Size = kind(info.Mode()), info.Size()
	} else {
		e.Broken = true
	}
	return e
}

func kind(m fs.FileMode) viewer.FileType {
	switch {
	case m.IsDir():
		return viewer.Folder
	case m&fs.ModeSymlink != 0:
		return viewer.Link
	case m.IsRegular():
		return viewer.RegularFile
	}
	return viewer.Special
}

// The bits beside the permissions, as POSIX numbers them (sys/stat.h).
const (
	setUser  = 0o4000
	setGroup = 0o2000
	sticky   = 0o1000
)

// bits are the permission bits as POSIX numbers them.
func bits(m fs.FileMode) uint32 {
	b := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		b |= setUser
	}
	if m&fs.ModeSetgid != 0 {
		b |= setGroup
	}
	if m&fs.ModeSticky != 0 {
		b |= sticky
	}
	return b
}

func modeOf(b uint32) fs.FileMode {
	m := fs.FileMode(b & 0o777)
	if b&setUser != 0 {
		m |= fs.ModeSetuid
	}
	if b&setGroup != 0 {
		m |= fs.ModeSetgid
	}
	if b&sticky != 0 {
		m |= fs.ModeSticky
	}
	return m
}

// whole makes a path one from the root. Empty and ~ are home.
func whole(p string) (string, error) {
	if p == "" || p == "~" || strings.HasPrefix(p, "~/") || strings.HasPrefix(p, `~\`) {
		home, err := os.UserHomeDir()
		if err != nil {
			return p, err
		}
		if len(p) < 2 {
			return home, nil
		}
		p = filepath.Join(home, p[2:])
	}
	return filepath.Abs(p)
}

func (local) mkdir(_ context.Context, p string) error { return fault("mkdir", p, os.Mkdir(p, 0o777)) }

// rename never replaces what is there.
func (local) rename(_ context.Context, from, to string) error {
	old, err := os.Lstat(from)
	if err != nil {
		return fault("rename", from, err)
	}
	if there, err := os.Lstat(to); err == nil && !os.SameFile(old, there) { // the same: only the case changes
		return &viewer.Error{Op: "rename", Kind: viewer.Exists, Err: errors.New(files.Shown(to) + ": there is one of that name already")}
	}
	return fault("rename", from, os.Rename(from, to))
}

func (local) remove(_ context.Context, e viewer.FileEntry) error {
	if e.Type == viewer.Folder {
		return fault("remove", e.Path, os.RemoveAll(e.Path))
	}
	return fault("remove", e.Path, os.Remove(e.Path))
}

func (local) chmod(_ context.Context, p string, mode uint32) error {
	return fault("chmod", p, os.Chmod(p, modeOf(mode)))
}

func (local) join(folder, name string) string { return filepath.Join(folder, name) }

func (local) parent(p string) string { return filepath.Dir(p) }

func (local) base(p string) string { return filepath.Base(p) }

func (local) typed(folder, text string) string {
	if text == "" || filepath.IsAbs(text) || strings.HasPrefix(text, "~") {
		return text
	}
	return filepath.Join(folder, text)
}

func (local) fault(name string) error {
	switch {
	case name == "":
		return errors.New("type a name")
	case name == "." || name == ".." || name != filepath.Base(name) || strings.ContainsRune(name, 0):
		return errors.New("the names . and .., and paths, are not possible")
	case files.LocalName(name) != name:
		return errors.New("this computer takes no such name")
	}
	return nil
}

// fault is an error of the system in the words of the files of machines.
func fault(op, p string, err error) error {
	if err == nil {
		return nil
	}
	var own *viewer.Error
	if errors.As(err, &own) {
		return err
	}
	k := viewer.Kind("")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k = viewer.Missing
	case errors.Is(err, fs.ErrPermission):
		k = viewer.Forbidden
	case errors.Is(err, fs.ErrExist):
		k = viewer.Exists
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	var between *os.LinkError
	if errors.As(err, &between) {
		err = between.Err
	}
	return &viewer.Error{Op: op, Kind: k, Err: errors.New(files.Shown(p) + ": " + err.Error())}
}
