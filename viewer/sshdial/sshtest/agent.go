//go:build unix

package sshtest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Agent starts an ssh-agent that holds the keys in files, and makes it that of
// the test. An agent with no keys is none: SSH_AUTH_SOCK is emptied.
func Agent(t *testing.T, files ...string) {
	t.Helper()
	if len(files) == 0 {
		t.Setenv("SSH_AUTH_SOCK", "")
		return
	}
	Need(t, "ssh-agent", "ssh-add")
	dir, err := os.MkdirTemp("", "agent") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	cmd := exec.Command("ssh-agent", "-D", "-a", socket)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		os.RemoveAll(dir)
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it tells its socket when it is there
		t.Fatal(err)
	}
	t.Setenv("SSH_AUTH_SOCK", socket)
	for _, f := range files {
		add := exec.Command("ssh-add", "-q", f)
		if b, err := add.CombinedOutput(); err != nil {
			t.Fatalf("ssh-add: %v\n%s", err, strings.TrimSpace(string(b)))
		}
	}
}
