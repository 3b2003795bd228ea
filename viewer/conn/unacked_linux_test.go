package conn

import (
	"context"
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// A dead link is noticed within a minute, whether something is sent or not.
func TestDeadLinkOptions(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := Dial(context.Background(), l.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	raw, err := c.inner.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	get := func(level, option int) (value int) {
		t.Helper()
		if err := raw.Control(func(fd uintptr) { value, err = unix.GetsockoptInt(int(fd), level, option) }); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	idle, every := get(unix.IPPROTO_TCP, unix.TCP_KEEPIDLE), get(unix.IPPROTO_TCP, unix.TCP_KEEPINTVL)
	count := get(unix.IPPROTO_TCP, unix.TCP_KEEPCNT)
	if on := get(unix.SOL_SOCKET, unix.SO_KEEPALIVE); on == 0 || idle+every*count > 60 {
		t.Errorf("keep-alive %d gives up after %d s + %d times %d s, want within 60 s", on, idle, count, every)
	}
	if ms := get(unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT); ms == 0 || ms > 60_000 {
		t.Errorf("what is not acknowledged is given up after %d ms, want within 60 s", ms)
	}
	if get(unix.IPPROTO_TCP, unix.TCP_NODELAY) == 0 {
		t.Error("small writes are held back")
	}
}
