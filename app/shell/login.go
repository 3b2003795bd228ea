package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"deskvnc/app/library"
	"deskvnc/keychain"
	"deskvnc/keychain/secret"
	"deskvnc/viewer"
)

// secretKinds are the kinds that can be given a name here.
var secretKinds = []string{secret.VNCPassword, secret.Password, secret.ProxyPassword, secret.KeyPassphrase}

const loginHelp = `Keep the password of a saved machine, or of a shared login, in the keychain of
the system. It is asked for without being shown, or read as one line when
standard input is no terminal. It is never an argument: other programs could
read it there.`

func loginCommand() *cobra.Command {
	var kind, file string
	cmd := &cobra.Command{
		Use:               "login NAME",
		Short:             "Keep the password of a machine in the keychain",
		Long:              loginHelp,
		Args:              exactly("NAME"),
		ValidArgsFunction: completeHosts,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLibrary(cmd, func(ctx context.Context, l *library.Library) error {
				o, err := owner(ctx, l, args[0])
				if err != nil {
					return err
				}
				if kind == "" {
					kind = o.Kind
				}
				// What cannot be kept is not asked for.
				if st := l.Keychain(ctx); st.Kind == secret.Absent {
					return &exit{code: exitFailed, text: "the password cannot be kept: " + st.Reason + "; " + st.Advice}
				}
				s, err := readSecret(cmd, file, fmt.Sprintf("%s for %s: ", capital(kindWord(kind)), o.Name))
				if err != nil {
					return err
				}
				if err := l.Login(ctx, o, kind, s); err != nil {
					return err
				}
				text := fmt.Sprintf("The %s of %s is in the keychain.", kindWord(kind), o.Name)
				if o.Shared {
					text = fmt.Sprintf("The %s of the shared login %s is in the keychain.", kindWord(kind), o.Name)
				}
				if kind == secret.Password && o.User == "" && !o.Shared {
					text += fmt.Sprintf(" It goes with a user: dvv hosts edit %s --user USER", args[0])
				}
				return printLine(cmd.OutOrStdout(), text)
			})
		},
	}
	cmd.Flags().StringVar(&kind, "kind", "", "what it is: "+either(secretKinds)+" (default: what the machine asks for)")
	cmd.Flags().StringVar(&file, "password-file", "", "read it from the first line of a `FILE`; - is standard input")
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(secretKinds, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func logoutCommand() *cobra.Command {
	var kind string
	cmd := &cobra.Command{
		Use:               "logout NAME",
		Short:             "Remove the passwords of a machine from the keychain",
		Args:              exactly("NAME"),
		ValidArgsFunction: completeHosts,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLibrary(cmd, func(ctx context.Context, l *library.Library) error {
				o, err := owner(ctx, l, args[0])
				if err != nil {
					return err
				}
				if err := l.Logout(ctx, o, kind); err != nil {
					return err
				}
				text := "No password of " + o.Name + " is in the keychain any more."
				if o.Shared {
					text = "No password of the shared login " + o.Name + " is in the keychain any more."
				}
				return printLine(cmd.OutOrStdout(), text)
			})
		},
	}
	cmd.Flags().StringVar(&kind, "kind", "", "only this: "+either(secretKinds))
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(secretKinds, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// owner finds whose secret is meant.
func owner(ctx context.Context, l *library.Library, name string) (library.Owner, error) {
	o, err := l.Owner(ctx, name)
	var k *keychain.Error
	if errors.As(err, &k) && k.Kind == keychain.NotFound {
		err = &exit{code: exitFailed, text: quoted(name) + ": no such host or shared login; save the machine first: dvv hosts add NAME ADDRESS", err: err}
	}
	return o, err
}

func kindWord(kind string) string {
	switch kind {
	case secret.VNCPassword, secret.Password:
		return "password"
	case secret.KeyPassphrase:
		return "key passphrase"
	case secret.ProxyPassword:
		return "proxy password"
	}
	return kind
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return string(bytes.ToUpper([]byte(s[:1]))) + s[1:]
}

// readSecret reads one line: from a file, from a terminal without showing it,
// or from standard input.
func readSecret(cmd *cobra.Command, file, prompt string) (viewer.Secret, error) {
	in := cmd.InOrStdin()
	if file != "" && file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return viewer.Secret{}, fmt.Errorf("the password cannot be read: %w", err)
		}
		defer f.Close()
		return readLine(cmd, f)
	}
	tty, ok := in.(*os.File)
	if !ok || !terminal(tty) || file == "-" {
		return readLine(cmd, in)
	}
	// The prompt comes after: who types ahead of it is not shown either.
	if err := echo(tty, false); err != nil {
		return viewer.Secret{}, fmt.Errorf("the terminal would show the password: %w; use --password-file", err)
	}
	fmt.Fprint(cmd.ErrOrStderr(), prompt)
	defer fmt.Fprintln(cmd.ErrOrStderr())
	defer func() { _ = echo(tty, true) }()
	type answer struct {
		s   viewer.Secret
		err error
	}
	// A terminal cannot be read with a limit in time: when the program is told
	// to end, the line is left to it.
	got := make(chan answer, 1)
	go func() {
		s, err := readLine(cmd, tty)
		got <- answer{s, err}
	}()
	select {
	case a := <-got:
		return a.s, a.err
	case <-cmd.Context().Done():
		return viewer.Secret{}, &exit{code: exitFailed, text: "nothing was kept"}
	}
}

// readLine reads up to a line break, and no byte after it.
func readLine(cmd *cobra.Command, r io.Reader) (viewer.Secret, error) {
	var line []byte
	defer func() { clear(line[:cap(line)]) }()
	for b := make([]byte, 1); ; {
		n, err := r.Read(b)
		switch {
		case n == 1 && b[0] == '\n', err == io.EOF && n == 0:
			line = bytes.TrimSuffix(line, []byte("\r"))
			if len(line) == 0 {
				return viewer.Secret{}, badUsage(cmd, "no password was given")
			}
			return viewer.NewSecret(line), nil
		case n == 1 && len(line) == secret.MaxBytes:
			return viewer.Secret{}, badUsage(cmd, "the password is longer than %d bytes", secret.MaxBytes)
		case n == 1:
			line = append(line, b[0])
		case err != nil:
			return viewer.Secret{}, fmt.Errorf("the password cannot be read: %w", err)
		}
	}
}

// isTerminal reports whether a person is at the other end.
func isTerminal(x any) bool {
	f, ok := x.(*os.File)
	return ok && terminal(f)
}
