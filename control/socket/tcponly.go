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

// namedAddress is a free TCP port, which a file beside the keys tells: here
// the user of a unix socket's peer is not known.
func namedAddress(name string) (Address, error) { return Address{Host: "127.0.0.1", named: name}, nil }

// portFile holds the port of the program that listens on a name.
func portFile(name string) (string, error) {
	dir, err := configFolder()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, name+"-port"), nil
}

func namedPort(name string) (int, error) {
	path, err := portFile(name)
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
