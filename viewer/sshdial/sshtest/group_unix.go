//go:build unix

package sshtest

import "syscall"

// group puts what is started into a process group of its own.
func group() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// signalGroup sends a signal to a process and what it has started. One that has
// ended gets none.
func signalGroup(pid int, sig syscall.Signal) { _ = syscall.Kill(-pid, sig) }
