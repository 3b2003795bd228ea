package paths

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Source is a local file that an agent reads.
type Source = os.File

// Open opens an existing regular file for reading. The path must be absolute.
func (r *Roots) Open(path string) (*Source, error) {
	if err := needAbsolute(path); err != nil {
		return nil, err
	}
	in, at, err := r.locate(read, path)
	if err != nil {
		return nil, err
	}
	dir, rel, err := enter(in, at)
	if err != nil {
		return nil, failed(path, err)
	}
	defer dir.Close()
	info, err := dir.Lstat(rel)
	if err != nil {
		return nil, failed(path, err)
	}
	if err := regular(info, path); err != nil {
		return nil, err
	}
	f, err := dir.OpenFile(rel, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, failed(path, err)
	}
	// Again, of what was opened: it may have been changed in between.
	if info, err = f.Stat(); err == nil {
		err = regular(info, path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// needAbsolute refuses paths that depend on where the process runs.
func needAbsolute(path string) error {
	switch {
	case path == "":
		return &Refusal{Text: "automation path rejected: empty path"}
	case !filepath.IsAbs(path):
		return rejected("a local path must be absolute", path)
	}
	return nil
}

// regular refuses all but files: a folder cannot be read, a pipe would wait for
// ever, and a device is not a file.
func regular(info fs.FileInfo, path string) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return rejected("a folder, not a file", path)
	}
	return rejected("not a regular file (pipes, sockets and devices are never opened)", path)
}

// failed is an ordinary failure of the system on a path that may be used.
func failed(path string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// errReplaced says that a root is not the folder that it was.
var errReplaced = errors.New("the folder was replaced by another since it was allowed")

// enter opens the root that a place is in, or where nothing is confined the
// folder above it.
func enter(in root, at place) (dir *os.Root, rel string, err error) {
	if in.path == "" {
		in.path = filepath.Dir(at.path)
	}
	if dir, err = os.OpenRoot(in.path); err != nil {
		return nil, "", err
	}
	if in.info != nil {
		now, err := dir.Stat(".")
		if err == nil && !os.SameFile(now, in.info) {
			err = errReplaced
		}
		if err != nil {
			dir.Close()
			return nil, "", err
		}
	}
	if rel, err = filepath.Rel(in.path, at.path); err != nil {
		dir.Close()
		return nil, "", err
	}
	return dir, rel, nil
}

// A File is being written. It has its name only after Commit.
type File struct {
	f    *os.File
	dir  *os.Root // the folder it will be in
	part string   // its name until then
	name string
	path string
	bits os.FileMode // of the file it replaces; 0: there is none
}

// Create begins a file. The path must be absolute, and the folder it is in must
// exist. Where a folder is at the path itself, the file gets the name base
// inside it, which must be a plain name. An existing regular file is replaced
// when the new one is whole.
func (r *Roots) Create(path, base string) (*File, error) {
	if err := needAbsolute(path); err != nil {
		return nil, err
	}
	in, at, err := r.locate(write, path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(at.path); err == nil && at.missing == 0 && info.IsDir() {
		if err := plainName(base); err != nil {
			return nil, err
		}
		// Once more: the name inside may be a link.
		if in, at, err = r.locate(write, at.path+string(filepath.Separator)+base); err != nil {
			return nil, err
		}
	}
	if at.missing > 1 {
		return nil, fmt.Errorf("%s: the folder to save in does not exist; it is not made", path)
	}
	dir, rel, err := enter(in, at)
	if err != nil {
		return nil, failed(path, err)
	}
	defer dir.Close()
	if rel == "." {
		return nil, rejected("a folder, not a file", path)
	}
	bits := os.FileMode(0)
	if info, err := dir.Lstat(rel); err == nil {
		if err := regular(info, path); err != nil {
			return nil, err
		}
		bits = info.Mode().Perm()
	}
	folder, err := dir.OpenRoot(filepath.Dir(rel))
	if err != nil {
		return nil, failed(path, err)
	}
	f := &File{dir: folder, name: filepath.Base(rel), path: at.path, bits: bits}
	f.part = partName(f.name)
	if f.f, err = folder.OpenFile(f.part, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
		folder.Close()
		return nil, failed(path, err)
	}
	return f, nil
}

// plainName refuses what is not one component.
func plainName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || filepath.Base(name) != name || badText(name) != "" {
		return rejected("not a plain file name", name)
	}
	return nil
}

// partName is a name that nobody else has.
func partName(name string) string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	if len(name) > 64 {
		name = name[:64]
	}
	return "." + strings.ToValidUTF8(name, "_") + "." + hex.EncodeToString(b[:]) + ".part"
}

// Write writes to the file.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.f.Write(p)
	if err != nil {
		return n, failed(f.path, err)
	}
	return n, nil
}

// Path is where the file will be, without links.
func (f *File) Path() string { return f.path }

// Commit gives the file its name, in place of one that has it. After an error
// nothing has changed.
func (f *File) Commit() error {
	err := f.f.Close()
	if err == nil && f.bits != 0 {
		err = f.dir.Chmod(f.part, f.bits)
	}
	if err == nil {
		err = f.dir.Rename(f.part, f.name)
	}
	if err != nil {
		f.dir.Remove(f.part)
		err = failed(f.path, err)
	}
	f.dir.Close()
	f.f = nil
	return err
}

// Abort gives up and leaves nothing behind. After Commit it does nothing.
func (f *File) Abort() {
	if f.f == nil {
		return
	}
	f.f.Close()
	f.dir.Remove(f.part)
	f.dir.Close()
	f.f = nil
}
