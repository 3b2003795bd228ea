package plane

import (
	"context"
	"net"
	"testing"

	"deskvnc/control"
	"deskvnc/viewer"
)

// A machine that has called by itself is a limb like others; its connection is
// never dropped to make a new one, which only the machine could.
func TestCalledIsNotRedialled(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		s, err := d.engine.Called(d.library.saved[0], func(context.Context, string, string) (net.Conn, error) { return nil, nil })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.WaitState(t.Context(), func(st viewer.State) bool { return st.Phase == viewer.Connected }); err != nil {
			t.Fatal(err)
		}
		g := d.operator("a")
		g.ok("dvv_open", `{"hostId":"h_lab01","perceive":true}`)
		g.refused(control.NotSupported, "dvv_reconnect", `{}`)
		if st := g.a.seatAt(control.LimbID(s.Target(), s.Slot())); st == nil || st.mayRedial() {
			t.Error("a look at the screen may drop its connection")
		}
		if d.machine.opens != 1 || s.State().Phase != viewer.Connected {
			t.Errorf("%d connections, %+v", d.machine.opens, s.State())
		}
	})
}
