package sshdial

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The pipe of Windows' own OpenSSH agent, and the pattern of Pageant's, whose
// name ends in something of the user's.
const (
	agentPipe   = `\\.\pipe\openssh-ssh-agent`
	pageantPipe = `\\.\pipe\pageant.`
)

// dialAgent connects to the agent at path, or to Windows' own or Pageant.
func dialAgent(ctx context.Context, path string) io.ReadWriteCloser {
	if path != "" && !strings.HasPrefix(path, `\\.\pipe\`) {
		return dialSocket(ctx, path)
	}
	if path != "" {
		return openPipe(path)
	}
	if c := openPipe(agentPipe); c != nil {
		return c
	}
	names, _ := filepath.Glob(pageantPipe + os.Getenv("USERNAME") + ".*")
	for _, n := range names {
		if c := openPipe(n); c != nil {
			return c
		}
	}
	return nil
}

func openPipe(name string) io.ReadWriteCloser {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	return f
}
