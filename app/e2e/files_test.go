package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// With the keyboard alone, in the real window against a real sshd, a file goes
// to the machine and another one comes back.
func TestFilesByKeyboard(t *testing.T) {
	s := newShell(t)
	write := func(dir, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(dir, name, want string) {
		t.Helper()
		eventually(t, func() string {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err.Error()
			}
			if string(b) != want {
				return fmt.Sprintf("%s holds %q", name, b)
			}
			return ""
		})
	}
	w := s.window
	write(w.home, "upwards.txt", "from here")
	write(s.dir, "downwards-a-rather-long-name-that-does-not-fit-into-its-column-at-all.txt", "from there")
	write(s.dir, "other", "")
	w.do(t, "key", "ctrl+alt+shift+e")
	w.do(t, "sleep", "2")
	w.do(t, "key", "ctrl+l")
	w.do(t, "key", "ctrl+a")
	w.do(t, "type", "--delay", "20", s.dir)
	w.do(t, "key", "Return")
	w.do(t, "sleep", "1")
	keep(t, w.display, "files.png")
	w.do(t, "type", "--delay", "20", "downw")
	w.do(t, "key", "F5")
	holds(w.home, "downwards-a-rather-long-name-that-does-not-fit-into-its-column-at-all.txt", "from there")
	w.do(t, "key", "Tab")
	w.do(t, "type", "--delay", "20", "upw")
	w.do(t, "key", "F5")
	holds(s.dir, "upwards.txt", "from here")
	keep(t, w.display, "files-done.png")
	w.do(t, "key", "F8")
	w.do(t, "sleep", "1")
	keep(t, w.display, "files-delete.png")
}
