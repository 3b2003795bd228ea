package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"deskvnc/viewer"
)

// A statusError is a refusal of the far side.
type statusError struct {
	code uint32
	text string // the machine's own words, cleaned; may be empty
}

func (e *statusError) Error() string {
	switch e.code {
	case statusEOF:
		return "the end was reached too early"
	case statusNoSuchFile:
		return "no such file or folder"
	case statusPermission:
		return "permission denied"
	case statusBadMessage:
		return "the machine did not understand the request"
	case statusUnsupported:
		return "the machine's file service cannot do this"
	case statusFailure:
		if e.text == "" || e.text == "Failure" {
			return "the machine refused and gave no reason"
		}
	}
	return fmt.Sprintf("the machine refused: %s", e.text)
}

// status reads a status packet; nil is success.
func status(r reply) error {
	if r.typ != typeStatus {
		return fmt.Errorf("the machine sent a packet of type %d where a status belongs", r.typ)
	}
	p := parser{b: r.body}
	code := p.uint32()
	if p.err != nil {
		return p.err
	}
	if code == statusOK {
		return nil
	}
	return &statusError{code: code, text: Shown(string(p.bytes()))}
}

// answered turns an unexpected reply into an error.
func answered(r reply, want byte) error {
	if r.typ == want {
		return nil
	}
	if err := status(r); err != nil {
		return err
	}
	return fmt.Errorf("the machine said yes where an answer of type %d belongs", want)
}

// code is the status code that err came with.
func code(err error) (uint32, bool) {
	var own *statusError
	if errors.As(err, &own) {
		return own.code, true
	}
	return 0, false
}

func is(err error, want uint32) bool {
	c, ok := code(err)
	return ok && c == want
}

// refused reports whether err says that the machine will not or cannot answer
// this request at all, as opposed to there being nothing.
func refused(err error) bool { return is(err, statusPermission) || is(err, statusUnsupported) }

// failed makes the error that callers see: what was attempted, on which path,
// why, and of which kind.
func failed(op, path string, err error) error {
	var known *viewer.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	}
	return fault(op, path, kindOf(err), err)
}

// fault is failed with a kind of the caller's choice.
func fault(op, path string, kind viewer.Kind, why error) error {
	return &viewer.Error{Op: "files." + op, Kind: kind, Err: fmt.Errorf("%s: %w", Shown(path), why)}
}

// kindOf finds the kind of an error of the far side, or of this one's disk.
func kindOf(err error) viewer.Kind {
	if c, ok := code(err); ok {
		switch c {
		case statusNoSuchFile:
			return viewer.Missing
		case statusPermission:
			return viewer.Forbidden
		case statusUnsupported:
			return viewer.Unsupported
		}
		return viewer.Invalid
	}
	switch {
	case errors.Is(err, context.Canceled):
		return viewer.Cancelled
	case errors.Is(err, context.DeadlineExceeded):
		return viewer.Timeout
	case errors.Is(err, errCut):
		return viewer.Malformed
	case errors.Is(err, fs.ErrNotExist):
		return viewer.Missing
	case errors.Is(err, fs.ErrPermission):
		return viewer.Forbidden
	case errors.Is(err, fs.ErrExist):
		return viewer.Exists
	case noRoom(err):
		return viewer.Full
	}
	return viewer.Invalid
}

// local words a failure of this side's disk: the cause without the call.
func local(op, path string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	why := err
	switch {
	case errors.As(err, &pe):
		why = pe.Err
	case errors.As(err, &le):
		why = le.Err
	}
	return fault(op, path, kindOf(err), why)
}
