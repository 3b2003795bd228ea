package shell

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// apart makes a process one of its own: it is not in the caller's group and
// has no console, so that neither ^C nor the console's end reaches it.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
