package files

import (
	"os/exec"
	"testing"
)

func mkfifo(t testing.TB, _ string) { t.Skip("no pipes in folders on this system") }

func asNobody(t testing.TB, _ *exec.Cmd) *exec.Cmd {
	t.Skip("no account nobody on this system")
	return nil
}
