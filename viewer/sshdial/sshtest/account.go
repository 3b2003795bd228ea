//go:build unix

package sshtest

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Account makes a user of this computer for the test, which an OpenSSH server
// with "UsePAM yes" lets in by password. It takes root; others are skipped.
func Account(t testing.TB) (name, password string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, NOTHING IS TESTED: only root can make an account for the test")
	}
	Need(t, "useradd", "userdel", "openssl")
	b := make([]byte, 4)
	rand.Read(b)
	name = "dvtest-" + hex.EncodeToString(b)
	password = "pass word-" + hex.EncodeToString(b)
	hash, err := exec.Command("openssl", "passwd", "-6", password).Output()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("useradd", "-M", "-N", "-d", home, "-s", "/bin/sh", "-p", strings.TrimSpace(string(hash)), name).CombinedOutput()
	if err != nil {
		t.Fatalf("useradd: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("userdel", "-f", name).CombinedOutput(); err != nil {
			t.Errorf("userdel: %v\n%s", err, out)
		}
	})
	return name, password
}
