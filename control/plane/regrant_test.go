package plane

import (
	"testing"

	"deskvnc/control"
	"deskvnc/control/grant"
	"deskvnc/viewer"
)

// keyFile is the grant of the key file with more capabilities.
func keyFile(t *testing.T, more ...string) grant.Grant {
	t.Helper()
	g := grant.Default()
	g, err := grant.Issue(grant.Spec{ID: g.ID(), Label: g.Label(), KnownHosts: true, Capabilities: append(g.Capabilities(), more...)})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A new grant counts from the next call on, for those who have the old one of
// that id and nobody else.
func TestRegrant(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		one, two, other := d.agent("one", keyFile(t)), d.agent("two", keyFile(t)), d.operator("other")
		limb := one.ok("dvv_open", `{"hostId":"h_lab01"}`).structured["limb"].(map[string]any)["limb_id"].(string)
		args := `{"limbId":"` + limb + `","action":"get"}`
		two.ok("dvv_status", `{"limbId":"`+limb+`"}`)
		one.refused(control.PolicyDenied, "dvv_clipboard", args)
		told := 0
		defer d.plane.OnChange(func() { told++ })()
		d.plane.Regrant(keyFile(t, grant.ClipboardRead))
		if told == 0 {
			t.Error("nobody is told of a new grant")
		}
		for _, g := range []*agent{one, two} {
			if r := g.raw(g.context(), "dvv_clipboard", args); r.structured["code"] == string(control.PolicyDenied) {
				t.Errorf("after the tick: %s", r.text)
			}
		}
		d.plane.Regrant(keyFile(t))
		one.refused(control.PolicyDenied, "dvv_clipboard", args)
		two.refused(control.PolicyDenied, "dvv_clipboard", args)
		if r := other.raw(other.context(), "dvv_clipboard", args); r.structured["code"] == string(control.PolicyDenied) {
			t.Errorf("an agent of another grant lost something: %s", r.text)
		}
	})
}

// What runs commands is ticked and unticked in the same way, on a terminal.
func TestRegrantExec(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.add("h_shell", "10.0.0.7", 80, 24)
		last := &d.library.saved[len(d.library.saved)-1]
		last.Protocol, last.Port = viewer.SSH, 22
		g := d.agent("one", keyFile(t))
		limb := g.ok("dvv_open", `{"hostId":"h_shell"}`).structured["limb"].(map[string]any)["limb_id"].(string)
		args := `{"limbId":"` + limb + `","command":"true","timeoutMs":1000}`
		g.refused(control.PolicyDenied, "dvv_run", args)
		d.plane.Regrant(keyFile(t, grant.Exec))
		if r := g.raw(g.context(), "dvv_run", args); r.structured["code"] == string(control.PolicyDenied) {
			t.Errorf("after the tick: %s", r.text)
		}
		d.plane.Regrant(keyFile(t))
		g.refused(control.PolicyDenied, "dvv_run", args)
	})
}

// An agent that is kept off loses the wheel at once, and nobody has it then.
func TestKeepOff(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.agent("one", keyFile(t))
		limb := g.ok("dvv_open", `{"hostId":"h_lab01"}`).structured["limb"].(map[string]any)["limb_id"].(string)
		acquire := `{"limbId":"` + limb + `","action":"acquire","reason":"look"}`
		g.ok("dvv_control", acquire)
		s := d.engine.Sessions()[0]
		n := d.plane.Pane(s)
		defer n.Close()
		n.KeepOff()
		if w := n.Wheel(); w.Holder != HolderNone || len(w.Revoked) != 1 {
			t.Errorf("the wheel is %+v", w)
		}
		g.refused(control.LeaseRevoked, "dvv_control", acquire)
		if o := n.Input(viewer.Pointer{X: 1, Y: 1, Buttons: viewer.Left}, viewer.Pointer{X: 1, Y: 1}); o != Delivered {
			t.Errorf("the person's click is %v", o)
		}
		n.HandBack()
		g.ok("dvv_control", acquire)
	})
}
