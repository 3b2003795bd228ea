package shell

import (
	"context"
	"errors"
	"slices"

	"deskvnc/viewer"
	"deskvnc/viewer/sshdial"
)

// Options are what may differ from one driver to another. The zero value is
// right for every machine.
type Options struct {
	// Home, ConfigFiles and KnownHostsFiles replace those of this account; see
	// [sshdial.Config].
	Home            string
	ConfigFiles     []string
	KnownHostsFiles []string
	// Limits bound the steps of a login.
	Limits sshdial.Limits
}

// A Driver opens sessions over SSH, and logins beside others.
type Driver struct {
	o        Options
	accepted sshdial.Accepted // keys that were accepted and not filed
}

var (
	_ viewer.Driver      = (*Driver)(nil)
	_ viewer.LoginOpener = (*Driver)(nil)
	_ viewer.Login       = (*sshdial.Client)(nil)
)

// New returns a driver. What is accepted once and not kept holds for all of its
// sessions, until the program ends.
func New(o Options) *Driver { return &Driver{o: o} }

// Open logs in and starts the program of the session: the login shell, or the
// command of the target.
func (d *Driver) Open(ctx context.Context, t viewer.Target, env viewer.Env) (viewer.Session, error) {
	if env.Grid == nil && !t.Settings().NoShell {
		return nil, &viewer.Error{Op: "shell.Open", Kind: viewer.Invalid, Err: errors.New("a terminal needs a grid to draw into")}
	}
	text, err := charsetOf(t.Settings().Encoding)
	if err != nil {
		return nil, err
	}
	client, err := d.dial(ctx, t, env)
	if err != nil {
		return nil, err
	}
	env.Emit(viewer.Progress{Phase: viewer.Negotiating})
	s := newSession(client, t, env, text)
	if err := s.start(ctx); err != nil {
		s.abandon()
		return nil, err
	}
	return s, nil
}

// Login logs in, for what runs beside a session.
func (d *Driver) Login(ctx context.Context, t viewer.Target, env viewer.Env) (viewer.Login, error) {
	client, err := d.dial(ctx, t, env)
	if err != nil {
		return nil, err // not a nil client in an interface
	}
	return client, nil
}

func (d *Driver) dial(ctx context.Context, t viewer.Target, env viewer.Env) (*sshdial.Client, error) {
	set := t.Settings()
	c := sshdial.Config{
		Target: t, Login: loginOf(set), Unattended: set.Unattended, NoConfig: set.NoConfig, Home: d.o.Home,
		ConfigFiles: d.o.ConfigFiles, KnownHostsFiles: d.o.KnownHostsFiles, Accepted: &d.accepted, Limits: d.o.Limits,
		KeepAlive: sshdial.KeepAlive{Every: set.KeepAlive},
	}
	for _, hop := range set.Via {
		c.Via = append(c.Via, sshdial.Hop{Target: hop, Login: loginOf(hop.Settings())})
	}
	if i := slices.IndexFunc(set.Via, func(h viewer.Target) bool { return h.Proxy != "" }); i == 0 && t.Proxy == "" {
		c.Target.Proxy = set.Via[0].Proxy
	}
	return sshdial.Dial(ctx, c, env)
}

func loginOf(s viewer.SSHSettings) sshdial.Login {
	return sshdial.Login{KeyFile: s.KeyFile, CertificateFile: s.CertificateFile, NoAgent: s.NoAgent}
}
