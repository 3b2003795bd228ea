package shell

import (
	"os"
	"strings"
	"testing"
	"time"

	"deskvnc/control/socket"
)

// A person at a terminal is told who answers when a window could have; nobody
// else is, and without a window there is nothing to tell.
func TestTell(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	auto, err := socket.Parse(socket.Auto, true)
	if err != nil {
		t.Fatal(err)
	}
	show := func(want string) {
		t.Helper()
		master, slave := newTerminal(t)
		where{}.tell(t.Context(), slave, "the holder")
		if _, err := slave.WriteString("end\n"); err != nil {
			t.Fatal(err)
		}
		if err := master.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Logf("no deadline: %v", err)
		}
		var got string
		for b := make([]byte, 512); !strings.Contains(got, "end"); {
			n, err := master.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			got += string(b[:n])
		}
		if !strings.Contains(got, want) || want == "" && got != "end\r\n" {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	show("")
	l, err := socket.ListenAt(auto)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	show("answered by the holder; a DeskVNC window runs as well: --connect auto")
	file, err := os.CreateTemp(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	where{}.tell(t.Context(), file, "the holder")
	if info, err := file.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("a file was told: %v", err)
	}
}
