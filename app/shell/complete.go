package shell

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskvnc/app/library"
	"deskvnc/control"
)

// completeTime bounds how long a shell waits for names.
const completeTime = time.Second

func completionCommand(root *cobra.Command) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script that completes commands, machines and sessions",
		Long: `Print a script that completes commands, flags, machines and sessions:

  bash:  source <(dvv completion bash)
  zsh:   dvv completion zsh > "${fpath[1]}/_dvv"
  fish:  dvv completion fish > ~/.config/fish/completions/dvv.fish`,
		Args:      exactly("SHELL"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			}
			return badUsage(cmd, "%q is not a shell this knows: it is %s", args[0], either(shells))
		},
	}
}

// completeHosts completes the name of a saved machine.
func completeHosts(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	l, err := library.Open(library.Options{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer l.Close()
	var names []string
	for _, t := range l.Hosts() {
		names = append(names, t.Label())
	}
	return starting(names, prefix), cobra.ShellCompDirectiveNoFileComp
}

// complete completes the positionals of a verb: actions, sessions by the name
// of their machine, groups, and for "open" machines.
func (v *verb) complete(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	many := v.row.CLI.Verb == "group open" || v.row.CLI.Verb == "group grow" && len(args) > 0
	name := ""
	switch {
	case many || v.row.CLI.Verb == "open" && len(args) == 0:
		name = "hostId"
	case v.row.CLI.Verb != "open" && len(args) < len(v.row.CLI.Positionals):
		name = v.row.CLI.Positionals[len(args)]
	}
	a, _ := v.arg(name)
	if len(a.Enum) > 0 {
		return starting(slices.Clone(a.Enum), prefix), none
	}
	if name != "limbId" && name != "hostId" && name != "groupId" {
		return nil, none
	}
	w, err := v.where(cmd)
	if err != nil {
		return nil, none
	}
	ctx, cancel := context.WithTimeout(context.Background(), completeTime)
	defer cancel()
	b, err := w.open(ctx, looking, v.version, io.Discard)
	if err != nil {
		return nil, none
	}
	defer b.Close()
	names, err := namesOf(ctx, b, name)
	if err != nil {
		return nil, none
	}
	return starting(names, prefix), none
}

// namesOf lists what can stand for an argument.
func namesOf(ctx context.Context, b backend, argument string) (names []string, err error) {
	switch argument {
	case "hostId":
		hosts, err := listHosts(ctx, b, false)
		if err != nil {
			return nil, err
		}
		for _, h := range hosts {
			names = append(names, h.Label)
		}
		return names, nil
	case "groupId":
		var l struct {
			Groups []struct {
				GroupID string `json:"groupId"`
			} `json:"groups"`
		}
		if err := ask(ctx, b, "dvv_group_list", nil, &l); err != nil {
			return nil, err
		}
		for _, g := range l.Groups {
			names = append(names, g.GroupID)
		}
		return names, nil
	}
	l, err := listLimbs(ctx, b)
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	hosts := make([]string, 0, len(l.Limbs)+len(l.Available))
	ids := make([]string, 0, cap(hosts))
	add := func(host, id string) {
		hosts, ids = append(hosts, host), append(ids, id)
		count[host]++
	}
	for _, k := range l.Limbs {
		add(k.Host, k.LimbID)
	}
	for _, k := range l.Available {
		add(k.Host, k.LimbID)
	}
	for i, host := range hosts {
		if count[host] == 1 && !control.LimbIDShape(host) {
			names = append(names, host)
		}
		names = append(names, ids[i])
	}
	return names, nil
}

// starting are the words that begin with a prefix. What a shell would not take
// as one word is left out.
func starting(words []string, prefix string) []string {
	return slices.DeleteFunc(words, func(w string) bool {
		return !strings.HasPrefix(w, prefix) || strings.Map(printable, w) != w || strings.ContainsAny(w, "\t\n")
	})
}
