package shell

import (
	"slices"
	"strings"

	"deskvnc/control"
)

// follows says how many arguments stand after the ID of a verb, at least and
// at most, for a verb or a verb with its action; any other has as many as its
// row.
func (c *call) follows(verb string, all int) (least, most int) {
	switch verb {
	case "clip get", "files home":
		return 0, 0
	case "files list":
		return 0, 1
	case "term send":
		if c.args["bytesHex"] != nil {
			return 0, 0
		}
	}
	return all, all
}

// positionals takes the positional arguments. The ID may be left out: then
// there is one argument less. Where an argument after it is optional as well,
// the only one given is the ID if it has the form of one or is the name of a
// machine that is open, and else that argument.
func (c *call) positionals(args []string) error {
	switch c.row.CLI.Verb {
	case "open":
		return c.oneTarget(args)
	case "group open":
		c.targets = args
		return nil
	case "group grow":
		if len(args) == 0 {
			return badUsage(c.cmd, "GROUP is missing: an id of \"dvv group list\"")
		}
		c.args["groupId"], c.targets = args[0], args[1:]
		return nil
	case "group run":
		return c.groupRun(args)
	}
	if c.row.CLI.Verb == "run" {
		// Everything after a -- is the command.
		if dash := c.cmd.ArgsLenAtDash(); dash >= 0 && len(args) > dash {
			args = append(slices.Clone(args[:dash]), strings.Join(args[dash:], " "))
		}
	}
	names := c.row.CLI.Positionals
	at := slices.Index(names, "limbId")
	if at < 0 {
		return c.take(names, args)
	}
	if len(args) < at {
		a, _ := c.arg(names[len(args)])
		return badUsage(c.cmd, "%s is missing: %s", strings.ToUpper(a.Name), either(a.Enum))
	}
	if err := c.take(names[:at], args[:at]); err != nil {
		return err
	}
	verb := strings.Join(append([]string{c.row.CLI.Verb}, args[:at]...), " ")
	return c.afterID(names[at+1:], args[at:], verb)
}

// afterID takes what stands in the place of the ID and after it.
func (c *call) afterID(names, args []string, verb string) error {
	least, most := c.follows(verb, len(names))
	names = names[:most]
	switch n := len(args); {
	case c.args["groupId"] != nil: // member picks the session
		return c.take(names, args)
	case n > most+1:
		hint := ""
		if slices.Contains(names, "text") || slices.Contains(names, "command") {
			hint = "; put text with spaces in quotes"
		}
		return badUsage(c.cmd, "too many arguments after %q%s", args[most], hint)
	case n == most+1:
		c.id, args = args[0], args[1:]
	case n > least: // the ID or an optional argument
		if control.LimbIDShape(args[0]) {
			c.id, args = args[0], args[1:]
		} else {
			c.id, c.maybe, args = args[0], names[0], nil
		}
	case n > 0 && control.LimbIDShape(args[0]):
		return badUsage(c.cmd, "%s is missing after the ID", strings.ToUpper(names[n-1]))
	}
	if len(args) < least && c.maybe == "" {
		return badUsage(c.cmd, "%s is missing", strings.ToUpper(names[len(args)]))
	}
	return c.take(names, args)
}

// take gives arguments the names of positionals, in order.
func (c *call) take(names, args []string) error {
	if len(args) > len(names) {
		return badUsage(c.cmd, "unknown argument %q", args[len(names)])
	}
	for i, text := range args {
		a, _ := c.arg(names[i])
		v, err := textValue(a, text)
		if err != nil {
			return badUsage(c.cmd, "%s: %w", strings.ToUpper(names[i]), err)
		}
		c.args[names[i]] = v
	}
	return nil
}

// oneTarget takes the machine of "open".
func (c *call) oneTarget(args []string) error {
	named := c.args["hostId"] != nil || c.args["address"] != nil
	switch {
	case len(args) > 1:
		return badUsage(c.cmd, "unknown argument %q", args[1])
	case len(args) == 1 && named:
		return badUsage(c.cmd, "give NAME or ADDRESS, or --host-id or --address, not both")
	case len(args) == 0 && !named:
		return badUsage(c.cmd, "NAME or ADDRESS is missing; \"dvv hosts\" lists the saved machines")
	}
	c.targets = args
	return nil
}

// groupRun takes the arguments of the verb that a group is to do after its
// name.
func (c *call) groupRun(args []string) error {
	if len(args) < 2 {
		return badUsage(c.cmd, "GROUP and ACTION are needed")
	}
	if err := c.take(c.row.CLI.Positionals, args[:2]); err != nil {
		return err
	}
	if args = args[2:]; len(args) == 0 {
		return nil
	}
	row, ok := control.RowByName("dvv_" + c.args["action"].(string))
	if !ok {
		return c.check() // which says what there is
	}
	if c.args["arguments"] != nil {
		return badUsage(c.cmd, "give --arguments or what comes after ACTION, not both")
	}
	names := slices.DeleteFunc(slices.Clone(row.CLI.Positionals), func(n string) bool { return n == "limbId" })
	inner := &call{verb: &verb{row: row}, cmd: c.cmd, args: map[string]any{}}
	for name, d := range defaults[row.CLI.Verb] {
		inner.args[name] = d
	}
	if err := inner.take(names, args); err != nil {
		return err
	}
	c.args["arguments"] = inner.args
	return nil
}
