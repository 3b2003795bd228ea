package viewer

import (
	"context"
	"strconv"
	"time"
)

// A session of a terminal draws into the [Env.Grid] that it was opened with.
// Its [Inputter] takes keys, pointer events in cells, [Bytes], [Paste] and
// [Focus]; its [Resizer] takes columns and rows.

// Bytes are bytes for the program in a terminal, as they are.
type Bytes struct{ Data []byte }

// Paste is text for the program in a terminal, as a paste sends it: line ends
// as the Return key sends them, control characters taken out, and in brackets
// when the program asked for them.
type Paste struct{ Text string }

// Focus says whether a terminal has the keyboard now, for programs that asked
// to be told.
type Focus struct{ In bool }

func (Bytes) input() {}
func (Paste) input() {}
func (Focus) input() {}

// MaxPost is how many bytes one [Bytes] or [Paste] may have.
const MaxPost = 16 << 20

// ClipboardAsked says that the program in a terminal asks to put text on the
// clipboard here, or on the primary selection. Nothing was done.
type ClipboardAsked struct {
	Text    string
	Primary bool
}

// Notified is a message that the program in a terminal asks to show. The text
// is cleaned.
type Notified struct{ Text string }

func (ClipboardAsked) event() {}
func (Notified) event()       {}

// Exited: the program of the session has ended by itself, and the machine said
// so. Nothing is lost, so nothing is tried again.
const Exited Kind = "exited"

// An Exit is how a program ended: by a code, or by the signal named, such as
// "KILL". It is in the chain of errors of kind [Exited].
type Exit struct {
	Code   int
	Signal string
}

// Error says it in words.
func (e *Exit) Error() string {
	switch {
	case e.Signal != "":
		return "the program was ended by the signal " + e.Signal
	case e.Code == 0:
		return "the program ended"
	}
	return "the program ended with the exit code " + strconv.Itoa(e.Code)
}

// A Runner is a Session that runs commands beside what it shows.
type Runner interface {
	// Run runs one command, and waits for its end or the end of ctx, whichever
	// comes first. An error says that the command was not started, or of kind
	// Cancelled that ctx was cancelled; the Ran then has what there is.
	Run(ctx context.Context, c Command) (Ran, error)
}

// A Command is a line for the remote shell.
type Command struct {
	Line string
	Dir  string // where to start; empty: where the login starts
	Keep int    // bytes of each output that are kept; 0: [RunKeep]
}

// RunKeep is how much of each output of a command is kept, in bytes.
const RunKeep = 2 << 20

// A Ran is what came of a command.
type Ran struct {
	Stdout, Stderr Output
	// Code is the exit code, with Exited only.
	Code   int
	Exited bool
	// Signal is the name, such as "KILL", of the signal that ended it, or empty.
	Signal string
	// Unanswered says why there is neither code nor signal, or is empty: the
	// deadline, or an end that the far side did not explain.
	Unanswered string
	TimedOut   bool // the deadline came first
	Lost       bool // the connection, or the channel of the command, ended first
	// Stopped, after the deadline: the command was told to stop and has ended.
	// Without it, it may still run.
	Stopped bool
	// Open says that the command has ended and something that it started still
	// holds its output open. What that prints later is not read.
	Open bool
	Took time.Duration
}

// An Output is one output stream of a command. Of more than was to be kept,
// the beginning and the end are, cut between characters.
type Output struct {
	Head, Tail []byte // without a gap when Dropped is 0
	Bytes      int64  // all of it
	Dropped    int64  // of them between Head and Tail
	Lines      int64  // line ends among the dropped
}
