package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deskvnc/control"
	"deskvnc/control/client"
	"deskvnc/control/command"
	"deskvnc/control/grant"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// qualityCommand is the id of the command that changes how a picture is asked
// for, in a window as well as in a holder.
const qualityCommand = "session.quality"

// executeMethod runs a command over the control socket.
const executeMethod = "engine.execute"

// commands are what a holder can do beside the tools, as a window does by the
// same names.
func (b *local) commands() (*command.Registry, error) {
	r := command.New(command.Here)
	return r, r.Add(command.Command{
		ID: qualityCommand, Label: "Picture quality", Kind: command.Action, Capability: grant.App,
		Doc: "Changes how the picture of a session is asked for, at once and until the session is closed. What is left out stays as it is.",
		Params: []command.Param{
			{Name: "session", Type: command.String, Doc: "id of the limb or session; the only one when missing"},
			{Name: "preset", Type: command.String, Required: true, Enum: qualities, Doc: "auto follows the connection"},
			{Name: "encoding", Type: command.String, Doc: "names of encodings in the order they are asked for, such as tight,zrle; auto for the usual order"},
			{Name: "colors", Type: command.String, Enum: colors, Doc: "how many colours are asked for"},
		},
		Run: b.quality,
	})
}

// session finds the session that a command names.
func (b *local) session(id string) (*engine.Session, error) {
	all := b.desk.Engine.Sessions()
	if id == "" {
		if len(all) != 1 {
			return nil, fmt.Errorf("%d sessions are open: say which one", len(all))
		}
		return all[0], nil
	}
	i := slices.IndexFunc(all, func(s *engine.Session) bool {
		return s.ID() == id || control.LimbID(s.Target(), s.Slot()) == id
	})
	if i < 0 {
		return nil, fmt.Errorf("there is no session %.64q", id)
	}
	return all[i], nil
}

// quality has the picture of a session asked for in another way.
func (b *local) quality(_ context.Context, p command.Params) (any, error) {
	s, err := b.session(p.Text("session"))
	if err != nil {
		return nil, err
	}
	pic, err := s.Tuned()
	if err != nil {
		return nil, fmt.Errorf("the picture of %s cannot be asked for in another way: %s", s.Target().Label(), viewer.Reason(err))
	}
	meant := func(word, empty string) string {
		if word == empty {
			return ""
		}
		return word
	}
	pic.Quality = viewer.Quality(meant(p.Text("preset"), wordAuto))
	if p.Has("colors") {
		pic.Colors = viewer.Colors(meant(p.Text("colors"), wordFull))
	}
	if p.Has("encoding") {
		pic.Encodings = meant(p.Text("encoding"), wordAuto)
	}
	if err := s.Tune(pic); err != nil {
		return nil, errors.New(viewer.Reason(err))
	}
	encoding := pic.Encodings
	if encoding == "" {
		encoding = wordAuto
	}
	return map[string]any{
		"session": control.LimbID(s.Target(), s.Slot()), "preset": p.Text("preset"), "encoding": encoding,
		"colors": spelledAs(wordFull, pic.Colors)[0],
	}, nil
}

// guarded is a registry as the control socket serves it. Who may speak to a
// holder is its own user.
type guarded struct{ *command.Registry }

// List implements [server.Commands].
func (g guarded) List(ctx context.Context, filter string) (any, error) {
	return g.Registry.List(ctx, filter)
}

// qualityVerb is "dvv quality".
func qualityVerb() *cobra.Command {
	var f flags
	var encodings []string
	var color string
	cmd := &cobra.Command{
		Use:   "quality [ID] PRESET",
		Short: "Change how the picture of a session is asked for",
		Long: `Change how the picture of a session is asked for, at once and until it is
closed. "dvv hosts edit NAME --quality PRESET" keeps it for a saved machine.

PRESET is ` + either(qualities) + `; auto follows the connection.`,
		Args: atMost(2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return completeQuality(cmd, &f, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			id, preset := "", ""
			switch len(args) {
			case 0:
				return badUsage(cmd, "PRESET is missing: %s", either(qualities))
			case 1:
				preset = args[0]
			case 2:
				id, preset = args[0], args[1]
			}
			if !slices.Contains(qualities, preset) {
				return badUsage(cmd, "%s is no PRESET; the last word is %s", quoted(preset), either(qualities))
			}
			params := map[string]any{"preset": preset}
			if cmd.Flags().Changed("colors") {
				if !slices.Contains(colors, color) {
					return badUsage(cmd, "--colors %s: it is %s", quoted(color), either(colors))
				}
				params["colors"] = color
			}
			if cmd.Flags().Changed("encodings") {
				params["encoding"] = wordAuto
				if list := strings.Join(encodings, ","); list != "" {
					params["encoding"] = list
				}
			}
			return f.quality(cmd, id, params)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&color, "colors", "", "the colours: "+either(colors))
	fs.StringSliceVar(&encodings, "encodings", nil, "the encodings to ask for, best first, as `A,B`; auto for the usual ones")
	f.add(cmd)
	_ = cmd.RegisterFlagCompletionFunc("colors", cobra.FixedCompletions(colors, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("encodings", completeEncodings)
	return cmd
}

// atMost bounds the number of positionals.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return badUsage(cmd, "unknown argument %q", args[n])
		}
		return nil
	}
}

// completeQuality completes a session or a preset, and then a preset.
func completeQuality(cmd *cobra.Command, f *flags, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	names := slices.Clone(qualities)
	if len(args) > 1 || len(args) == 1 && slices.Contains(qualities, args[0]) {
		return nil, none
	}
	if w, err := f.where(cmd); err == nil && len(args) == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), completeTime)
		defer cancel()
		if c, err := w.runs(ctx); err == nil && c != nil {
			defer c.Close()
			if limbs, err := namesOf(ctx, c, "limbId"); err == nil {
				names = append(names, limbs...)
			}
		}
	}
	return starting(names, prefix), none
}

// runs is a client of the program that has the sessions: the window itself, the
// holder, or else that of the sample. It is nil when none runs.
func (w where) runs(ctx context.Context) (*client.Client, error) {
	if w.window != nil {
		return client.New(client.Config{Address: *w.window, Name: label}), nil
	}
	c, err := w.running(ctx)
	if err != nil || c != nil || w.sample {
		return c, err
	}
	return where{sample: true}.running(ctx)
}

// quality runs the command where the sessions are.
func (f *flags) quality(cmd *cobra.Command, id string, params map[string]any) error {
	w, err := f.where(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	c, err := w.runs(ctx)
	switch {
	case err != nil:
		return failed(err)
	case c == nil:
		return &exit{code: exitFailed, text: "nothing is open; open a machine with: dvv open NAME"}
	}
	defer c.Close()
	if id != "" {
		if !control.LimbIDShape(id) {
			if id, err = findLimb(ctx, c, id); err != nil {
				return failed(err)
			}
		}
		params["session"] = id
	}
	raw, err := json.Marshal(map[string]any{"command": qualityCommand, "params": params})
	if err != nil {
		return failed(err)
	}
	answer, err := c.Request(ctx, executeMethod, qualityCommand, raw)
	var r *control.Refused
	if errors.As(err, &r) && r.Code == control.Internal { // the command's own words
		return &exit{code: exitFailed, text: strings.TrimPrefix(screenText(r.Message), qualityCommand+": "), err: err}
	}
	if err != nil {
		return failed(err)
	}
	if f.json {
		return failed(printLine(cmd.OutOrStdout(), string(answer)))
	}
	var done struct {
		Session, Preset, Encoding, Colors string
	}
	if err := json.Unmarshal(answer, &done); err != nil {
		return failed(errors.New("the answer makes no sense: install the same version of dvv and DeskVNC"))
	}
	return failed(printLine(cmd.OutOrStdout(), screenText(fmt.Sprintf("The picture of %s is asked for in quality %s.", done.Session, done.Preset))))
}
