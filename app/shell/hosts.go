package shell

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deskvnc/app/library"
	"deskvnc/control"
	"deskvnc/keychain"
	"deskvnc/keychain/secret"
	"deskvnc/viewer"
)

// addHosts adds the commands that change the saved machines. They work on the
// library itself, whether a window or a holder runs or not; those see the
// change at once.
func addHosts(hosts *cobra.Command) {
	hosts.Long += "\n\nThe commands below it change the library that the DeskVNC window has too."
	hosts.AddCommand(hostsAdd(), hostsEdit(), hostsShow(), hostsRemove(), hostsRestore())
}

// hostFlags are the settings of a host that the command line can change.
type hostFlags struct {
	name, address, protocol                string
	user, domain, login, group, notes      string
	tags                                   []string
	viewOnly, favourite, exclusive, secure bool
	keyFile, mac                           string
	picture                                pictureFlags
	json                                   bool
}

func (f *hostFlags) define(cmd *cobra.Command, edit bool) {
	fs := cmd.Flags()
	fs.SortFlags = false
	if edit {
		fs.StringVar(&f.name, "name", "", "a new `NAME`")
		fs.StringVar(&f.address, "address", "", "a new `ADDRESS[:PORT]`")
	}
	fs.StringVar(&f.protocol, "protocol", "", "vnc (default), rdp or ssh")
	fs.StringVar(&f.user, "user", "", "who logs in")
	fs.StringVar(&f.domain, "domain", "", "the domain of the user")
	fs.StringVar(&f.login, "login", "", "the shared login to use, by its name")
	fs.StringVar(&f.group, "group", "", "the group it is in; made if there is none")
	fs.StringSliceVar(&f.tags, "tag", nil, "a tag; may be repeated")
	fs.StringVar(&f.notes, "notes", "", "notes")
	fs.BoolVar(&f.favourite, "favourite", false, "list it first")
	fs.BoolVar(&f.viewOnly, "view-only", false, "send it no input")
	fs.BoolVar(&f.exclusive, "exclusive", false, "throw out its other viewers")
	fs.BoolVar(&f.secure, "require-encryption", false, "refuse connections that are not encrypted")
	f.picture.define(cmd)
	fs.StringVar(&f.keyFile, "key-file", "", "the private key for SSH, as a `PATH`")
	fs.StringVar(&f.mac, "mac", "", "the hardware address, to wake it")
	fs.BoolVar(&f.json, "json", false, "print the machine as JSON")
}

// withLibrary runs something on the library.
func withLibrary(cmd *cobra.Command, fn func(ctx context.Context, l *library.Library) error) error {
	l, err := library.Open(library.Options{MayPrompt: isTerminal(cmd.InOrStdin())})
	if err != nil {
		return libraryError(err)
	}
	err = fn(cmd.Context(), l)
	if cerr := l.Close(); err == nil {
		err = cerr
	}
	return libraryError(err)
}

// libraryError gives an error of the library its exit code.
func libraryError(err error) error {
	var own *exit
	var k *keychain.Error
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case errors.As(err, &k) && k.Kind == keychain.Invalid:
		return &exit{code: exitUsage, text: k.Err.Error(), err: err}
	}
	return failed(err)
}

// find finds a host by its name or id.
func find(ctx context.Context, l *library.Library, name string) (keychain.Host, error) {
	h, err := l.Find(ctx, name)
	var k *keychain.Error
	if errors.As(err, &k) && k.Kind == keychain.NotFound {
		err = &exit{code: exitFailed, text: quoted(name) + ": no such host; \"dvv hosts\" lists them", err: err}
	}
	return h, err
}

// exactly checks the number of positionals.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return badUsage(cmd, "%s is missing", names[len(args)])
		}
		if len(args) > len(names) {
			return badUsage(cmd, "unknown argument %q", args[len(names)])
		}
		return nil
	}
}

func hostsAdd() *cobra.Command {
	var f hostFlags
	cmd := &cobra.Command{
		Use:   "add NAME ADDRESS[:PORT]",
		Short: "Save a machine",
		Long:  "Save a machine. ADDRESS may be a URL such as rdp://alice@office:3390, or unix:/path for a socket of this computer. Its password is kept with \"dvv login NAME\".",
		Args:  exactly("NAME", "ADDRESS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			h := keychain.Host{Name: args[0]}
			if err := f.place(cmd, &h, args[1]); err != nil {
				return err
			}
			return withLibrary(cmd, func(ctx context.Context, l *library.Library) error {
				_, err := l.Find(ctx, h.Name)
				var k *keychain.Error
				switch {
				case err == nil, errors.As(err, &k) && k.Kind == keychain.Ambiguous:
					return &exit{code: exitFailed, text: fmt.Sprintf("%s: there is such a host already; change it with \"dvv hosts edit\"", quoted(h.Name))}
				case !errors.As(err, &k) || k.Kind != keychain.NotFound:
					return err
				}
				if err := f.apply(ctx, cmd, l, &h); err != nil {
					return err
				}
				saved, err := l.Store().Add(ctx, h)
				if err != nil {
					return err
				}
				return f.show(cmd, saved, "Saved "+saved.Name+" ("+saved.ID+").")
			})
		},
	}
	f.define(cmd, false)
	return cmd
}

func hostsEdit() *cobra.Command {
	var f hostFlags
	cmd := &cobra.Command{
		Use:               "edit NAME",
		Short:             "Change a saved machine",
		Long:              "Change a saved machine: what a flag names is changed, the rest stays. An empty value takes a setting away.",
		Args:              exactly("NAME"),
		ValidArgsFunction: completeHosts,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLibrary(cmd, func(ctx context.Context, l *library.Library) error {
				h, err := find(ctx, l, args[0])
				if err != nil {
					return err
				}
				changed := func(name string) bool { return cmd.Flags().Changed(name) }
				if changed("address") {
					if !changed("protocol") {
						f.protocol = string(h.Protocol)
					}
					if err := f.place(cmd, &h, f.address); err != nil {
						return err
					}
				} else if changed("protocol") {
					p := viewer.Protocol(f.protocol)
					if h.Port == h.Protocol.DefaultPort() {
						h.Port = p.DefaultPort()
					}
					h.Protocol = p
				}
				if changed("name") {
					h.Name = f.name
				}
				if err := f.apply(ctx, cmd, l, &h); err != nil {
					return err
				}
				saved, err := l.Store().Update(ctx, h)
				if err != nil {
					return err
				}
				return f.show(cmd, saved, "Saved "+saved.Name+".")
			})
		},
	}
	f.define(cmd, true)
	return cmd
}

// place gives a host its address.
func (f *hostFlags) place(cmd *cobra.Command, h *keychain.Host, text string) error {
	p := viewer.VNC
	if f.protocol != "" {
		if p = viewer.Protocol(f.protocol); p.DefaultPort() == 0 {
			return badUsage(cmd, "--protocol %q: it is vnc, rdp or ssh", f.protocol)
		}
	}
	t, err := viewer.ParseTarget(text, p)
	if err != nil {
		return badUsage(cmd, "%s: %s", addressed(text), viewer.Reason(err))
	}
	h.Protocol, h.Address, h.Port = t.Protocol, t.Address, t.Port
	if t.User != "" {
		h.User = t.User
	}
	return nil
}

// apply puts the settings that were given into a host.
func (f *hostFlags) apply(ctx context.Context, cmd *cobra.Command, l *library.Library, h *keychain.Host) error {
	for name, set := range map[string]func(){
		"user": func() { h.User = f.user }, "domain": func() { h.Domain = f.domain }, "notes": func() { h.Notes = f.notes },
		"tag":       func() { h.Tags = slices.DeleteFunc(f.tags, func(t string) bool { return t == "" }) },
		"favourite": func() { h.Favourite = f.favourite }, "view-only": func() { h.ViewOnly = f.viewOnly },
		"exclusive": func() { h.Exclusive = f.exclusive }, "key-file": func() { h.KeyFile = f.keyFile }, "mac": func() { h.MAC = f.mac },
		"require-encryption": func() {
			h.Encryption = keychain.EncryptionPreferred
			if f.secure {
				h.Encryption = keychain.EncryptionRequired
			}
		},
	} {
		if cmd.Flags().Changed(name) {
			set()
		}
	}
	if err := f.picture.apply(cmd, h); err != nil {
		return err
	}
	if cmd.Flags().Changed("login") {
		if h.Login = ""; f.login != "" {
			logins, err := l.Store().Logins(ctx)
			if err != nil {
				return err
			}
			i := slices.IndexFunc(logins, func(o keychain.Login) bool { return o.Name == f.login || o.ID == f.login })
			if i < 0 {
				return &exit{code: exitFailed, text: quoted(f.login) + ": no such shared login"}
			}
			h.Login = logins[i].ID
		}
	}
	if cmd.Flags().Changed("group") {
		if h.Group = ""; f.group != "" {
			id, err := groupNamed(ctx, l, f.group)
			if err != nil {
				return err
			}
			h.Group = id
		}
	}
	return nil
}

// groupNamed finds a group, or makes it.
func groupNamed(ctx context.Context, l *library.Library, name string) (string, error) {
	groups, err := l.Store().Groups(ctx)
	if err != nil {
		return "", err
	}
	if i := slices.IndexFunc(groups, func(g keychain.Group) bool { return g.Name == name || g.ID == name }); i >= 0 {
		return groups[i].ID, nil
	}
	g, err := l.Store().AddGroup(ctx, keychain.Group{Name: name})
	return g.ID, err
}

// show prints a host, or a line about it.
func (f *hostFlags) show(cmd *cobra.Command, h keychain.Host, line string) error {
	if !f.json {
		return printLine(cmd.OutOrStdout(), line)
	}
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return printLine(cmd.OutOrStdout(), string(b))
}

func hostsShow() *cobra.Command {
	var f hostFlags
	cmd := &cobra.Command{
		Use:               "show NAME",
		Short:             "Show a saved machine; never its password",
		Args:              exactly("NAME"),
		ValidArgsFunction: completeHosts,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLibrary(cmd, func(ctx context.Context, l *library.Library) error {
				h, err := find(ctx, l, args[0])
				if err != nil {
					return err
				}
				text, err := describe(ctx, l, h)
				if err != nil {
					return err
				}
				return f.show(cmd, h, text)
			})
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print the machine as JSON")
	return cmd
}

// describe is a host as a person reads it.
func describe(ctx context.Context, l *library.Library, h keychain.Host) (string, error) {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, strings.Map(printable, value))
		}
	}
	yes := func(name string, on bool) {
		if on {
			line(name, "yes")
		}
	}
	line("name", h.Name)
	line("id", h.ID)
	line("protocol", string(h.Protocol))
	line("address", written(h.Target()))
	line("user", h.User)
	line("domain", h.Domain)
	if h.Login != "" {
		login, err := l.Store().Login(ctx, h.Login)
		if err != nil {
			return "", err
		}
		line("login", login.Name)
	}
	if h.Group != "" {
		groups, err := l.Store().Groups(ctx)
		if err != nil {
			return "", err
		}
		for _, g := range groups {
			if g.ID == h.Group {
				line("group", g.Name)
			}
		}
	}
	line("tags", strings.Join(h.Tags, ", "))
	yes("favourite", h.Favourite)
	yes("view only", h.ViewOnly)
	yes("exclusive", h.Exclusive)
	yes("encrypted", h.Encryption == keychain.EncryptionRequired)
	describePicture(h, line)
	line("key file", h.KeyFile)
	line("mac", h.MAC)
	line("notes", strings.ReplaceAll(h.Notes, "\n", " / "))
	line("password", map[bool]string{true: "stored", false: "not stored"}[l.CredentialStored(h.Target())])
	line("changed", h.Changed.Local().Format("2006-01-02 15:04"))
	return b.String(), nil
}

func hostsRemove() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:               "remove NAME",
		Short:             "Take a machine out of the library, with its passwords",
		Args:              exactly("NAME"),
		ValidArgsFunction: completeHosts,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLibrary(cmd, func(ctx context.Context, l *library.Library) error {
				h, err := find(ctx, l, args[0])
				if err != nil {
					return err
				}
				if !yes {
					if err := confirm(cmd, fmt.Sprintf("Remove %s (%s %s) and its passwords?", h.Name, h.Protocol, h.Address)); err != nil {
						return err
					}
				}
				removed, err := l.Remove(ctx, h.ID)
				if removed && secret.KindOf(err) == secret.Absent {
					fmt.Fprintln(cmd.ErrOrStderr(), "dvv: no keychain is within reach here; a password that was kept from a desktop session is still in that one")
					err = nil
				}
				if removed && err != nil {
					return fmt.Errorf("%s was removed, but a password of it may still be in the keychain: %w", h.Name, err)
				}
				if err != nil {
					return err
				}
				return printLine(cmd.OutOrStdout(), fmt.Sprintf("Removed %s; \"dvv hosts restore %s\" brings it back for thirty days, without its passwords.", h.Name, h.ID))
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func hostsRestore() *cobra.Command {
	return &cobra.Command{
		Use:   "restore ID",
		Short: "Bring back a removed machine",
		Args:  exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLibrary(cmd, func(ctx context.Context, l *library.Library) error {
				h, err := l.Store().Restore(ctx, args[0])
				if err != nil {
					return err
				}
				return printLine(cmd.OutOrStdout(), "Restored "+h.Name+".")
			})
		},
	}
}

// confirm asks a person at a terminal.
func confirm(cmd *cobra.Command, question string) error {
	if !isTerminal(cmd.InOrStdin()) {
		return badUsage(cmd, "this needs a yes, and nobody is at a terminal: give --yes")
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s [y/N] ", question)
	line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if err != nil {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return &exit{code: exitFailed, text: "nothing was changed"}
}

// hostPort is where a listed machine is.
func hostPort(h control.HostRecord) string {
	return written(viewer.Target{Address: h.Address, Port: h.Port})
}

// written is a machine's address as it can be typed.
func written(t viewer.Target) string {
	if t.Socket() {
		return "unix:" + t.Address
	}
	return t.HostPort()
}
