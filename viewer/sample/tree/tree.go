// Package tree holds files and folders in memory, for a sample machine: what
// its shell and its file transfer show and change.
//
// A Tree is safe for concurrent use, bounds what it holds, and knows no wire.
// Paths are absolute, with slashes.
package tree

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// The bounds of a tree.
const (
	// MaxBytes bounds what is written into all files together.
	MaxBytes = 64 << 20
	// MaxNodes bounds the files, folders and links.
	MaxNodes = 20000
	// maxName bounds one name, maxPath a path, both in bytes; maxDepth bounds
	// folders in folders, and maxLinks the links followed on one way.
	maxName  = 255
	maxPath  = 4096
	maxDepth = 64
	maxLinks = 32
)

// An Error is a refusal, in the words of a Unix system.
type Error string

// The refusals.
const (
	Missing   = Error("No such file or directory")
	Forbidden = Error("Permission denied")
	Exists    = Error("File exists")
	NotFolder = Error("Not a directory")
	IsFolder  = Error("Is a directory")
	NotEmpty  = Error("Directory not empty")
	NoSpace   = Error("No space left on device")
	Invalid   = Error("Invalid argument")
	TooLong   = Error("File name too long")
	Loop      = Error("Too many levels of symbolic links")
	Closed    = Error("Bad file descriptor")
)

// Error implements error.
func (e Error) Error() string { return string(e) }

// Is lets a refusal be told apart by the words of [fs].
func (e Error) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return e == Missing
	case fs.ErrPermission:
		return e == Forbidden
	case fs.ErrExist:
		return e == Exists || e == NotEmpty
	}
	return false
}

// The users of the machine.
const (
	Root uint32 = 0
	User uint32 = 1000 // who is logged in
)

// A node is a file, a folder or a link. Tree.mu guards it.
type node struct {
	name   string
	mode   fs.FileMode
	owner  uint32
	time   time.Time
	kids   map[string]*node // of a folder
	target string           // of a link
	up     *node

	data []byte
	made maker // gives the content in the place of data, until it is changed
	size int64
	open int  // handles
	gone bool // removed; its bytes are given back with the last handle
}

// A maker makes the content of a file that nobody has written to: len(p) bytes
// from off on, all of them inside the file.
type maker func(p []byte, off int64)

func (n *node) folder() bool { return n.mode.IsDir() }

// may reports whether who is logged in has a permission: 4 to read, 2 to
// write, 1 to enter.
func (n *node) may(bit fs.FileMode) bool {
	if n.owner == User {
		bit <<= 6
	}
	return n.mode&bit != 0
}

// A Tree is files and folders.
type Tree struct {
	mu    sync.Mutex // guards below
	root  *node
	used  int64
	nodes int
	now   func() time.Time
}

// New is an empty tree, whose root belongs to root.
func New() *Tree {
	t := &Tree{now: time.Now, nodes: 1}
	t.root = &node{name: "/", mode: fs.ModeDir | 0o755, owner: Root, time: t.now(), kids: map[string]*node{}}
	t.root.up = t.root
	return t
}

// An Info tells about a file, a folder or a link. It implements [fs.FileInfo].
type Info struct {
	name   string
	size   int64
	mode   fs.FileMode
	time   time.Time
	owner  uint32
	target string
}

func (n *node) info() Info {
	i := Info{n.name, n.size, n.mode, n.time, n.owner, n.target}
	switch {
	case n.folder():
		i.size = 4096
	case n.target != "":
		i.size = int64(len(n.target))
	}
	return i
}

// Name is the last part of the path.
func (i Info) Name() string { return i.name }

// Size is in bytes.
func (i Info) Size() int64 { return i.size }

// Mode is the type and the permissions.
func (i Info) Mode() fs.FileMode { return i.mode }

// ModTime is when it was changed.
func (i Info) ModTime() time.Time { return i.time }

// IsDir reports whether it is a folder.
func (i Info) IsDir() bool { return i.mode.IsDir() }

// Sys has nothing to tell.
func (i Info) Sys() any { return nil }

// Uid is the owner's number.
func (i Info) Uid() uint32 { return i.owner }

// Gid is the group's number, which is the owner's.
func (i Info) Gid() uint32 { return i.owner }

// Target is where a link leads.
func (i Info) Target() string { return i.target }

// find walks to a path. A link at its end is followed when follow says so. For
// a path whose last part alone is missing it gives the folder and the name.
// The caller holds mu.
func (t *Tree) find(p string, follow bool) (n, folder *node, name string, err error) {
	if len(p) > maxPath {
		return nil, nil, "", TooLong
	}
	left := maxLinks
	at := t.root
	parts := strings.Split(p, "/")
	for len(parts) > 0 {
		part := parts[0]
		parts = parts[1:]
		if !at.folder() {
			return nil, nil, "", NotFolder
		}
		if part == "" {
			continue
		}
		if !at.may(1) {
			return nil, nil, "", Forbidden
		}
		if part == "." {
			continue
		}
		if part == ".." {
			at = at.up
			continue
		}
		last := !slices.ContainsFunc(parts, func(p string) bool { return p != "" })
		kid := at.kids[part]
		switch {
		case kid == nil && last:
			if len(part) > maxName {
				return nil, nil, "", TooLong
			}
			return nil, at, part, Missing
		case kid == nil:
			return nil, nil, "", Missing
		case kid.target != "" && (!last || follow):
			if left--; left < 0 {
				return nil, nil, "", Loop
			}
			if strings.HasPrefix(kid.target, "/") {
				at = t.root
			}
			parts = append(strings.Split(kid.target, "/"), parts...)
			if len(parts) > maxPath {
				return nil, nil, "", TooLong
			}
			continue
		}
		at = kid
	}
	return at, at.up, at.name, nil
}

// depth is the number of folders above a node.
func (n *node) depth() int {
	d := 0
	for ; n.up != n; n = n.up {
		d++
	}
	return d
}

// add puts a new node into a folder. The caller holds mu.
func (t *Tree) add(folder *node, name string, n *node) error {
	switch {
	case !folder.may(2):
		return Forbidden
	case folder.gone:
		return Missing
	case t.nodes >= MaxNodes:
		return NoSpace
	case folder.depth() >= maxDepth:
		return TooLong
	case name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00"):
		return Invalid
	}
	n.name, n.up, n.time = name, folder, t.now()
	folder.kids[name] = n
	folder.time = n.time
	t.nodes++
	return nil
}

// drop takes a node out of its folder. The caller holds mu.
func (t *Tree) drop(n *node) {
	delete(n.up.kids, n.name)
	n.up.time = t.now()
	t.nodes--
	n.gone = true
	t.release(n)
}

// release gives back the bytes of a removed file that nobody has open.
func (t *Tree) release(n *node) {
	if n.gone && n.open == 0 {
		t.used -= int64(len(n.data))
		n.data, n.made, n.size = nil, nil, 0
	}
}

// Stat tells about what a path leads to.
func (t *Tree) Stat(p string) (Info, error) { return t.stat(p, true) }

// Lstat tells about what a path names, be it a link.
func (t *Tree) Lstat(p string) (Info, error) { return t.stat(p, false) }

func (t *Tree) stat(p string, follow bool) (Info, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, _, _, err := t.find(p, follow)
	if err != nil {
		return Info{}, err
	}
	return n.info(), nil
}

// List is what a folder holds, in no order.
func (t *Tree) List(p string) ([]Info, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, _, _, err := t.find(p, true)
	switch {
	case err != nil:
		return nil, err
	case !n.folder():
		return nil, NotFolder
	case !n.may(4):
		return nil, Forbidden
	}
	out := make([]Info, 0, len(n.kids))
	for _, k := range n.kids {
		out = append(out, k.info())
	}
	return out, nil
}

// Real is the path of what p leads to, without links and dots. What is missing
// at the end of p is kept as it is.
func (t *Tree) Real(p string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, folder, name, err := t.find(p, true)
	switch {
	case err == nil:
		return n.path(), nil
	case folder != nil:
		return path.Join(folder.path(), name), nil
	}
	return "", err
}

func (n *node) path() string {
	if n.up == n {
		return "/"
	}
	return path.Join(n.up.path(), n.name)
}

// Used is how many bytes are written, and how many nodes there are.
func (t *Tree) Used() (bytes int64, nodes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.used, t.nodes
}

// Named is the same by another name.
func (i Info) Named(name string) Info {
	i.name = name
	return i
}
