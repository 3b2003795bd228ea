// Package library is the screen of the saved machines: cards or a list of
// them, a search, the form they are changed with, and what can be undone.
//
// It keeps nothing itself: a [Store] does. Everything here belongs to the
// goroutine of the widgets, except the [Model]'s work, which runs beside it so
// that a disk or another process never holds the window up.
package library

import (
	"context"
	"encoding/json"
	"time"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

// Hosts are the saved machines, to be read. Search gives at most as many as a
// person would look through.
type Hosts interface {
	List(ctx context.Context) ([]keychain.Host, error)
	Search(ctx context.Context, text string) ([]keychain.Host, error)
	Get(ctx context.Context, id string) (keychain.Host, error)
}

// An Editor saves machines. An update that somebody else's has overtaken is an
// error of kind Conflict.
type Editor interface {
	Add(ctx context.Context, h keychain.Host) (keychain.Host, error)
	Update(ctx context.Context, h keychain.Host) (keychain.Host, error)
	Duplicate(ctx context.Context, id, name string) (keychain.Host, error)
	AddGroup(ctx context.Context, g keychain.Group) (keychain.Group, error)
}

// A Bin takes machines away and brings them back. Forget removes the secrets
// of one that is not coming back.
type Bin interface {
	Delete(ctx context.Context, id string) error
	Restore(ctx context.Context, id string) (keychain.Host, error)
	Forget(ctx context.Context, id string) error
}

// A Memory knows what was connected to and how it looked.
type Memory interface {
	Recent(ctx context.Context, n int) ([]Recent, error)
	Picture(ctx context.Context, id string) (data []byte, taken time.Time, err error)
	SetPicture(ctx context.Context, id string, data []byte) (kept bool, err error)
}

// Notes are small things that the window keeps.
type Notes interface {
	Setting(ctx context.Context, key string) (json.RawMessage, error)
	SetSetting(ctx context.Context, key string, value json.RawMessage) error
}

// A Watcher tells of changes, by whichever process: the channel gets a value
// after one or more of them.
type Watcher interface {
	Changes(ctx context.Context) (<-chan struct{}, error)
	Groups(ctx context.Context) ([]keychain.Group, error)
}

// A Store is the library. It is safe for concurrent use.
type Store interface {
	Hosts
	Editor
	Bin
	Memory
	Notes
	Watcher
}

// A Recent is a machine that was connected to: a saved one by its id, another
// by its URL.
type Recent struct {
	HostID string
	Target string
	At     time.Time
}

// An Entry is one machine on the screen.
type Entry struct {
	Host   keychain.Host // of a saved one
	Saved  bool
	Target viewer.Target
	About  string // instead of the address, for a sample
}

// key tells the entries of one section apart.
func (e Entry) key() string {
	if e.Saved {
		return e.Host.ID
	}
	return string(e.Target.Protocol) + "://" + e.Target.User + "@" + e.Target.HostPort()
}

// Name is what the machine is called.
func (e Entry) Name() string { return e.Target.Label() }

// A Section is entries with a heading.
type Section struct {
	Title   string
	Entries []Entry
}
