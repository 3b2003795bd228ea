//go:build !linux && !darwin && !windows

package shell

import (
	"errors"
	"os"
)

// terminal reports whether a file is a terminal: here nothing is known to be.
func terminal(*os.File) bool { return false }

// forget drops what was typed at a terminal and not read yet.
func forget(*os.File) error { return errors.New("this system's terminals are not known") }

// echo switches the echo of a terminal.
func echo(*os.File, bool) error { return errors.New("this system's terminals are not known") }
