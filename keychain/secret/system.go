//go:build windows || darwin

package secret

import (
	"context"
	"errors"

	"deskvnc/keychain/secret/ring"
	"deskvnc/viewer"
)

// MaxBytes bounds one secret: what the Credential Manager of Windows takes,
// and close to what macOS does. Longer ones are refused before any call.
const MaxBytes = 2560

// A backend keeps each secret as one entry: the service with the owner is
// go-keyring's service, the kind is its user. So all of an owner are found
// without a list of kinds. An id holds no separator (see checkOwner), so that
// one owner is never the prefix of another.
type backend struct {
	service string
	ring    *ring.Ring
	o       Options
}

func newBackend(o Options) *backend {
	patience := o.Timeout
	if o.MayPrompt && hasPrompts {
		patience = o.PromptTimeout
	}
	return &backend{o.Service, ring.New(patience), o}
}

func (b *backend) of(owner string) string { return b.service + "/" + owner }

func (b *backend) get(ctx context.Context, k Key) (viewer.Secret, error) {
	s, err := b.ring.Get(ctx, b.of(k.Owner), k.Kind)
	if err != nil {
		return viewer.Secret{}, b.sort(err)
	}
	defer clear(s)
	return viewer.NewSecret(s), nil
}

// set leaves the title alone: go-keyring has none to set.
func (b *backend) set(ctx context.Context, k Key, _ string, s viewer.Secret) error {
	err := b.ring.Set(ctx, b.of(k.Owner), k.Kind, s.Open())
	if errors.Is(err, ring.ErrTooLarge) {
		return errTooLarge(len(s.Open()), MaxBytes)
	}
	return b.sort(err)
}

func (b *backend) remove(ctx context.Context, owner, kind string) error {
	if kind == "" {
		return b.sort(b.ring.DeleteAll(ctx, b.of(owner)))
	}
	return b.sort(b.ring.Delete(ctx, b.of(owner), kind))
}

func (b *backend) has(ctx context.Context, k Key) (bool, error) {
	s, err := b.ring.Get(ctx, b.of(k.Owner), k.Kind)
	clear(s)
	if errors.Is(err, ring.ErrNotFound) {
		return false, nil
	}
	return err == nil, b.sort(err)
}

// status reads an entry that never exists: the system answers that without
// asking a person.
func (b *backend) status(ctx context.Context) State {
	_, err := b.ring.Get(ctx, b.of("probe"), "probe")
	if err == nil || errors.Is(err, ring.ErrNotFound) {
		return State{Kind: Available}
	}
	return stateOf(b.sort(err))
}

// unlock has nothing to do: the system asks when an entry is used.
func (b *backend) unlock(ctx context.Context) error {
	if s := b.status(ctx); s.Kind != Available {
		return &Error{Kind: s.Kind, Reason: s.Reason, Advice: s.Advice}
	}
	return nil
}

func (b *backend) sort(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ring.ErrNotFound):
		return errNotFound()
	case errors.Is(err, ring.ErrSilent):
		if b.o.MayPrompt && hasPrompts {
			return errUnanswered(b.o.PromptTimeout)
		}
		return errSilent(b.o.Timeout)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	if e := platformError(err); e != nil {
		return e
	}
	return &Error{Kind: Failed, Reason: "the keychain answered with an error", Err: err, Advice: "try again"}
}
