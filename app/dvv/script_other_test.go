//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

// killHolder is known on Linux only.
func killHolder(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("a holder's process is not known here")
}
