package plane

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deskvnc/control"
	"deskvnc/control/grant"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// library is a host library in memory.
type library struct {
	saved, found []viewer.Target
	viewOnly     string // the id of a machine that is only looked at
}

func (l *library) Hosts() []viewer.Target                { return l.saved }
func (l *library) Discovered() []viewer.Target           { return l.found }
func (l *library) CredentialStored(t viewer.Target) bool { return t.HostID == "h_lab01" }

func (l *library) ViewOnly(t viewer.Target) bool { return t.HostID == l.viewOnly && t.HostID != "" }

// A desk is a plane over machines in memory.
type desk struct {
	testing.TB
	plane    *Plane
	engine   *engine.Engine
	driver   *driver
	machine  *machine // of h_lab01
	machines map[string]*machine
	library  *library
}

// newDesk has one saved machine, h_lab01 "lab", of 200 x 100 pixels.
func newDesk(t testing.TB) *desk {
	t.Helper()
	d := &desk{TB: t, machine: newMachine(200, 100)}
	d.machines = map[string]*machine{"10.0.0.5": d.machine}
	d.driver = &driver{machines: d.machines}
	d.library = &library{saved: []viewer.Target{{Protocol: viewer.VNC, Address: "10.0.0.5", Port: 5900, HostID: "h_lab01", Name: "lab"}}}
	d.engine = engine.New(engine.Config{Drivers: viewer.Registry{viewer.VNC: d.driver, viewer.SSH: d.driver, viewer.RDP: d.driver}})
	d.plane = New(Config{Engine: d.engine, Hosts: d.library, Version: "test"})
	p := d.plane
	t.Cleanup(func() {
		p.Close()
		d.engine.Close()
	})
	return d
}

// bubble runs a test on a desk in a world of its own, where time passes only
// when everybody waits.
func bubble(t *testing.T, fn func(t *testing.T, d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { fn(t, newDesk(t)) })
}

// add gives the desk one more saved machine.
func (d *desk) add(id, address string, w, h int) *machine {
	m := newMachine(w, h)
	d.driver.mu.Lock()
	d.machines[address] = m
	d.driver.mu.Unlock()
	d.library.saved = append(d.library.saved, viewer.Target{Protocol: viewer.VNC, Address: address, Port: 5900, HostID: id, Name: id})
	return m
}

// An agent is an attachment in a test.
type agent struct {
	*desk
	a *Attachment
}

func (d *desk) agent(label string, g grant.Grant) *agent {
	d.Helper()
	a, err := d.plane.Attach(label, g)
	if err != nil {
		d.Fatal(err)
	}
	return &agent{d, a}
}

// operator is an agent that may do everything, of its own authority.
func (d *desk) operator(label string) *agent {
	g, err := grant.Issue(grant.Spec{ID: "grant of " + label, Label: label, Capabilities: grant.Capabilities(), AnyHost: true})
	if err != nil {
		d.Fatal(err)
	}
	return d.agent(label, g)
}

// A reply is a tool result, decoded.
type reply struct {
	testing.TB
	raw        []byte
	text       string
	structured map[string]any
	images     []string
	isError    bool
}

// raw calls a tool and checks that its result is one that a face may show.
func (g *agent) raw(ctx context.Context, tool, args string) reply {
	g.Helper()
	return checked(g, tool, g.a.Call(ctx, tool, json.RawMessage(args)))
}

func checked(t testing.TB, tool string, raw []byte) reply {
	t.Helper()
	var out struct {
		Content []struct {
			Type, Text, Data, MimeType string
		}
		StructuredContent map[string]any
		IsError           bool
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s: %v in %.300s", tool, err, raw)
	}
	r := reply{TB: t, raw: raw, structured: out.StructuredContent, isError: out.IsError}
	for i, c := range out.Content {
		switch {
		case c.Type == "text" && i == 0:
			r.text = c.Text
		case c.Type == "image":
			r.images = append(r.images, c.Data)
		}
	}
	if strings.Contains(r.text, "base64") && tool != "dvv_files" || len(r.text) > 200_000 && tool != "dvv_files" {
		t.Errorf("%s: the text holds a picture", tool)
	}
	row, ok := control.RowByName(tool)
	if !ok {
		return r
	}
	if err := validate(control.OutputSchema(row), out.StructuredContent); err != nil {
		t.Errorf("%s: the result is not what its schema says: %v\n%.600s", tool, err, raw)
	}
	if !out.IsError {
		if err := validate([]byte(row.Output), out.StructuredContent); err != nil {
			t.Errorf("%s: the success is not what its schema says: %v\n%.600s", tool, err, raw)
		}
	}
	for _, name := range []string{"active_window", "app_name", "foreground_handle", "window_list", "z_order"} {
		if strings.Contains(string(raw), name) {
			t.Errorf("%s: the result names %s", tool, name)
		}
	}
	envelopes(t, tool, out.StructuredContent)
	return r
}

// envelopes walks a result: a value only when live, a reason only when not.
func envelopes(t testing.TB, tool string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if a, ok := v["availability"]; ok {
			_, has := v["value"]
			reason, _ := v["reason"].(string)
			if a != "live" && (has || reason == "") || a == "live" && reason != "" {
				t.Errorf("%s: a wrong envelope: %v", tool, v)
			}
		}
		for _, e := range v {
			envelopes(t, tool, e)
		}
	case []any:
		for _, e := range v {
			envelopes(t, tool, e)
		}
	}
}

// ok calls a tool that must succeed.
func (g *agent) ok(tool, args string) reply {
	g.Helper()
	r := g.raw(g.context(), tool, args)
	if r.isError {
		g.Fatalf("%s %s: %s", tool, args, r.text)
	}
	return r
}

// refused calls a tool that must refuse with a code.
func (g *agent) refused(code control.Code, tool, args string) reply {
	g.Helper()
	r := g.raw(g.context(), tool, args)
	if !r.isError || r.structured["code"] != string(code) {
		g.Fatalf("%s %s: got %v %.200s, want %s", tool, args, r.structured["code"], r.text, code)
	}
	if hint, _ := r.structured["hint"].(string); len(hint) < 10 {
		g.Errorf("%s: %s has no hint", tool, code)
	}
	return r
}

// context ends before the test binary does.
func (d *desk) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	d.Cleanup(cancel)
	return ctx
}

// get walks into the structured form: "limb.state.state".
func (r reply) get(path string) any {
	r.Helper()
	var v any = r.structured
	for _, key := range strings.Split(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[key]
		case []any:
			var i int
			if _, err := fmt.Sscanf(key, "%d", &i); err != nil || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// is checks fields of the structured form, given in pairs.
func (r reply) is(pairs ...any) {
	r.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		got, want := r.get(pairs[i].(string)), pairs[i+1]
		if n, ok := want.(int); ok {
			want = float64(n)
		}
		if got != want {
			r.Errorf("%s: got %v, want %v in %.600s", pairs[i], got, want, r.raw)
		}
	}
}

const lab = "lmb_vnc_5488651b4eec_0"

// opened is an agent at lab, connected and with its picture.
func (d *desk) opened(label string) *agent {
	d.Helper()
	g := d.operator(label)
	g.ok("dvv_open", `{"hostId":"h_lab01","perceive":true}`)
	g.ok("dvv_wait", `{"until":"connected"}`)
	return g
}

// driving is an agent at lab that has looked and holds the wheel.
func (d *desk) driving(label string) *agent {
	d.Helper()
	g := d.opened(label)
	g.ok("dvv_screen", `{}`)
	g.ok("dvv_control", `{"action":"acquire","reason":"testing"}`).is("held", true)
	d.machine.forget()
	return g
}

// pane is a person at lab.
func (d *desk) pane() *Pane {
	d.Helper()
	s := d.plane.sessionOf(lab)
	if s == nil {
		d.Fatal("no session")
	}
	n := d.plane.Pane(s)
	d.Cleanup(n.Close)
	return n
}

// await waits until ok, by asking again and again: for what no event tells.
func (d *desk) await(ok func() bool) {
	d.Helper()
	for start := time.Now(); !ok(); time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			d.Fatal("it never came")
		}
	}
}
