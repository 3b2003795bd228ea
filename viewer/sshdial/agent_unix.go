//go:build !windows

package sshdial

import (
	"context"
	"io"
)

// dialAgent connects to the agent at path.
func dialAgent(ctx context.Context, path string) io.ReadWriteCloser {
	if path == "" {
		return nil
	}
	return dialSocket(ctx, path)
}
