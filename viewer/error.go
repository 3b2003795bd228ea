package viewer

import (
	"context"
	"errors"
	"os"
)

// A Kind says what sort of failure an [Error] is. The engine decides by it
// (retry, ask, give up); the text only informs.
type Kind string

// The kinds of failure.
const (
	// Unreachable: no connection was made (refused, no route, no such name).
	Unreachable Kind = "unreachable"
	// Timeout: the far side did not answer in time.
	Timeout Kind = "timeout"
	// Closed: the far side ended the connection, or it broke.
	Closed Kind = "closed"
	// Malformed: the far side sent bytes that make no sense.
	Malformed Kind = "malformed"
	// Limit: the far side asked for more than a stated bound.
	Limit Kind = "limit"
	// Unsupported: the far side offers nothing that this build can do.
	Unsupported Kind = "unsupported"
	// Credentials: a password, user or key is needed and nobody gave one.
	Credentials Kind = "credentials"
	// Denied: what was given was refused. Never retried with the same secret.
	Denied Kind = "denied"
	// Untrusted: a certificate or host key is unknown or has changed.
	Untrusted Kind = "untrusted"
	// Busy: the input queue is full; nothing was queued.
	Busy Kind = "busy"
	// Cancelled: a person or the program withdrew the attempt.
	Cancelled Kind = "cancelled"
	// Invalid: the caller's own arguments cannot be served.
	Invalid Kind = "invalid"
)

// An Error is what drivers and the engine return.
type Error struct {
	Op   string // what was attempted, for example "rfb.ServerInit"
	Kind Kind
	Err  error // the cause in words for a person; may be nil
}

// Error gives the operation and the cause.
func (e *Error) Error() string {
	switch {
	case e.Err == nil:
		return e.Op + ": " + string(e.Kind)
	case e.Op == "":
		return e.Err.Error()
	}
	return e.Op + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the Kind of err: that of the first [Error] in its chain, or
// one that fits the context and deadline errors of the standard library, or
// Closed.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return Timeout
	}
	return Closed
}

// Reason returns err's cause in words for a person, without the operations
// that lead to it.
func Reason(err error) string {
	var e *Error
	for errors.As(err, &e) && e.Err != nil {
		err = e.Err
		e = nil
	}
	if err == nil {
		return ""
	}
	return err.Error()
}
