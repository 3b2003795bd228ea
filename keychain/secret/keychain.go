package secret

import (
	"context"
	"errors"
	"time"

	"deskvnc/viewer"
)

const (
	defaultService       = "DeskVNC"
	defaultTimeout       = 5 * time.Second
	defaultPromptTimeout = 60 * time.Second
)

// Options say how a [Keychain] behaves. The zero value is a headless caller:
// nothing is ever asked.
type Options struct {
	// Service names the program in each item, default "DeskVNC". Secrets of
	// one service are not seen by another.
	Service string
	// Name gives the name of an owner for the title of its items, which a
	// person reads in the keychain's own window. Nil, or an empty answer, is
	// the owner's id. It is called while a secret is stored.
	Name func(owner string) string
	// MayPrompt allows the system to ask the person at the screen to unlock
	// the keychain or to make one. Leave it false where no person looks.
	MayPrompt bool
	// Timeout bounds each answer of the keychain, default 5 s.
	Timeout time.Duration
	// PromptTimeout bounds the wait for a person, default 60 s.
	PromptTimeout time.Duration
}

// A Keychain is the keychain of the operating system. It is safe for
// concurrent use and holds nothing open between calls.
type Keychain struct {
	name func(owner string) string
	back *backend
}

// New returns the keychain. It looks at nothing yet; see [Keychain.Status].
func New(o Options) *Keychain {
	if o.Service == "" {
		o.Service = defaultService
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.PromptTimeout <= 0 {
		o.PromptTimeout = defaultPromptTimeout
	}
	if o.Name == nil {
		o.Name = func(string) string { return "" }
	}
	return &Keychain{name: o.Name, back: newBackend(o)}
}

// Get reads a secret. Where the keychain is locked and a person may be asked,
// they are asked once, however many calls wait; after they declined, Get does
// not ask again until a Set, Delete or Unlock did.
func (k *Keychain) Get(ctx context.Context, key Key) (viewer.Secret, error) {
	if err := key.check(); err != nil {
		return viewer.Secret{}, failed("get", "", invalid(err))
	}
	s, err := k.back.get(ctx, key)
	switch {
	case err != nil:
		return viewer.Secret{}, failed("get", key.String(), err)
	case s.Empty():
		// Stored by another program: an empty password is never tried.
		return viewer.Secret{}, failed("get", key.String(), errNotFound())
	}
	return s, nil
}

// Set stores a secret in place of the one before, reads it back and compares.
func (k *Keychain) Set(ctx context.Context, key Key, s viewer.Secret) error {
	if err := checkSet(key, s); err != nil {
		return err
	}
	return failed("set", key.String(), k.back.set(ctx, key, key.label(k.name(key.Owner)), s))
}

// checkSet refuses what no store takes.
func checkSet(key Key, s viewer.Secret) error {
	if err := key.check(); err != nil {
		return failed("set", "", invalid(err))
	}
	if s.Empty() {
		return failed("set", key.String(), invalid(errors.New("an empty secret cannot be stored: delete it instead")))
	}
	if n := len(s.Open()); n > MaxBytes {
		return failed("set", key.String(), errTooLarge(n, MaxBytes))
	}
	return nil
}

// Delete removes a secret. It succeeds when there is none, and asks nobody then.
func (k *Keychain) Delete(ctx context.Context, key Key) error {
	if err := key.check(); err != nil {
		return failed("delete", "", invalid(err))
	}
	return failed("delete", key.String(), k.back.remove(ctx, key.Owner, key.Kind))
}

// DeleteOwner removes all secrets of an owner, of whatever kind.
func (k *Keychain) DeleteOwner(ctx context.Context, owner string) error {
	if err := checkOwner(owner); err != nil {
		return failed("delete", "", invalid(err))
	}
	return failed("delete", owner, k.back.remove(ctx, owner, ""))
}

// Has reports whether a secret is stored, without unlocking anything.
func (k *Keychain) Has(ctx context.Context, key Key) (bool, error) {
	if err := key.check(); err != nil {
		return false, failed("has", "", invalid(err))
	}
	ok, err := k.back.has(ctx, key)
	return ok, failed("has", key.String(), err)
}

// Status tells what the keychain can do now. It asks nobody.
func (k *Keychain) Status(ctx context.Context) State { return k.back.status(ctx) }

// Unlock has the person asked to unlock the keychain, also after they declined
// before. It does nothing when it is unlocked or unlocks by itself.
func (k *Keychain) Unlock(ctx context.Context) error {
	return failed("unlock", "", k.back.unlock(ctx))
}

// failed names the operation in err, which stays nil when it is.
func failed(op, about string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Kind: Failed, Reason: "the call did not finish", Err: err}
	}
	named := *e
	named.Op, named.About = op, about
	return &named
}

func invalid(err error) *Error {
	return &Error{Kind: Invalid, Reason: "it cannot be stored", Err: err}
}

var (
	_ Store     = (*Keychain)(nil)
	_ Forgetter = (*Keychain)(nil)
	_ Prober    = (*Keychain)(nil)
)
