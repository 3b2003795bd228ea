package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/drivers"
	"deskvnc/viewer/engine"
)

// TestTwoExclusiveViewers has two viewers that each throw the other out of a
// real server, and come back by themselves: one of them gives up and says why,
// and the other stays (C133).
func TestTwoExclusiveViewers(t *testing.T) {
	need(t, "Xtigervnc", "xsetroot")
	server := newVNC(t, "-SecurityTypes", "None", "-AlwaysShared=0", "-DisconnectClients=1")
	target := viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: server.port, Exclusive: true}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var both []*engine.Session
	for range 2 { // two programs: their engines know nothing of each other
		e := engine.New(engine.Config{Drivers: drivers.Registry()})
		t.Cleanup(e.Close)
		s, err := e.Open(target)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.WaitState(ctx, func(st viewer.State) bool { return st.Phase == viewer.Connected }); err != nil {
			t.Fatal(err)
		}
		both = append(both, s)
	}
	eventually(t, func() string {
		a, b := both[0].State(), both[1].State()
		if b.Phase == viewer.Disconnected {
			a, b = b, a
		}
		if a.Phase != viewer.Disconnected || b.Phase != viewer.Connected {
			return fmt.Sprintf("they are %q and %q after %d and %d connections", a.Phase, b.Phase, both[0].Info().Connections, both[1].Info().Connections)
		}
		if !strings.Contains(a.Reason, "another viewer") {
			return fmt.Sprintf("the one that gave up says %q", a.Reason)
		}
		return ""
	})
	if n := both[0].Info().Connections + both[1].Info().Connections; n > 8 {
		t.Errorf("they made %d connections before one gave up", n)
	}
}
