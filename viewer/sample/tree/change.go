package tree

import (
	"io/fs"
	"time"
)

// Mkdir makes a folder.
func (t *Tree) Mkdir(p string, perm fs.FileMode) error {
	return t.create(p, &node{mode: fs.ModeDir | perm.Perm(), owner: User, kids: map[string]*node{}})
}

// Symlink makes a link to target, which need not be there.
func (t *Tree) Symlink(target, p string) error {
	switch {
	case target == "":
		return Missing
	case len(target) > maxPath:
		return TooLong
	}
	return t.create(p, &node{mode: fs.ModeSymlink | 0o777, owner: User, target: target})
}

func (t *Tree) create(p string, n *node) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	old, folder, name, err := t.find(p, false)
	switch {
	case old != nil:
		return Exists
	case folder == nil:
		return err
	}
	return t.add(folder, name, n)
}

// Remove takes away a file, a link or an empty folder.
func (t *Tree) Remove(p string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, folder, _, err := t.find(p, false)
	switch {
	case err != nil:
		return err
	case n == t.root || !folder.may(2):
		return Forbidden
	case len(n.kids) > 0:
		return NotEmpty
	}
	t.drop(n)
	return nil
}

// Rename moves a file, folder or link. What is at the new path already is
// replaced when replace says so and it is no folder that holds something.
func (t *Tree) Rename(from, to string, replace bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, _, _, err := t.find(from, false)
	if err != nil {
		return err
	}
	old, folder, name, err := t.find(to, false)
	if folder == nil {
		return err
	}
	if n == t.root || !n.up.may(2) || !folder.may(2) {
		return Forbidden
	}
	for up := folder; ; up = up.up { // not into itself
		if up == n {
			return Invalid
		}
		if up == up.up {
			break
		}
	}
	if folder.depth()+n.height() > maxDepth {
		return TooLong
	}
	if old != nil {
		switch {
		case old == n:
			return nil
		case !replace:
			return Exists
		case old.folder() && !n.folder():
			return IsFolder
		case !old.folder() && n.folder():
			return NotFolder
		case len(old.kids) > 0:
			return NotEmpty
		}
		t.drop(old)
	}
	now := t.now()
	delete(n.up.kids, n.name)
	n.up.time = now
	n.name, n.up = name, folder
	folder.kids[name] = n
	folder.time = now
	return nil
}

// height is how deep folders go inside of a node. Depth is bounded, so this
// comes to an end.
func (n *node) height() int {
	h := 0
	for _, k := range n.kids {
		h = max(h, 1+k.height())
	}
	return h
}

// Chmod changes the permissions of what a path leads to.
func (t *Tree) Chmod(p string, perm fs.FileMode) error {
	return t.own(p, func(n *node) { n.mode = n.mode.Type() | perm.Perm() })
}

// Chtime says when what a path leads to was changed.
func (t *Tree) Chtime(p string, at time.Time) error {
	return t.own(p, func(n *node) { n.time = at })
}

// own changes what belongs to who is logged in.
func (t *Tree) own(p string, change func(*node)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, _, _, err := t.find(p, true)
	if err != nil {
		return err
	}
	if n.owner != User {
		return Forbidden
	}
	change(n)
	return nil
}
