package sshdial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/sshdial/knownhosts"
	"deskvnc/viewer/sshdial/sshconf"
)

// maxHops bounds the machines on a way.
const maxHops = 8

// A hop is a machine with everything that is known of how to reach it.
type hop struct {
	target viewer.Target // as it is asked about and shown
	login  Login
	conf   sshconf.Settings
	host   string
	port   int
	user   string
	secret *viewer.Secret // a password given for this user already

	keys *identities
}

// address is what to dial.
func (h *hop) address() string {
	return viewer.Target{Address: h.host, Port: h.port}.HostPort()
}

// name is under what the host key is filed.
func (h *hop) name() string {
	if h.conf.HostKeyAlias != "" {
		return strings.ToLower(h.conf.HostKeyAlias)
	}
	return knownhosts.Name(h.host, h.port)
}

// String names the machine and the user for a person.
func (h *hop) String() string {
	at := h.host
	if h.port != 22 {
		at = h.address()
	}
	return h.user + "@" + at
}

// A router works out the way of one Config.
type router struct {
	ctx  context.Context
	c    *Config
	home string
	told map[string]bool
	emit func(viewer.Event)
}

// route are the machines on the way, the target last.
func (r *router) route() ([]*hop, error) {
	last, err := r.hop(r.c.Target, r.c.Login)
	if err != nil {
		return nil, err
	}
	if len(r.c.Via) == 0 {
		if r.c.Target.Proxy != "" { // what is set here wins
			last.conf.ProxyJump, last.conf.ProxyCommand = "", ""
		}
		return r.jumps(last, nil)
	}
	if len(r.c.Via) >= maxHops {
		return nil, invalid("the way leads over more than %d machines", maxHops-1)
	}
	var hops []*hop
	for _, v := range r.c.Via {
		h, err := r.hop(v.Target, v.Login)
		if err != nil {
			return nil, err
		}
		hops = append(hops, h)
	}
	hops = append(hops, last)
	for _, h := range hops {
		h.conf.ProxyJump, h.conf.ProxyCommand = "", ""
	}
	hops[0].target.Proxy = r.c.Target.Proxy
	return hops, nil
}

// jumps puts the jump hosts of the SSH configuration before a machine; the
// first of them may have jump hosts of its own.
func (r *router) jumps(last *hop, seen []string) ([]*hop, error) {
	list := last.conf.ProxyJump
	if list == "" {
		return []*hop{last}, nil
	}
	last.conf.ProxyCommand = ""
	var hops []*hop
	for i, text := range strings.Split(list, ",") {
		t, err := parseJump(text)
		if err != nil {
			return nil, err
		}
		h, err := r.hop(t, Login{NoAgent: r.c.NoAgent})
		if err != nil {
			return nil, err
		}
		name := h.String()
		for _, s := range seen {
			if s == name {
				return nil, invalid("the ProxyJump of %s leads back to itself", name)
			}
		}
		if i > 0 {
			h.conf.ProxyJump, h.conf.ProxyCommand = "", ""
			hops = append(hops, h)
		} else if hops, err = r.jumps(h, append(seen, last.String(), name)); err != nil {
			return nil, err
		}
		if len(hops) >= maxHops {
			return nil, invalid("the way to %s leads over more than %d machines", last, maxHops-1)
		}
	}
	return append(hops, last), nil
}

// parseJump reads user@host:port or ssh://user@host:port.
func parseJump(text string) (viewer.Target, error) {
	rest := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "ssh://"), "/")
	at := strings.LastIndexByte(rest, '@')
	who := ""
	if at >= 0 {
		who, rest = rest[:at], rest[at+1:]
	}
	t, err := viewer.ParseTarget(rest, viewer.SSH)
	if err != nil {
		return t, invalid("the ProxyJump %q: %s", text, viewer.Reason(err))
	}
	t.User = who
	return t, nil
}

// hop works out one machine.
func (r *router) hop(t viewer.Target, l Login) (*hop, error) {
	if t.Socket() || t.Address == "" {
		return nil, invalid("an SSH machine has a name or an address")
	}
	h := &hop{target: t, login: l, host: t.Address, port: t.Port, user: t.User}
	if h.port == 0 {
		h.port = 22
	}
	local := localUser()
	if !r.c.NoConfig {
		q := sshconf.Query{Host: t.Address, User: t.User, Files: r.c.ConfigFiles, Home: r.home, LocalUser: local}
		if h.port != 22 {
			q.Port = h.port
		}
		if q.Files == nil {
			q.Files = []string{filepath.Join(r.home, ".ssh", "config"), sshconf.System}
		}
		if !r.c.Unattended && harmless(t.Address) && harmless(t.User) {
			q.Exec = matchExec
		}
		s, err := sshconf.Read(r.ctx, q)
		if err != nil {
			return nil, invalid("the SSH configuration: %w", err)
		}
		for _, n := range s.Notices {
			if !r.told[n] {
				r.told[n] = true
				r.emit(viewer.Notice{Text: n})
			}
		}
		h.conf, h.host = s, viewer.Normalize(s.HostName)
		if h.port == 22 && s.Port != 0 {
			h.port = s.Port
		}
		if h.user == "" {
			h.user = s.User
		}
	}
	if h.user == "" {
		h.user = local
	}
	if h.conf.ProxyCommand != "" && !(harmless(t.Address) && harmless(h.host) && harmless(h.user)) {
		return nil, invalid("a name with characters that mean something to a shell is not given to a ProxyCommand: %q, %q", h.host, h.user)
	}
	if h.user == "" {
		return nil, &viewer.Error{Op: "ssh", Kind: viewer.Credentials, Err: fmt.Errorf("%s wants a user name: give one", t.Label())}
	}
	h.target.User = h.user
	return h, nil
}

// harmless reports whether a name says nothing to a shell that a command of the
// SSH configuration is run by.
func harmless(name string) bool {
	return !strings.HasPrefix(name, "-") && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune("'`\"$\\;&<>|(){}*?!#^", r)
	})
}

// localUser is the name of the one this program runs for.
func localUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		name := u.Username
		return name[strings.LastIndexByte(name, '\\')+1:] // without the domain
	}
	return os.Getenv("USER")
}

// knownHosts are the files of host keys, the one that is written first.
func (c *Config) knownHosts(h *hop, home string) []string {
	if c.KnownHostsFiles != nil {
		return c.KnownHostsFiles
	}
	files := h.conf.UserKnownHostsFiles
	if files == nil {
		files = []string{filepath.Join(home, ".ssh", "known_hosts"), filepath.Join(home, ".ssh", "known_hosts2")}
	}
	global := h.conf.GlobalKnownHostFiles
	if global == nil {
		global = []string{"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"}
	}
	if len(files) == 0 {
		files = []string{""} // nowhere to write to
	}
	return append(append([]string{}, files...), global...)
}

// keepAlive is what holds for the target.
func (c *Config) keepAlive(h *hop) KeepAlive {
	return c.KeepAlive.within(KeepAlive{h.conf.ServerAliveInterval, h.conf.ServerAliveCountMax}).within(KeepAlive{keepAliveEvery, keepAliveCount})
}

// limits are what holds for a machine.
func (c *Config) limits(h *hop) Limits {
	own := usualLimits
	if t := h.conf.ConnectTimeout; t > 0 {
		own.Greeting, own.Keys = t, t
	}
	return c.Limits.within(own)
}

func invalid(format string, args ...any) error {
	return &viewer.Error{Op: "ssh", Kind: viewer.Invalid, Err: fmt.Errorf(format, args...)}
}

// homeOf is the person's folder.
func homeOf(c *Config) (string, error) {
	if c.Home != "" {
		return c.Home, nil
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		return home, nil
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir, nil
	}
	return "", &viewer.Error{Op: "ssh", Kind: viewer.Invalid, Err: errors.New("the folder of this user is not known: set HOME")}
}

// matchExecTimeout bounds a command of the SSH configuration.
const matchExecTimeout = 10 * time.Second

func portText(p int) string { return strconv.Itoa(p) }
