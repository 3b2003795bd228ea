//go:build !windows

package shell

import "syscall"

// apart makes a process one of its own: it is not in the caller's group and
// has no terminal, so that neither ^C nor the terminal's end reaches it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
