package library

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"deskvnc/keychain"
)

// None is the store of a window without a library: nothing is in it, and
// nothing can be saved. With an error, which says why, it is shown.
func None(why error) Store { return none{why} }

type none struct{ why error }

func (n none) fault() error {
	if n.why == nil {
		return errors.New("this window has no library: nothing can be saved")
	}
	return n.why
}

func (n none) List(context.Context) ([]keychain.Host, error)           { return nil, n.why }
func (n none) Search(context.Context, string) ([]keychain.Host, error) { return nil, n.why }
func (n none) Get(context.Context, string) (keychain.Host, error) {
	return keychain.Host{}, n.fault()
}
func (n none) Add(_ context.Context, h keychain.Host) (keychain.Host, error)    { return h, n.fault() }
func (n none) Update(_ context.Context, h keychain.Host) (keychain.Host, error) { return h, n.fault() }
func (n none) Duplicate(context.Context, string, string) (keychain.Host, error) {
	return keychain.Host{}, n.fault()
}
func (n none) AddGroup(_ context.Context, g keychain.Group) (keychain.Group, error) {
	return g, n.fault()
}
func (n none) Delete(context.Context, string) error { return n.fault() }
func (n none) Restore(context.Context, string) (keychain.Host, error) {
	return keychain.Host{}, n.fault()
}
func (n none) Forget(context.Context, string) error { return n.fault() }
func (none) Recent(context.Context, int) ([]Recent, error) {
	return nil, nil
}
func (none) Picture(context.Context, string) ([]byte, time.Time, error) {
	return nil, time.Time{}, nil
}
func (none) SetPicture(context.Context, string, []byte) (bool, error)    { return false, nil }
func (none) Setting(context.Context, string) (json.RawMessage, error)    { return nil, nil }
func (n none) SetSetting(context.Context, string, json.RawMessage) error { return n.why }
func (none) Changes(context.Context) (<-chan struct{}, error)            { return nil, nil }
func (none) Groups(context.Context) ([]keychain.Group, error)            { return nil, nil }
