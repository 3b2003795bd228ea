package shell

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"deskvnc/app/callers"
	"deskvnc/viewer"
)

const listenHelp = `Wait for machines that call by themselves, such as a VNC server that is told to
connect to a viewer which listens. Each is opened as a session of the holder, so
that all other verbs have it; it stays when the waiting ends.

Nothing is sent to a caller before somebody has agreed: on a terminal you are
asked about each; without one, or to be asked less, name who may call with
--accept-from, or let in everybody with --yes. A machine is recognised, and the
password in the keychain used, when it is saved under the address it calls from
and port 5500: dvv hosts add NAME ADDRESS::5500, then dvv login NAME.

One line is printed for each call: the address, and the id of its session or why
there is none. Ctrl+C ends the waiting.`

// listenFlags are the flags of "dvv listen".
type listenFlags struct {
	flags
	port int
	bind string
	once bool
	from []string
	yes  bool
}

func listenCommand(version string) *cobra.Command {
	var f listenFlags
	cmd := &cobra.Command{
		Use:   "listen",
		Short: "Wait for machines that call by themselves",
		Long:  listenHelp,
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return f.run(cmd, version) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.IntVar(&f.port, "port", callers.Port, "the TCP port to wait at; 0 takes any that is free")
	fs.StringVar(&f.bind, "bind", "", "the `ADDRESS` of this computer to wait at (default: every one)")
	fs.BoolVar(&f.once, "once", false, "end after the first call that has become a session")
	fs.StringSliceVar(&f.from, "accept-from", nil, "let in callers from these addresses or networks without asking, as `A,B/24`")
	fs.BoolVar(&f.yes, "yes", false, "let in every caller without asking")
	f.add(cmd)
	_ = cmd.RegisterFlagCompletionFunc("port", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("accept-from", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("bind", completeBind)
	return cmd
}

// completeBind completes the addresses of this computer.
func completeBind(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var names []string
	all, err := net.InterfaceAddrs()
	if err == nil {
		for _, a := range all {
			if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
				names = append(names, n.IP.String())
			}
		}
	}
	return starting(names, prefix), cobra.ShellCompDirectiveNoFileComp
}

// A doorkeeper decides about callers in the name of a person.
type doorkeeper struct {
	from callers.From
	yes  bool
	tty  *os.File // where a person is; nil for nowhere
}

func (f *listenFlags) run(cmd *cobra.Command, version string) error {
	w, err := f.where(cmd)
	if err != nil {
		return err
	}
	if w.window != nil {
		return badUsage(cmd, "%s: a window waits for calls by itself; leave %s out to wait with dvv's own sessions", w.from, w.from)
	}
	if f.port < 0 || f.port > 65535 {
		return badUsage(cmd, "--port %d: it is a number from 0 to 65535", f.port)
	}
	k := doorkeeper{yes: f.yes}
	if k.from, err = callers.ParseFrom(f.from...); err != nil {
		return badUsage(cmd, "--accept-from: %w", err)
	}
	ctx := cmd.Context()
	switch {
	case isTerminal(cmd.InOrStdin()) && !f.yes:
		k.tty, _ = cmd.InOrStdin().(*os.File)
	case !f.yes && len(k.from) == 0:
		return badUsage(cmd, "nobody is at a terminal to be asked about callers: give --accept-from ADDRESS, or --yes to let in everybody")
	}
	b, err := w.open(ctx, opening, version, cmd.ErrOrStderr())
	if err != nil {
		return failed(err)
	}
	err = f.listen(ctx, cmd, b, k)
	if cerr := b.Close(); err == nil && cerr != nil {
		err = cerr
	}
	if ctx.Err() != nil { // told to end
		return nil
	}
	return failed(err)
}

// answer asks a person and waits for a line. What was typed before is no
// answer. A terminal cannot be read with a limit in time: when the program is
// told to end, the line is left to it.
func (k doorkeeper) answer(ctx context.Context, out io.Writer, question string) (string, error) {
	if err := forget(k.tty); err != nil {
		return "", fmt.Errorf("the terminal cannot be read: %w", err)
	}
	fmt.Fprint(out, question)
	got := make(chan string, 1)
	go func() {
		defer close(got)
		if s := bufio.NewScanner(k.tty); s.Scan() {
			got <- s.Text()
		}
	}()
	select {
	case line, ok := <-got:
		if !ok {
			fmt.Fprintln(out)
			return "", &exit{code: exitFailed, text: "nobody is at the terminal any more"}
		}
		return line, nil
	case <-ctx.Done():
		fmt.Fprintln(out)
		return "", ctx.Err()
	}
}

// listen waits for calls at a backend until ctx ends, or the first has become a
// session with --once.
func (f *listenFlags) listen(ctx context.Context, cmd *cobra.Command, b backend, k doorkeeper) error {
	var at listenAnswer
	err := ask(ctx, b, listenTool, map[string]any{"address": net.JoinHostPort(f.bind, strconv.Itoa(f.port))}, &at)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "dvv: waiting for machines to call %s; Ctrl+C ends it\n", whereTo(at.Address))
	for {
		var got callsAnswer
		if err := ask(ctx, b, callsTool, map[string]any{}, &got); err != nil {
			return err
		}
		for i, n := range got.News {
			switch {
			case n.Over != 0: // it was answered too late, or is none of what follows
			case n.Ask != 0:
				if over(n.Ask, got.News[i:]) {
					continue
				}
				if err := f.decide(ctx, cmd, b, k, n); err != nil {
					return err
				}
			default:
				if err := f.print(cmd, n); err != nil {
					return err
				}
				if f.once && n.LimbID != "" {
					return nil
				}
			}
		}
	}
}

// over reports whether a question needs no answer any more.
func over(ask int, news []callNews) bool {
	for _, n := range news {
		if n.Over == ask {
			return true
		}
	}
	return false
}

// whereTo is where machines are to call, in words.
func whereTo(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return "port " + port + " of any address of this computer"
	}
	return address
}

// decide answers the question about one caller.
func (f *listenFlags) decide(ctx context.Context, cmd *cobra.Command, b backend, k doorkeeper, n callNews) error {
	yes := k.yes || k.from.Has(viewer.Target{Address: n.From})
	if !yes && k.tty != nil {
		who := n.From
		if n.Name != "" {
			who = n.Name + " (" + n.From + ")"
		}
		line, err := k.answer(ctx, cmd.ErrOrStderr(), fmt.Sprintf("%s calls. Let it in? [y/N] ", strings.Map(printable, who)))
		if err != nil {
			return err
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			yes = true
		}
	}
	var done struct {
		Done bool `json:"done"`
	}
	return ask(ctx, b, answerTool, map[string]any{"ask": n.Ask, "yes": yes}, &done)
}

// print shows what became of a call.
func (f *listenFlags) print(cmd *cobra.Command, n callNews) error {
	if f.json {
		b, err := json.Marshal(n)
		if err != nil {
			return err
		}
		return printLine(cmd.OutOrStdout(), string(b))
	}
	what := n.LimbID
	if n.Error != "" {
		what = n.Error
	}
	return printLine(cmd.OutOrStdout(), strings.Map(printable, n.From+"  "+plain(what)))
}
