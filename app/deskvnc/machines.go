package main

import (
	"context"
	"errors"

	"deskvnc/keychain"
	"deskvnc/keychain/store"
	"deskvnc/viewer"
)

// machines are the wishes about the saved machines, kept in the library. A
// machine that is not saved has the defaults.
type machines struct{ store *store.Store }

func (m machines) host(t viewer.Target) keychain.Host {
	if t.HostID == "" {
		return keychain.Host{}
	}
	h, err := m.store.Get(context.Background(), t.HostID)
	if err != nil {
		return keychain.Host{}
	}
	return h
}

// Sharing implements [ui.Machines].
func (m machines) Sharing(t viewer.Target) keychain.Sharing { return m.host(t).Clipboard }

// Size implements [ui.Machines].
func (m machines) Size(t viewer.Target) keychain.SizePolicy { return m.host(t).RemoteResize }

// SetSharing implements [ui.Machines].
func (m machines) SetSharing(ctx context.Context, t viewer.Target, s keychain.Sharing) error {
	return m.set(ctx, t, func(h *keychain.Host) { h.Clipboard = s })
}

// SetSize implements [ui.Machines].
func (m machines) SetSize(ctx context.Context, t viewer.Target, p keychain.SizePolicy) error {
	return m.set(ctx, t, func(h *keychain.Host) { h.RemoteResize = p })
}

// SetViewOnly implements [ui.Machines].
func (m machines) SetViewOnly(ctx context.Context, t viewer.Target, on bool) error {
	return m.set(ctx, t, func(h *keychain.Host) { h.ViewOnly = on })
}

// setTries bounds how often a change is tried that others overtake.
const setTries = 5

// set changes a saved machine as it is now. One that is not saved, or not any
// more, is let be.
func (m machines) set(ctx context.Context, t viewer.Target, change func(*keychain.Host)) error {
	if t.HostID == "" {
		return nil
	}
	var err error
	for range setTries {
		var h keychain.Host
		if h, err = m.store.Get(ctx, t.HostID); err != nil {
			break
		}
		change(&h)
		if _, err = m.store.Update(ctx, h); kindOf(err) != keychain.Conflict {
			break
		}
	}
	if kindOf(err) == keychain.NotFound {
		return nil
	}
	return err
}

func kindOf(err error) keychain.Kind {
	var k *keychain.Error
	if errors.As(err, &k) {
		return k.Kind
	}
	return ""
}
