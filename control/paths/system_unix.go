//go:build !windows

package paths

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// noWait keeps an open from waiting, should a pipe have taken the file's place.
const noWait = syscall.O_NONBLOCK

// badText refuses nothing: every name is an ordinary one here.
func badText(string) string { return "" }

// absolute puts the working directory before a relative path. Nothing is
// collapsed: "..", behind a link, is not what it looks like.
func absolute(p string) (string, error) {
	if strings.HasPrefix(p, "/") {
		return p, nil
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return wd + "/" + p, nil
}

// resolve follows all links.
func resolve(p string) (string, error) { return filepath.EvalSymlinks(p) }

func sameName(a, b string) bool { return a == b }
