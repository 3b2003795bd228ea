//go:build !unix

package conn

import "net"

// A ready reads what has arrived without waiting; nothing can do it here.
type ready struct{}

func readyOf(net.Conn) *ready { return nil }

func (*ready) read([]byte) (n int, ok bool, err error) { return 0, false, nil }
