package ui

import (
	"net"
	"strconv"
	"syscall"
	"testing"

	"fyne.io/fyne/v2/test"

	"deskvnc/viewer"
	"deskvnc/viewer/sample"
)

// deaf is a port that answers no call: its queue is full, and the system drops
// what asks for more.
func deaf(t *testing.T) int {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	port := at.(*syscall.SockaddrInet4).Port
	// One connection fills the queue.
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return port
}

// An address that does not answer holds nothing up: the card offers to cancel,
// which ends the attempt at once, and other sessions are opened meanwhile
// (C127).
func TestCancelWhileDialling(t *testing.T) {
	l := newLab(t, sample.Options{})
	l.w.Open(viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: deaf(t)})
	dead := l.w.selected
	l.until("the card", func() bool { return choice(dead, "Cancel") != nil })
	l.open(0)
	if p := dead.session.State().Phase; p != viewer.Connecting {
		t.Fatalf("the dead address is %q; the test's port answers", p)
	}
	l.w.choose(dead)
	test.Tap(&choice(dead, "Cancel").Button)
	if l.w.tabOf(dead.session) != nil {
		t.Error("the tab stays")
	}
	l.until("the end of the attempt", func() bool { return closed(dead.session.Done()) })
}
