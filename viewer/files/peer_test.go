package files

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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
	f, _ := serveTapped(t, cmd)
	return f
}

// A tap counts the bytes of a session, both ways, and acts once after some.
type tap struct {
	r    io.Reader
	w    io.WriteCloser
	kill func() // ends the server

	mu   sync.Mutex // guards below
	left int64      // bytes until act; nothing is armed at 0
	act  func()
}

// after arms the tap.
func (p *tap) after(bytes int64, act func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.act = bytes, act
}

func (p *tap) count(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left > 0 {
		if p.left -= int64(n); p.left <= 0 {
			p.left = 0
			p.act()
		}
	}
}

// swap puts another reader in the way, from the next read on.
func (p *tap) swap(r io.Reader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.r = r
}

func (p *tap) Read(b []byte) (int, error) {
	p.mu.Lock()
	r := p.r
	p.mu.Unlock()
	n, err := r.Read(b[:min(len(b), 64<<10)])
	p.count(n)
	return n, err
}

func (p *tap) Write(b []byte) (n int, err error) {
	for len(b) > 0 && err == nil {
		var m int
		m, err = p.w.Write(b[:min(len(b), 64<<10)])
		p.count(m)
		n, b = n+m, b[m:]
	}
	return n, err
}

func (p *tap) Close() error { return p.w.Close() }

func serveTapped(t testing.TB, cmd *exec.Cmd) (*FS, *tap) {
	t.Helper()
	w, err := cmd.StdinPipe()
	must(t, err)
	r, err := cmd.StdoutPipe()
	must(t, err)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	must(t, cmd.Start())
	p := &tap{r: r, w: w, kill: func() { cmd.Process.Kill() }}
	f, err := OpenPipe(testContext(t), p, p, func() { w.Close(); r.Close() })
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
	return f, p
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
