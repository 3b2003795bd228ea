package tree

import (
	"io"
	"io/fs"
	"slices"
)

// A Flag says how a file is opened.
type Flag uint8

// The ways to open a file.
const (
	Read     Flag = 1
	Write    Flag = 2
	Append   Flag = 4 // Write adds at the end
	Create   Flag = 8
	Truncate Flag = 16
	Fresh    Flag = 32 // with Create: it must not be there
)

// A File is an open file. It is safe for concurrent use.
type File struct {
	t    *Tree
	flag Flag

	// guarded by t.mu
	n      *node
	at     int64 // of Read and Write
	closed bool
}

// Open opens a file, or makes one with the permissions given.
func (t *Tree) Open(p string, flag Flag, perm fs.FileMode) (*File, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, folder, name, err := t.find(p, true)
	switch {
	case err == Missing && folder != nil && flag&Create != 0:
		n = &node{mode: perm.Perm(), owner: User}
		if err := t.add(folder, name, n); err != nil {
			return nil, err
		}
		n.open++
		return &File{t: t, n: n, flag: flag}, nil
	case err != nil:
		return nil, err
	case flag&Create != 0 && flag&Fresh != 0:
		return nil, Exists
	case n.folder():
		return nil, IsFolder
	case flag&Read != 0 && !n.may(4), flag&(Write|Append|Truncate) != 0 && !n.may(2):
		return nil, Forbidden
	}
	if flag&Truncate != 0 {
		if err := t.resize(n, 0); err != nil {
			return nil, err
		}
	}
	n.open++
	return &File{t: t, n: n, flag: flag}, nil
}

// ReadAt implements [io.ReaderAt].
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	f.t.mu.Lock()
	defer f.t.mu.Unlock()
	return f.readAt(p, off)
}

func (f *File) readAt(p []byte, off int64) (int, error) {
	switch n := f.n; {
	case f.closed || f.flag&Read == 0:
		return 0, Closed
	case off < 0:
		return 0, Invalid
	case off >= n.size:
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), f.n.size-off))
	if f.n.made != nil {
		f.n.made(p[:n], off)
	} else {
		copy(p[:n], f.n.data[off:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Read implements [io.Reader].
func (f *File) Read(p []byte) (int, error) {
	f.t.mu.Lock()
	defer f.t.mu.Unlock()
	n, err := f.readAt(p, f.at)
	f.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// WriteAt implements [io.WriterAt].
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	f.t.mu.Lock()
	defer f.t.mu.Unlock()
	return f.writeAt(p, off)
}

func (f *File) writeAt(p []byte, off int64) (int, error) {
	switch {
	case f.closed || f.flag&(Write|Append) == 0:
		return 0, Closed
	case off < 0:
		return 0, Invalid
	case off > MaxBytes || int64(len(p)) > MaxBytes:
		return 0, NoSpace
	}
	if err := f.t.resize(f.n, max(f.n.size, off+int64(len(p)))); err != nil {
		return 0, err
	}
	copy(f.n.data[off:], p)
	f.n.time = f.t.now()
	return len(p), nil
}

// Write implements [io.Writer].
func (f *File) Write(p []byte) (int, error) {
	f.t.mu.Lock()
	defer f.t.mu.Unlock()
	if f.flag&Append != 0 {
		f.at = f.n.size
	}
	n, err := f.writeAt(p, f.at)
	f.at += int64(n)
	return n, err
}

// Truncate gives a file another size.
func (t *Tree) Truncate(p string, size int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, _, _, err := t.find(p, true)
	switch {
	case err != nil:
		return err
	case n.folder():
		return IsFolder
	case !n.may(2):
		return Forbidden
	case size < 0:
		return Invalid
	}
	if err := t.resize(n, size); err != nil {
		return err
	}
	n.time = t.now()
	return nil
}

// resize gives a file another size, counted against the bound, and makes its
// content its own. The caller holds mu.
func (t *Tree) resize(n *node, size int64) error {
	if size > MaxBytes || t.used+size-int64(len(n.data)) > MaxBytes {
		return NoSpace
	}
	before := int64(len(n.data))
	if n.made != nil {
		keep := make([]byte, min(n.size, size))
		n.made(keep, 0)
		n.data, n.made = keep, nil
	}
	if have := int64(len(n.data)); have < size {
		n.data = slices.Grow(n.data, int(size-have))[:size]
		clear(n.data[have:])
	} else if size == 0 {
		n.data = nil
	} else {
		n.data = n.data[:size]
	}
	n.size = size
	t.used += size - before
	return nil
}

// Close implements [io.Closer].
func (f *File) Close() error {
	f.t.mu.Lock()
	defer f.t.mu.Unlock()
	if f.closed {
		return Closed
	}
	f.closed = true
	f.n.open--
	f.t.release(f.n)
	return nil
}
