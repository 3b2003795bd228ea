package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"deskvnc/app/shell"
	"deskvnc/control"
	"deskvnc/control/client"
	"deskvnc/control/grant"
	"deskvnc/control/paths"
	"deskvnc/control/socket"
	"deskvnc/mcpbridge"
	"deskvnc/viewer/sample"
)

// The variables that stand for flags.
const (
	connectVariable    = "DVV_CONNECT"
	maxMessageVariable = "VDON_MCP_MAX_MESSAGE_BYTES"
)

const mcpHelp = `Serve MCP on standard input and output.

Without --connect dvv opens its own sessions, in this process and without a
window, to any address that its VNC driver reaches. With --connect it drives
the sessions of a running DeskVNC window, together with the person there; start
the window with: deskvnc --control PORT, or --control auto. The window need not
run yet: it is looked for at every call.`

// mcpFlags are the flags of "dvv mcp".
type mcpFlags struct {
	connect    string
	sample     bool
	sampleSize string
	hosts      []string
	allow      []string
	maxMessage string
	acceptNew  bool
	read       []string
	write      []string
}

func mcpCommand() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve MCP on standard input and output",
		Long:  mcpHelp,
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return f.serve(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.connect, "connect", "", "drive the running window at `PORT`, HOST:PORT, the path of its socket, or auto (or $"+connectVariable+")")
	flags.BoolVar(&f.sample, "sample", false, "serve a sample desktop in this process, to try everything out")
	flags.StringVar(&f.sampleSize, "sample-size", "", "the size of the sample desktop as `WxH` (default 1920x1080)")
	flags.StringSliceVar(&f.hosts, "hosts", nil, "the only machines that may be opened, as `A,B`: addresses or saved names")
	flags.StringSliceVar(&f.allow, "allow", nil, "what is not allowed by itself: `exec` lets commands be run")
	flags.BoolVar(&f.acceptNew, "accept-new", false, "trust keys and certificates that were never seen before; changed ones never")
	flags.StringArrayVar(&f.read, "automation-read-root", nil, "a `DIR` whose files may be sent to machines; with one of these two, nothing else (repeatable)")
	flags.StringArrayVar(&f.write, "automation-write-root", nil, "a `DIR` in which files from machines may be saved (repeatable)")
	flags.StringVar(&f.maxMessage, "max-message-bytes", "", "the longest message, at most "+strconv.Itoa(control.MaxMessage)+" `BYTES` (or $"+maxMessageVariable+")")
	return cmd
}

// serve checks the flags, then serves until the input ends. Nothing is opened
// before the first tool is called.
func (f *mcpFlags) serve(cmd *cobra.Command) error {
	config := mcpbridge.Config{Version: version, Rows: control.Rows(), Idle: shell.GiveBack}
	var err error
	if config.MaxMessage, err = f.messageLimit(cmd); err != nil {
		return err
	}
	address, from, err := f.address(cmd)
	switch {
	case err != nil:
		return err
	case from != "":
		if err := f.onlyHeadless(cmd, from); err != nil {
			return err
		}
		if !address.Loopback() {
			fmt.Fprintf(cmd.ErrOrStderr(), "dvv: warning: %s is not this machine: what is typed and seen goes there unencrypted, and no key is sent\n", address)
		}
		config.About = "connected to the DeskVNC window at " + address.String() + ", where a person may be watching and driving"
		config.Open = func(name string) (mcpbridge.Backend, error) {
			return client.New(client.Config{Address: address, Name: name}), nil
		}
	default:
		h, err := f.headless(cmd)
		if err != nil {
			return err
		}
		config.About = h.about()
		config.Open = h.open
	}
	server, err := mcpbridge.New(config)
	if err != nil {
		return err
	}
	return server.ServeStdio(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
}

// address is where the window is; from is the flag or variable that says so,
// or empty.
func (f *mcpFlags) address(cmd *cobra.Command) (a socket.Address, from string, err error) {
	text := f.connect
	switch {
	case cmd.Flags().Changed("connect"):
		from = "--connect"
	case os.Getenv(connectVariable) != "":
		text, from = os.Getenv(connectVariable), connectVariable
	default:
		return a, "", nil
	}
	if a, err = socket.Parse(text, false); err != nil {
		return a, "", badUsage(cmd, "%s: %w", from, err)
	}
	return a, from, nil
}

// onlyHeadless refuses flags that mean nothing to a window.
func (f *mcpFlags) onlyHeadless(cmd *cobra.Command, from string) error {
	for _, name := range []string{"sample", "sample-size", "hosts", "allow", "accept-new", "automation-read-root", "automation-write-root"} {
		if !cmd.Flags().Changed(name) {
			continue
		}
		if from == connectVariable {
			return badUsage(cmd, "--%s is for sessions of dvv's own, and %s is set: unset it first", name, from)
		}
		return badUsage(cmd, "--%s is for sessions of dvv's own and cannot go with --connect: the window decides there", name)
	}
	return nil
}

// headless checks the flags for sessions of our own.
func (f *mcpFlags) headless(cmd *cobra.Command) (*headless, error) {
	h := &headless{sample: f.sample, acceptNew: f.acceptNew, warn: cmd.ErrOrStderr()}
	if cmd.Flags().Changed("sample-size") {
		w, height, err := parseSize(f.sampleSize)
		if err != nil {
			return nil, badUsage(cmd, "--sample-size: %w", err)
		}
		h.sample, h.width, h.height = true, w, height
	}
	if cmd.Flags().Changed("hosts") && len(f.hosts) == 0 {
		return nil, badUsage(cmd, "--hosts needs at least one machine")
	}
	for _, capability := range f.allow {
		if capability != grant.Exec {
			return nil, badUsage(cmd, "--allow %s: only %s can be allowed", capability, grant.Exec)
		}
	}
	var err error
	if h.folders, err = paths.FromFlags(f.read, f.write); err != nil {
		return nil, err
	}
	if h.grant, err = grant.Operator(len(f.hosts) == 0, f.hosts, slices.Contains(f.allow, grant.Exec)); err != nil {
		return nil, badUsage(cmd, "--hosts: %w", err)
	}
	return h, nil
}

// messageLimit is the longest message, or 0 for the usual one.
func (f *mcpFlags) messageLimit(cmd *cobra.Command) (int, error) {
	text, from := f.maxMessage, "--max-message-bytes"
	if !cmd.Flags().Changed("max-message-bytes") {
		if text, from = os.Getenv(maxMessageVariable), maxMessageVariable; text == "" {
			return 0, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < mcpbridge.MinMaxMessage || n > control.MaxMessage {
		return 0, badUsage(cmd, "%s: %q is not a number of bytes from %d to %d", from, text, mcpbridge.MinMaxMessage, control.MaxMessage)
	}
	return n, nil
}

// parseSize reads 1920x1080.
func parseSize(s string) (w, h int, err error) {
	ws, hs, ok := strings.Cut(strings.ToLower(s), "x")
	w, werr := strconv.Atoi(ws)
	h, herr := strconv.Atoi(hs)
	if !ok || errors.Join(werr, herr) != nil || w <= 0 || h <= 0 {
		return 0, 0, fmt.Errorf("%q is not a size; write for example 1920x1080", s)
	}
	if w < sample.MinWidth || h < sample.MinHeight || w > sample.MaxSide || h > sample.MaxSide {
		return 0, 0, fmt.Errorf("%s is no size of a sample desktop: it is %dx%d to %dx%d", s, sample.MinWidth, sample.MinHeight, sample.MaxSide, sample.MaxSide)
	}
	return w, h, nil
}
