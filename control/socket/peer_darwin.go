package socket

import "golang.org/x/sys/unix"

// peerUser is the user of the program at the other end (LOCAL_PEERCRED).
func peerUser(fd int) (int, error) {
	c, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(c.Uid), nil
}
