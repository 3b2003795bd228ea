package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/sample"
)

// An MCP client starts its servers long before anybody opens a window, and
// keeps them when the window goes.
func TestWindowComesAndGoes(t *testing.T) {
	home(t)
	port := freePort(t)
	a := newAgent(t, "--connect", port)
	if r := a.refused("NOT_IMPLEMENTED", "dvv_limbs"); !strings.Contains(r.raw, "deskvnc --control "+port) || !strings.Contains(r.raw, "nothing was sent") {
		t.Errorf("it does not say how to start a window: %s", r.raw)
	}
	a.send(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}` + "\n")
	if l := a.line(); strings.Count(l, `"inputSchema"`) != 25 {
		t.Errorf("the tools are not listed without a window: %.200s", l)
	}
	for range 2 {
		w := newWindow(t, port)
		a.do("dvv_limbs")
		if n := len(w.plane.Attachments()); n != 1 || w.plane.Attachments()[0].Label != "tester" {
			t.Errorf("got %d attachments: %+v", n, w.plane.Attachments())
		}
		a.refused("BAD_REQUEST", "dvv_limbs", "x", 1)
		w.close()
		a.refused("NOT_IMPLEMENTED", "dvv_limbs")
	}
}

// Two agents are two attachments; each has as many calls at once as it likes.
func TestTwoAgents(t *testing.T) {
	home(t)
	w := newWindow(t, "auto")
	a, b := newAgent(t, "--connect", "auto"), newAgent(t, "--connect", "auto")
	a.do("dvv_open", "hostId", "sample", "perceive", true)
	a.do("dvv_wait", "until", "connected")
	b.do("dvv_limbs")
	if n := len(w.plane.Attachments()); n != 2 {
		t.Errorf("got %d attachments, want 2", n)
	}
	a.do("dvv_control", "action", "acquire", "reason", "a test")
	waits := 0
	for i := range 20 {
		a.send(toolLine(1000+i, "dvv_wait", `{"until":"screen-stable","quietMs":400,"timeoutMs":20000}`))
		waits++
	}
	for ; waits > 0; waits-- {
		if l := a.line(); !strings.Contains(l, `"settled":true`) {
			t.Errorf("got %.300s", l)
		}
	}
	r := b.call("dvv_control", "action", "acquire", "limbId", limbOf(t, b), "waitMs", 0)
	if r.Structured["code"] != "LEASE_NOT_HELD" && r.at("held") != false {
		t.Errorf("both agents hold the wheel: %v", r.Structured)
	}
}

// limbOf is the id of the only session there is.
func limbOf(t *testing.T, a *agent) string {
	t.Helper()
	var r struct {
		Limbs, Available []struct {
			ID string `json:"limb_id"`
		}
	}
	b, err := json.Marshal(a.do("dvv_limbs").Structured)
	if err != nil || json.Unmarshal(b, &r) != nil {
		t.Fatal(err)
	}
	if all := append(r.Limbs, r.Available...); len(all) == 1 {
		return all[0].ID
	}
	t.Fatalf("got %s", b)
	return ""
}

// A cancelled call stops on the machine, in a window as well as here, and is
// not answered.
func TestCancelStopsTheMachine(t *testing.T) {
	home(t)
	newWindow(t, "auto")
	for name, args := range map[string][]string{"headless": {"--sample"}, "connected": {"--connect", "auto"}} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, args...)
			a.do("dvv_open", "hostId", "sample", "perceive", true)
			a.do("dvv_wait", "until", "connected")
			a.do("dvv_control", "action", "acquire", "reason", "a test")
			a.do("dvv_screen") // until the whole picture has come once
			a.do("dvv_wait", "until", "screen-stable", "quietMs", 500, "timeoutMs", 20000)
			a.do("dvv_screen")
			a.send(toolLine(500, "dvv_type", `{"text":"`+strings.Repeat("x", 5000)+`","wpm":60}`))
			a.send(toolLine(501, "dvv_wait", `{"until":"screen-changed","timeoutMs":25000}`)) // it types
			if l := a.line(); !strings.Contains(l, `"id":501`) {
				t.Fatalf("got %.300s", l)
			}
			a.refused("INTENT_IN_FLIGHT", "dvv_key", "keys", "Tab")
			a.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":500,"reason":"a test"}}` + "\n")
			for end := time.Now().Add(patience); ; {
				r := a.call("dvv_key", "keys", "Tab") // a late reply to 500 would fail here
				if !r.IsError {
					break
				}
				if r.Structured["code"] != "INTENT_IN_FLIGHT" || time.Now().After(end) {
					t.Fatalf("got %v", r.Structured)
				}
			}
		})
	}
}

// The machine cannot be reached, or asks for what only a person knows: the
// agent is told at once what it is.
func TestMachinesThatDoNotOpen(t *testing.T) {
	home(t)
	locked, err := sample.Start(sample.Options{Password: viewer.NewSecret([]byte("open-sesame"))})
	if err != nil {
		t.Fatal(err)
	}
	defer locked.Close()
	target := locked.Targets()[0]
	for name, c := range map[string]struct {
		port int
		want string
	}{
		"password": {target.Port, "CREDENTIALS_REQUIRED"},
		"nobody":   {atoi(t, freePort(t)), "refused the connection"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t)
			if r := a.call("dvv_open", "address", "127.0.0.1", "port", c.port, "protocol", "vnc"); !r.IsError {
				r = a.call("dvv_wait", "until", "connected", "timeoutMs", 20000)
				if !strings.Contains(r.raw, c.want) {
					t.Errorf("got %s, want %s in it", r.raw, c.want)
				}
			} else if !strings.Contains(r.raw, c.want) {
				t.Errorf("got %s, want %s in it", r.raw, c.want)
			}
		})
	}
	a := newAgent(t, "--hosts", "lab01,10.0.0.5")
	a.refused("POLICY_DENIED", "dvv_open", "address", "127.0.0.1", "port", target.Port, "protocol", "vnc")
	a.refused("BAD_REQUEST", "dvv_open", "address", "127.0.0.1", "protocol", "ssh", "password", "x")
}

func atoi(t *testing.T, s string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// ended waits for a process and gives its exit code.
func ended(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
		return cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		<-done
		t.Fatal("the program does not end")
		return -1
	}
}

// start starts dvv as a process, with a call that waits when busy is set.
func start(t *testing.T, busy bool) (cmd *exec.Cmd, a *agent, out io.ReadCloser) {
	t.Helper()
	cmd = program(t, "mcp", "--sample")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	a = listen(t, in, out)
	a.greet()
	if busy {
		a.do("dvv_open", "hostId", "sample", "perceive", true)
		a.do("dvv_wait", "until", "connected")
		a.send(toolLine(9000, "dvv_wait", `{"until":"text","text":"never","timeoutMs":25000}`))
		a.send(toolLine(9001, "dvv_wait", `{"until":"screen-stable","quietMs":24000,"timeoutMs":25000}`))
		a.send(toolLine(9002, "dvv_limbs", `{}`))
		for !strings.Contains(a.line(), `"id":9002`) {
		}
	}
	return cmd, a, out
}

func TestProcessEnds(t *testing.T) {
	home(t)
	for _, busy := range []bool{false, true} {
		for name, end := range map[string]func(*exec.Cmd, *agent, io.ReadCloser){
			"end of input": func(_ *exec.Cmd, a *agent, _ io.ReadCloser) { _ = a.in.Close() },
			"SIGTERM":      func(cmd *exec.Cmd, _ *agent, _ io.ReadCloser) { _ = cmd.Process.Signal(syscall.SIGTERM) },
			"SIGINT":       func(cmd *exec.Cmd, _ *agent, _ io.ReadCloser) { _ = cmd.Process.Signal(os.Interrupt) },
			"nobody reads": func(_ *exec.Cmd, a *agent, out io.ReadCloser) {
				_ = out.Close()
				_, _ = io.WriteString(a.in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
			},
		} {
			t.Run(fmt.Sprintf("%s busy=%v", name, busy), func(t *testing.T) {
				if runtime.GOOS == "windows" && strings.HasPrefix(name, "SIG") {
					t.Skip("there are no signals to send here")
				}
				cmd, a, out := start(t, busy)
				end(cmd, a, out)
				if code := ended(t, cmd); code != 0 {
					t.Errorf("got exit code %d, want 0", code)
				}
			})
		}
	}
}

// What a file holds is answered to its last line, which needs no newline.
func TestInputFromAFile(t *testing.T) {
	home(t)
	var in strings.Builder
	for i := range 30 {
		in.WriteString(toolLine(i, "dvv_hosts", "{}"))
	}
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte(strings.TrimSuffix(in.String(), "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := program(t, "mcp", "--sample")
	cmd.Stdin = f
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	ids := map[int]bool{}
	for s := bufio.NewScanner(strings.NewReader(string(out))); s.Scan(); {
		var r struct{ ID int }
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Errorf("%q on standard output: %v", s.Text(), err)
		}
		ids[r.ID] = true
	}
	if len(ids) != 30 {
		t.Errorf("got replies to %d calls of 30", len(ids))
	}
}
