package socket

import "golang.org/x/sys/unix"

// peerUser is the user of the program at the other end (unix(7), SO_PEERCRED).
func peerUser(fd int) (int, error) {
	c, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(c.Uid), nil
}
