package library

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"deskvnc/keychain"
	"deskvnc/keychain/secret"
	"deskvnc/keychain/store"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/sample"
)

// PathVariable names the file of the library, in place of the usual one.
const PathVariable = "DESKVNC_LIBRARY"

// storeTime bounds one look into the library on behalf of a caller that gave
// no context.
const storeTime = 10 * time.Second

// Secrets is where secrets are kept: [secret.Keychain], or [secret.Memory].
type Secrets interface {
	secret.Store
	secret.Forgetter
	secret.Prober
}

// Options say how a [Library] behaves. The zero value is a program without a
// window.
type Options struct {
	// Path is the library's file; empty means that of [PathVariable], or the
	// usual one.
	Path string
	// MayPrompt allows the system to ask the person at the screen to unlock
	// the keychain.
	MayPrompt bool
	// Secrets replaces the keychain of the system.
	Secrets Secrets
	// Sample serves sample machines beside the saved ones, of the size given;
	// 0 is the usual one.
	Sample                    bool
	SampleWidth, SampleHeight int
	// Saved is told, from another goroutine, what came of each secret that a
	// person asked to keep: nil once it is kept. It may be nil.
	Saved func(t viewer.Target, err error)
}

// A Library is the saved machines with their secrets. It is safe for
// concurrent use, and several processes may have the same one open.
type Library struct {
	store   *store.Store
	secrets Secrets
	samples *sample.Machines // nil without
	saved   func(viewer.Target, error)

	ctx    context.Context // ends when the library is closed
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu       sync.Mutex // guards below; not held while the keychain is asked
	revision int64      // of known
	known    []entry
	sessions map[*engine.Session]*memory
	stored   map[string]bool // by owner: whether a credential is kept, as it was at lookedAt
	lookedAt time.Time
	dumb     time.Time // the keychain is not asked again before
}

// An entry is a saved machine and who owns its secrets.
type entry struct {
	target   viewer.Target
	owner    string // id of the host or of its shared login
	login    bool   // it is a shared one
	viewOnly bool
}

// Open opens the library, and makes it if there is none.
func Open(o Options) (*Library, error) {
	path := o.Path
	if path == "" {
		path = os.Getenv(PathVariable)
	}
	if path == "" {
		var err error
		if path, err = store.DefaultPath(); err != nil {
			return nil, fmt.Errorf("there is no place for the library: %w", err)
		}
	}
	s, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	l := &Library{store: s, secrets: o.Secrets, saved: o.Saved, revision: -1, sessions: map[*engine.Session]*memory{}}
	if l.secrets == nil {
		l.secrets = secret.New(secret.Options{MayPrompt: o.MayPrompt, Name: l.ownerName})
	}
	if l.saved == nil {
		l.saved = func(viewer.Target, error) {}
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	if o.Sample {
		l.samples, err = sample.Start(sample.Options{Width: o.SampleWidth, Height: o.SampleHeight, Shell: true})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the sample machines cannot be served: %s", viewer.Reason(err)), l.Close())
		}
	}
	return l, nil
}

// Close ends what the library started, and waits for it. The sessions are to
// be closed first.
func (l *Library) Close() error {
	l.mu.Lock() // so that nothing is started after it
	l.cancel()
	l.mu.Unlock()
	l.work.Wait()
	var err error
	if l.samples != nil {
		err = l.samples.Close()
	}
	return errors.Join(err, l.store.Close())
}

// Store is the library's own file.
func (l *Library) Store() *store.Store { return l.store }

// Keychain tells what the keychain can do now, and asks nobody: whether a
// person can be offered to keep a secret.
func (l *Library) Keychain(ctx context.Context) secret.State { return l.secrets.Status(ctx) }

// Hosts are the saved machines and then the sample machines. A change by any
// process is seen at once; without one nothing is read but a number.
func (l *Library) Hosts() []viewer.Target {
	known := l.entries()
	out := make([]viewer.Target, 0, len(known)+1)
	for _, e := range known {
		out = append(out, e.target)
	}
	if l.samples != nil {
		out = append(out, l.samples.Targets()...)
	}
	return out
}

// Samples are the sample machines alone.
func (l *Library) Samples() []viewer.Target {
	if l.samples == nil {
		return nil
	}
	return l.samples.Targets()
}

// entries are the saved machines as they are now. A library that cannot be
// read just now stays as it was.
func (l *Library) entries() []entry {
	ctx, cancel := context.WithTimeout(l.ctx, storeTime)
	defer cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	revision, err := l.store.Revision(ctx)
	if err != nil || revision == l.revision {
		return l.known
	}
	hosts, err := l.store.List(ctx)
	if err != nil {
		return l.known
	}
	logins, err := l.store.Logins(ctx)
	if err != nil {
		return l.known
	}
	known := make([]entry, 0, len(hosts))
	for _, h := range hosts {
		e := newEntry(h, logins)
		if way := wayTo(h, hosts, logins, 0); len(way) > 0 {
			set := e.target.Settings()
			set.Via = way
			e.target.SSH = &set
		}
		known = append(known, e)
	}
	l.revision, l.known = revision, known
	l.stored, l.dumb = nil, time.Time{} // another owner may count now, or another secret be there
	return known
}

// newEntry is a host as something to connect to, with its login's user.
func newEntry(h keychain.Host, logins []keychain.Login) entry {
	e := entry{target: h.Target(), owner: h.ID, viewOnly: h.ViewOnly}
	if i := slices.IndexFunc(logins, func(o keychain.Login) bool { return o.ID == h.Login }); h.Login != "" && i >= 0 {
		e.owner, e.login = h.Login, true
		if u := logins[i].User; u != "" {
			e.target.User = u
		}
		if k := logins[i].KeyFile; k != "" {
			set := e.target.Settings()
			set.KeyFile = k
			e.target.SSH = &set
		}
	}
	return e
}

// wayTo are the machines that lead to a host, the nearest first: its hops, and
// what leads to the first of those.
func wayTo(h keychain.Host, hosts []keychain.Host, logins []keychain.Login, depth int) []viewer.Target {
	var way []viewer.Target
	for i, id := range h.Via {
		at := slices.IndexFunc(hosts, func(o keychain.Host) bool { return o.ID == id })
		if at < 0 || depth > keychain.MaxHops {
			continue
		}
		if i == 0 {
			way = append(way, wayTo(hosts[at], hosts, logins, depth+1)...)
		}
		way = append(way, newEntry(hosts[at], logins).target)
	}
	return way
}

// ViewOnly reports whether a machine was saved to be looked at only.
func (l *Library) ViewOnly(t viewer.Target) bool {
	e, ok := l.entry(t)
	return ok && e.viewOnly
}

// entry finds the saved machine that a target is: by its id, or, for an
// address that somebody typed, the only one there.
func (l *Library) entry(t viewer.Target) (entry, bool) {
	var found []entry
	for _, e := range l.entries() {
		switch k := e.target; {
		case t.HostID != "":
			if k.HostID == t.HostID {
				return e, true
			}
		case k.Protocol == t.Protocol && k.Port == t.Port && viewer.Normalize(k.Address) == viewer.Normalize(t.Address) && (t.User == "" || t.User == k.User):
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		return entry{}, false
	}
	return found[0], true
}

// Known is the saved machine that a target is, with all its settings; the
// target itself when none is.
func (l *Library) Known(t viewer.Target) viewer.Target {
	if e, ok := l.entry(t); ok {
		return e.target
	}
	return t
}

// ownerName is what a person calls the owner of a secret.
func (l *Library) ownerName(owner string) string {
	ctx, cancel := context.WithTimeout(l.ctx, storeTime)
	defer cancel()
	if strings.HasPrefix(owner, "l_") {
		login, err := l.store.Login(ctx, owner)
		if err != nil {
			return ""
		}
		return login.Name
	}
	h, err := l.store.Get(ctx, owner)
	if err != nil {
		return ""
	}
	return h.Name
}
