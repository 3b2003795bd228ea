package shell

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"deskvnc/control"
)

// The exit codes beside those of [control.Code.Exit].
const (
	exitFailed = 1
	exitUsage  = 2
)

// An exit is an error with the exit code of the program.
type exit struct {
	code  int
	text  string // empty when it has been shown already
	usage string // the command whose help to read; empty for none
	err   error
}

func (e *exit) Error() string { return e.text }
func (e *exit) Unwrap() error { return e.err }

// badUsage is the error of a wrong command line.
func badUsage(cmd *cobra.Command, format string, a ...any) error {
	err := fmt.Errorf(format, a...)
	return &exit{code: exitUsage, text: err.Error(), usage: cmd.CommandPath(), err: err}
}

// failed is an error whose code is that of a refusal, when it is one.
func failed(err error) error {
	var own *exit
	var r *control.Refused
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case errors.As(err, &r):
		return &exit{code: r.Code.Exit(), text: plain(control.RefusalResult(r).Text), err: err}
	}
	return &exit{code: exitFailed, text: err.Error(), err: err}
}

// Report shows an error of a command of this package and gives its exit code.
// It reports false for an error of another command.
func Report(stderr io.Writer, err error) (code int, ok bool) {
	var e *exit
	if !errors.As(err, &e) {
		return 0, false
	}
	if e.text != "" {
		fmt.Fprintf(stderr, "dvv: %s\n", e.text)
	}
	if e.usage != "" {
		fmt.Fprintf(stderr, "Try %s --help.\n", e.usage)
	}
	return e.code, true
}

// The groups of the help page.
const (
	groupSessions = "sessions"
	groupActing   = "acting"
	groupMachines = "machines"
	groupPrograms = "programs"
)

const rootHelp = `Drive remote desktops from a command line, a script or an agent.

"dvv open NAME" starts a session and returns; the session stays open in a
background process, the holder, until "dvv close". Every other verb uses it:

  dvv open lab01 --perceive
  dvv wait --until connected
  dvv screen --out lab01.png
  dvv control acquire --reason "check the printer"
  dvv click 640 360
  dvv type "hello"
  dvv close

ID is the id of a session (dvv limbs) or the name of its machine; leave it out
when exactly one is open. With --connect, or DVV_CONNECT set, the same verbs
drive the sessions of a running DeskVNC window. --sample gives a sample desktop
to try everything on. --json prints what a program can read.

Exit codes: 0 done, also a wait whose time was up; 1 refused or failed; 2 wrong
usage; 3 not allowed; 4 the wheel is not yours; 5 cancelled before it settled.`

// Register adds the commands of this package to the program's root, and
// arranges its help.
//
// Which program serves a verb: the window of --connect or DVV_CONNECT; else
// the sample holder with --sample; else the holder of saved and typed
// machines; else, when only that one runs, the sample holder; else this
// process, for as long as the verb takes. "open" and "group open" start a
// holder instead.
func Register(root *cobra.Command, version string) {
	root.Long = rootHelp
	root.AddGroup(
		&cobra.Group{ID: groupSessions, Title: "Sessions:"},
		&cobra.Group{ID: groupActing, Title: "Look and act:"},
		&cobra.Group{ID: groupMachines, Title: "Saved machines:"},
		&cobra.Group{ID: groupPrograms, Title: "Serve and measure:"},
	)
	for _, c := range root.Commands() {
		c.GroupID = groupPrograms
	}
	root.SetHelpCommandGroupID(groupPrograms)
	// Before the verb they count as well as after it.
	new(flags).add(root)
	addVerbs(root, version)
	for _, c := range []*cobra.Command{holdCommand(version), listenCommand(version)} {
		c.GroupID = groupSessions
		root.AddCommand(c)
	}
	quality := qualityVerb()
	quality.GroupID = groupActing
	root.AddCommand(quality)
	for _, c := range []*cobra.Command{loginCommand(), logoutCommand()} {
		c.GroupID = groupMachines
		root.AddCommand(c)
	}
	complete := completionCommand(root)
	complete.GroupID = groupPrograms
	root.AddCommand(complete)
}
