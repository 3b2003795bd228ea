//go:build linux || darwin

package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// namedAddress is a socket in the runtime folder: XDG_RUNTIME_DIR, or a
// private folder of the user's where that is not set.
func namedAddress(name string) (Address, error) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return pathAddress(filepath.Join(dir, "deskvnc", name+".sock"))
	}
	return pathAddress(filepath.Join(os.TempDir(), "deskvnc-"+strconv.Itoa(os.Getuid()), name+".sock"))
}

// portFile and namedPort are for systems where a name is a TCP port.
func portFile(string) (string, error) { return "", errors.New("a name is a unix socket here") }
func namedPort(string) (int, error)   { return 0, errors.New("a name is a unix socket here") }

// listenUnix listens on a path that nobody listens on. A socket that a dead
// program left is replaced; whatever else is there stays.
func listenUnix(path string) (l net.Listener, release func(), err error) {
	if err := privateFolder(filepath.Dir(path)); err != nil {
		return nil, nil, err
	}
	// Two programs that start at once must not both find the socket dead.
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("the control socket cannot be made: %w", err)
	}
	unlock := func() { _ = lock.Close() }
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, nil, fmt.Errorf("another DeskVNC listens on %s already", path)
	}
	if err := clearDead(path); err != nil {
		return nil, nil, err
	}
	u, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, nil, fmt.Errorf("the control socket cannot listen on %s: %w", path, err)
	}
	u.SetUnlinkOnClose(false) // [Listener.Close] does, while the lock is held
	if err := os.Chmod(path, 0o600); err != nil {
		_ = u.Close()
		return nil, nil, err
	}
	return u, unlock, nil
}

// privateFolder makes the folder of the socket, which nobody else may use.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the folder of the control socket cannot be made: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(st.Uid) != os.Getuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("the folder %s is not this user's alone; set XDG_RUNTIME_DIR to one that is", dir)
	}
	return nil
}

// clearDead removes a socket at which nobody answers.
func clearDead(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("%s is there and is no socket; remove it or use a port", path)
	}
	c, err := net.DialTimeout("unix", path, dialTimeout)
	switch {
	case err == nil:
		_ = c.Close()
		return fmt.Errorf("another program listens on %s already", path)
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return fmt.Errorf("the socket %s cannot be used: %w", path, err)
}

// ours reports whether the program at the other end runs as this user.
func ours(c net.Conn) bool {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return false
	}
	same := false
	err = raw.Control(func(fd uintptr) {
		uid, err := peerUser(int(fd))
		same = err == nil && uid == os.Getuid()
	})
	return err == nil && same
}

// readable reports whether others than the user may read a file.
func readable(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return info.Mode().Perm()&0o077 != 0 || !ok || int(st.Uid) != os.Getuid()
}
