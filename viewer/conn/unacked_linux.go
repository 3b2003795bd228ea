package conn

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// setUnackedTimeout ends a connection whose sent bytes stay unacknowledged;
// the keep-alive does not watch those.
func setUnackedTimeout(c *net.TCPConn, d time.Duration) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds()))
	})
}
