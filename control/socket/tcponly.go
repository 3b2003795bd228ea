//go:build !linux && !darwin

package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"strconv"
)

// autoAddress is a free TCP port, which a file beside the keys tells: here the
// user of a unix socket's peer is not known.
func autoAddress() (Address, error) { return Address{Host: "127.0.0.1", auto: true}, nil }

// portFile holds the port of the window that listens on auto.
func portFile() (string, error) {
	dir, err := configFolder()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "control-port"), nil
}

func autoPort() (int, error) {
	path, err := portFile()
	if err != nil {
		return 0, err
	}
	text, err := readPrivate(path)
	if err != nil {
		return 0, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return 0, fmt.Errorf("%s does not hold a port", path)
	}
	return int(port), nil
}

func listenUnix(string) (net.Listener, func(), error) {
	return nil, nil, errors.New("this system has no control socket by path; use a port or auto")
}

func ours(net.Conn) bool { return false }

// readable has no answer in mode bits here; the user's profile is private.
func readable(fs.FileInfo) bool { return false }
