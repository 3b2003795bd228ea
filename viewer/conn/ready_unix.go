//go:build unix

package conn

import (
	"io"
	"net"
	"syscall"
)

// A ready reads what has arrived at a plain socket, without waiting. It belongs
// to the reader.
type ready struct {
	raw syscall.RawConn
	try func(fd uintptr) bool // kept, so that a read allocates nothing
	p   []byte
	n   int
	err error
}

// readyOf returns one for a plain socket; nil for everything else.
func readyOf(c net.Conn) *ready {
	var s syscall.Conn
	switch c := c.(type) {
	case *net.TCPConn:
		s = c
	case *net.UnixConn:
		s = c
	default:
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	r := &ready{raw: raw}
	r.try = func(fd uintptr) bool {
		for {
			if r.n, r.err = syscall.Read(int(fd), r.p); r.err != syscall.EINTR {
				return true
			}
		}
	}
	return r
}

// read reads into p. ok is false when nothing has arrived.
func (r *ready) read(p []byte) (n int, ok bool, err error) {
	r.p = p
	err = r.raw.Read(r.try)
	r.p = nil
	switch {
	case err != nil: // a deadline, or closed here
		return 0, true, err
	case r.err == syscall.EAGAIN:
		return 0, false, nil
	case r.err != nil:
		return 0, true, r.err
	case r.n == 0:
		return 0, true, io.EOF
	}
	return r.n, true, nil
}
