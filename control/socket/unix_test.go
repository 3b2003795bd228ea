//go:build linux || darwin

package socket

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDeadSocketIsReplaced(t *testing.T) {
	home(t)
	a, err := Parse(Auto, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(a.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: a.Path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	_ = dead.Close()
	meet(t, listen(t, Auto), a)
}

func TestWhatIsNotOursStays(t *testing.T) {
	home(t)
	a, err := Parse(Auto, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(a.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.Path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(Auto); err == nil || !strings.Contains(err.Error(), "is no socket") {
		t.Errorf("got %v, want a plain file left alone", err)
	}
	if b, _ := os.ReadFile(a.Path); string(b) != "precious" {
		t.Error("the file was touched")
	}
	if err := os.Remove(a.Path); err != nil {
		t.Fatal(err)
	}
	// A program that listens there without being a window.
	live, err := net.Listen("unix", a.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	if _, err := Listen(Auto); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("got %v, want a live socket left alone", err)
	}
}

func TestSharedFolderIsRefused(t *testing.T) {
	home(t)
	a, err := Parse(Auto, true)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(a.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(Auto); err == nil || !strings.Contains(err.Error(), "not this user's alone") {
		t.Errorf("got %v, want a folder that others may write to refused", err)
	}
}

func TestOurs(t *testing.T) {
	home(t)
	l := listen(t, Auto)
	c, err := net.Dial("unix", l.Address().Path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if !ours(c) {
		t.Error("a connection of our own is taken for another user's")
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	d, err := net.Dial("tcp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if ours(d) {
		t.Error("a TCP connection has no user")
	}
}
