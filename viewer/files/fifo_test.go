//go:build unix

package files

import (
	"syscall"
	"testing"
)

func mkfifo(t testing.TB, path string) { must(t, syscall.Mkfifo(path, 0o644)) }
