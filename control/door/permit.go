package door

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deskvnc/control/grant"
)

// A Permit is what agents may do besides what [grant.Default] lets everybody
// do who comes through the door.
type Permit struct {
	Capabilities []string `json:"allow,omitempty"` // of Ticked
	AnyHost      bool     `json:"anyHost,omitempty"`
	// ReadFolders and WriteFolders are folders of this machine.
	ReadFolders  []string `json:"read,omitempty"`
	WriteFolders []string `json:"write,omitempty"`
}

// maxFolders bounds the folders of one kind.
const maxFolders = 32

// Ticked are the capabilities that agents have only when a person says so, in
// the order they are shown.
func Ticked() []string {
	return []string{grant.Exec, grant.ClipboardRead, grant.FilesWrite, grant.Scancode, grant.App, grant.Peers, grant.Record}
}

func list(names []string) string { return strings.Join(names, ", ") }

func (p Permit) clone() Permit {
	p.Capabilities = slices.Clone(p.Capabilities)
	p.ReadFolders, p.WriteFolders = slices.Clone(p.ReadFolders), slices.Clone(p.WriteFolders)
	return p
}

// Has reports whether a capability is allowed.
func (p Permit) Has(capability string) bool { return slices.Contains(p.Capabilities, capability) }

func (p Permit) with(capability string, on bool) Permit {
	p.Capabilities = slices.DeleteFunc(slices.Clone(p.Capabilities), func(c string) bool { return c == capability })
	if on {
		p.Capabilities = append(p.Capabilities, capability)
	}
	return p
}

// withFolder adds a folder, in its plain form.
func (p Permit) withFolder(folder string, write bool) (Permit, error) {
	folder = strings.TrimSpace(folder)
	if !filepath.IsAbs(folder) {
		return p, errors.New("give the whole path of a folder, from the root")
	}
	folder = filepath.Clean(folder)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return p, fmt.Errorf("there is no folder %s", folder)
	case err != nil:
		return p, fmt.Errorf("the folder cannot be used: %w", err)
	case !info.IsDir():
		return p, fmt.Errorf("%s is a file; give a folder", folder)
	case filepath.Dir(folder) == folder:
		return p, errors.New("the root holds everything; give a folder in it")
	}
	folders := &p.ReadFolders
	if write {
		folders = &p.WriteFolders
	}
	switch {
	case slices.Contains(*folders, folder):
	case len(*folders) >= maxFolders:
		return p, fmt.Errorf("%d folders are listed already; remove one first", maxFolders)
	default:
		*folders = append(*folders, folder)
	}
	return p, nil
}

func (p Permit) withoutFolder(folder string, write bool) Permit {
	gone := func(f string) bool { return f == folder }
	if write {
		p.WriteFolders = slices.DeleteFunc(p.WriteFolders, gone)
	} else {
		p.ReadFolders = slices.DeleteFunc(p.ReadFolders, gone)
	}
	return p
}

// issue makes the grant.
func (p Permit) issue() (grant.Grant, error) {
	g := grant.Default()
	return grant.Issue(grant.Spec{
		ID: g.ID(), Label: g.Label(), KnownHosts: true, AnyHost: p.AnyHost,
		Capabilities: append(g.Capabilities(), p.Capabilities...),
		ReadFolders:  p.ReadFolders, WriteFolders: p.WriteFolders,
	})
}

// Settings keeps preferences, each a JSON value; nil is none.
type Settings interface {
	Setting(ctx context.Context, key string) (json.RawMessage, error)
	SetSetting(ctx context.Context, key string, value json.RawMessage) error
}

// settingKey is the name of the door's setting.
const settingKey = "agents"

// saveWait bounds reading and writing the setting.
const saveWait = 10 * time.Second

// memory is the setting.
type memory struct {
	On bool `json:"on"`
	Permit
}

func load(s Settings) (m memory, err error) {
	if s == nil {
		return m, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), saveWait)
	defer cancel()
	raw, err := s.Setting(ctx, settingKey)
	if err != nil || raw == nil {
		return memory{}, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return memory{}, err
	}
	// What is not known, or no folder any more, is not allowed by anybody.
	m.Capabilities = slices.DeleteFunc(m.Capabilities, func(c string) bool { return !slices.Contains(Ticked(), c) })
	for _, f := range []*[]string{&m.ReadFolders, &m.WriteFolders} {
		*f = slices.DeleteFunc(*f, func(folder string) bool { return !filepath.IsAbs(folder) || filepath.Clean(folder) != folder })
	}
	return m, nil
}

func store(ctx context.Context, s Settings, m memory) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return s.SetSetting(ctx, settingKey, raw)
}
