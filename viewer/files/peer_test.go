package files

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
)

// guard bounds a test that hangs.
const guard = 2 * time.Minute

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	t.Cleanup(cancel)
	return ctx
}

// needed skips a test whose peer is not installed, or fails it where the peers
// are required.
func needed(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("DESKVNC_PEERS") == "required" {
		t.Fatalf("%s is not installed", what)
	}
	t.Skipf("%s is not installed", what)
}

// sftpServer finds OpenSSH's server program.
func sftpServer(t testing.TB) string {
	for _, p := range []string{"/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server", "/usr/libexec/sftp-server", "/usr/lib/ssh/sftp-server"} {
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	needed(t, "OpenSSH's sftp-server")
	return ""
}

// serve starts a server program and speaks SFTP with it.
func serve(t testing.TB, cmd *exec.Cmd) *FS {
	t.Helper()
	f, _ := serveKill(t, cmd)
	return f
}

func serveKill(t testing.TB, cmd *exec.Cmd) (f *FS, kill func()) {
	t.Helper()
	w, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f, err = OpenPipe(testContext(t), r, w, func() { w.Close(); r.Close() })
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	t.Cleanup(func() {
		f.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	return f, func() { cmd.Process.Kill() }
}

// openSSH starts OpenSSH's server.
func openSSH(t testing.TB, args ...string) *FS {
	t.Helper()
	return serve(t, exec.Command(sftpServer(t), args...))
}

// rootOf opens a folder of this side.
func rootOf(t testing.TB, dir string) *os.Root {
	t.Helper()
	r, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func write(t testing.TB, path string, b []byte, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// pattern makes n bytes that differ all along.
func pattern(n int) []byte {
	b := make([]byte, n)
	x := uint64(88172645463325252)
	for i := range b {
		if i%8 == 0 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
		b[i] = byte(x >> (8 * (i % 8)))
	}
	return b
}

// wantKind checks an error's kind and words.
func wantKind(t testing.TB, err error, kind viewer.Kind, words string) {
	t.Helper()
	var e *viewer.Error
	if !errors.As(err, &e) || e.Kind != kind || !strings.Contains(err.Error(), words) {
		t.Errorf("got error %v (%s), want kind %s and %q", err, viewer.KindOf(err), kind, words)
	}
}

// names lists a folder of this side.
func names(t testing.TB, dir string) []string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range all {
		out = append(out, e.Name())
	}
	return out
}

// leftOvers are the temporary files in a folder.
func leftOvers(t testing.TB, dir string) (parts []string) {
	t.Helper()
	for _, n := range names(t, dir) {
		if strings.HasSuffix(n, ".part") || strings.HasSuffix(n, ".old") {
			parts = append(parts, filepath.Join(dir, n))
		}
	}
	return parts
}
