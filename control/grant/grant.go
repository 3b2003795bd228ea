package grant

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"deskvnc/viewer"
)

// A Spec is what a grant is issued from.
type Spec struct {
	// ID is what a take-over revokes. Grants that a person would call the
	// same agent have the same ID.
	ID    string
	Label string
	// Capabilities are literal names. A name that is no capability is left
	// out, never guessed.
	Capabilities []string
	// Hosts are the machines, each by the id of a saved one, the name of a
	// saved one, or an address. Exact, no patterns.
	Hosts []string
	// KnownHosts grants every machine that is saved, discovered or open.
	// AnyHost grants every address there is. One of the three is needed.
	KnownHosts, AnyHost bool
	// ReadFolders and WriteFolders are where local files may be read and
	// written; none means nowhere. AnyFolder confines nothing.
	ReadFolders, WriteFolders []string
	AnyFolder                 bool
	// Expires ends the grant; zero means never.
	Expires time.Time
}

// A Grant is an issued Spec. The zero Grant allows nothing.
type Grant struct {
	id, label     string
	capabilities  []string
	hosts         []string
	known, any    bool
	read, written []string
	anyFolder     bool
	expires       time.Time
}

// Issue makes a grant, or says what is wrong with the spec.
func Issue(s Spec) (Grant, error) {
	g := Grant{
		id: s.ID, label: s.Label, known: s.KnownHosts, any: s.AnyHost,
		read: slices.Clone(s.ReadFolders), written: slices.Clone(s.WriteFolders), anyFolder: s.AnyFolder, expires: s.Expires,
	}
	if g.id == "" {
		return Grant{}, errors.New("a grant needs an id")
	}
	for _, c := range Capabilities() {
		if slices.Contains(s.Capabilities, c) {
			g.capabilities = append(g.capabilities, c)
		}
	}
	for _, h := range s.Hosts {
		switch n := strings.TrimSpace(h); {
		case n == "":
			return Grant{}, errors.New("a grant names an empty host")
		case strings.ContainsAny(n, "*?"):
			return Grant{}, fmt.Errorf("a grant names hosts one by one; %q is a pattern", h)
		default:
			g.hosts = append(g.hosts, n)
		}
	}
	if len(g.hosts) == 0 && !g.known && !g.any {
		return Grant{}, errors.New("a grant needs at least one host")
	}
	return g, nil
}

// must issues a grant of our own making, which cannot be wrong.
func must(s Spec) Grant {
	g, err := Issue(s)
	if err != nil {
		panic("grant: " + err.Error())
	}
	return g
}

// Default is the grant of a program that presents the key file: it looks,
// drives, opens and closes machines that the person has saved, discovered or
// opened.
func Default() Grant {
	return must(Spec{
		ID: "key-file", Label: "key file", KnownHosts: true,
		Capabilities: append(Bundle("agent"), Open, Close, HostsRead, ClipboardWrite, FilesRead),
	})
}

// Operator is the grant of a person's own process: the operator bundle over
// the named hosts, or over any address when none is named and anyAddress is
// set, else over the known machines. exec adds running commands. Local files
// are not confined: the process is the person's own.
func Operator(anyAddress bool, hosts []string, exec bool) (Grant, error) {
	s := Spec{ID: "operator", Label: "operator", Capabilities: Bundle("operator"), Hosts: hosts, AnyFolder: true}
	if exec {
		s.Capabilities = append(s.Capabilities, Exec)
	}
	if len(hosts) == 0 {
		s.AnyHost, s.KnownHosts = anyAddress, true
	}
	return Issue(s)
}

// ID is what a take-over revokes.
func (g Grant) ID() string { return g.id }

// Label is what to call the grant.
func (g Grant) Label() string { return g.label }

// Has reports whether the grant holds a capability. The empty capability is
// needed by what anybody may do, and every grant has it.
func (g Grant) Has(capability string) bool {
	return capability == "" || slices.Contains(g.capabilities, capability)
}

// Capabilities are those that the grant holds.
func (g Grant) Capabilities() []string { return slices.Clone(g.capabilities) }

// An Origin says how a machine is known.
type Origin int

// The origins.
const (
	// Elsewhere: an address that is neither saved, discovered nor open.
	Elsewhere Origin = iota
	// Saved: in the host library.
	Saved
	// Discovered: seen on the network.
	Discovered
	// Opened: a session to it is open.
	Opened
)

// Host reports whether the grant covers a machine. A name counts only for
// saved machines: a discovered one chooses its own.
func (g Grant) Host(t viewer.Target, o Origin) bool {
	if g.any || g.known && o != Elsewhere {
		return true
	}
	address := viewer.Normalize(t.Address)
	return slices.ContainsFunc(g.hosts, func(h string) bool {
		switch {
		case address != "" && viewer.Normalize(h) == address, t.HostID != "" && h == t.HostID:
			return true
		}
		return o == Saved && t.Name != "" && h == t.Name
	})
}

// AnyHost reports whether the grant covers every address.
func (g Grant) AnyHost() bool { return g.any }

// ReadFolders are where local files may be read.
func (g Grant) ReadFolders() []string { return slices.Clone(g.read) }

// WriteFolders are where local files may be written.
func (g Grant) WriteFolders() []string { return slices.Clone(g.written) }

// AnyFolder reports whether local files are not confined.
func (g Grant) AnyFolder() bool { return g.anyFolder }

// Expired reports whether the grant has ended.
func (g Grant) Expired(now time.Time) bool { return !g.expires.IsZero() && !now.Before(g.expires) }
