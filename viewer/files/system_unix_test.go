//go:build unix

package files

import (
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
	"testing"
)

func mkfifo(t testing.TB, path string) { must(t, syscall.Mkfifo(path, 0o644)) }

// asNobody makes cmd run as the account nobody.
func asNobody(t testing.TB, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	u, err := user.Lookup("nobody")
	if err != nil {
		t.Skipf("no account nobody: %v", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	must(t, err)
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	must(t, err)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return cmd
}
