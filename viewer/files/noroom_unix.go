//go:build !windows

package files

import (
	"errors"
	"syscall"
)

// noRoom reports whether err says that this side's disk or quota is full.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
