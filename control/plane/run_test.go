//go:build unix

package plane

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"deskvnc/control"
	"deskvnc/control/wheel"
	"deskvnc/viewer"
)

// The answer is the far side's own: code, signal, both outputs.
func TestRun(t *testing.T) {
	d := newSSH(t, 1)
	g := d.at("a")
	g.refused(control.LeaseNotHeld, "dvv_run", `{"command":"true","timeoutMs":1000}`)
	g.ok("dvv_control", `{"action":"acquire"}`)
	start := strings.TrimSpace(g.run("pwd").get("stdout").(string)) // where this account's logins begin
	r := g.run("pwd; echo err >&2; tty")
	r.is("outcome", "delivered", "exit.code", 1, "exit.signal", nil, "exit.source", "exec", "exit.unanswered", nil, "exit.why", nil,
		"stdout", start+"\nnot a tty\n", "stderr", "err\n", "stdoutBytes", len(start)+11, "stderrBytes", 4, "timedOut", false,
		"dropped.cap", 2<<20, "dropped.any", false, "dropped.stdout.bytes", 0, "dropped.stderr.lines", 0, "lease.held", true, "progress.kind", "delivered")
	if n := strings.Count(r.text, "<<<untrusted"); n != 2 || !strings.Contains(r.text, "exit code 1") {
		t.Errorf("got %s", r.text)
	}
	for _, code := range []int{0, 3, 127, 255} {
		g.run(fmt.Sprintf("exit %d", code)).is("exit.code", code, "outcome", "delivered", "stdout", "", "stderr", "")
	}
	for _, s := range []string{"KILL", "TERM", "SEGV"} {
		g.run("kill -"+s+" $$").is("exit.code", nil, "exit.signal", s, "exit.unanswered", nil, "outcome", "delivered")
	}
	// A fresh environment each time, and a directory that must be there.
	g.run("export KEPT=1; mkdir '" + d.home + "/a b'; cd /tmp")
	g.run("echo ${KEPT:-none}; pwd").is("stdout", "none\n"+start+"\n")
	g.run("pwd", `,"cwd":`+js(d.home+"/a b")).is("stdout", d.home+"/a b\n", "exit.code", 0)
	r = g.run("echo ran", `,"cwd":"not there"`)
	r.is("stdout", "")
	if r.get("exit.code") == 0.0 || r.get("stderr") == "" {
		t.Errorf("got %s", r.raw)
	}
	for _, args := range []string{
		`{"command":"true"}`, `{"command":"true","timeoutMs":0}`, `{"command":"","timeoutMs":1000}`, `{"command":" ","timeoutMs":1000}`,
		`{"command":"true","timeoutMs":1000,"maxOutputBytes":0}`, `{"command":"true","timeoutMs":1000,"maxOutputBytes":2097153}`,
		`{"command":"true","timeoutMs":1000,"cwd":""}`, `{"command":"a\u0000b","timeoutMs":1000}`,
	} {
		g.refused(control.BadRequest, "dvv_run", args)
	}
	// Something in the background does not hold the answer up.
	r = g.run("sleep 300 & echo $!")
	r.is("exit.code", 0, "background", true)
	g.run("kill "+r.get("stdout").(string)).is("exit.code", 0)
}

// Nothing is invented at the deadline, and the command is told to stop.
func TestRunDeadline(t *testing.T) {
	d := newSSH(t, 1)
	g := d.holding("a")
	mark := filepath.Join(d.home, "mark")
	r := g.ok("dvv_run", `{"command":`+js("echo begun; sleep 3; touch "+mark)+`,"timeoutMs":400}`)
	r.is("outcome", "timed-out", "timedOut", true, "exit.code", nil, "exit.signal", nil, "exit.unanswered", "deadline", "stdout", "begun\n", "reason", r.get("exit.why"))
	if _, err := os.Stat(mark); !os.IsNotExist(err) {
		t.Errorf("the command went on: %v", err)
	}
	g.run("true").is("exit.code", 0) // one after the other
}

// How much was left out, exactly, and cut between characters.
func TestRunOutput(t *testing.T) {
	d := newSSH(t, 1)
	g := d.holding("a")
	r := g.run("seq 1000", `,"maxOutputBytes":100`)
	text := r.get("stdout").(string)
	bytes, lines, after := int(r.get("dropped.stdout.bytes").(float64)), int(r.get("dropped.stdout.lines").(float64)), int(r.get("dropped.stdout.after").(float64))
	var all strings.Builder
	for i := 1; i <= 1000; i++ {
		fmt.Fprintln(&all, i)
	}
	whole := all.String()
	r.is("stdoutBytes", len(whole), "dropped.any", true, "dropped.cap", 100, "dropped.stderr.bytes", 0)
	if got := whole[:after] + whole[after+bytes:]; got != text || strings.Count(whole[after:after+bytes], "\n") != lines || len(text) > 100 {
		t.Errorf("%d bytes with %d lines after %d: %q", bytes, lines, after, text)
	}
	if !strings.Contains(r.text, fmt.Sprintf("[... %d bytes", bytes)) {
		t.Errorf("the text does not show the gap: %s", r.text)
	}
	for keep := 1; keep < 12; keep++ {
		r := g.run(`printf '\303\251\342\230\203\360\237\230\200\303\251\342\230\203\360\237\230\200'`, fmt.Sprintf(`,"maxOutputBytes":%d`, keep))
		text := r.get("stdout").(string)
		if dropped := int(r.get("dropped.stdout.bytes").(float64)); !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) || len(text)+dropped != 18 || r.get("stdoutBase64") != nil {
			t.Errorf("keep %d: got %q with %d dropped", keep, text, dropped)
		}
	}
	// What is no text is there byte for byte.
	r = g.run(`printf '\377\376\200x\000y'`)
	exact, err := base64.StdEncoding.DecodeString(r.get("stdoutBase64").(string))
	if err != nil || string(exact) != "\xff\xfe\x80x\x00y" || r.get("stdout") != "\ufffdx\x00y" {
		t.Errorf("got %q, %q, %v", exact, r.get("stdout"), err)
	}
}

// The largest output of the worst bytes still is one message, and its figures
// are right.
func TestRunOutputFitsOneMessage(t *testing.T) {
	d := newSSH(t, 1)
	g := d.holding("a")
	raw := g.a.Call(g.context(), "dvv_run", []byte(`{"command":"head -c 3000000 /dev/zero | tr '\\0' '\\1'; head -c 3000000 /dev/urandom >&2","timeoutMs":60000}`))
	if len(raw) > control.MaxMessage-1024 || bytes.ContainsRune(raw, '\n') {
		t.Fatalf("the result has %d bytes", len(raw))
	}
	var out struct {
		StructuredContent runAnswer
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	a := out.StructuredContent
	exact, err := base64.StdEncoding.DecodeString(a.StderrBase64)
	if err != nil || int64(len(exact))+a.Dropped.Stderr.Bytes != 3_000_000 || int64(len(a.Stdout))+a.Dropped.Stdout.Bytes != 3_000_000 || len(a.Stdout) < 200_000 {
		t.Errorf("%d and %d bytes are kept, dropped %+v: %v", len(a.Stdout), len(exact), a.Dropped, err)
	}
}

// One command at a time; a person who comes ends it, and what it printed so far
// is told.
func TestRunTakenOver(t *testing.T) {
	d := newSSH(t, 1)
	g := d.holding("a")
	n := d.person()
	mark := filepath.Join(d.home, "mark")
	got := make(chan reply, 1)
	go func() {
		got <- g.raw(g.context(), "dvv_run", `{"command":`+js("echo begun; touch "+mark+"; sleep 60")+`,"timeoutMs":90000}`)
	}()
	d.await(func() bool { _, err := os.Stat(mark); return err == nil })
	g.refused(control.IntentInFlight, "dvv_run", `{"command":"true","timeoutMs":1000}`)
	g.refused(control.IntentInFlight, "dvv_term_send", `{"text":"x"}`)
	g.ok("dvv_status", `{}`)
	n.TakeWheel()
	r := <-got
	if !r.isError {
		t.Fatalf("got %s", r.text)
	}
	r.is("code", "LEASE_REVOKED", "settlement.outcome", "superseded", "settlement.stdout", "begun\n", "settlement.exit.code", nil, "settlement.exit.unanswered", "cancelled")
	g.refused(control.LeaseRevoked, "dvv_run", `{"command":"true","timeoutMs":1000}`)
	g.refused(control.LeaseRevoked, "dvv_term_send", `{"text":"x"}`)
	g.refused(control.LeaseRevoked, "dvv_files", `{"action":"list"}`)
	g.ok("dvv_control", `{"action":"yield_status"}`).is("control_yield.human_took_over", true)
	n.HandBack()
	g.ok("dvv_control", `{"action":"acquire"}`).is("held", true)
	g.run("echo again").is("stdout", "again\n")
}

// A command outlives the time after which a holder that does nothing loses the
// wheel: running is doing.
func TestRunKeepsTheWheel(t *testing.T) {
	d := newSSH(t, 1)
	g := d.holding("a")
	st := g.a.list()[0]
	got := make(chan reply, 1)
	go func() { got <- g.run("sleep 12") }()
	d.await(func() bool { return len(acting(st.limb)) == 1 })
	var first time.Time
	left := func() (at time.Time) {
		st.limb.steer(func(w *wheel.Wheel, _ time.Time) { at, _ = w.Next() })
		return at
	}
	first = left()
	(<-got).is("exit.code", 0)
	if !left().After(first) {
		t.Errorf("the lease still ends at %v", first)
	}
}

func acting(l *limb) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ids []string
	for id := range l.acts {
		ids = append(ids, id)
	}
	return ids
}

// A lost link is told as such, and so is closing.
func TestRunLinkLost(t *testing.T) {
	d := newSSH(t, 1)
	g := d.holding("a")
	mark := filepath.Join(d.home, "mark")
	got := make(chan reply, 1)
	long := func() {
		os.Remove(mark)
		go func() {
			got <- g.raw(g.context(), "dvv_run", `{"command":`+js("echo begun; touch "+mark+"; sleep 60")+`,"timeoutMs":90000}`)
		}()
		d.await(func() bool { _, err := os.Stat(mark); return err == nil })
	}
	long()
	d.server.KillConnections()
	r := <-got
	r.is("outcome", "link-lost", "exit.code", nil, "exit.signal", nil, "exit.unanswered", "link-lost", "stdout", "begun\n", "timedOut", false)
	g.ok("dvv_wait", `{"until":"connected","timeoutMs":25000}`).is("settled", true)
	g.ok("dvv_control", `{"action":"acquire"}`)
	long()
	g.ok("dvv_close", `{"limbId":`+js(control.LimbID(d.library.saved[0], 0))+`}`)
	if r := <-got; r.get("outcome") != "cancelled" {
		t.Errorf("got %s", r.raw)
	}
}

// The same command on every member of a group at once.
func TestGroupRunsCommands(t *testing.T) {
	d := newSSH(t, 3)
	g := d.operator("a")
	g.ok("dvv_group_open", `{"hostIds":["h_term0","h_term1","h_term2"]}`)
	for i := range 3 {
		sel := fmt.Sprintf(`{"groupId":"grp_1","member":%d`, i)
		g.ok("dvv_wait", sel+`,"until":"connected","timeoutMs":25000}`).is("settled", true)
		if i < 2 {
			g.ok("dvv_control", sel+`,"action":"acquire"}`)
		}
	}
	// All start before any finishes: each waits for the others' marks.
	r := g.ok("dvv_group_run", `{"groupId":"grp_1","action":"run","arguments":{"command":"touch m.$PPID; while [ $(ls m.* | wc -l) -lt 2 ]; do sleep 0.02; done; echo done","cwd":`+js(d.home)+`,"timeoutMs":20000}}`)
	for i := range 2 {
		r.is(fmt.Sprintf("results.%d.result.structuredContent.stdout", i), "done\n", fmt.Sprintf("results.%d.result.structuredContent.exit.code", i), 0)
	}
	r.is("results.2.result.isError", true, "results.2.result.structuredContent.code", "LEASE_NOT_HELD")
	g.ok("dvv_group_run", `{"groupId":"grp_1","action":"screen"}`)
	raw := g.a.Call(g.context(), "dvv_group_run", []byte(`{"groupId":"grp_1","action":"run","arguments":{"command":"yes | head -c 4000000","timeoutMs":20000}}`))
	if len(raw) > control.MaxMessage-1024 {
		t.Errorf("the result has %d bytes", len(raw))
	}
}

func TestCutOutput(t *testing.T) {
	whole := "aé\nb☃\nc😀\nd"
	for n := range len(whole) + 2 {
		o := cutOutput(viewer.Output{Head: []byte(whole), Bytes: int64(len(whole))}, n)
		left := string(o.Head) + string(o.Tail)
		gone := whole[len(o.Head) : len(whole)-len(o.Tail)]
		if len(left) > n && n <= len(whole) || !utf8.ValidString(left) || !strings.HasPrefix(whole, string(o.Head)) || !strings.HasSuffix(whole, string(o.Tail)) ||
			int64(len(gone)) != o.Dropped || int64(strings.Count(gone, "\n")) != o.Lines {
			t.Errorf("%d: %q and %q, %d bytes with %d lines dropped", n, o.Head, o.Tail, o.Dropped, o.Lines)
		}
		again := cutOutput(o, n/2)
		if int64(kept(again))+again.Dropped != int64(len(whole)) {
			t.Errorf("%d: cut again %+v", n, again)
		}
	}
}

// A command from call to result, on a limb that is open.
func BenchmarkRunTrue(b *testing.B) {
	d := newSSH(b, 1)
	g := d.holding("a")
	took := make([]time.Duration, 0, 1024)
	b.ResetTimer()
	for range b.N {
		start := time.Now()
		g.a.Call(b.Context(), "dvv_run", []byte(`{"command":"true","timeoutMs":10000}`))
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
}
