package keychain

// A Kind says what sort of failure an [Error] is. Callers decide by it; the
// text only informs.
type Kind string

// The kinds of failure.
const (
	// NotFound: there is no such host, group or login.
	NotFound Kind = "not-found"
	// Invalid: what was given cannot be stored.
	Invalid Kind = "invalid"
	// Conflict: somebody else has changed it since it was read.
	Conflict Kind = "conflict"
	// Ambiguous: the name fits several hosts.
	Ambiguous Kind = "ambiguous"
	// InUse: it cannot go while something needs it.
	InUse Kind = "in-use"
	// Newer: the library was written by a newer version of the program.
	Newer Kind = "newer"
	// Corrupt: the library's file is damaged, or is no library.
	Corrupt Kind = "corrupt"
	// Busy: another program kept the library locked for too long.
	Busy Kind = "busy"
	// Failed: the file could not be read or written; nothing has changed.
	Failed Kind = "failed"
)

// An Error is what the library returns. Its text is for a person: it says
// what is wrong and what to do next.
type Error struct {
	Op   string // what was attempted, for example "add host"
	Kind Kind
	Err  error // the cause in words; never nil
}

// Error gives the operation and the cause.
func (e *Error) Error() string { return "library: " + e.Op + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
