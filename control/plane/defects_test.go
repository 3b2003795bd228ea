package plane

import (
	"context"
	"encoding/json"
	"image"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deskvnc/control"
	"deskvnc/control/grant"
	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

// A new connection is not made under a person or another agent who drives.
func TestReconnectUnderSomebodyElse(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g, other := d.opened("a"), d.operator("b")
		n := d.pane()
		inputs(t, n, Delivered, pressAt(1, 1))
		g.refused(control.LeaseNotHeld, "dvv_reconnect", `{}`)
		n.Leave()
		other.ok("dvv_control", `{"limbId":"`+lab+`","action":"acquire"}`)
		g.refused(control.LeaseNotHeld, "dvv_reconnect", `{}`)
		if d.machine.opens != 1 {
			t.Errorf("%d connections", d.machine.opens)
		}
		other.ok("dvv_reconnect", `{}`).is("connected", true)
		if d.machine.opens != 2 {
			t.Errorf("%d connections", d.machine.opens)
		}
	})
}

// The hint of a lost lease names the field as it is spelled in the object.
func TestHintsNameRealFields(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		d.pane().TakeWheel()
		r := g.refused(control.LeaseRevoked, "dvv_key", `{"keys":"a"}`)
		if hint := r.get("hint").(string); !strings.Contains(hint, "human_took_over") || strings.Contains(hint, "humanTookOver") {
			t.Errorf("hint: %s", hint)
		}
	})
}

// Rows tell which proofs a tool asks for, and the tools ask for just those.
func TestNeedsAreWhatRowsSay(t *testing.T) {
	args := map[string]string{
		"dvv_click": `"action":"click","x":1,"y":1`, "dvv_type": `"text":"a"`, "dvv_key": `"keys":"a"`, "dvv_clipboard": `"action":"set","text":"a"`,
		"dvv_status": "", "dvv_signals": "", "dvv_screen": "", "dvv_wait": `"until":"connected"`, "dvv_control": `"action":"status"`, "dvv_reconnect": "",
	}
	for _, row := range control.Rows() {
		with, tested := args[row.Name]
		if !tested {
			continue
		}
		bubble(t, func(t *testing.T, d *desk) {
			g := d.opened("a")
			r := g.raw(g.context(), row.Name, "{"+with+"}")
			if needs := r.get("code") == string(control.LeaseNotHeld); needs != row.Needs.Lease {
				t.Errorf("%s: lease %v, the row says %v", row.Name, needs, row.Needs.Lease)
			}
			g = d.operator("b")
			g.ok("dvv_control", `{"limbId":"`+lab+`","action":"acquire"}`)
			r = g.raw(g.context(), row.Name, "{"+with+"}")
			if needs := r.get("code") == string(control.Unfenced); needs != row.Needs.Geometry {
				t.Errorf("%s: geometry %v, the row says %v", row.Name, needs, row.Needs.Geometry)
			}
			if needs := r.get("code") == string(control.ScreenChanged); needs != row.Needs.Content {
				t.Errorf("%s: content %v, the row says %v", row.Name, needs, row.Needs.Content)
			}
		})
	}
}

// Every tool has a handler, and no handler is without a tool.
func TestEveryRowIsServed(t *testing.T) {
	rows := control.Rows()
	if len(rows) != control.ToolCount || len(handlers) != control.ToolCount {
		t.Errorf("%d rows and %d handlers, want %d", len(rows), len(handlers), control.ToolCount)
	}
	for _, r := range rows {
		if handlers[r.Name] == nil {
			t.Errorf("%s has no handler", r.Name)
		}
	}
}

// An agent that has been gone and come back under the key file's grant has
// seen nothing, holds nothing, and is as revoked as before.
func TestComingBackChangesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		first := d.agent("claude", grant.Default())
		first.ok("dvv_open", `{"hostId":"lab","perceive":true}`)
		first.ok("dvv_wait", `{"until":"connected"}`)
		first.ok("dvv_screen", `{}`)
		first.ok("dvv_control", `{"action":"acquire"}`)
		n := d.pane()
		inputs(t, n, Consumed, pressAt(1, 1), hoverAt(1, 1))
		first.a.Close()
		again := d.agent("claude", grant.Default())
		again.ok("dvv_status", `{"limbId":"`+lab+`"}`).is("lease.human_took_over", true, "lease.held", false)
		again.refused(control.LeaseRevoked, "dvv_control", `{"action":"acquire"}`)
		// Closing and opening the machine does not help either.
		again.ok("dvv_close", `{"limbId":"`+lab+`"}`)
		again.ok("dvv_open", `{"hostId":"lab","perceive":true}`)
		again.refused(control.LeaseRevoked, "dvv_control", `{"action":"acquire"}`)
		n.HandBack()
		again.ok("dvv_control", `{"action":"acquire"}`)
		again.refused(control.ScreenChanged, "dvv_key", `{"keys":"a"}`)
	})
}

// Ended limbs are forgotten at last, the live ones never.
func TestLimbsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.opened("a")
		for i := range maxLimbs + 10 {
			d.plane.mu.Lock()
			l := newLimb(d.plane, "lmb_x_"+itoa(i), "")
			d.plane.limbs[l.id] = l
			d.plane.order = append(d.plane.order, l)
			d.plane.trim()
			d.plane.mu.Unlock()
		}
		if n := len(d.plane.limbs); n != maxLimbs || len(d.plane.order) != n {
			t.Errorf("%d limbs in %d places, want %d", n, len(d.plane.order), maxLimbs)
		}
		if d.plane.limbs[lab] == nil {
			t.Error("the live limb was forgotten")
		}
	})
}

// A picture that a machine's update tore into pieces counts as one repaint
// only when one update is that large.
func TestSmallUpdatesNeverAddUp(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		for y := range 10 { // all of the screen, a tenth at a time
			d.machine.paint(3, frame.Painted, image.Rect(0, y*10, 200, y*10+10))
		}
		g.ok("dvv_key", `{"keys":"a"}`)
		d.machine.paint(3, frame.Painted, image.Rect(0, 0, 200, 10), image.Rect(0, 0, 200, 10)) // counted twice: a fifth
		g.refused(control.ScreenChanged, "dvv_key", `{"keys":"a"}`)
	})
}

// The ticker has no timer while nobody holds or waits.
func TestNoIdleTimers(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		if d.plane.next.Load() == 0 {
			t.Error("no deadline while an agent holds the wheel")
		}
		g.ok("dvv_control", `{"action":"release"}`)
		time.Sleep(2 * time.Minute) // past the old deadline
		synctest.Wait()
		if at := d.plane.next.Load(); at != 0 {
			t.Errorf("a deadline is left: %v", time.Unix(0, at))
		}
	})
}

// FuzzCall calls tools with anything at all: the result is always one, within
// the caller's time.
func FuzzCall(f *testing.F) {
	rows := control.Rows()
	for _, args := range []string{
		`{}`, `{"limbId":"` + lab + `"}`, `{"action":"drag","x":1,"y":1,"toX":2,"toY":2}`, `{"groupId":"grp_1","member":0}`, `[]`, `{"a":`,
		`{"action":"acquire","waitMs":1}`, `{"form":"region","region":{"x":0,"y":0,"w":1,"h":1}}`, `{"until":"screen-changed","timeoutMs":5}`,
		`{"hostIds":["lab"],"addresses":["10.0.0.5"],"protocol":"vnc"}`, `{"groupId":"grp_1","action":"screen","arguments":{"scale":0.5}}`,
	} {
		for tool := range rows {
			f.Add(uint8(tool), args)
		}
	}
	d := newDesk(f)
	g := d.driving("fuzz")
	f.Fuzz(func(t *testing.T, tool uint8, args string) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		raw := g.a.Call(ctx, rows[int(tool)%len(rows)].Name, json.RawMessage(args))
		if !json.Valid(raw) {
			t.Fatalf("no JSON: %.200q", raw)
		}
		if strings.Contains(string(raw), `"code":"INTERNAL"`) {
			t.Fatalf("a fault of ours: %.300s", raw)
		}
		// Sessions that it opened do not pile up.
		for _, s := range d.engine.Sessions()[min(len(d.engine.Sessions()), 8):] {
			s.Close()
		}
	})
}

// A view of keys as they come from a window: what a pane is given is what the
// machine gets.
func TestKeysReleaseByScanCode(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.opened("a")
		n := d.pane()
		// Shift comes up first, so that the key comes up under another symbol.
		shift := viewer.Key{Sym: 0xffe1, Scan: 0x2a, Down: true}
		inputs(t, n, Delivered, shift, viewer.Key{Sym: 'A', Scan: 0x1e, Down: true}, up(shift), viewer.Key{Sym: 'a', Scan: 0x1e})
		d.wire("K+ffe1", "K+41", "K-ffe1", "K-41")
	})
}
