package shell

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"deskvnc/control"
)

// defaults are arguments that the command line gives by itself.
var defaults = map[string]map[string]any{
	"click": {"action": "click"},
	"run":   {"timeoutMs": 30000},
}

// flagName is an argument as a flag.
func (v *verb) flagName(a control.Arg) string {
	if n := v.row.CLI.Flags[a.Name]; n != "" {
		return n
	}
	if a.Name == "groupId" {
		return "group"
	}
	var b strings.Builder
	for _, r := range a.Name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// flagged are the arguments that are flags.
func (v *verb) flagged() []control.Arg {
	return slices.DeleteFunc(slices.Clone(v.row.Arguments()), func(a control.Arg) bool {
		return a.Name == "limbId" || slices.Contains(v.row.CLI.Positionals, a.Name) && v.row.CLI.Verb != "open"
	})
}

// argumentNames has the arguments that every verb shares read as they are
// written here.
var argumentNames = strings.NewReplacer("groupId", "--group", "limbId", "ID", "hostId", "NAME")

// define makes the flags of a verb's arguments.
func (v *verb) define(cmd *cobra.Command) {
	fs := cmd.Flags()
	v.values = map[string]any{}
	for _, a := range v.flagged() {
		name, doc := v.flagName(a), argumentNames.Replace(plain(a.Doc))
		if len(a.Enum) > 0 {
			doc += " One of: " + strings.Join(a.Enum, ", ") + "."
		}
		if d, ok := defaults[v.row.CLI.Verb][a.Name]; ok {
			doc += fmt.Sprintf(" Default %v.", d)
		}
		switch a.Type {
		case control.Bool:
			v.values[a.Name] = fs.Bool(name, false, doc)
		case control.Strings:
			v.values[a.Name] = fs.StringSlice(name, nil, doc)
		case control.Number:
			if a.Whole {
				v.values[a.Name] = fs.Int(name, 0, doc)
			} else {
				v.values[a.Name] = fs.Float64(name, 0, doc)
			}
		case control.Object:
			fields := make([]string, len(a.Fields))
			for i, f := range a.Fields {
				fields[i] = strings.ToUpper(f.Name)
			}
			v.values[a.Name] = fs.String(name, "", doc+" Written `"+strings.Join(fields, ",")+"`.")
		case control.Anything:
			v.values[a.Name] = fs.String(name, "", doc+" Written as `JSON`.")
		default:
			v.values[a.Name] = fs.String(name, "", doc)
		}
		if len(a.Enum) > 0 {
			words := a.Enum
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	if v.row.CLI.Verb == "screen" {
		fs.StringVar(&v.out, "out", "", "write the picture to `FILE`; - is standard output (default: a new temporary file)")
	}
}

// read takes flags and positionals into the arguments of the call, and
// compares them with the row before anything is opened.
func (c *call) read(args []string) error {
	for name, d := range defaults[c.row.CLI.Verb] {
		c.args[name] = d
	}
	for _, a := range c.flagged() {
		if !c.cmd.Flags().Changed(c.flagName(a)) {
			continue
		}
		value, err := flagValue(a, c.values[a.Name])
		if err != nil {
			return badUsage(c.cmd, "--%s: %w", c.flagName(a), err)
		}
		c.args[a.Name] = value
	}
	if err := c.positionals(args); err != nil {
		return err
	}
	if err := c.localPaths(); err != nil {
		return err
	}
	if c.row.CLI.Verb == "screen" && c.args["region"] != nil && c.args["form"] == nil {
		c.args["form"] = "region"
	}
	if c.out == "-" && c.json {
		return badUsage(c.cmd, "--json and a picture cannot both go to standard output")
	}
	if len(c.targets) > 0 || c.maybe != "" {
		return nil // what they are is known later
	}
	return c.check()
}

// localPaths has the local end of a transfer mean the folder that dvv is
// called in, whoever serves the call.
func (c *call) localPaths() error {
	local := map[any]string{"get": "to", "put": "from"}[c.args["action"]]
	given, ok := c.args[local].(string)
	if c.row.CLI.Verb != "files" || !ok || given == "" {
		return nil
	}
	path, err := filepath.Abs(given)
	if err != nil {
		return badUsage(c.cmd, "--%s: %w", local, err)
	}
	c.args[local] = path
	return nil
}

// check compares the arguments with the row.
func (c *call) check() error {
	args := c.args
	if a, ok := c.arg("limbId"); ok && a.Required && args["limbId"] == nil {
		args = map[string]any{"limbId": "lmb_x"} // it is looked up later
		for name, v := range c.args {
			args[name] = v
		}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return badUsage(c.cmd, "%w", err)
	}
	if _, r := control.Check(c.row, raw); r != nil {
		return badUsage(c.cmd, "%s", c.spelled(strings.TrimPrefix(r.Message, c.row.Name+": ")))
	}
	return nil
}

// spelled has a message about an argument name the flag instead.
func (c *call) spelled(message string) string {
	for _, a := range c.flagged() {
		message = strings.ReplaceAll(message, strconv.Quote(a.Name), "--"+c.flagName(a))
	}
	for _, name := range c.row.CLI.Positionals {
		message = strings.ReplaceAll(message, strconv.Quote(name), strings.Trim(c.placeholder(name), "[]"))
	}
	return message
}

// flagValue is what a flag says, as the argument's type.
func flagValue(a control.Arg, v any) (any, error) {
	switch v := v.(type) {
	case *bool:
		return *v, nil
	case *[]string:
		return *v, nil
	case *int:
		return *v, nil
	case *float64:
		return *v, nil
	case *string:
		return textValue(a, *v)
	}
	return nil, fmt.Errorf("it cannot be given here")
}

// textValue reads an argument that is written as text.
func textValue(a control.Arg, s string) (any, error) {
	switch a.Type {
	case control.Number:
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || a.Whole && n != float64(int64(n)) {
			return nil, fmt.Errorf("%q is not a %snumber", s, map[bool]string{true: "whole "}[a.Whole])
		}
		return json.Number(strconv.FormatFloat(n, 'f', -1, 64)), nil
	case control.NumberOrString:
		if n, err := strconv.Atoi(s); err == nil {
			return n, nil
		}
	case control.Object:
		parts := strings.Split(s, ",")
		if len(parts) != len(a.Fields) {
			return nil, fmt.Errorf("%q does not have %d numbers with commas between", s, len(a.Fields))
		}
		fields := map[string]any{}
		for i, f := range a.Fields {
			v, err := textValue(f, strings.TrimSpace(parts[i]))
			if err != nil {
				return nil, err
			}
			fields[f.Name] = v
		}
		return fields, nil
	case control.Anything:
		var v map[string]json.RawMessage
		if err := json.Unmarshal([]byte(s), &v); err != nil || v == nil {
			return nil, fmt.Errorf("%q is not a JSON object", s)
		}
		return json.RawMessage(s), nil
	case control.Bool:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", s)
		}
		return b, nil
	case control.Strings:
		return strings.Split(s, ","), nil
	}
	return s, nil
}

// encode gives the arguments as the tool takes them.
func (c *call) encode() (json.RawMessage, error) {
	return json.Marshal(c.args)
}
