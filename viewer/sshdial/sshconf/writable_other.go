//go:build !unix

package sshconf

import "io/fs"

// writable is not told by the mode of a file on this system.
func writable(fs.FileInfo) bool { return false }
