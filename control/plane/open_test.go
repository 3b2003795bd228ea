package plane

import (
	"strings"
	"testing"
)

func TestOpenLookClick(t *testing.T) {
	d := newDesk(t)
	g := d.driving("a")
	g.ok("dvv_click", `{"action":"click","x":10,"y":20}`).is("outcome", "delivered", "intent", 1, "lease.held", true)
	if got, want := strings.Join(d.machine.wire(), " | "), "P 10,20 0 | P 10,20 1 | P 10,20 0"; got != want {
		t.Errorf("wire: got %s, want %s", got, want)
	}
}
