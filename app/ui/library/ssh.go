package library

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

// sshFields are the part of the form about logins over SSH: of a machine
// reached over SSH, and the one beside the desktop of another.
type sshFields struct {
	form    *form
	hosts   []keychain.Host // that a way can lead through
	options []string        // ways that are offered
	via     *combo
	key     *field
	cert    *field
	agent   *tick
	config  *tick
	forward *tick
	alive   *field
	tunnels *field

	kind       *field // of terminal
	command    *field
	scrollback *field
	encoding   *field

	login    *fyne.Container // for every protocol
	own      *fyne.Container // for SSH alone
	terminal *fyne.Container // for SSH alone
}

func newSSHFields(f *form) *sshFields {
	s := &sshFields{form: f}
	s.via = newCombo(f, "Names of saved machines; empty: directly", s.putVia)
	s.key = newField(f, "Usual keys; else the path of a private key", false, func(h *keychain.Host, text string) error {
		h.KeyFile = strings.TrimSpace(text)
		return nil
	})
	s.cert = newField(f, "Path of the key's certificate, if it has one", false, func(h *keychain.Host, text string) error {
		if h.Protocol == viewer.SSH { // of others it is of authorities
			h.CertificateFile = strings.TrimSpace(text)
		}
		return nil
	})
	s.agent, s.config, s.forward = newTick(f, "Use the SSH agent"), newTick(f, "Read ~/.ssh/config"), newTick(f, "Let the machine use the agent")
	s.alive = newField(f, "Usual", false, func(h *keychain.Host, text string) (err error) {
		h.SSH.KeepAlive, err = number(text, "seconds")
		return err
	})
	s.tunnels = newField(f, "local 8080 web:80\nremote 9000 localhost:3000\nsocks 1080", true, func(h *keychain.Host, text string) (err error) {
		h.SSH.Tunnels, err = parseTunnels(text)
		return err
	})
	s.tunnels.Wrapping = fyne.TextWrapOff
	s.tunnels.SetMinRowsVisible(3)
	s.kind = newField(f, "xterm-256color", false, func(h *keychain.Host, text string) error {
		h.Terminal.Type = strings.TrimSpace(text)
		return nil
	})
	s.command = newField(f, "A login shell", false, func(h *keychain.Host, text string) error {
		h.Terminal.Command = strings.TrimSpace(text)
		return nil
	})
	s.scrollback = newField(f, "Usual", false, func(h *keychain.Host, text string) (err error) {
		h.Terminal.Scrollback, err = number(text, "lines")
		return err
	})
	s.encoding = newField(f, "UTF-8", false, func(h *keychain.Host, text string) error {
		h.Terminal.Encoding = strings.TrimSpace(text)
		return nil
	})
	for _, l := range []*formLine{s.via.line, s.key.line, s.cert.line, s.alive.line, s.tunnels.line, s.kind.line, s.command.line, s.scrollback.line, s.encoding.line} {
		l.more = true
	}
	s.login = container.New(labelled{},
		heading("SSH"), label(""),
		label("Through"), s.via.line.box,
		label("Key"), s.key.line.box,
		label(""), container.NewGridWithColumns(2, s.agent, s.config),
	)
	s.own = container.New(labelled{},
		label("Certificate"), s.cert.line.box,
		label(""), s.forward,
		label("Keep alive"), s.alive.line.box,
		label("Tunnels"), s.tunnels.line.box,
	)
	s.terminal = container.New(labelled{},
		heading("Terminal"), label(""),
		label("Program"), s.command.line.box,
		label("Type"), s.kind.line.box,
		label("Scrollback"), s.scrollback.line.box,
		label("Encoding"), s.encoding.line.box,
	)
	return s
}

// fill writes a host into the fields.
func (s *sshFields) fill(h keychain.Host) {
	s.fillVia(h.Via)
	s.key.SetText(h.KeyFile)
	s.cert.SetText("")
	if h.Protocol == viewer.SSH {
		s.cert.SetText(h.CertificateFile)
	}
	s.agent.SetChecked(!h.SSH.NoAgent)
	s.config.SetChecked(!h.SSH.NoConfig)
	s.forward.SetChecked(h.SSH.ForwardAgent)
	s.alive.SetText(figure(h.SSH.KeepAlive))
	s.tunnels.SetText(tunnelLines(h.SSH.Tunnels))
	s.kind.SetText(h.Terminal.Type)
	s.command.SetText(h.Terminal.Command)
	s.scrollback.SetText(figure(h.Terminal.Scrollback))
	s.encoding.SetText(h.Terminal.Encoding)
}

// put writes what has no line of its own into a host.
func (s *sshFields) put(h *keychain.Host) {
	h.SSH.NoAgent, h.SSH.NoConfig, h.SSH.ForwardAgent = !s.agent.Checked, !s.config.Checked, s.forward.Checked
}

// show shows what a protocol has.
func (s *sshFields) show(p viewer.Protocol) {
	for _, o := range []*fyne.Container{s.own, s.terminal} {
		if p == viewer.SSH {
			o.Show()
		} else {
			o.Hide()
		}
	}
}

// set tells for each field whether it is not as usual.
func (s *sshFields) set(p viewer.Protocol) []bool {
	typed := func(text string) bool { return strings.TrimSpace(text) != "" }
	out := []bool{typed(s.via.Text), typed(s.key.Text), !s.agent.Checked, !s.config.Checked}
	if p == viewer.SSH {
		out = append(out, typed(s.cert.Text), s.forward.Checked, typed(s.alive.Text), typed(s.tunnels.Text),
			typed(s.kind.Text), typed(s.command.Text), typed(s.scrollback.Text), typed(s.encoding.Text))
	}
	return out
}

// read reads the machines that a way can lead through; what the screen shows
// may be a part of them.
func (s *sshFields) read(of keychain.Host) {
	s.hosts = s.form.screen.view.hosts
	var all []keychain.Host
	s.form.screen.model.do(func(ctx context.Context) (err error) {
		all, err = s.form.screen.config.Store.List(ctx)
		return err
	}, func(err error) {
		if err != nil || s.form.base.ID != of.ID || !s.form.box.Visible() {
			return
		}
		was := s.viaText(of.Via)
		s.hosts = all
		if s.via.Text == was { // nobody has typed meanwhile
			s.fillVia(of.Via)
			s.form.shown, _ = s.form.host()
		} else {
			s.offer()
		}
	})
}

func (s *sshFields) fillVia(ids []string) {
	s.via.SetText(s.viaText(ids))
	s.offer()
}

// viaText is a way in names.
func (s *sshFields) viaText(ids []string) string {
	var out []string
	for _, id := range ids {
		name := id
		for _, h := range s.hosts {
			if h.ID == id && s.unique(h) {
				name = h.Name
			}
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// unique reports whether the name of a machine names it alone.
func (s *sshFields) unique(h keychain.Host) bool {
	return !strings.Contains(h.Name, ",") && !slices.ContainsFunc(s.hosts, func(o keychain.Host) bool {
		return o.ID != h.ID && o.Protocol == viewer.SSH && strings.EqualFold(o.Name, h.Name)
	})
}

// offer offers to make the way one machine longer.
func (s *sshFields) offer() {
	before := strings.TrimSpace(strings.TrimRight(strings.TrimSpace(s.via.Text), ","))
	there := splitNames(before)
	if before != "" {
		before += ", "
	}
	var options []string
	for _, h := range s.hosts {
		if h.Protocol != viewer.SSH || h.ID == s.form.base.ID {
			continue
		}
		name := h.ID
		if s.unique(h) {
			name = h.Name
		}
		if !slices.Contains(there, name) {
			options = append(options, before+name)
		}
	}
	slices.Sort(options)
	s.options = options
	s.via.SetOptions(options)
}

// putVia takes the names of the machines on the way.
func (s *sshFields) putVia(h *keychain.Host, text string) error {
	h.Via = nil
	for _, name := range splitNames(text) {
		id := ""
		for _, o := range s.hosts {
			switch {
			case o.ID == name:
				id = o.ID
			case o.Protocol == viewer.SSH && strings.EqualFold(o.Name, name) && s.unique(o):
				id = o.ID
			}
		}
		if id == "" && slices.Contains(s.form.base.Via, name) {
			id = name // of a machine that is not there any more, and was not touched
		}
		if id == "" {
			return fmt.Errorf("no saved SSH machine is called %q: save it first, or choose one from the list", name)
		}
		if id == s.form.base.ID && id != "" {
			return errors.New("a machine cannot be reached through itself")
		}
		h.Via = append(h.Via, id)
	}
	return nil
}

func splitNames(text string) (out []string) {
	for _, n := range strings.Split(text, ",") {
		if n = strings.TrimSpace(n); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// number is a whole number of something; an empty text is 0.
func number(text, of string) (int, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no number of %s", text, of)
	}
	return n, nil
}

// figure is a number as it is typed; the usual one is not.
func figure(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
