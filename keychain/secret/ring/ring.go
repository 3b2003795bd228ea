// Package ring calls go-keyring in bounded time. go-keyring knows no context:
// a call that the system holds up is left behind, and a [Ring] leaves only so
// many behind before it refuses further ones.
//
// It is used where the system's keychain has no API of its own that a program
// without cgo can speak: macOS and Windows.
package ring

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"
)

// maxBehind bounds the calls that run or hang at one time.
const maxBehind = 4

var (
	// ErrNotFound: nothing is stored under that name.
	ErrNotFound = keyring.ErrNotFound
	// ErrTooLarge: the system's limit is below what was to be stored.
	ErrTooLarge = keyring.ErrSetDataTooBig
	// ErrSilent: the keychain did not answer in time.
	ErrSilent = errors.New("no answer in time")
	// ErrDiffers: what was read back is not what was stored.
	ErrDiffers = errors.New("it gave back something else than what was stored")
)

// A Ring is the system's keychain, safe for concurrent use.
type Ring struct {
	patience time.Duration
	places   chan struct{} // one for each call that has not returned
}

// New returns a Ring whose calls take at most patience.
func New(patience time.Duration) *Ring {
	return &Ring{patience, make(chan struct{}, maxBehind)}
}

// do runs f aside and waits for it as long as patience and ctx allow. f must
// touch nothing that its caller goes on to use.
func do[T any](ctx context.Context, r *Ring, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	bounded, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	late := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return fmt.Errorf("%w (%v)", ErrSilent, r.patience)
	}
	if bounded.Err() != nil {
		return none, late()
	}
	select {
	case r.places <- struct{}{}:
	case <-bounded.Done():
		return none, late()
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		<-r.places
		done <- result{value, err}
	}()
	select {
	case got := <-done:
		return got.value, got.err
	case <-bounded.Done():
		return none, late()
	}
}

// Get reads what is stored for user in service.
func (r *Ring) Get(ctx context.Context, service, user string) ([]byte, error) {
	return do(ctx, r, func() ([]byte, error) {
		s, err := keyring.Get(service, user)
		return []byte(s), err
	})
}

// Set stores value for user in service, reads it back and compares.
func (r *Ring) Set(ctx context.Context, service, user string, value []byte) error {
	kept := string(value)
	_, err := do(ctx, r, func() (struct{}, error) {
		err := keyring.Set(service, user, kept)
		if err != nil {
			return struct{}{}, err
		}
		back, err := keyring.Get(service, user)
		if err == nil && back != kept {
			err = ErrDiffers
		}
		return struct{}{}, err
	})
	return err
}

// Delete removes what is stored for user in service; nothing there is no error.
func (r *Ring) Delete(ctx context.Context, service, user string) error {
	return r.remove(ctx, func() error { return keyring.Delete(service, user) })
}

// DeleteAll removes what is stored in service for any user.
func (r *Ring) DeleteAll(ctx context.Context, service string) error {
	return r.remove(ctx, func() error { return keyring.DeleteAll(service) })
}

func (r *Ring) remove(ctx context.Context, f func() error) error {
	_, err := do(ctx, r, func() (struct{}, error) {
		err := f()
		if errors.Is(err, ErrNotFound) {
			err = nil
		}
		return struct{}{}, err
	})
	return err
}
