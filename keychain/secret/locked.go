//go:build !windows

package secret

// The Credential Manager of Windows is open while its person is signed in, so
// these are errors of the others.

func errLocked() *Error {
	return &Error{Kind: Locked, Reason: "the keychain is locked",
		Advice: "sign in on the computer's screen or unlock it in the password manager there, then try again"}
}

func errDismissed() *Error {
	return &Error{Kind: Dismissed, Reason: "the keychain is locked, and unlocking it was declined or could not be asked for",
		Advice: "save a password or choose Unlock to be asked again"}
}
