package secret

import (
	"errors"
	"syscall"
)

// hasPrompts: the Credential Manager never asks a person.
const hasPrompts = false

// System error codes, winerror.h.
const (
	errorNoSuchLogonSession = syscall.Errno(1312)
	errorPrivilegeNotHeld   = syscall.Errno(1314)
)

func platformError(err error) error {
	if errors.Is(err, errorNoSuchLogonSession) || errors.Is(err, errorPrivilegeNotHeld) {
		return &Error{Kind: Absent, Reason: "this kind of sign-in has no Credential Manager", Err: err,
			Advice: "sign in at the screen or with a password; a network sign-in with a key has no credentials"}
	}
	return nil
}
