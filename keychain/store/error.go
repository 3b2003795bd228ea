package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	"deskvnc/keychain"
)

// SQLite's primary result codes (sqlite.org/rescode.html).
const (
	codeBusy     = 5
	codeLocked   = 6
	codeReadOnly = 8
	codeIO       = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotDB    = 26
)

// code is the primary result code in err, or 0.
func code(err error) int {
	var e interface{ Code() int }
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// fail turns what database and system say into what a person can use.
func (s *Store) fail(op string, err error) error {
	var own *keychain.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		if own.Op == "" {
			own.Op = op
		}
		return own
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return failed(op, err)
	}
	text := ""
	switch code(err) {
	case codeCorrupt, codeNotDB:
		return s.corrupt(op, err)
	case codeBusy, codeLocked:
		return &keychain.Error{Op: op, Kind: keychain.Busy,
			Err: fmt.Errorf("another program has kept %s locked for %v; nothing was changed, try again: %w", s.path, busyTime, err)}
	case codeReadOnly, codeCantOpen:
		text = "cannot be written: look at the rights of the file and its folder"
	case codeFull:
		text = "cannot grow: the disk is full"
	case codeIO:
		text = "cannot be read or written: the disk reports an error"
	default:
		return failed(op, err)
	}
	return failed(op, fmt.Errorf("%s %s; nothing was changed: %w", s.path, text, err))
}

// corrupt says that the file is damaged, and where the last good copy is.
func (s *Store) corrupt(op string, cause error) error {
	err := fmt.Errorf("%s is damaged: %w", s.path, cause)
	if i, e := os.Stat(backupPath(s.path)); e == nil {
		err = fmt.Errorf("%w; it was left as it is, and the last good copy, of %s, is %s", err, i.ModTime().Format("2 January 2006 15:04"), backupPath(s.path))
	} else {
		err = fmt.Errorf("%w; it was left as it is, and there is no copy of it: move it away to begin with an empty library", err)
	}
	return &keychain.Error{Op: op, Kind: keychain.Corrupt, Err: err}
}

// refuse makes an error of a kind; the operation is filled in by fail.
func refuse(kind keychain.Kind, format string, args ...any) error {
	return &keychain.Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}
