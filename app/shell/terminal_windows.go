package shell

import (
	"os"

	"golang.org/x/sys/windows"
)

// terminal reports whether a file is a console.
func terminal(f *os.File) bool {
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil
}

// forget drops what was typed at a console and not read yet.
func forget(f *os.File) error { return windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }

// echo switches the echo of a console.
func echo(f *os.File, on bool) error {
	h := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return err
	}
	if on {
		mode |= windows.ENABLE_ECHO_INPUT
	} else {
		mode = mode&^windows.ENABLE_ECHO_INPUT | windows.ENABLE_LINE_INPUT | windows.ENABLE_PROCESSED_INPUT
	}
	return windows.SetConsoleMode(h, mode)
}
