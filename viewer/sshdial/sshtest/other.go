//go:build !unix

// Package sshtest is a laboratory for tests over SSH; it needs a Unix system.
package sshtest
