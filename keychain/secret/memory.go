package secret

import (
	"context"
	"sync"

	"deskvnc/viewer"
)

// Memory keeps secrets until the program ends. It is the store of the sample
// machines and of tests, and of a session on a computer without a keychain
// whose person asked for that. The zero value is ready and safe for concurrent
// use.
type Memory struct {
	mu   sync.Mutex // guards below
	kept map[Key]viewer.Secret
}

// Get reads a secret.
func (m *Memory) Get(ctx context.Context, k Key) (viewer.Secret, error) {
	if err := m.check(ctx, "get", k); err != nil {
		return viewer.Secret{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.kept[k]
	if !ok {
		return viewer.Secret{}, failed("get", k.String(), errNotFound())
	}
	return s, nil
}

// Set stores a secret in place of the one before.
func (m *Memory) Set(ctx context.Context, k Key, s viewer.Secret) error {
	if err := checkSet(k, s); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return failed("set", k.String(), err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[Key]viewer.Secret{}
	}
	m.kept[k] = s
	return nil
}

// Delete removes a secret; it succeeds when there is none.
func (m *Memory) Delete(ctx context.Context, k Key) error {
	if err := m.check(ctx, "delete", k); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, k)
	return nil
}

// DeleteOwner removes all secrets of an owner.
func (m *Memory) DeleteOwner(ctx context.Context, owner string) error {
	if err := checkOwner(owner); err != nil {
		return failed("delete", "", invalid(err))
	}
	if err := ctx.Err(); err != nil {
		return failed("delete", owner, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range m.kept {
		if k.Owner == owner {
			delete(m.kept, k)
		}
	}
	return nil
}

// Has reports whether a secret is stored.
func (m *Memory) Has(ctx context.Context, k Key) (bool, error) {
	if err := m.check(ctx, "has", k); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.kept[k]
	return ok, nil
}

// Status says that secrets are kept, and for how long.
func (m *Memory) Status(context.Context) State {
	return State{Kind: Available, Reason: "secrets are kept until the program ends"}
}

func (m *Memory) check(ctx context.Context, op string, k Key) error {
	if err := k.check(); err != nil {
		return failed(op, "", invalid(err))
	}
	if err := ctx.Err(); err != nil {
		return failed(op, k.String(), err)
	}
	return nil
}

var (
	_ Store     = (*Memory)(nil)
	_ Forgetter = (*Memory)(nil)
	_ Prober    = (*Memory)(nil)
)
