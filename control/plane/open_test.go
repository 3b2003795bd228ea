package plane

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"deskvnc/control"
	"deskvnc/control/grant"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

func TestLimbIDs(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.add("h_x", "build.example.com", 10, 10)
		d.library.saved = append(d.library.saved,
			viewer.Target{Protocol: viewer.RDP, Address: "10.0.0.5", Port: 3389, HostID: "h_lab01"})
		g := d.operator("a")
		g.ok("dvv_open", `{"hostId":"lab"}`).is("limb.limb_id", "lmb_vnc_5488651b4eec_0", "limb.host", "lab", "limb.slot", 0)
		for i, open := range []struct{ args, want string }{
			{`{"address":"10.0.0.5","port":3389,"protocol":"rdp"}`, "lmb_rdp_5488651b4eec_0"},
			{`{"address":" BUILD.example.com. ","protocol":"ssh"}`, ""},
			{`{"address":"build.example.com","protocol":"ssh","slot":1}`, "lmb_ssh_93577f2c685f_1"},
		} {
			if r := g.ok("dvv_open", open.args); open.want != "" {
				r.is("limb.limb_id", open.want)
			} else if id, _ := r.get("limb.limb_id").(string); !strings.HasPrefix(id, "lmb_ssh_93577f2c685f_0") {
				t.Errorf("open %d: got %s", i, id)
			}
		}
		d.library.saved = nil
		if id := control.LimbID(viewer.Target{Protocol: viewer.VNC, Address: "10.0.0.5", Port: 5900}, 0); id != "lmb_vnc_34d20f73a0d2_0" {
			t.Errorf("endpoint: got %s", id)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.library.saved = append(d.library.saved,
			viewer.Target{Protocol: viewer.VNC, Address: "twin-1", Port: 5900, HostID: "t1", Name: "twin"},
			viewer.Target{Protocol: viewer.VNC, Address: "twin-2", Port: 5900, HostID: "t2", Name: "twin"},
			viewer.Target{Protocol: viewer.VNC, Address: "alone", Port: 5900, HostID: "x", Exclusive: true},
			viewer.Target{Protocol: viewer.RDP, Address: "win", Port: 3389, HostID: "r"})
		far := d.add("far", "203.0.113.9", 10, 10)
		d.library.saved = d.library.saved[:len(d.library.saved)-1] // reachable, and not known
		g := d.agent("key", grant.Default())
		for _, c := range []struct {
			name, args string
			code       control.Code
			says       string
		}{
			{"nothing", `{}`, control.BadRequest, "hostId or address"},
			{"both", `{"hostId":"h_lab01","address":"a","protocol":"vnc"}`, control.BadRequest, "not both"},
			{"protocol with hostId", `{"hostId":"h_lab01","protocol":"vnc"}`, control.BadRequest, "protocol"},
			{"port with hostId", `{"hostId":"h_lab01","port":1}`, control.BadRequest, "port"},
			{"no protocol", `{"address":"a"}`, control.BadRequest, "protocol"},
			{"unknown host", `{"hostId":"nobody"}`, control.BadRequest, `"nobody"`},
			{"ambiguous name", `{"hostId":"twin"}`, control.BadRequest, "host_id"},
			{"bad address", `{"address":"a b","protocol":"vnc"}`, control.BadRequest, "host name"},
			{"user in the address", `{"address":"ssh://joe@10.0.0.5","protocol":"ssh"}`, control.BadRequest, "alone"},
			{"two ports", `{"address":"10.0.0.5:5905","port":5906,"protocol":"vnc"}`, control.BadRequest, "two different ports"},
			{"not in the grant", `{"address":"203.0.113.9","protocol":"vnc"}`, control.PolicyDenied, "203.0.113.9"},
			{"slot of an exclusive machine", `{"hostId":"x","slot":1}`, control.SlotRefused, "exclusive"},
			{"RDP slot", `{"hostId":"r","slot":1}`, control.SlotRefused, "RDP"},
			{"slot out of turn", `{"hostId":"h_lab01","slot":2}`, control.SlotRefused, "slot 0"},
			{"fraction", `{"hostId":"h_lab01","slot":1.5}`, control.BadRequest, "slot"},
		} {
			if r := g.refused(c.code, "dvv_open", c.args); !strings.Contains(r.text, c.says) {
				t.Errorf("%s: %s does not say %q", c.name, r.text, c.says)
			}
		}
		for _, name := range strings.Fields("password passphrase username user domain privateKey private_key credential credentials secret keyPath") {
			r := g.refused(control.BadRequest, "dvv_open", `{"hostId":"h_lab01","`+name+`":"hunter2"}`)
			if !strings.Contains(r.text, name) || strings.Contains(string(r.raw), "hunter2") {
				t.Errorf("%s: %s", name, r.raw)
			}
		}
		if n := len(d.engine.Sessions()); n != 0 || far.opens != 0 {
			t.Errorf("%d sessions were opened by refusals", n)
		}
		none := d.agent("nothing", mustIssue(t, grant.View))
		none.refused(control.PolicyDenied, "dvv_open", `{"hostId":"h_lab01"}`)
	})
}

func mustIssue(t testing.TB, capabilities ...string) grant.Grant {
	t.Helper()
	g, err := grant.Issue(grant.Spec{ID: "g " + strings.Join(capabilities, "+"), Capabilities: capabilities, KnownHosts: true})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestOpenIsIdempotentAndUpgrades(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.operator("a")
		g.ok("dvv_open", `{"hostId":"h_lab01"}`).is("limb.has_mirror", false, "limb.grounding", "none")
		g.ok("dvv_wait", `{"until":"connected"}`)
		if d.engine.Sessions()[0].Watched() {
			t.Error("pixels are asked for and nobody looks")
		}
		g.refused(control.NotSupported, "dvv_screen", `{}`)
		g.refused(control.NotSupported, "dvv_wait", `{"until":"screen-stable"}`)
		g.ok("dvv_open", `{"address":"10.0.0.5","protocol":"vnc","perceive":true}`).is("limb.limb_id", lab, "limb.has_mirror", true, "limb.grounding", "pixels")
		g.ok("dvv_screen", `{}`)
		if n := len(d.engine.Sessions()); n != 1 {
			t.Errorf("%d sessions, want 1", n)
		}
		other := d.operator("b")
		other.ok("dvv_open", `{"hostId":"h_lab01"}`).is("limb.limb_id", lab)
		g.ok("dvv_open", `{"hostId":"h_lab01","slot":1}`).is("limb.limb_id", "lmb_vnc_5488651b4eec_1")
		if n := len(d.engine.Sessions()); n != 2 {
			t.Errorf("%d sessions after slot 1, want 2", n)
		}
		g.ok("dvv_open", `{"hostId":"h_lab01","slot":1}`)
		if n := len(d.engine.Sessions()); n != 2 {
			t.Errorf("%d sessions after slot 1 again, want 2", n)
		}
	})
}

func TestOpenIsBoundedByTheEngine(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		small := engine.New(engine.Config{Drivers: viewer.Registry{viewer.VNC: d.driver}, Sessions: 1})
		p := New(Config{Engine: small, Hosts: d.library})
		t.Cleanup(func() { p.Close(); small.Close() })
		d.plane = p
		d.add("h_2", "10.0.0.6", 10, 10)
		g := d.operator("a")
		g.ok("dvv_open", `{"hostId":"h_lab01"}`)
		g.refused(control.RateLimited, "dvv_open", `{"hostId":"h_2"}`)
		g.ok("dvv_open", `{"hostId":"h_lab01"}`)
		g.refused(control.BadRequest, "dvv_open", `{"address":"10.0.0.5","protocol":"ssh"}`) // no driver
	})
}

func TestLimbsAndAdoption(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		first := d.opened("a")
		g := d.operator("b")
		r := g.ok("dvv_limbs", ``)
		r.is("available.0.limb_id", lab, "available.0.host", "lab", "available.0.host_id", "h_lab01", "available.0.attached_elsewhere", true, "available.0.port", 5900)
		if limbs := r.get("limbs").([]any); len(limbs) != 0 {
			t.Errorf("limbs: %v", limbs)
		}
		g.refused(control.LimbGone, "dvv_status", `{}`)
		g.ok("dvv_status", `{"limbId":"`+lab+`"}`)
		r = g.ok("dvv_limbs", `{}`)
		r.is("limbs.0.limb_id", lab, "limbs.0.has_mirror", true, "limbs.0.lease.held", false)
		if a := r.get("available").([]any); len(a) != 0 {
			t.Errorf("available: %v", a)
		}
		// Adopted, and seen by nobody: the typing fence wants a look.
		g.ok("dvv_control", `{"action":"acquire"}`)
		g.refused(control.ScreenChanged, "dvv_type", `{"text":"x"}`)
		g.ok("dvv_screen", `{}`)
		g.ok("dvv_type", `{"text":"x"}`)
		first.ok("dvv_status", `{}`).is("lease.holder_label", "b", "lease.held", false, "lease.human_took_over", false)
		if n := len(d.plane.Attachments()); n != 2 {
			t.Errorf("%d attachments, want 2", n)
		}
		if a := d.plane.Attachments()[1]; a.Label != "b" || len(a.Driving) != 1 || a.Driving[0] != lab {
			t.Errorf("attachment: %+v", a)
		}
	})
}

func TestSelector(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.add("h_2", "10.0.0.6", 10, 10)
		g := d.operator("a")
		g.refused(control.LimbGone, "dvv_status", `{}`)
		g.refused(control.LimbGone, "dvv_status", `{"limbId":"lmb_vnc_000000000000_0"}`)
		for _, bad := range []string{"", "lab", "lmb_", "lmb_a/b", strings.Repeat("lmb_x", 14)} {
			g.refused(control.BadRequest, "dvv_status", fmt.Sprintf(`{"limbId":%q}`, bad))
		}
		g.ok("dvv_open", `{"hostId":"h_lab01"}`)
		g.ok("dvv_status", `{}`).is("limb_id", lab)
		r := g.ok("dvv_group_open", `{"hostIds":["h_2"]}`)
		second := r.get("members.0.limb_id").(string)
		g.refused(control.BadRequest, "dvv_status", `{}`)
		g.refused(control.BadRequest, "dvv_status", `{"groupId":"grp_1"}`)
		g.ok("dvv_status", `{"groupId":"grp_1","member":0}`).is("limb_id", second)
		g.ok("dvv_status", `{"groupId":"grp_1","member":"0"}`).is("limb_id", second)
		g.ok("dvv_status", `{"groupId":"grp_1","member":"`+second+`"}`).is("limb_id", second)
		g.ok("dvv_status", `{"limbId":"`+lab+`","groupId":"grp_9","member":7}`).is("limb_id", lab)
		g.refused(control.BadRequest, "dvv_status", `{"groupId":"grp_1","member":1}`)
		g.refused(control.BadRequest, "dvv_status", `{"groupId":"grp_1","member":-1}`)
		g.refused(control.BadRequest, "dvv_status", `{"groupId":"grp_1","member":"`+lab+`"}`)
		g.refused(control.BadRequest, "dvv_status", `{"groupId":"grp_9","member":0}`)
		g.refused(control.BadRequest, "dvv_nothing", `{}`)
		g.refused(control.BadRequest, "dvv_status", `[]`)
	})
}

func TestClose(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g, other := d.opened("a"), d.operator("b")
		other.ok("dvv_open", `{"hostId":"h_lab01"}`)
		g.ok("dvv_close", `{"limbId":"`+lab+`"}`).is("closed", true, "sessionEnded", false)
		g.ok("dvv_close", `{"limbId":"`+lab+`"}`).is("closed", true, "sessionEnded", false)
		g.ok("dvv_close", `{"limbId":"lmb_never"}`).is("closed", true)
		g.refused(control.BadRequest, "dvv_close", `{"limbId":"x"}`)
		other.ok("dvv_close", `{"limbId":"`+lab+`"}`).is("sessionEnded", false) // did not open it
		if n := len(d.engine.Sessions()); n != 1 {
			t.Fatalf("%d sessions, want 1", n)
		}
		g.ok("dvv_open", `{"hostId":"h_lab01"}`)
		n := d.pane()
		g.ok("dvv_close", `{"limbId":"`+lab+`"}`).is("sessionEnded", false) // a person looks at it
		n.Close()
		g.ok("dvv_open", `{"hostId":"h_lab01"}`)
		g.ok("dvv_close", `{"limbId":"`+lab+`"}`).is("sessionEnded", true)
		if n := len(d.engine.Sessions()); n != 0 {
			t.Errorf("%d sessions, want none", n)
		}
	})
}

func TestCloseReleasesWhatIsHeld(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		d.operator("b").ok("dvv_open", `{"hostId":"h_lab01"}`) // keeps the session
		reached := make(chan struct{})
		d.machine.mu.Lock()
		d.machine.onWire = func(e string) {
			if e == "P 10,10 1" {
				close(reached)
			}
		}
		d.machine.mu.Unlock()
		settled := make(chan reply)
		go func() {
			settled <- g.raw(g.context(), "dvv_click", `{"action":"drag","x":10,"y":10,"toX":50,"toY":50}`)
		}()
		<-reached
		g.ok("dvv_close", `{"limbId":"`+lab+`"}`)
		r := <-settled
		r.is("outcome", "cancelled", "progress.release_synthesised", true)
		log := d.machine.wire()
		if last := log[len(log)-1]; !strings.HasSuffix(last, " 0") {
			t.Errorf("the button is still down: %q", log)
		}
		g.ok("dvv_status", `{"limbId":"`+lab+`"}`).is("lease.phase", "unheld")
	})
}

func TestAttachmentCloseEndsEverything(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		d.machine.stick(true)
		settled := make(chan reply, 1)
		go func() { settled <- g.raw(g.context(), "dvv_type", `{"text":"abc"}`) }()
		d.await(func() bool { return d.machine.link().Queued() > 0 })
		done := make(chan struct{})
		go func() { g.a.Close(); close(done) }()
		r := <-settled
		r.is("outcome", "cancelled")
		d.machine.stick(false)
		<-done
		if n := len(d.engine.Sessions()); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
		if n := len(d.plane.Attachments()); n != 0 {
			t.Errorf("%d attachments are left", n)
		}
		g.refused(control.LimbGone, "dvv_limbs", `{}`)
		g.a.Close()
	})
}

func TestAttachmentsAreBounded(t *testing.T) {
	d := newDesk(t)
	changes := 0
	cancel := d.plane.OnChange(func() { changes++ })
	var all []*Attachment
	for range MaxAttachments {
		all = append(all, d.agent("a\n\x1b[31m\u202eb", grant.Default()).a)
	}
	if _, err := d.plane.Attach("one more", grant.Default()); viewer.KindOf(err) != viewer.Limit {
		t.Errorf("got %v", err)
	}
	all[0].Close()
	cancel()
	d.agent("", grant.Default())
	infos := d.plane.Attachments()
	if got := infos[0].Label; got != "a[31mb" {
		t.Errorf("label: got %q", got)
	}
	if got := infos[len(infos)-1]; got.Label != "agent "+got.ID || !strings.HasPrefix(got.ID, "att_") {
		t.Errorf("label without a name: %+v", got)
	}
	if changes != MaxAttachments+1 {
		t.Errorf("%d changes, want %d", changes, MaxAttachments+1)
	}
}

func TestHosts(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.library.found = []viewer.Target{{Protocol: viewer.VNC, Address: "printer", Port: 5900, HostID: "d_1", Name: "printer"}}
		g := d.operator("a")
		r := g.ok("dvv_hosts", `{}`)
		r.is("hosts.0.host_id", "h_lab01", "hosts.0.label", "lab", "hosts.0.address", "10.0.0.5", "hosts.0.port", 5900,
			"hosts.0.protocol", "vnc", "hosts.0.credential_stored", true, "hosts.0.discovered", false)
		if n := len(r.get("hosts").([]any)); n != 1 {
			t.Errorf("%d saved, want 1", n)
		}
		d.driver.machines["10.9.9.9"] = newMachine(10, 10)
		g.ok("dvv_open", `{"address":"10.9.9.9","protocol":"vnc"}`)
		r = g.ok("dvv_hosts", `{"discovered":true}`)
		r.is("hosts.0.host_id", "d_1", "hosts.0.discovered", true, "hosts.1.address", "10.9.9.9", "hosts.1.host_id", "")
		narrow, err := grant.Issue(grant.Spec{ID: "n", Capabilities: []string{grant.HostsRead}, Hosts: []string{"elsewhere"}})
		if err != nil {
			t.Fatal(err)
		}
		n := d.agent("n", narrow)
		if hosts := n.ok("dvv_hosts", `{}`).get("hosts").([]any); len(hosts) != 0 {
			t.Errorf("outside the grant: %v", hosts)
		}
		if a := n.ok("dvv_limbs", `{}`).get("available").([]any); len(a) != 0 {
			t.Errorf("sessions outside the grant: %v", a)
		}
		n.refused(control.PolicyDenied, "dvv_status", `{"limbId":"`+control.LimbID(viewer.Target{Protocol: viewer.VNC, Address: "10.9.9.9", Port: 5900}, 0)+`"}`)
	})
}

// Every tool refuses without its capability, and names it.
func TestCapabilities(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.opened("a")
		args := map[string]string{
			"dvv_hosts": `{}`, "dvv_open": `{"hostId":"h_lab01"}`, "dvv_close": `{"limbId":"` + lab + `"}`, "dvv_reconnect": `{}`, "dvv_status": `{}`,
			"dvv_control": `{"action":"acquire"}`, "dvv_click": `{"action":"click","x":1,"y":1}`, "dvv_type": `{"text":"a"}`, "dvv_key": `{"keys":"a"}`,
			"dvv_screen": `{}`, "dvv_wait": `{"until":"idle"}`, "dvv_clipboard": `{"action":"set","text":"a"}`,
			"dvv_files": `{"action":"list"}`, "dvv_signals": `{}`, "dvv_group_open": `{"hostIds":["h_lab01"]}`,
			"dvv_group_grow": `{"groupId":"grp_1","hostIds":["h_lab01"]}`, "dvv_group_shrink": `{"groupId":"grp_1","n":1}`, "dvv_group_close": `{"groupId":"grp_1"}`,
		}
		bare, err := grant.Issue(grant.Spec{ID: "bare", KnownHosts: true})
		if err != nil {
			t.Fatal(err)
		}
		g := d.agent("bare", bare)
		if r := g.raw(g.context(), "dvv_limbs", `{}`); r.isError {
			t.Errorf("dvv_limbs needs nothing: %s", r.text)
		}
		if r := g.raw(g.context(), "dvv_control", `{"limbId":"`+lab+`","action":"yield_status"}`); r.isError {
			t.Errorf("yield_status needs nothing: %s", r.text)
		}
		free := map[string]bool{"dvv_limbs": true, "dvv_group_list": true, "dvv_group_run": true, "dvv_run": true, "dvv_term_read": true, "dvv_term_send": true, "dvv_transfer": true}
		for _, row := range control.Rows() {
			a, tested := args[row.Name]
			if !tested {
				if !free[row.Name] {
					t.Errorf("%s is not tested", row.Name)
				}
				continue
			}
			var with map[string]any
			json.Unmarshal([]byte(a), &with)
			if row.Selector {
				with["limbId"] = lab
			}
			raw, _ := json.Marshal(with)
			c := row.Capability
			if action, ok := with["action"].(string); ok && row.Actions != nil {
				c = row.Actions[action]
			}
			if r := g.refused(control.PolicyDenied, row.Name, string(raw)); !strings.Contains(r.text, c) || c == "" {
				t.Errorf("%s does not name %q: %s", row.Name, c, r.text)
			}
		}
	})
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"no route": "no route", "a\nb\x1b[31m\u2028c": "a b [31m c", "a\xffb": "a\ufffdb", strings.Repeat("é", 400): strings.Repeat("é", 300) + "...",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestExpiredGrant(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g, err := grant.Issue(grant.Spec{ID: "e", Capabilities: grant.Capabilities(), AnyHost: true, Expires: d.plane.now()})
		if err != nil {
			t.Fatal(err)
		}
		d.agent("late", g).refused(control.PolicyDenied, "dvv_limbs", `{}`)
	})
}

func TestWrongProtocol(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		for tool, args := range map[string]string{
			"dvv_run": `{"command":"ls","timeoutMs":1000}`, "dvv_term_read": `{}`, "dvv_term_send": `{"text":"a"}`,
		} {
			g.refused(control.WrongProtocol, tool, args)
		}
		g.refused(control.FilesUnavailable, "dvv_files", `{"action":"list"}`)
		g.refused(control.NotImplemented, "dvv_transfer", `{"action":"status"}`)
		g.refused(control.NotImplemented, "dvv_clipboard", `{"action":"get"}`)
		for _, until := range []string{`"text","text":"x"`, `"text-gone","text":"x"`, `"exit"`} {
			g.refused(control.NotImplemented, "dvv_wait", `{"until":`+until+`}`)
		}
		g.ok("dvv_open", `{"address":"10.0.0.5","protocol":"ssh"}`)
		ssh := control.LimbID(viewer.Target{Protocol: viewer.SSH, Address: "10.0.0.5", Port: 22}, 0)
		g.refused(control.WrongProtocol, "dvv_click", `{"limbId":"`+ssh+`","action":"click","x":1,"y":1}`)
		g.refused(control.WrongProtocol, "dvv_clipboard", `{"limbId":"`+ssh+`","action":"set","text":"a"}`)
		g.refused(control.BadRequest, "dvv_screen", `{"limbId":"`+ssh+`","scale":0.5}`)
		r := g.ok("dvv_limbs", `{}`)
		r.is("limbs.1.grounding", "cells")
		if advice, _ := r.get("limbs.0.steer_away").(string); !strings.Contains(advice, ssh) {
			t.Errorf("steer_away: %q", advice)
		}
	})
}

// A limb id that two machines share is refused, not guessed about.
func TestCollision(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.opened("a")
		d.plane.mu.Lock()
		d.plane.limbs[lab].key = "another machine"
		d.plane.mu.Unlock()
		d.operator("b").refused(control.LimbGone, "dvv_open", `{"hostId":"h_lab01"}`)
		g.ok("dvv_status", `{}`)
	})
}
