package sshdial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
)

// clientVersion is how the viewer greets (RFC 4253 4.2).
const clientVersion = "SSH-2.0-DeskVNC"

// Dial logs in. The client that it returns outlives ctx; an error is a
// [viewer.Error] with a Kind. Of env Ask and Emit are used, and Dial, which
// makes the first connection when it is set.
func Dial(ctx context.Context, c Config, env viewer.Env) (*Client, error) {
	home, err := homeOf(&c)
	if err != nil {
		return nil, err
	}
	r := &router{ctx: ctx, c: &c, home: home, told: map[string]bool{}, emit: env.Emit}
	hops, err := r.route()
	if err != nil {
		return nil, err
	}
	d := &dialer{c: &c, env: env, home: home}
	defer d.close()
	for _, h := range hops {
		if err := d.load(ctx, h); err != nil {
			return nil, err
		}
	}
	var client *Client
	for i, h := range hops {
		next, err := d.login(ctx, h, client)
		if err != nil {
			if client != nil {
				client.Close()
			}
			if i < len(hops)-1 {
				err = &viewer.Error{Op: "ssh.Jump", Kind: viewer.KindOf(err), Err: fmt.Errorf("the jump host %s: %w", h.target.Label(), err)}
			}
			return nil, err
		}
		client = next
	}
	client.start(c.keepAlive(hops[len(hops)-1]))
	return client, nil
}

// A dialer is one Dial at work.
type dialer struct {
	c      *Config
	env    viewer.Env
	home   string
	agents map[string]*keyAgent
}

func (d *dialer) close() {
	for _, a := range d.agents {
		a.close()
	}
}

// load finds the keys for a machine, before anything is sent.
func (d *dialer) load(ctx context.Context, h *hop) error {
	h.keys = &identities{ctx: ctx, hop: h, env: d.env, home: d.home, pause: func() func() { return func() {} }}
	if path := h.conf.IdentityAgent; path == "none" || d.c.NoAgent {
		h.login.NoAgent = true
	} else if !h.login.NoAgent && h.login.Method != Password {
		h.keys.agent = d.agent(ctx, path)
	}
	return h.keys.load()
}

// agent is the agent at path, connected once.
func (d *dialer) agent(ctx context.Context, path string) *keyAgent {
	path = agentPath(path)
	a, ok := d.agents[path]
	if !ok {
		if d.agents == nil {
			d.agents = map[string]*keyAgent{}
		}
		a = openAgent(ctx, path)
		d.agents[path] = a
	}
	return a
}

// login connects and logs in to one machine, through the client before it.
func (d *dialer) login(ctx context.Context, h *hop, under *Client) (*Client, error) {
	client, err := d.once(ctx, h, under)
	var other *switchUser
	if errors.As(err, &other) { // the user is part of every attempt: begin anew
		h.user, h.target.User, h.secret = other.user, other.user, &other.secret
		if client, err = d.once(ctx, h, under); errors.As(err, &other) {
			err = &viewer.Error{Op: "ssh.Login", Kind: viewer.Invalid, Err: errors.New("the user was changed twice")}
		}
	}
	return client, err
}

func (d *dialer) once(ctx context.Context, h *hop, under *Client) (*Client, error) {
	d.env.Emit(viewer.Progress{Phase: viewer.Connecting})
	raw, err := d.connect(ctx, h, under)
	if err != nil {
		return nil, err
	}
	l := newLink(raw, h.address())
	stop := l.watch(ctx)
	defer stop()
	defer l.settle()
	client, err := d.handshake(ctx, h, l)
	if err != nil {
		raw.Close()
		return nil, err
	}
	if !stop() { // ctx has ended or is about to
		client.ssh.Close()
		return nil, &viewer.Error{Op: "ssh", Kind: viewer.KindOf(ctx.Err()), Err: ctx.Err()}
	}
	client.under = under
	return client, nil
}

// connect makes the stream to a machine.
func (d *dialer) connect(ctx context.Context, h *hop, under *Client) (net.Conn, error) {
	if t := h.conf.ConnectTimeout; t > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t)
		defer cancel()
	}
	switch {
	case under != nil:
		ctx, cancel := context.WithTimeout(ctx, conn.DialTimeout)
		defer cancel()
		return under.DialThrough(ctx, "tcp", h.address())
	case h.conf.ProxyCommand != "":
		return d.command(h)
	}
	route, err := conn.Route(ctx, h.target, d.env)
	if err != nil {
		return nil, err
	}
	return conn.Dial(ctx, h.address(), route)
}

// handshake does what RFC 4253 and RFC 4252 have before the first channel.
func (d *dialer) handshake(ctx context.Context, h *hop, l *link) (*Client, error) {
	limit := d.c.limits(h)
	check := &keyCheck{ctx: ctx, hop: h, files: d.c.knownHosts(h, d.home), env: d.env, link: l, once: d.c.Accepted}
	if err := check.read(); err != nil {
		return nil, err
	}
	h.keys.pause = l.pause
	a := &auth{ctx: ctx, hop: h, env: d.env, link: l, limit: limit, keys: h.keys.list}
	for name, err := range h.keys.trouble {
		a.tried = append(a.tried, name+" ("+viewer.Reason(err)+")")
	}
	config := &ssh.ClientConfig{
		User: h.user, ClientVersion: clientVersion, HostKeyCallback: check.check, BannerCallback: a.banner, AuthCallback: a.next,
	}
	if err := algorithms(config, h); err != nil {
		return nil, err
	}
	config.HostKeyAlgorithms = preferKnown(config.HostKeyAlgorithms, slices.Concat(check.entries, check.byHost))
	greeted := false
	l.mu.Lock()
	l.onGreet = func() {
		greeted = true
		l.begin("the exchange of keys", limit.Keys)
	}
	l.mu.Unlock()
	l.begin("its greeting", limit.Greeting)
	sc, channels, requests, err := ssh.NewClientConn(l, h.address(), config)
	if err != nil {
		return nil, d.explain(h, l, check, a, greeted, err)
	}
	if text := weakAlgorithms(h, sc.(ssh.AlgorithmsConnMetadata).Algorithms()); text != "" {
		d.env.Emit(viewer.Notice{Text: text})
	}
	method := a.trying
	if method == "" {
		method = methodNone
	}
	return newClient(ssh.NewClient(sc, channels, requests), l, h, method), nil
}

// explain finds out why there is no connection.
func (d *dialer) explain(h *hop, l *link, check *keyCheck, a *auth, greeted bool, err error) error {
	var other *switchUser
	var own *viewer.Error
	var none *ssh.AlgorithmNegotiationError
	var lost *net.OpError // of a write
	label := h.target.Label()
	closed := func(format string, args ...any) error {
		return &viewer.Error{Op: "ssh", Kind: viewer.Closed, Err: fmt.Errorf(format, args...)}
	}
	why := check.why()
	l.mu.Lock()
	cause, readErr, waited := l.cause, l.readErr, l.waited
	l.mu.Unlock()
	switch {
	case a.abort != nil && errors.As(a.abort, &other):
		return a.abort
	case why != nil:
		return why
	case cause != nil:
		return cause
	case a.abort != nil:
		return a.abort
	case errors.As(err, &none):
		return noCommon(h, none)
	case errors.As(err, &own):
		return err
	case a.allowed != nil && a.trying == "": // nothing was left to try
		if strings.Contains(err.Error(), wantsNewPassword) {
			err = errors.New("it wants a new password: set one there, with passwd or in its own window")
		} else {
			err = nil
		}
		return a.failed(err)
	case a.allowed != nil:
		if strings.Contains(err.Error(), "ssh: disconnect, reason 2") || len(a.tried) > 0 { // RFC 4253 11.1
			return a.failed(err)
		}
		if waited {
			return closed("%s ended the connection while it waited for an answer: try again", label)
		}
		return closed("%s ended the connection during the login: %w", label, readable(err))
	case !greeted && readErr == nil && !errors.As(err, &lost):
		return notSSH(h.address())
	case !greeted:
		return closed("%s ended the connection before it spoke: perhaps it takes no more of them, or does not take them from here", h.address())
	case waited:
		return closed("%s ended the connection while it waited for an answer: try again", label)
	case readErr != nil, errors.As(err, &lost):
		return closed("%s ended the connection during the exchange of keys: %w", label, readable(err))
	}
	return &viewer.Error{Op: "ssh", Kind: viewer.Malformed, Err: fmt.Errorf("%s: %w", label, readable(err))}
}

func notSSH(address string) error {
	return &viewer.Error{Op: "ssh", Kind: viewer.Malformed, Err: fmt.Errorf("what answers at %s does not speak SSH: check the port", address)}
}

// wantsNewPassword is how the library tells SSH_MSG_USERAUTH_PASSWD_CHANGEREQ
// (RFC 4252 8), which it does not know.
const wantsNewPassword = "unexpected message type 60"

// readable cleans an error that may hold text of the machine.
func readable(err error) error { return errors.New(cleanLine(err.Error(), maxLine)) }
