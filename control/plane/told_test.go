package plane

import (
	"slices"
	"strings"
	"testing"

	"deskvnc/control"
	"deskvnc/viewer"
)

// A tool that says it may refuse with NOT_IMPLEMENTED does so; one that works
// does not put a model off.
func TestDocsTellWhatIsNotImplemented(t *testing.T) {
	unserved := map[string]string{
		"dvv_clipboard": `"action":"get"`,
		"dvv_transfer":  `"action":"status"`,
		"dvv_wait":      `"until":"exit"`,
	}
	bubble(t, func(t *testing.T, d *desk) {
		g := d.opened("a")
		for _, row := range control.Rows() {
			args, claimed := unserved[row.Name]
			if said := strings.Contains(row.Doc, "NOT_IMPLEMENTED"); said != claimed {
				t.Errorf("%s: the doc says NOT_IMPLEMENTED: %v, want %v", row.Name, said, claimed)
			}
			if !claimed {
				continue
			}
			if args != "" {
				args = "," + args
			}
			g.refused(control.NotImplemented, row.Name, `{"limbId":"`+lab+`"`+args+`}`)
		}
	})
}

// A refusal says everything once: its message and its hint stand side by side.
func TestRefusalsDoNotRepeatThemselves(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.opened("a") // and has not looked
		g.ok("dvv_control", `{"action":"acquire"}`)
		for _, r := range []reply{
			g.refused(control.GeometryChanged, "dvv_click", `{"action":"click","x":1,"y":1,"generation":77}`),
			g.refused(control.ScreenChanged, "dvv_type", `{"text":"x"}`),
		} {
			said, _, _ := strings.Cut(r.text, "```")
			if n := strings.Count(strings.ToLower(said), "nothing was"); n != 1 {
				t.Errorf("says %d times that nothing was done: %s", n, said)
			}
		}
	})
}

func TestEmptyListsSayWhatIsNext(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.library.saved = nil
		g := d.operator("a")
		for tool, want := range map[string]string{
			"dvv_limbs": "dvv_open",
			"dvv_hosts": "address",
		} {
			if got := g.ok(tool, `{}`).text; !strings.Contains(got, want) {
				t.Errorf("%s: got %q, want %q named", tool, got, want)
			}
		}
		if got := g.ok("dvv_hosts", `{"discovered":true}`).text; strings.Contains(got, "Open one") {
			t.Errorf("got %q: there is none to open", got)
		}
	})
}

// member without groupId means a group that was forgotten, not the only limb.
func TestMemberNeedsItsGroup(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		g.ok("dvv_screen", `{}`)
		r := g.refused(control.BadRequest, "dvv_click", `{"action":"click","x":1,"y":1,"member":1}`)
		if !strings.Contains(r.text, "groupId") {
			t.Errorf("got %s", r.text)
		}
		g.ok("dvv_status", `{"limbId":"`+lab+`","member":7}`) // limbId wins
	})
}

// quiet_ms is the quiet that was seen, not the one that was asked for, and a
// wait for a connection that is not there says how it stands.
func TestWaitTellsWhatItSaw(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		g.ok("dvv_screen", `{}`)
		r := g.ok("dvv_wait", `{"until":"screen-stable","quietMs":5000,"timeoutMs":200}`)
		r.is("settled", false)
		r.is("observed.quiet_ms", 200)
		r = g.ok("dvv_wait", `{"until":"screen-stable","quietMs":300}`)
		r.is("settled", true)
		r.is("observed.quiet_ms", 300)
		if !slices.Contains(strings.Fields(r.text), "screen-stable") {
			t.Errorf("got %s", r.text)
		}
	})
}

// A person who only moved the mouse drives for a moment and has taken nothing:
// an agent that was asked to act here is not told to stop.
func TestAPersonAtTheMouse(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.opened("a")
		p := d.pane()
		p.Input(viewer.Pointer{X: 3, Y: 3})
		said := func(r reply) string {
			s, _, _ := strings.Cut(r.text, "```")
			return s
		}
		r := g.ok("dvv_status", `{}`)
		r.is("lease.human_took_over", true)
		if got := said(r); strings.Contains(got, "has taken") || !strings.Contains(got, "a person is driving") || !strings.Contains(got, "waitMs") {
			t.Errorf("status: %s", got)
		}
		for _, r := range []reply{
			g.refused(control.LeaseNotHeld, "dvv_click", `{"action":"click","x":1,"y":1}`),
			g.refused(control.LeaseNotHeld, "dvv_control", `{"action":"acquire","waitMs":0}`),
		} {
			if got := said(r); strings.Contains(got, "person (human)") || !strings.Contains(got, "a person") {
				t.Errorf("got %s", got)
			}
		}
		g.ok("dvv_control", `{"action":"acquire","waitMs":5000}`).is("held", true)
		p.Input(viewer.Pointer{X: 3, Y: 3, Buttons: viewer.Left})
		if got := said(g.ok("dvv_status", `{}`)); !strings.Contains(got, "has taken the wheel") {
			t.Errorf("status after a press: %s", got)
		}
	})
}
