package store

import (
	"testing"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

// A socket of this computer is saved without a port, and remembered by what can
// be typed.
func TestSocket(t *testing.T) {
	s, ctx := newStore(t), t.Context()
	h := must[keychain.Host](t)(s.Add(ctx, keychain.Host{Name: "vm", Protocol: viewer.VNC, Address: "unix:/run/vm.sock"}))
	hs := must[[]keychain.Host](t)(s.List(ctx))
	if len(hs) != 1 || hs[0].Address != "/run/vm.sock" || hs[0].Port != 0 || !hs[0].Target().Socket() {
		t.Errorf("got %+v", hs)
	}
	h.Address, h.Port = "10.0.0.5", 0
	if h = must[keychain.Host](t)(s.Update(ctx, h)); h.Port != 5900 {
		t.Errorf("got %+v", h)
	}
	if err := s.Connected(ctx, viewer.Target{Protocol: viewer.VNC, Address: "/run/other.sock"}); err != nil {
		t.Fatal(err)
	}
	if rs := must[[]Recent](t)(s.Recents(ctx, 10)); len(rs) != 1 || rs[0].Target != "unix:/run/other.sock" {
		t.Errorf("got %+v", rs)
	}
}
