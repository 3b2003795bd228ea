//go:build !linux

package conn

import (
	"net"
	"time"
)

// setUnackedTimeout does nothing: this system's own limits hold.
func setUnackedTimeout(*net.TCPConn, time.Duration) {}
