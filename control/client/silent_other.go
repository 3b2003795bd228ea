//go:build !unix

package client

import "net"

// silent reports whether nothing waits on the socket, not even its end.
func silent(nc net.Conn) bool { return waitSilent(nc) }
