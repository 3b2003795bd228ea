package paths

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// An access is reading or writing.
type access string

const (
	read  access = "read"
	write access = "write"
)

// Roots are the folders that an agent may read and write. A Roots never
// changes and is safe for concurrent use.
type Roots struct {
	open          bool // nothing is confined
	read, written []root
}

// A root is one folder, as it was when the Roots were made: a link that leads
// to it is followed then and never again.
type root struct {
	path string // without links
	info fs.FileInfo
}

// Everything confines nothing.
func Everything() *Roots { return &Roots{open: true} }

// FromFlags makes the roots of the command line: neither kind given confines
// nothing; with one of them given, a kind without a folder grants none of its
// access.
func FromFlags(read, write []string) (*Roots, error) {
	if len(read)+len(write) == 0 {
		return Everything(), nil
	}
	return Confined(read, write)
}

// Confined makes the roots of a grant: a kind without a folder grants none of
// its access, also when both have none.
func Confined(readFolders, writeFolders []string) (*Roots, error) {
	r := &Roots{}
	var err error
	if r.read, err = roots(read, readFolders); err != nil {
		return nil, err
	}
	if r.written, err = roots(write, writeFolders); err != nil {
		return nil, err
	}
	return r, nil
}

func roots(a access, folders []string) (all []root, err error) {
	for _, f := range folders {
		r, err := newRoot(f)
		if err != nil {
			return nil, fmt.Errorf("automation %s root %q cannot be used: %s", a, f, reason(err))
		}
		all = append(all, r)
	}
	return all, nil
}

func newRoot(folder string) (root, error) {
	if folder == "" {
		return root{}, errors.New("no folder is named")
	}
	abs, err := absolute(folder)
	if err != nil {
		return root{}, err
	}
	p, err := resolve(abs)
	if err != nil {
		return root{}, err
	}
	info, err := os.Stat(p)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	return root{path: p, info: info}, err
}

// reason is an error without the call and the path, which the text around it
// names.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// A Refusal is a path that an agent may not use, or that cannot be one.
type Refusal struct {
	// Policy says that a person's choice of folders stands against it; else the
	// path itself is the fault.
	Policy bool
	Text   string
}

// Error gives the text, which names the path as the agent gave it.
func (r *Refusal) Error() string { return r.Text }

func rejected(why, path string) error {
	return &Refusal{Text: "automation path rejected: " + why + ": " + path}
}

// CheckRead reports whether a path may be read. The file need not be there.
func (r *Roots) CheckRead(path string) error {
	_, _, err := r.locate(read, path)
	return err
}

// CheckWrite reports whether a path may be written. Nothing need be there.
func (r *Roots) CheckWrite(path string) error {
	_, _, err := r.locate(write, path)
	return err
}

// locate finds where a path leads and in which root that is. missing are the
// components at its end that are not there.
func (r *Roots) locate(a access, path string) (in root, at place, err error) {
	folders := r.read
	if a == write {
		folders = r.written
	}
	switch {
	case path == "":
		return root{}, place{}, &Refusal{Text: "automation path rejected: empty path"}
	case !r.open && len(folders) == 0:
		return root{}, place{}, &Refusal{Policy: true, Text: fmt.Sprintf("automation filesystem access is not granted: %s authority is absent: %s", a, path)}
	}
	if why := badText(path); why != "" {
		return root{}, place{}, rejected(why, path)
	}
	if at, err = find(path); err != nil {
		return root{}, place{}, err
	}
	if r.open {
		return root{}, at, nil
	}
	for _, f := range folders {
		if inside(f.path, at.path) {
			return f, at, nil
		}
	}
	word, names := "root", make([]string, len(folders))
	for i, f := range folders {
		names[i] = f.path
	}
	if len(folders) > 1 {
		word = "roots"
	}
	return root{}, place{}, &Refusal{Policy: true, Text: fmt.Sprintf("automation path rejected: outside the %s %s %s: %s", a, word, strings.Join(names, ", "), path)}
}

// A place is where a path leads, without links.
type place struct {
	path    string
	missing int // components at its end that are not there
}

// find follows all links of a path as the system does, ".." behind a link too,
// up to where nothing is there.
func find(path string) (place, error) {
	at, err := absolute(path)
	if err != nil {
		return place{}, rejected(fmt.Sprintf("cannot resolve (%s)", reason(err)), path)
	}
	var missing []string
	for {
		at = trim(at)
		found, err := resolve(at)
		if err == nil {
			for i := len(missing) - 1; i >= 0; i-- {
				found = filepath.Join(found, missing[i])
			}
			return place{found, len(missing)}, nil
		}
		info, e := os.Lstat(at)
		switch {
		case e == nil && info.Mode()&fs.ModeSymlink != 0:
			return place{}, rejected("dangling link", path)
		case e == nil:
			return place{}, rejected(fmt.Sprintf("cannot resolve (%s)", reason(err)), path)
		case !errors.Is(e, fs.ErrNotExist):
			return place{}, rejected(fmt.Sprintf("cannot resolve (%s)", reason(e)), path)
		}
		up, name := parent(at)
		switch {
		case name == "..":
			return place{}, rejected(`".." below a missing folder`, path)
		case name == "":
			return place{}, rejected(fmt.Sprintf("cannot resolve (%s)", reason(e)), path)
		case len(name) > maxName:
			return place{}, rejected("cannot resolve (file name too long)", path)
		}
		missing = append(missing, name)
		at = up
	}
}

// maxName is the longest name of a file that systems take, in bytes.
const maxName = 255

// trim takes separators and "." off the end: to look at a name with one behind
// it would follow a link.
func trim(p string) string {
	for {
		switch n := len(p); {
		case n > rootLength(p) && isSeparator(p[n-1]):
			p = p[:n-1]
		case n > rootLength(p)+1 && p[n-1] == '.' && isSeparator(p[n-2]):
			p = p[:n-1]
		default:
			return p
		}
	}
}

// parent cuts the last component off. At the top the name is empty.
func parent(p string) (up, name string) {
	top, i := rootLength(p), len(p)
	for i > top && !isSeparator(p[i-1]) {
		i--
	}
	return p[:i], p[i:]
}

func isSeparator(c byte) bool { return os.IsPathSeparator(c) }

// rootLength is how much of a path is its top.
func rootLength(p string) int {
	n := len(filepath.VolumeName(p))
	if n < len(p) && isSeparator(p[n]) {
		n++
	}
	return n
}

// inside reports whether p is folder or below it, by whole components.
func inside(folder, p string) bool {
	a, b := parts(folder), parts(p)
	if len(a) > len(b) {
		return false
	}
	for i := range a {
		if !sameName(a[i], b[i]) {
			return false
		}
	}
	return true
}

func parts(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r < 0x80 && isSeparator(byte(r)) })
}
