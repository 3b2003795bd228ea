package main

import (
	"context"
	"path/filepath"
	"testing"

	"deskvnc/app/ui"
	"deskvnc/keychain"
	"deskvnc/keychain/store"
	"deskvnc/viewer"
)

var _ ui.Machines = machines{}

// What is chosen for a session is kept with its saved machine, beside what
// others change there.
func TestMachinesAreKept(t *testing.T) {
	s, err := store.Open(filepath.Join(t.TempDir(), "library.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	h, err := s.Add(ctx, keychain.Host{Name: "a", Protocol: viewer.VNC, Address: "10.0.0.1", Notes: "n"})
	if err != nil {
		t.Fatal(err)
	}
	m := machines{s}
	o := h.Target()
	for _, err := range []error{
		m.SetSharing(ctx, o, keychain.ShareOff), m.SetSize(ctx, o, keychain.SizeFollow), m.SetViewOnly(ctx, o, true),
		m.SetViewOnly(ctx, viewer.Target{Address: "elsewhere"}, true), m.SetViewOnly(ctx, viewer.Target{HostID: "h_gone"}, true),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if got, err := s.Get(ctx, h.ID); err != nil || got.Clipboard != keychain.ShareOff || got.RemoteResize != keychain.SizeFollow || !got.ViewOnly || got.Notes != "n" {
		t.Errorf("kept %+v, %v", got, err)
	}
	if m.Sharing(o) != keychain.ShareOff || m.Size(o) != keychain.SizeFollow {
		t.Errorf("sharing %q, size %q", m.Sharing(o), m.Size(o))
	}
	if m.Sharing(viewer.Target{HostID: "h_gone"}) != keychain.ShareBoth || m.Size(viewer.Target{}) != keychain.SizeKeep {
		t.Error("a machine that is not saved has not the defaults")
	}
}
