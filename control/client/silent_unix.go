//go:build unix

package client

import (
	"net"
	"syscall"
)

// silent reports whether nothing waits on the socket, not even its end,
// without taking anything off it and without waiting.
func silent(nc net.Conn) bool {
	s, ok := nc.(syscall.Conn)
	if !ok {
		return waitSilent(nc)
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	quiet := false
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
		return true // never wait
	})
	return err == nil && quiet
}
