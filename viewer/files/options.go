package files

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"
)

// Options say how a transfer is done. The zero Options move one file or folder
// and refuse names that are taken.
type Options struct {
	// Exists is asked what to do about a file that is there already; folders
	// are merged without a question. Nil refuses, with kind Exists. It is
	// called by one goroutine at a time and may wait for a person.
	Exists func(ctx context.Context, c Conflict) (Choice, error)
	// Progress is told how far it is, ten times a second at most and once at
	// the end, by one goroutine at a time. It must not block.
	Progress func(Progress)
	// Gate holds the transfer while it is shut; nil is always open.
	Gate *Gate
	// Verify reads both sides again afterwards and compares SHA-256.
	Verify bool
	// KeepPart leaves the unfinished copy behind when the transfer is
	// cancelled, to be continued later. A lost link always leaves it.
	KeepPart bool
	// Mode are the permission bits (07777) of the copy, with HasMode only;
	// without it the rule of the package holds.
	Mode    uint32
	HasMode bool
	// Limit refuses a file of more bytes, with kind Limit; 0 is no limit.
	Limit int64

	memory *memory // what earlier attempts of the same transfer have done
}

// A Conflict is a name that is taken.
type Conflict struct {
	Path   string // the path that is taken, for a person
	Source Facts
	Target Facts
}

// Facts are what helps a person to choose between two files.
type Facts struct {
	Size     int64     // -1 unknown
	Modified time.Time // zero unknown
}

// A Choice answers a Conflict.
type Choice struct {
	Do  Action
	All bool // the same for the rest of this transfer
}

// An Action is what to do about a name that is taken. The zero Action refuses.
type Action string

// The actions.
const (
	Refuse   Action = ""
	Skip     Action = "skip"
	Replace  Action = "replace"
	KeepBoth Action = "keep-both" // under the next free name
)

// Always answers every Conflict with the same action.
func Always(a Action) func(context.Context, Conflict) (Choice, error) {
	return func(context.Context, Conflict) (Choice, error) { return Choice{Do: a, All: true}, nil }
}

// A Result is what came of a transfer. It tells what was done also when there
// is an error.
type Result struct {
	Path    string // where the copy is, byte for byte
	Bytes   int64  // moved by this transfer
	Size    int64  // of the file, or of all files of a folder
	Resumed int64  // bytes that an earlier attempt had moved
	Files   int
	Folders int
	Skipped int
	SHA256  string // in hex, of a single file with Verify
	Windows int    // requests that carried data
	Notes   []string
	// Failed are the files of a folder that could not be copied, the first
	// [maxNotes] of them; FailedCount counts all.
	Failed      []Failure
	FailedCount int
}

// A Failure is one file of a folder that could not be copied.
type Failure struct {
	Path string // for a person
	Err  error
}

// maxNotes bounds the notes and the failures of one result.
const maxNotes = 200

func (r *Result) note(s string) {
	if s != "" && len(r.Notes) < maxNotes {
		r.Notes = append(r.Notes, s)
	}
}

// tidyTime is how long cleaning up after a transfer may take.
const tidyTime = 10 * time.Second

// randomName is what makes a temporary name new.
func randomName() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
