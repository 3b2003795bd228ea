package secret

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Kind says why a secret could not be read or kept, or what state the
// keychain is in. Callers decide by it; the text is for a person.
type Kind string

// The kinds of failure, and of [State].
const (
	// Available is a state only: secrets can be read and kept now.
	Available Kind = "available"
	// NotFound: nothing is stored under that key.
	NotFound Kind = "not-found"
	// Absent: this computer or session has no keychain to keep secrets in.
	Absent Kind = "absent"
	// Locked: only a person can unlock the keychain, and none was asked or
	// none answered.
	Locked Kind = "locked"
	// Dismissed: a person was asked to unlock the keychain and said no.
	Dismissed Kind = "dismissed"
	// TooLarge: the secret is longer than [MaxBytes].
	TooLarge Kind = "too-large"
	// Invalid: the caller's key or secret cannot be stored.
	Invalid Kind = "invalid"
	// Failed: the keychain did not answer in time or answered with an error.
	Failed Kind = "failed"
)

// An Error is what every call here returns. It never holds a secret.
type Error struct {
	Op     string // "get", "set", "delete", "has", "unlock"
	About  string // the key or owner it was about; may be empty
	Kind   Kind
	Reason string // what is wrong, for a person
	Advice string // what a person can do about it; may be empty
	Err    error  // the cause, if another package gave one
}

// Error gives what was attempted, what is wrong and what to do next.
func (e *Error) Error() string {
	s := "keychain: " + e.Op
	if e.About != "" {
		s += " " + e.About
	}
	s += ": " + e.why()
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s
}

// why is the reason with its cause. A deadline says nothing that the reason
// does not.
func (e *Error) why() string {
	if e.Err == nil || e.Err == context.DeadlineExceeded {
		return e.Reason
	}
	return e.Reason + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the Kind of the first [Error] in err's chain: "" for nil and
// Failed for any other error.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Kind
	}
	return Failed
}

// A State is what the keychain can do at this moment.
type State struct {
	Kind   Kind   // Available, Locked, Absent or Failed
	Reason string // why it is not simply available, for a person
	Advice string // what a person can do about it
}

// stateOf turns the error of a probe into a State.
func stateOf(err error) State {
	var e *Error
	if !errors.As(err, &e) {
		return State{Kind: Failed, Reason: err.Error()}
	}
	return State{e.Kind, e.why(), e.Advice}
}

// The errors that every platform has.

func errNotFound() *Error {
	return &Error{Kind: NotFound, Reason: "nothing is stored"}
}

func errUnanswered(after time.Duration) *Error {
	return &Error{Kind: Locked, Reason: fmt.Sprintf("the keychain is locked and nobody answered its question within %v", after),
		Advice: "unlock it in the computer's password manager, then try again"}
}

func errSilent(after time.Duration) *Error {
	return &Error{Kind: Failed, Reason: fmt.Sprintf("the keychain did not answer within %v", after),
		Advice: "restart the keyring service or sign in again", Err: context.DeadlineExceeded}
}

func errTooLarge(n, limit int) *Error {
	return &Error{Kind: TooLarge, Reason: fmt.Sprintf("the secret has %d bytes and the keychain holds at most %d", n, limit),
		Advice: "keep a long key in a file and store only its passphrase"}
}
