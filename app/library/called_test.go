package library

import (
	"context"
	"net"
	"testing"
	"time"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

// A machine that calls is recognised by the address it was saved under, and
// its password comes from the keychain.
func TestCalledMachineIsKnown(t *testing.T) {
	b := newLab(t, "sesame", false)
	from := viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: 5500}
	h, err := b.l.Store().Add(t.Context(), keychain.Host{Name: "desk", Protocol: viewer.VNC, Address: from.Address, Port: from.Port, Proxy: "socks5://nowhere:1"})
	if err != nil {
		t.Fatal(err)
	}
	b.keep(h.ID, "sesame")
	known := b.l.Known(from)
	if known.HostID != h.ID || known.Name != "desk" {
		t.Fatalf("got %+v", known)
	}
	s, err := b.engine.Called(known, func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", b.machine.HostPort()) // the other way round
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	st, err := s.WaitState(ctx, func(st viewer.State) bool { return st.Phase == viewer.Connected || st.Phase == viewer.Disconnected })
	if err != nil || st.Phase != viewer.Connected {
		t.Fatalf("got %+v, %v", st, err)
	}
	s.Close()

	// One that is not saved leaves nothing behind.
	stranger := viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: 5501}
	b.l.connected(t.Context(), stranger, true, nil)
	// The known one is among those that were connected lately.
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		recents, err := b.l.Store().Recents(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(recents) == 1 && recents[0].HostID == h.ID {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("got %+v", recents)
		}
	}
}
