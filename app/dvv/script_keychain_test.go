package main

import (
	"bufio"
	"bytes"
	"crypto/des"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"deskvnc/keychain/secret/secrettest"
)

// startTiger starts a real VNC server that wants a password. It returns the
// port and the file of its log.
func startTiger(t *testing.T, password string) (port, log string) {
	t.Helper()
	secrettest.Need(t, "Xtigervnc")
	dir := t.TempDir()
	// The file is encrypted by DES with a key that everybody knows, so that it
	// is none of those that are looked into.
	key := []byte{23, 82, 107, 6, 35, 78, 88, 7}
	for i, k := range key {
		key[i] = bits.Reverse8(k)
	}
	block, err := des.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	var b [8]byte
	copy(b[:], password)
	block.Encrypt(b[:], b[:])
	if err := os.WriteFile(filepath.Join(dir, "passwd"), b[:], 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	port = freePort(t)
	cmd := exec.Command("Xtigervnc", "-displayfd", "3", "-geometry", "320x200", "-depth", "24", "-localhost", "-rfbport", port,
		"-SecurityTypes", "VncAuth", "-rfbauth", filepath.Join(dir, "passwd"), "-Log", "*:stderr:100", "-BlacklistThreshold", "100")
	cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = []*os.File{w}, out, out
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		out.Close()
		if b, err := os.ReadFile(out.Name()); err == nil && t.Failed() {
			t.Logf("Xtigervnc said:\n%s", b)
		}
	})
	if err := r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
		t.Fatalf("Xtigervnc does not tell its display: %v", err)
	}
	return port, out.Name()
}

// A saved machine with a password in a real keyring, on a real VNC server.
func TestScriptKeychain(t *testing.T) {
	s := secrettest.New(t)
	s.StartKeyring(t, "opens the keyring")
	port, log := startTiger(t, "zq7Kp0wX")
	stage{files: []string{"keychain"}, also: []string{s.Home}, setup: func(_ testing.TB, set func(name, value string)) {
		set("DBUS_SESSION_BUS_ADDRESS", s.Address)
		set("MACHINE", "127.0.0.1::"+port)
		set("LOG", log)
	}}.run(t)
	if left := s.Search(t, "service", "DeskVNC"); len(left) > 0 {
		t.Errorf("the keyring still has %v", left)
	}
}

// The same while the keyring is locked and nobody can unlock it.
func TestScriptLockedKeychain(t *testing.T) {
	s := secrettest.New(t)
	s.StartKeyring(t, "opens the keyring")
	port, log := startTiger(t, "zq7Kp0wX")
	stage{files: []string{"locked"}, also: []string{s.Home}, setup: func(_ testing.TB, set func(name, value string)) {
		set("DBUS_SESSION_BUS_ADDRESS", s.Address)
		set("MACHINE", "127.0.0.1::"+port)
		set("LOG", log)
	}, cmds: map[string]func(*testscript.TestScript, bool, []string){
		"lock": func(*testscript.TestScript, bool, []string) {
			s.StopKeyring(t)
			s.StartKeyring(t, "")
		},
	}}.run(t)
}

// No keyring at all.
func TestScriptNoKeychain(t *testing.T) {
	port, log := startTiger(t, "zq7Kp0wX")
	stage{files: []string{"nokeychain"}, setup: func(_ testing.TB, set func(name, value string)) {
		set("MACHINE", "127.0.0.1::"+port)
		set("LOG", log)
	}}.run(t)
}

// logins compares how often the server was given an answer to its question
// for a password, and how often it was a wrong one: logins GIVEN WRONG.
func logins(ts *testscript.TestScript, _ bool, args []string) {
	b, err := os.ReadFile(ts.Getenv("LOG"))
	ts.Check(err)
	for i, text := range []string{"Client requests security type VncAuth", "AuthFailureException: Authentication failure"} {
		if got := bytes.Count(b, []byte(text)); strconv.Itoa(got) != args[i] {
			ts.Fatalf("%q: %d times, want %s:\n%s", text, got, args[i], strings.TrimSpace(string(b)))
		}
	}
}
