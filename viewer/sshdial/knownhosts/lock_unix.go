//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package knownhosts

import (
	"errors"
	"os"
	"syscall"
)

// lock waits for the file's lock, which ends with the file's closing or the
// process.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOTSUP) {
			return nil // a file system without locks; lines are appended whole all the same
		}
		return err
	}
}
