//go:build unix

package rfb_test

import (
	"os/exec"
	"syscall"
)

// runAs has a program run as another user.
func runAs(cmd *exec.Cmd, id uint32) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
}
