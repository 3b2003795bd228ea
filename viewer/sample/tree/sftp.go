package tree

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pkg/sftp"
)

// maxHandles bounds the files and folders that one transfer has open.
const maxHandles = 256

// Serve answers file transfer (SFTP version 3) on a stream until it ends. Home
// is where it begins.
func (t *Tree) Serve(stream io.ReadWriteCloser, home string) error {
	h := &handler{t: t, home: home, places: make(chan struct{}, maxHandles)}
	s := sftp.NewRequestServer(stream, sftp.Handlers{FileGet: h, FilePut: h, FileCmd: h, FileList: h}, sftp.WithStartDirectory(home))
	err := s.Serve()
	if err == io.EOF {
		err = nil
	}
	return errors.Join(err, ignoreEOF(s.Close()))
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

const tooMany = Error("Too many open files")

// A handler answers the requests of one transfer.
type handler struct {
	t      *Tree
	home   string
	places chan struct{} // one taken by each open file or folder
}

// A refusal carries the number that goes over the wire beside the words.
type refusal struct{ err, code error }

func (r refusal) Error() string   { return r.err.Error() }
func (r refusal) Unwrap() []error { return []error{r.err, r.code} }

// wire gives an error its number.
func wire(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.Is(err, fs.ErrNotExist):
		return refusal{err, sftp.ErrSSHFxNoSuchFile}
	case errors.Is(err, fs.ErrPermission):
		return refusal{err, sftp.ErrSSHFxPermissionDenied}
	}
	return refusal{err, sftp.ErrSSHFxFailure}
}

// A held is an open file of a transfer.
type held struct {
	f      *File
	places chan struct{}
}

func (o held) ReadAt(p []byte, off int64) (int, error) {
	n, err := o.f.ReadAt(p, off)
	return n, wire(err)
}

func (o held) WriteAt(p []byte, off int64) (int, error) {
	n, err := o.f.WriteAt(p, off)
	return n, wire(err)
}

func (o held) Close() error {
	err := o.f.Close()
	if err == nil {
		<-o.places
	}
	return wire(err)
}

// OpenFile implements [sftp.OpenFileWriter].
func (h *handler) OpenFile(r *sftp.Request) (sftp.WriterAtReaderAt, error) { return h.open(r) }

// Fileread implements [sftp.FileReader].
func (h *handler) Fileread(r *sftp.Request) (io.ReaderAt, error) { return h.open(r) }

// Filewrite implements [sftp.FileWriter].
func (h *handler) Filewrite(r *sftp.Request) (io.WriterAt, error) { return h.open(r) }

func (h *handler) open(r *sftp.Request) (sftp.WriterAtReaderAt, error) {
	var flag Flag
	p := r.Pflags()
	for _, b := range []struct {
		set  bool
		flag Flag
	}{{p.Read, Read}, {p.Write, Write}, {p.Append, Write}, {p.Creat, Create}, {p.Trunc, Truncate}, {p.Excl, Fresh}} {
		if b.set {
			flag |= b.flag
		}
	}
	select {
	case h.places <- struct{}{}:
	default:
		return nil, wire(tooMany)
	}
	perm := fs.FileMode(0o644)
	if r.AttrFlags().Permissions {
		perm = fs.FileMode(r.Attributes().Mode & 0o777)
	}
	f, err := h.t.Open(r.Filepath, flag, perm)
	if err != nil {
		<-h.places
		return nil, wire(err)
	}
	return held{f, h.places}, nil
}

// Filecmd implements [sftp.FileCmder].
func (h *handler) Filecmd(r *sftp.Request) error {
	switch r.Method {
	case "Setstat":
		return wire(h.setstat(r))
	case "Rename":
		return wire(h.t.Rename(r.Filepath, r.Target, false))
	case "Remove", "Rmdir":
		i, err := h.t.Lstat(r.Filepath)
		if err == nil && i.IsDir() != (r.Method == "Rmdir") {
			if err = NotFolder; i.IsDir() {
				err = IsFolder
			}
		}
		if err == nil {
			err = h.t.Remove(r.Filepath)
		}
		return wire(err)
	case "Mkdir":
		perm := fs.FileMode(0o755)
		if r.AttrFlags().Permissions {
			perm = fs.FileMode(r.Attributes().Mode & 0o777)
		}
		return wire(h.t.Mkdir(r.Filepath, perm))
	case "Symlink": // the request's path is where the link leads
		return wire(h.t.Symlink(r.Filepath, r.Target))
	}
	return sftp.ErrSSHFxOpUnsupported // hard links
}

// PosixRename implements [sftp.PosixRenameFileCmder].
func (h *handler) PosixRename(r *sftp.Request) error {
	return wire(h.t.Rename(r.Filepath, r.Target, true))
}

// StatVFS implements [sftp.StatVFSFileCmder].
func (h *handler) StatVFS(*sftp.Request) (*sftp.StatVFS, error) {
	const block = 4096
	bytes, nodes := h.t.Used()
	free := uint64(MaxBytes-bytes) / block
	return &sftp.StatVFS{
		Bsize: block, Frsize: block, Blocks: MaxBytes / block, Bfree: free, Bavail: free,
		Files: MaxNodes, Ffree: uint64(MaxNodes - nodes), Favail: uint64(MaxNodes - nodes), Namemax: maxName,
	}, nil
}

func (h *handler) setstat(r *sftp.Request) error {
	set, a := r.AttrFlags(), r.Attributes()
	if set.Size {
		if a.Size > MaxBytes {
			return NoSpace
		}
		if err := h.t.Truncate(r.Filepath, int64(a.Size)); err != nil {
			return err
		}
	}
	if set.UidGid {
		if i, err := h.t.Stat(r.Filepath); err != nil || i.Uid() != a.UID || i.Gid() != a.GID {
			return first(err, Forbidden)
		}
	}
	if set.Permissions {
		if err := h.t.Chmod(r.Filepath, fs.FileMode(a.Mode&0o777)); err != nil {
			return err
		}
	}
	if set.Acmodtime {
		return h.t.Chtime(r.Filepath, time.Unix(int64(a.Mtime), 0))
	}
	return nil
}

// first is the first of two errors that is one.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// A listing is what a folder held when it was opened.
type listing []fs.FileInfo

// ListAt implements [sftp.ListerAt].
func (l listing) ListAt(into []fs.FileInfo, off int64) (int, error) {
	if off < 0 || off >= int64(len(l)) {
		return 0, io.EOF
	}
	n := copy(into, l[off:])
	if int(off)+n == len(l) {
		return n, io.EOF
	}
	return n, nil
}

// A heldListing is the listing of a folder that is open.
type heldListing struct {
	listing
	places chan struct{}
}

func (l heldListing) Close() error {
	<-l.places
	return nil
}

// Filelist implements [sftp.FileLister].
func (h *handler) Filelist(r *sftp.Request) (sftp.ListerAt, error) {
	switch r.Method {
	case "List":
		all, err := h.t.List(r.Filepath)
		if err != nil {
			return nil, wire(err)
		}
		slices.SortFunc(all, func(a, b Info) int { return strings.Compare(a.name, b.name) })
		out := make(listing, len(all))
		for i := range all {
			out[i] = all[i]
		}
		select {
		case h.places <- struct{}{}:
		default:
			return nil, wire(tooMany)
		}
		return heldListing{out, h.places}, nil
	case "Stat":
		i, err := h.t.Stat(r.Filepath)
		return listing{i}, wire(err)
	}
	return nil, sftp.ErrSSHFxOpUnsupported
}

// Lstat implements [sftp.LstatFileLister].
func (h *handler) Lstat(r *sftp.Request) (sftp.ListerAt, error) {
	i, err := h.t.Lstat(r.Filepath)
	return listing{i}, wire(err)
}

// Readlink implements [sftp.ReadlinkFileLister].
func (h *handler) Readlink(p string) (string, error) {
	i, err := h.t.Lstat(p)
	if err == nil && i.target == "" {
		err = Invalid
	}
	return i.target, wire(err)
}

// RealPath implements [sftp.RealPathFileLister].
func (h *handler) RealPath(p string) (string, error) {
	if !path.IsAbs(p) {
		p = path.Join(h.home, p)
	}
	p, err := h.t.Real(p)
	return p, wire(err)
}

// LookupUserName implements [sftp.NameLookupFileLister].
func (h *handler) LookupUserName(id string) string { return Owner(id) }

// LookupGroupName implements [sftp.NameLookupFileLister].
func (h *handler) LookupGroupName(id string) string { return Owner(id) }

// Owner is the name for the number of an owner.
func Owner(id string) string {
	switch id {
	case "0":
		return "root"
	case "1000":
		return "sample"
	}
	return id
}
