// Command dvv is the command line of DeskVNC: the MCP server that lets an
// agent drive remote machines, by itself or in a running window.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"deskvnc/app/shell"
)

// version is the program's version; the build may set it.
var version = "0.1.0"

// The exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	// A reader that goes away is an error to handle, not the end.
	signal.Ignore(syscall.SIGPIPE)
	out := os.Stdout
	// Standard output is the protocol's alone: what anything else prints is
	// read by a person.
	os.Stdout = os.Stderr
	os.Exit(run(ctx, os.Args[1:], os.Stdin, out, os.Stderr))
}

// run is main with its surroundings; it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if code, ok := shell.Report(stderr, err); ok {
		return code
	}
	fmt.Fprintf(stderr, "dvv: %v\n", err)
	var u *usageError
	if errors.As(err, &u) {
		fmt.Fprintf(stderr, "Try %s --help.\n", u.command)
		return exitUsage
	}
	return exitFailed
}

// A usageError says that the command line itself is wrong.
type usageError struct {
	command string
	err     error
}

func (u *usageError) Error() string { return u.err.Error() }
func (u *usageError) Unwrap() error { return u.err }

// badUsage makes an error of the command line.
func badUsage(cmd *cobra.Command, format string, a ...any) error {
	return &usageError{cmd.CommandPath(), fmt.Errorf(format, a...)}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "dvv",
		Short:         "Drive remote desktops from a command line, a script or an agent",
		Version:       version,
		Args:          noArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return badUsage(cmd, "%w", err) })
	root.AddCommand(mcpCommand(), benchCommand(), versionCommand())
	shell.Register(root, version)
	return root
}

// noArgs refuses anything but flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return badUsage(cmd, "unknown command or argument %q", args[0])
	}
	return nil
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "dvv", version)
			return err
		},
	}
}
