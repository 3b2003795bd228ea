//go:build unix

package sshconf

import "io/fs"

// writable reports whether others than its owner can write a file.
func writable(st fs.FileInfo) bool { return st.Mode().Perm()&0o022 != 0 }
