package shell

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)

// fread is FREAD of fcntl.h: what was typed.
const fread = 1

// flushInput forgets what was typed and not read (tty(4)).
func flushInput(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread) }
