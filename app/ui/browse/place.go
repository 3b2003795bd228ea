package browse

import (
	"context"
	"errors"
	"path"
	"strings"

	"deskvnc/viewer"
	"deskvnc/viewer/files"
)

// A place is one side: folders, and what can be done to them. Its methods may
// take their time, and are called from any goroutine.
type place interface {
	// list gives each the entries of a folder, some at a time, and returns
	// the whole path of the folder. An empty path is home.
	list(ctx context.Context, folder string, each func([]viewer.FileEntry) error) (string, error)
	mkdir(ctx context.Context, p string) error
	rename(ctx context.Context, from, to string) error
	remove(ctx context.Context, e viewer.FileEntry) error
	chmod(ctx context.Context, p string, mode uint32) error

	// These only think.
	join(folder, name string) string
	parent(p string) string // of the top: itself
	base(p string) string
	// typed makes what a person typed a path, below the folder shown.
	typed(folder, text string) string
	// fault says what is wrong with a name, or nil.
	fault(name string) error
}

// remote is the machine.
type remote struct {
	connect func(context.Context) (*files.FS, error)
}

func (r remote) list(ctx context.Context, folder string, each func([]viewer.FileEntry) error) (string, error) {
	fs, err := r.connect(ctx)
	if err != nil {
		return "", err
	}
	if folder, err = fs.Path(ctx, folder); err != nil {
		return "", err
	}
	l, err := fs.List(ctx, folder, each)
	if err != nil {
		return folder, err
	}
	return l.Path, nil
}

func (r remote) mkdir(ctx context.Context, p string) error {
	fs, err := r.connect(ctx)
	if err != nil {
		return err
	}
	return fs.Mkdir(ctx, p)
}

func (r remote) rename(ctx context.Context, from, to string) error {
	fs, err := r.connect(ctx)
	if err != nil {
		return err
	}
	return fs.Rename(ctx, from, to, false)
}

func (r remote) remove(ctx context.Context, e viewer.FileEntry) error {
	fs, err := r.connect(ctx)
	if err != nil {
		return err
	}
	return fs.Remove(ctx, e.Path, e.Type == viewer.Folder)
}

func (r remote) chmod(ctx context.Context, p string, mode uint32) error {
	fs, err := r.connect(ctx)
	if err != nil {
		return err
	}
	return fs.Chmod(ctx, p, mode)
}

func (remote) join(folder, name string) string { return files.Join(folder, name) }

func (remote) base(p string) string { return files.Base(p) }

// parent takes the last component away: what a link leads to is not looked
// at, so that up is where a person came from.
func (remote) parent(p string) string {
	p = strings.TrimRight(p, "/")
	i := strings.LastIndexByte(p, '/')
	if i <= 0 {
		return "/"
	}
	return p[:i]
}

func (remote) typed(folder, text string) string {
	if text == "" || strings.HasPrefix(text, "/") || text == "~" || strings.HasPrefix(text, "~/") {
		return text
	}
	return path.Clean(files.Join(folder, text))
}

func (remote) fault(name string) error {
	switch {
	case name == "":
		return errors.New("type a name")
	case name == "." || name == ".." || strings.ContainsAny(name, "/\x00"):
		return errors.New("the names . and .., and slashes, are not possible")
	}
	return nil
}
