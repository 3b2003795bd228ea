package files

import (
	"errors"
	"syscall"
)

// Windows error codes, winerror.h.
const (
	errorHandleDiskFull syscall.Errno = 39
	errorDiskFull       syscall.Errno = 112
)

// noRoom reports whether err says that this side's disk is full.
func noRoom(err error) bool {
	return errors.Is(err, errorDiskFull) || errors.Is(err, errorHandleDiskFull)
}
