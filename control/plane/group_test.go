package plane

import (
	"strings"
	"testing"
	"time"

	"deskvnc/control"
	"deskvnc/viewer"
)

func TestGroups(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		for _, n := range []string{"2", "3", "4"} {
			d.add("h_"+n, "10.0.0.1"+n, 64, 64)
		}
		g := d.operator("a")
		g.refused(control.BadRequest, "dvv_group_open", `{}`)
		g.refused(control.BadRequest, "dvv_group_open", `{"hostIds":["h_2"],"protocol":"vnc"}`)
		g.refused(control.BadRequest, "dvv_group_open", `{"addresses":["10.0.0.12"]}`)
		r := g.ok("dvv_group_open", `{"hostIds":["h_2","h_3"],"addresses":["10.0.0.5"],"protocol":"vnc","perceive":true}`)
		r.is("groupId", "grp_1", "members.0.index", 0, "members.2.limb_id", lab, "members.2.index", 2, "members.1.host", "h_3")
		first := r.get("members.0.limb_id").(string)
		// All or none.
		r = g.refused(control.BadRequest, "dvv_group_open", `{"hostIds":["h_4","nobody"]}`)
		if !strings.Contains(r.text, "nobody") {
			t.Errorf("which one: %s", r.text)
		}
		g.refused(control.BadRequest, "dvv_group_open", `{"hostIds":["h_4","h_4"]}`)
		g.refused(control.BadRequest, "dvv_group_grow", `{"groupId":"grp_1","hostIds":["h_4","nobody"]}`)
		if n := len(d.engine.Sessions()); n != 3 {
			t.Fatalf("%d sessions, want 3", n)
		}
		wait := g.ok("dvv_group_run", `{"groupId":"grp_1","action":"wait","arguments":{"until":"connected"}}`)
		if n := len(wait.get("results").([]any)); n != 3 {
			t.Errorf("%d results", n)
		}
		r = g.ok("dvv_group_run", `{"groupId":"grp_1","action":"screen"}`)
		if len(r.images) != 3 || r.get("results.0.limbId") != first {
			t.Errorf("%d pictures", len(r.images))
		}
		if strings.Contains(r.text, r.images[0][:40]) {
			t.Error("a picture is in the text")
		}
		// Leases and fences apply to each member.
		g.ok("dvv_control", `{"groupId":"grp_1","member":0,"action":"acquire"}`)
		r = g.ok("dvv_group_run", `{"groupId":"grp_1","action":"click","arguments":{"action":"click","x":1,"y":1}}`)
		r.is("results.0.result.structuredContent.outcome", "delivered", "results.1.result.isError", true, "results.1.result.structuredContent.code", "LEASE_NOT_HELD")
		g.refused(control.GeometryChanged, "dvv_group_run", `{"groupId":"grp_1","action":"click","arguments":{"action":"click","x":1,"y":1,"generation":77}}`)
		g.refused(control.BadRequest, "dvv_group_run", `{"groupId":"grp_1","action":"status","arguments":{"limbId":"x"}}`)
		r = g.ok("dvv_group_run", `{"groupId":"grp_1","action":"click","arguments":{"bogus":1}}`)
		r.is("results.2.result.structuredContent.code", "BAD_REQUEST")
		// Every member starts before any finishes.
		start := time.Now()
		g.ok("dvv_group_run", `{"groupId":"grp_1","action":"wait","arguments":{"until":"screen-changed","timeoutMs":1000}}`)
		if took := time.Since(start); took != time.Second {
			t.Errorf("took %v", took)
		}
		// A limb of two groups stays while one of them holds it.
		g.ok("dvv_group_open", `{"hostIds":["h_3"]}`).is("groupId", "grp_2")
		g.ok("dvv_group_grow", `{"groupId":"grp_1","hostIds":["h_4"]}`).is("added.0.index", 3)
		g.refused(control.BadRequest, "dvv_group_shrink", `{"groupId":"grp_1","n":5}`)
		r = g.ok("dvv_group_shrink", `{"groupId":"grp_1","n":1}`)
		if closed := r.get("closed").([]any); len(closed) != 1 || len(d.engine.Sessions()) != 3 {
			t.Errorf("closed %v, %d sessions", closed, len(d.engine.Sessions()))
		}
		// A member that has gone keeps its index.
		d.plane.sessionOf(first).Close()
		g.ok("dvv_group_list", `{"groupId":"grp_1"}`).is("groups.0.members.0.index", 0, "groups.0.members.0.state.state", "disconnected", "groups.0.members.1.index", 1, "groups.0.members.1.host", "h_3")
		g.ok("dvv_group_run", `{"groupId":"grp_1","action":"status"}`).is("results.0.result.structuredContent.code", "LIMB_GONE", "results.1.result.structuredContent.state.state", "connected")
		g.refused(control.LimbGone, "dvv_status", `{"groupId":"grp_1","member":0}`)
		g.ok("dvv_group_list", `{}`).is("groups.1.groupId", "grp_2")
		g.ok("dvv_group_close", `{"groupId":"grp_1"}`)
		if n := len(d.engine.Sessions()); n != 1 {
			t.Errorf("%d sessions, want the one that grp_2 holds", n)
		}
		g.refused(control.BadRequest, "dvv_group_close", `{"groupId":"grp_1"}`)
		g.ok("dvv_group_close", `{"groupId":"grp_2"}`)
		if n := len(d.engine.Sessions()); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
		g.ok("dvv_group_open", `{"hostIds":["h_2"]}`).is("groupId", "grp_3")
	})
}

// A group's member that the attachment had before stays open when another
// member fails.
func TestGroupKeepsWhatWasOpen(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.opened("a")
		g.refused(control.BadRequest, "dvv_group_open", `{"hostIds":["lab","nobody"]}`)
		g.ok("dvv_status", `{}`).is("limb_id", lab)
		if id := control.LimbID(viewer.Target{Protocol: viewer.VNC, HostID: "h_lab01"}, 0); id != lab {
			t.Errorf("got %s", id)
		}
	})
}
