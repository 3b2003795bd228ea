package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deskvnc/control"
)

// A verb is a tool as a command.
type verb struct {
	flags
	row     control.Row
	version string
	values  map[string]any // what the flags of the arguments are read into, by argument
	out     string         // where the picture goes
}

// addVerbs adds a command for every row.
func addVerbs(root *cobra.Command, version string) {
	parents := map[string]*cobra.Command{}
	for _, row := range control.Rows() {
		v := &verb{row: row, version: version}
		cmd := v.command()
		first, second, ok := strings.Cut(row.CLI.Verb, " ")
		if !ok {
			cmd.GroupID = groupOf(row)
			if first == "hosts" {
				addHosts(cmd)
			}
			root.AddCommand(cmd)
			continue
		}
		parent := parents[first]
		if parent == nil {
			parent = &cobra.Command{
				Use: first, Short: parentShort[first], GroupID: groupOf(row), Args: noArgs,
				RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
			}
			new(flags).add(parent) // they may stand before what it is to do
			parents[first] = parent
			root.AddCommand(parent)
		}
		cmd.Use = second + strings.TrimPrefix(cmd.Use, row.CLI.Verb)
		parent.AddCommand(cmd)
	}
}

var parentShort = map[string]string{
	"group": "Several machines at once",
	"term":  "Read and write a terminal",
}

// groupOf is where the help page has a tool.
func groupOf(row control.Row) string {
	switch row.CLI.Verb {
	case "hosts":
		return groupMachines
	case "limbs", "open", "close", "reconnect", "status", "signals", "control":
		return groupSessions
	}
	if strings.HasPrefix(row.CLI.Verb, "group ") {
		return groupSessions
	}
	return groupActing
}

// command makes the command of a verb.
func (v *verb) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:               v.usage(),
		Short:             v.row.Title,
		Long:              plain(v.row.Doc) + v.actions(),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: v.complete,
		RunE:              v.run,
	}
	cmd.Flags().SortFlags = false
	v.define(cmd)
	v.add(cmd)
	return cmd
}

// actions lists what the ACTION of a verb may be.
func (v *verb) actions() string {
	for _, a := range v.row.Args {
		if slices.Contains(v.row.CLI.Positionals, a.Name) && len(a.Enum) > 0 {
			return "\n\n" + strings.ToUpper(a.Name) + " is " + either(a.Enum) + "."
		}
	}
	return ""
}

// either lists words.
func either(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// usage is the line of a verb's positionals.
func (v *verb) usage() string {
	use := v.row.CLI.Verb
	switch use {
	case "open":
		return use + " NAME|ADDRESS[:PORT]"
	case "group open":
		return use + " [NAME|ADDRESS[:PORT] ...]"
	case "group grow":
		return use + " GROUP [NAME|ADDRESS[:PORT] ...]"
	case "group run":
		return use + " GROUP ACTION [ARGUMENT ...]"
	}
	for _, name := range v.row.CLI.Positionals {
		use += " " + v.placeholder(name)
	}
	return use
}

// placeholder is a positional as the usage line shows it.
func (v *verb) placeholder(name string) string {
	arg, _ := v.arg(name)
	switch {
	case name == "limbId":
		return "[ID]"
	case name == "groupId" && arg.Required:
		return "GROUP"
	case name == "groupId":
		return "[GROUP]"
	case v.row.CLI.Verb == "clip" && name == "text", v.row.CLI.Verb == "files" && name == "path":
		return "[" + strings.ToUpper(name) + "]"
	}
	return strings.ToUpper(name)
}

// arg finds an argument of the tool.
func (v *verb) arg(name string) (control.Arg, bool) {
	for _, a := range v.row.Arguments() {
		if a.Name == name {
			return a, true
		}
	}
	return control.Arg{}, false
}

// need is what the verb needs of the program that serves it.
func (v *verb) need() need {
	switch {
	case v.row.CLI.Verb == "open" || v.row.CLI.Verb == "group open":
		return opening
	case v.row.Hints.ReadOnly && v.row.CLI.Verb != "screen":
		return looking
	}
	return acting
}

// run does what the verb says.
func (v *verb) run(cmd *cobra.Command, args []string) error {
	w, err := v.where(cmd)
	if err != nil {
		return err
	}
	c := &call{verb: v, cmd: cmd, args: map[string]any{}}
	if err := c.read(args); err != nil {
		return err
	}
	ctx := cmd.Context()
	b, err := w.open(ctx, v.need(), v.version, cmd.ErrOrStderr())
	if err != nil {
		return failed(err)
	}
	err = c.do(ctx, b)
	if cerr := b.Close(); err == nil && cerr != nil {
		err = failed(cerr)
	}
	return err
}

// A call is one use of a verb.
type call struct {
	*verb
	cmd  *cobra.Command
	args map[string]any // the tool's arguments
	// id is what stands in the place of the session; it is looked up.
	id string
	// maybe is set when id may be the argument of that name instead.
	maybe string
	// targets are machines to open.
	targets []string
}

// do looks up the names of the call, makes it and shows what came of it.
func (c *call) do(ctx context.Context, b backend) error {
	if err := c.lookUp(ctx, b); err != nil {
		return failed(err)
	}
	raw, err := c.encode()
	if err != nil {
		return failed(err)
	}
	answer, err := b.Call(ctx, c.row.Name, raw)
	if err != nil {
		return c.refused(err)
	}
	r, err := parse(answer)
	if err != nil {
		return failed(fmt.Errorf("%s: %w", c.row.Name, err))
	}
	return c.show(r)
}
