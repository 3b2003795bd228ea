//go:build linux || darwin

package shell

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminal reports whether a file is a terminal.
func terminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	return err == nil
}

// forget drops what was typed at a terminal and not read yet.
func forget(f *os.File) error { return flushInput(int(f.Fd())) }

// echo switches the echo of a terminal (termios(3)).
func echo(f *os.File, on bool) error {
	t, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	if err != nil {
		return err
	}
	if on {
		t.Lflag |= unix.ECHO
	} else {
		t.Lflag = t.Lflag&^unix.ECHO | unix.ICANON | unix.ISIG
	}
	return unix.IoctlSetTermios(int(f.Fd()), setTermios, t)
}
