//go:build unix

package plane

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"deskvnc/control"
	"deskvnc/control/grant"
	"deskvnc/viewer"
	"deskvnc/viewer/drivers"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/sshdial/sshtest"
)

// A sshDesk is a plane over real OpenSSH servers.
type sshDesk struct {
	*desk
	server *sshtest.Server
	home   string // of the login
}

// newSSH is a plane with count saved machines, all the same server: each is a
// login of its own with a plain shell.
func newSSH(t testing.TB, count int) *sshDesk {
	t.Helper()
	home := t.TempDir()
	s := sshtest.Start(t, sshtest.Options{Config: []string{"SetEnv HOME=" + home, "MaxSessions 20"}})
	mine := t.TempDir()
	if err := os.Mkdir(filepath.Join(mine, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	known, err := os.ReadFile(s.KnownHosts())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(mine, ".ssh", "known_hosts"), known, 0o600); err != nil {
		t.Fatal(err)
	}
	if tt, ok := t.(interface{ Setenv(string, string) }); ok {
		tt.Setenv("HOME", mine)
		tt.Setenv("SSH_AUTH_SOCK", "")
	}
	d := &sshDesk{desk: &desk{TB: t, library: &library{}}, server: s, home: home}
	for i := range count {
		to := s.Target()
		to.HostID, to.Name = fmt.Sprintf("h_term%d", i), fmt.Sprintf("term%d", i)
		to.SSH = &viewer.SSHSettings{KeyFile: s.KeyFile, NoAgent: true, NoConfig: true, Command: "cd; PS1='$ ' exec sh -i"}
		d.library.saved = append(d.library.saved, to)
	}
	d.engine = engine.New(engine.Config{Drivers: drivers.Registry()})
	d.plane = New(Config{Engine: d.engine, Hosts: d.library, Version: "test"})
	t.Cleanup(func() {
		d.plane.Close()
		d.engine.Close()
	})
	return d
}

// at is an agent at the first terminal, which shows its prompt.
func (d *sshDesk) at(label string) *agent {
	d.Helper()
	g := d.operator(label)
	g.ok("dvv_open", `{"hostId":"h_term0"}`)
	g.ok("dvv_wait", `{"until":"connected","timeoutMs":25000}`).is("settled", true)
	g.ok("dvv_wait", `{"until":"text","text":"$","timeoutMs":25000}`).is("settled", true)
	return g
}

// holding is an agent at the first terminal that has the wheel.
func (d *sshDesk) holding(label string) *agent {
	d.Helper()
	g := d.at(label)
	g.ok("dvv_control", `{"action":"acquire","reason":"testing"}`).is("held", true)
	return g
}

func js(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// run runs a command that must come to a result.
func (g *agent) run(command string, more ...string) reply {
	g.Helper()
	return g.ok("dvv_run", `{"command":`+js(command)+`,"timeoutMs":20000`+strings.Join(more, "")+`}`)
}

// person is a person at the first terminal.
func (d *sshDesk) person() *Pane {
	d.Helper()
	n := d.plane.Pane(d.engine.Sessions()[0])
	d.Cleanup(n.Close)
	return n
}

// What a terminal is told to be: cells, live values, its own offers.
func TestTerminalIsObserved(t *testing.T) {
	d := newSSH(t, 1)
	g := d.at("a")
	r := g.ok("dvv_status", `{}`)
	r.is("protocol", "ssh", "geometry.space.unit", "cells", "geometry.space.width", 120, "geometry.space.height", 40,
		"terminal.cols", 120, "terminal.rows", 40, "terminal.alt_screen.value", false, "terminal.mouse_reporting.value", false,
		"terminal.cursor.value.x", 2, "terminal.title.availability", "unknown", "damage.availability", "unknown",
		"signals.alt_screen.availability", "live", "signals.resize.availability", "live", "signals.copy_rect.availability", "unknown")
	generation := r.get("geometry.generation").(float64)
	card := g.ok("dvv_limbs", `{}`)
	card.is("limbs.0.grounding", "cells", "limbs.0.has_mirror", false, "limbs.0.size.width", 120, "limbs.0.geometry_generation", int(generation))
	if got, want := fmt.Sprint(card.get("limbs.0.offers")), "[view control close hosts.read terminal.read terminal.write exec]"; got != want {
		t.Errorf("offers %s, want %s", got, want)
	}
	g.ok("dvv_control", `{"action":"acquire"}`)
	g.ok("dvv_term_send", `{"text":"printf '\\033]0;my window\\007\\033[?1049h\\033[?2004h\\033[?1002hFULL'; read x\r"}`)
	g.ok("dvv_wait", `{"until":"text","text":"FULL","timeoutMs":25000}`).is("settled", true)
	g.ok("dvv_status", `{}`).is("terminal.alt_screen.value", true, "terminal.bracketed_paste.value", true,
		"terminal.mouse_reporting.value", true, "terminal.title.value", "my window", "desktop_name.value", "my window")
	// Every change of size is another space.
	s := d.engine.Sessions()[0]
	if err := s.Resize(d.context(), 100, 30); err != nil {
		t.Fatal(err)
	}
	g.refused(control.GeometryChanged, "dvv_click", fmt.Sprintf(`{"action":"click","x":1,"y":1,"generation":%v}`, generation))
	if err := s.Resize(d.context(), 120, 40); err != nil {
		t.Fatal(err)
	}
	g.refused(control.GeometryChanged, "dvv_click", fmt.Sprintf(`{"action":"click","x":1,"y":1,"generation":%v}`, generation))
	g.refused(control.GeometryChanged, "dvv_click", `{"action":"click","x":1,"y":1}`)
}

// The forms of a look at a terminal.
func TestTerminalScreen(t *testing.T) {
	d := newSSH(t, 1)
	g := d.holding("a")
	g.ok("dvv_type", `{"text":"clear; printf 'one\\ntwo\\nthr\\303\\251e\\n'\n"}`).is("outcome", "delivered")
	g.ok("dvv_wait", `{"until":"text","text":"one\ntwo\nthrée\n$","timeoutMs":25000}`).is("settled", true)
	r := g.ok("dvv_screen", `{}`)
	r.is("text", "one\ntwo\nthrée\n$", "bytes", 16, "screen.rung", "frame", "screen.coverage", "complete",
		"observation.frame.form", "full", "observation.frame.space_rect.w", 120, "observation.damage.value.rects", 0)
	if len(r.images) != 0 || !strings.Contains(r.text, "<<<untrusted") || !strings.Contains(r.text, "\none\ntwo\nthrée\n$\n<<<end untrusted") {
		t.Errorf("got %s", r.text)
	}
	g.ok("dvv_screen", `{"form":"damage-crop"}`).is("screen", nil, "text", nil)
	g.ok("dvv_term_send", `{"text":"echo 'now'\r"}`)
	g.ok("dvv_wait", `{"until":"text","text":"\nnow\n","timeoutMs":25000}`).is("settled", true)
	g.ok("dvv_status", `{}`).is("damage.value.union.y", 3) // which takes nothing
	r = g.ok("dvv_screen", `{"form":"damage-crop"}`)
	r.is("screen.rung", "change", "screen.damage.0.y", 3, "text", "$ echo 'now'\nnow\n$")
	g.ok("dvv_screen", `{"form":"region","region":{"x":2,"y":2,"w":3,"h":1}}`).is("text", "rée", "screen.rung", "region")
	g.refused(control.OutOfBounds, "dvv_screen", `{"form":"region","region":{"x":118,"y":2,"w":3,"h":1}}`)
	g.refused(control.BadRequest, "dvv_screen", `{"region":{"x":2,"y":2,"w":3,"h":1}}`)
	// What it left stays to be read when the program has ended.
	g.ok("dvv_term_send", `{"text":"exit 3\r"}`)
	g.ok("dvv_wait", `{"until":"exit","timeoutMs":25000}`).is("settled", true, "exit.code", 3, "observation.state.state", "disconnected")
	if r := g.ok("dvv_screen", `{}`); !strings.Contains(r.get("text").(string), "exit 3") || !strings.Contains(r.text, "exit code 3") {
		t.Errorf("got %s", r.text)
	}
	g.refused(control.LimbGone, "dvv_type", `{"text":"x"}`)
	g.ok("dvv_reconnect", `{"timeoutMs":25000}`).is("connected", true)
}

func TestTerminalWaits(t *testing.T) {
	d := newSSH(t, 1)
	g := d.holding("a")
	g.refused(control.BadRequest, "dvv_wait", `{"until":"text","text":""}`)
	g.refused(control.BadRequest, "dvv_wait", `{"until":"text","text":"`+strings.Repeat("x", maxWaitText+1)+`"}`)
	r := g.ok("dvv_wait", `{"until":"text","text":"never there","timeoutMs":30}`)
	r.is("settled", false, "reason", "TIMEOUT", "clampedMs", 25000, "observed.signal", "output-bytes")
	// A text that scrolled out of sight in one burst is found all the same, and
	// one that is gone is gone.
	got := make(chan reply, 1)
	go func() { got <- g.ok("dvv_wait", `{"until":"text","text":"BUILD OK","timeoutMs":25000}`) }()
	g.ok("dvv_term_send", `{"text":"sleep 0.3; x=BUILD; echo $x OK; seq 2000\r"}`)
	(<-got).is("settled", true)
	g.ok("dvv_wait", `{"until":"text","text":"2000\n$","timeoutMs":25000}`).is("settled", true)
	g.ok("dvv_wait", `{"until":"text-gone","text":"BUILD OK","timeoutMs":25000}`).is("settled", true)
	g.ok("dvv_wait", `{"until":"text-gone","text":"2000","timeoutMs":30}`).is("settled", false)
	g.ok("dvv_wait", `{"until":"idle","quietMs":50,"timeoutMs":25000}`).is("settled", true)
	go func() { got <- g.ok("dvv_wait", `{"until":"screen-changed","timeoutMs":25000}`) }()
	g.ok("dvv_term_send", `{"text":"sleep 0.2; echo x; sleep 0.2; echo yy\r"}`)
	(<-got).is("settled", true)
	r = g.ok("dvv_wait", `{"until":"idle","quietMs":400,"timeoutMs":25000}`)
	r.is("settled", true)
	if n := r.get("observed.bytes").(float64); n < 3 {
		t.Errorf("%v bytes were seen", n)
	}
	// A line that wraps is one line.
	g.ok("dvv_term_send", `{"text":"clear; printf '%0130dEND\\n' 0\r"}`)
	g.ok("dvv_wait", `{"until":"text","text":"`+strings.Repeat("0", 130)+`END","timeoutMs":25000}`).is("settled", true)
	// The end of the program ends the wait for its words.
	go func() {
		got <- g.raw(g.context(), "dvv_wait", `{"until":"text","text":"never there","timeoutMs":25000}`)
	}()
	g.ok("dvv_term_send", `{"text":"kill -9 $$\r"}`)
	if r := <-got; !r.isError {
		t.Errorf("got %s", r.text)
	}
	g.ok("dvv_wait", `{"until":"exit"}`).is("settled", true, "exit.signal", "KILL", "exit.code", nil)
}

func TestTerminalKeys(t *testing.T) {
	d := newSSH(t, 1)
	g := d.at("a")
	g.refused(control.LeaseNotHeld, "dvv_type", `{"text":"x"}`)
	g.refused(control.LeaseNotHeld, "dvv_key", `{"keys":"Enter"}`)
	g.refused(control.LeaseNotHeld, "dvv_term_send", `{"text":"x"}`)
	g.ok("dvv_control", `{"action":"acquire"}`)
	// No look is needed, and Return goes once for CR LF.
	g.ok("dvv_type", `{"text":"cat -v\r\n"}`).is("outcome", "delivered", "progress.kind", "code-points", "progress.count", 8)
	g.ok("dvv_type", `{"text":"é ok\t|"}`).is("progress.count", 6)
	for _, k := range []string{"ArrowUp", "F5", "alt+b", "shift+a"} {
		g.ok("dvv_key", `{"keys":"`+k+`"}`).is("outcome", "delivered")
	}
	g.ok("dvv_key", `{"keys":"Enter"}`)
	g.ok("dvv_wait", `{"until":"text","text":"M-CM-) ok\t","timeoutMs":50}`)
	g.ok("dvv_wait", `{"until":"text","text":"|^[[A^[[15~^[bA\n","timeoutMs":25000}`).is("settled", true)
	g.ok("dvv_key", `{"keys":"ctrl+c"}`).is("resolved.0", "ctrl => ControlLeft")
	g.ok("dvv_wait", `{"until":"text","text":"^C\n$","timeoutMs":25000}`).is("settled", true)
	g.refused(control.NotExpressible, "dvv_key", `{"keys":"shift"}`)
	g.refused(control.NotExpressible, "dvv_type", `{"text":""}`)
	g.refused(control.UnknownKey, "dvv_key", `{"keys":"Frob"}`)
	g.refused(control.WrongProtocol, "dvv_click", `{"action":"click","x":1,"y":1}`)
	// A program that asks for the mouse gets clicks, in cells.
	g.ok("dvv_term_send", `{"text":"printf '\\033[?1000h\\033[?1006hREADY'; cat -v\r"}`)
	g.ok("dvv_wait", `{"until":"text","text":"READY\n","timeoutMs":50}`)
	g.ok("dvv_wait", `{"until":"idle","quietMs":200,"timeoutMs":25000}`)
	g.refused(control.OutOfBounds, "dvv_click", `{"action":"click","x":120,"y":1,"generation":`+js(g.ok("dvv_status", `{}`).get("geometry.generation"))+`}`)
	g.ok("dvv_click", `{"action":"click","x":9,"y":4}`).is("outcome", "delivered")
	g.ok("dvv_click", `{"action":"scroll","x":9,"y":4,"direction":"down"}`).is("outcome", "delivered")
	g.ok("dvv_wait", `{"until":"text","text":"^[[<0;10;5M^[[<0;10;5m^[[<65;10;5M","timeoutMs":25000}`).is("settled", true)
}

func TestTermSendAndRead(t *testing.T) {
	d := newSSH(t, 1)
	g := d.holding("a")
	for _, args := range []string{`{}`, `{"text":""}`, `{"bytesHex":"0"}`, `{"bytesHex":"zz"}`, `{"bytesHex":""}`} {
		g.refused(control.BadRequest, "dvv_term_send", args)
	}
	g.ok("dvv_term_send", `{"bytesHex":"65 63 68 6f 20\n68 69","text":"ignored"}`).is("outcome", "delivered", "progress.count", 7)
	g.ok("dvv_term_send", `{"bytesHex":"0D"}`)
	g.ok("dvv_wait", `{"until":"text","text":"\nhi\n$","timeoutMs":25000}`).is("settled", true)
	r := g.ok("dvv_term_read", `{}`)
	r.is("text", "$ echo hi\nhi\n$", "lost", 0, "more", false, "unfinished", true, "altScreen", false)
	since := func(r reply) string { return `{"since":` + js(r.get("cursor")) + `}` }
	r = g.ok("dvv_term_read", since(r))
	r.is("text", "")
	g.ok("dvv_term_send", `{"text":"seq 100\r"}`)
	g.ok("dvv_wait", `{"until":"text","text":"\n100\n$","timeoutMs":25000}`).is("settled", true)
	r = g.ok("dvv_term_read", since(r))
	if got := r.get("text").(string); !strings.HasPrefix(got, "$ seq 100\n1\n2\n") || !strings.HasSuffix(got, "\n99\n100\n$") || !strings.Contains(r.text, "<<<untrusted") {
		t.Errorf("got %q", got)
	}
	// What scrolled out of reach is counted, not made up; a long text comes in
	// parts that join.
	g.ok("dvv_term_send", `{"text":"seq -f %060.0f 1 15000\r"}`)
	g.ok("dvv_wait", `{"until":"text","text":"15000\n$","timeoutMs":25000}`).is("settled", true)
	r = g.ok("dvv_term_read", since(r))
	if lost := r.get("lost").(float64); lost < 4000 || lost > 6000 {
		t.Errorf("%v lines are lost", lost)
	}
	r.is("more", true)
	all := r.get("text").(string)
	for r.get("more") == true {
		r = g.ok("dvv_term_read", since(r))
		r.is("lost", 0)
		all += r.get("text").(string)
	}
	lines := strings.Split(all, "\n")
	for i := range lines[1 : len(lines)-2] {
		a, _ := strconv.Atoi(lines[i])
		b, _ := strconv.Atoi(lines[i+1])
		if b != a+1 {
			t.Fatalf("line %d is %q and the next %q", i, lines[i], lines[i+1])
		}
	}
	g.refused(control.BadRequest, "dvv_term_read", `{"since":"12"}`)
	g.refused(control.BadRequest, "dvv_term_read", `{"since":"another:1.2.3"}`)
}

// A grant without the capability gets nothing, whatever it holds beside it.
func TestTerminalCapabilities(t *testing.T) {
	d := newSSH(t, 1)
	d.at("first")
	without := func(c string) *agent {
		var caps []string
		for _, o := range grant.Capabilities() {
			if o != c {
				caps = append(caps, o)
			}
		}
		g, err := grant.Issue(grant.Spec{ID: "no " + c, Label: "no " + c, Capabilities: caps, AnyHost: true})
		if err != nil {
			t.Fatal(err)
		}
		return d.agent("no "+c, g)
	}
	limb := control.LimbID(d.library.saved[0], 0)
	for _, c := range []struct{ capability, tool, args string }{
		{"exec", "dvv_run", `"command":"true","timeoutMs":1000`},
		{"terminal.read", "dvv_term_read", ``},
		{"terminal.read", "dvv_screen", ``},
		{"terminal.write", "dvv_term_send", `"text":"x"`},
		{"control", "dvv_key", `"keys":"a"`},
		{"files.read", "dvv_files", `"action":"home"`},
		{"files.read", "dvv_files", `"action":"list"`},
		{"files.read", "dvv_files", `"action":"get","path":"x"`},
		{"files.write", "dvv_files", `"action":"put","path":"x","contentBase64":""`},
		{"files.write", "dvv_files", `"action":"mkdir","path":"x"`},
		{"files.write", "dvv_files", `"action":"remove","path":"x"`},
		{"files.write", "dvv_files", `"action":"rename","path":"x","to":"y"`},
	} {
		args := `{"limbId":"` + limb + `"`
		if c.args != "" {
			args += "," + c.args
		}
		r := without(c.capability).refused(control.PolicyDenied, c.tool, args+"}")
		if !strings.Contains(r.text, c.capability) {
			t.Errorf("%s: the refusal does not name %s: %s", c.tool, c.capability, r.text)
		}
	}
	// Looking needs no lease and no picture.
	g := without("capture")
	g.ok("dvv_screen", `{"limbId":"`+limb+`"}`)
}
