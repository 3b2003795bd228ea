package secret

import (
	"errors"
	"io/fs"
	"os/exec"
)

// hasPrompts: the keychain of macOS may ask for its password at each use.
const hasPrompts = true

// Exit codes of /usr/bin/security: the low byte of the OSStatus in
// SecBase.h of the Security framework.
const (
	exitNoDefault      = 37  // errSecNoDefaultKeychain, -25307
	exitNoInteraction  = 36  // errSecInteractionNotAllowed, -25308
	exitNotFound       = 44  // errSecItemNotFound, -25300
	exitAuthFailed     = 51  // errSecAuthFailed, -25293
	exitPersonDeclined = 128 // errSecUserCanceled, -128
)

func platformError(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		switch exit.ExitCode() {
		case exitNotFound:
			return errNotFound()
		case exitNoInteraction, exitAuthFailed:
			return errLocked()
		case exitPersonDeclined:
			return errDismissed()
		case exitNoDefault:
			return &Error{Kind: Absent, Reason: "there is no default keychain", Err: err,
				Advice: "choose one in Keychain Access"}
		}
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return &Error{Kind: Absent, Reason: "the program /usr/bin/security is missing", Err: err}
	}
	return nil
}
