//go:build !unix

package rfb_test

import "os/exec"

// runAs does nothing: there are no such users here.
func runAs(*exec.Cmd, uint32) {}
