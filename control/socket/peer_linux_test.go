package socket

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Another user who gets through to the socket is not let in.
func TestAnotherUserIsNotServed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: only root can connect as another user")
	}
	dir := home(t)
	l := listen(t, Auto)
	path := l.Address().Path
	for _, p := range []string{filepath.Dir(dir), dir, filepath.Join(dir, "r"), filepath.Dir(path), path} {
		if err := os.Chmod(p, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		if c, err := l.Accept(); err == nil {
			_, _ = io.WriteString(c, "welcome")
			_ = c.Close()
		}
	}()
	got := make(chan error, 1)
	go func() {
		// The credentials of a thread go with it: it ends with this goroutine.
		runtime.LockOSThread()
		if _, _, errno := syscall.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), 65534, ^uintptr(0)); errno != 0 {
			got <- errno
			return
		}
		got <- func() error {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
				return err
			}
			n, err := unix.Read(fd, make([]byte, 8))
			if err != nil || n == 0 {
				return io.EOF
			}
			return nil
		}()
	}()
	if err := <-got; err != io.EOF {
		t.Errorf("got %v, want the connection closed without a word", err)
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if b, _ := io.ReadAll(c); string(b) != "welcome" {
		t.Errorf("got %q, want the own user served afterwards", b)
	}
	<-accepted
}
