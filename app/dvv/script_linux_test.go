package main

import (
	"net"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"deskvnc/viewer/sample"
)

// killHolder kills a holder as kill -9 does: it is who answers at its socket.
func killHolder(ts *testscript.TestScript, _ bool, args []string) {
	c, err := net.Dial("unix", filepath.Join(ts.Getenv("XDG_RUNTIME_DIR"), "deskvnc", args[0]+".sock"))
	ts.Check(err)
	defer c.Close()
	raw, err := c.(*net.UnixConn).SyscallConn()
	ts.Check(err)
	var peer *syscall.Ucred
	var perr error
	ts.Check(raw.Control(func(fd uintptr) {
		peer, perr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}))
	ts.Check(perr)
	ts.Check(syscall.Kill(int(peer.Pid), syscall.SIGKILL))
	// The kernel closes its connections when it has gone.
	_, err = c.Read(make([]byte, 1))
	if err == nil {
		ts.Fatalf("a dead holder speaks")
	}
}

func TestScriptKill(t *testing.T) {
	field := center(sample.FieldRect(sample.DefaultWidth, sample.DefaultHeight))
	stage{files: []string{"kill"}, setup: func(_ testing.TB, set func(name, value string)) {
		set("X", strconv.Itoa(field.X))
		set("Y", strconv.Itoa(field.Y))
	}}.run(t)
}
