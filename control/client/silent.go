package client

import (
	"errors"
	"net"
	"os"
	"time"
)

// silentTime is how long a read waits to find that there is nothing to read. A
// deadline in the past would not look at the socket at all.
const silentTime = time.Millisecond

// waitSilent is silent for connections that can only be read. What it reads is
// lost, which does not matter: the connection is given up then.
func waitSilent(nc net.Conn) bool {
	if nc.SetReadDeadline(time.Now().Add(silentTime)) != nil {
		return false
	}
	var b [1]byte
	_, err := nc.Read(b[:])
	return errors.Is(err, os.ErrDeadlineExceeded) && nc.SetReadDeadline(time.Time{}) == nil
}
