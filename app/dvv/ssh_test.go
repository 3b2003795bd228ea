//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskvnc/viewer/sshdial/sshtest"
)

// A terminal through the whole of dvv mcp: opened by its address, as the SSH
// configuration of the user says, run on, typed into, and a file fetched.
func TestTerminalOverStdio(t *testing.T) {
	home(t)
	mine := t.TempDir()
	t.Setenv("HOME", mine)
	t.Setenv("SSH_AUTH_SOCK", "")
	s := sshtest.Start(t, sshtest.Options{})
	known, err := os.ReadFile(s.KnownHosts())
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("Host 127.0.0.1\n  User %s\n  IdentityFile %s\n", s.User, s.KeyFile)
	os.Mkdir(filepath.Join(mine, ".ssh"), 0o700)
	for name, text := range map[string]string{"known_hosts": string(known), "config": config} {
		if err := os.WriteFile(filepath.Join(mine, ".ssh", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := t.TempDir()
	a := newAgent(t, "--allow", "exec", "--automation-write-root", out)
	a.do("dvv_open", "address", "127.0.0.1", "port", s.Port, "protocol", "ssh")
	if w := a.do("dvv_wait", "until", "connected", "timeoutMs", 25000); w.at("settled") != true {
		t.Fatalf("it does not connect: %v", w.Structured)
	}
	a.refused("LEASE_NOT_HELD", "dvv_run", "command", "true", "timeoutMs", 1000)
	a.do("dvv_control", "action", "acquire", "reason", "a test")
	r := a.do("dvv_run", "command", "echo out; echo err >&2; exit 3", "timeoutMs", 20000)
	if r.at("exit", "code") != 3.0 || r.at("stdout") != "out\n" || r.at("stderr") != "err\n" {
		t.Errorf("got %v", r.Structured)
	}
	a.do("dvv_term_send", "text", "echo $((6*7))-there\r")
	if w := a.do("dvv_wait", "until", "text", "text", "42-there", "timeoutMs", 25000); w.at("settled") != true {
		t.Errorf("got %v", w.Structured)
	}
	if text, _ := a.do("dvv_screen").at("text").(string); !strings.Contains(text, "42-there") {
		t.Errorf("got %q", text)
	}
	a.do("dvv_files", "action", "get", "path", "/etc/passwd", "to", filepath.Join(out, "passwd"))
	a.refused("POLICY_DENIED", "dvv_files", "action", "get", "path", "/etc/passwd", "to", filepath.Join(mine, "passwd"))
	a.refused("POLICY_DENIED", "dvv_files", "action", "put", "path", "/tmp/never", "from", filepath.Join(out, "passwd"))
	a.do("dvv_control", "action", "release")
}
