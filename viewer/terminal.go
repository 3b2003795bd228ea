package viewer

import (
	"context"
	"time"
)

// A Terminal is a Session with a screen of characters, drawn into the
// [Env.Grid] it was opened with. It takes keys, pointer events in cells and
// [Bytes] through its [Inputter], and its [Resizer] takes columns and rows.
type Terminal interface {
	// Paste is text as it is sent for a paste: line ends as the Return key sends
	// them, control characters taken out, and in brackets when the program asked
	// for them.
	Paste(text string) Bytes
}

// Bytes are bytes for the program in a terminal, as they are.
type Bytes struct{ Data []byte }

func (Bytes) input() {}

// A Runner is a Session that runs commands beside what it shows.
type Runner interface {
	// Run runs one command and waits for its end or the end of ctx, whichever
	// comes first. What the command printed by then is in the Ran even with an
	// error. An error says that it is not known how the command ended.
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
	TimedOut   bool
	// Stopped says whether the command was told to stop at the deadline and is
	// known to have ended.
	Stopped bool
	// Open says that something in the background still holds the output open.
	Open bool
	Took time.Duration
}

// An Output is one output stream of a command. Of more than was to be kept,
// the beginning and the end are.
type Output struct {
	Head, Tail []byte // without a gap when Dropped is 0
	Bytes      int64  // all of it
	Dropped    int64  // of them between Head and Tail
	Lines      int64  // line ends among the dropped
}
