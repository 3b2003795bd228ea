package library

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

// Every setting of an SSH machine is in the form, is saved as it was typed and
// comes back; those of desktops are not shown.
func TestFormHoldsEverySSHSetting(t *testing.T) {
	s := newStore(t)
	ctx := context.Background()
	l := newLab(t, s)
	gate := l.add(keychain.Host{Name: "gate", Protocol: viewer.SSH, Address: "gate.lan"})
	inner := l.add(keychain.Host{Name: "inner", Protocol: viewer.SSH, Address: "inner.lan"})
	l.add(keychain.Host{Name: "desk", Protocol: viewer.VNC, Address: "desk.lan"})
	l.until("the machines", func() bool { return len(l.s.view.hosts) == 3 })
	f := l.s.form
	l.s.Add(keychain.Host{})
	f.port.SetText("5900")
	f.by.SetSelected("SSH: a terminal, files, tunnels")
	if f.port.Text != "" || f.port.PlaceHolder != "22" {
		t.Errorf("the port is %q, usually %q", f.port.Text, f.port.PlaceHolder)
	}
	for i, c := range f.desktop {
		if c.Visible() {
			t.Errorf("part %d of desktops is shown", i)
		}
	}
	f.name.SetText("lab")
	f.address.SetText("lab.lan:2222")
	f.user.SetText("me")
	if want := "gate"; len(f.ssh.viaOptions()) != 2 || f.ssh.viaOptions()[0] != want {
		t.Errorf("offered %q", f.ssh.viaOptions())
	}
	f.ssh.via.SetText("gate")
	if want := []string{"gate, inner"}; !reflect.DeepEqual(f.ssh.viaOptions(), want) {
		t.Errorf("offered after the first %q, want %q", f.ssh.viaOptions(), want)
	}
	f.ssh.via.SetText("Gate, inner")
	f.ssh.key.SetText("~/.ssh/id_lab")
	f.ssh.cert.SetText("~/.ssh/id_lab-cert.pub")
	f.ssh.agent.SetChecked(false)
	f.ssh.config.SetChecked(false)
	f.ssh.forward.SetChecked(true)
	f.ssh.alive.SetText("30")
	f.ssh.tunnels.SetText("local 8080 web:80\n\n-R 9000:localhost:3000\nsocks 127.0.0.1:1080\n-L [::1]:81:[fe80::1]:80")
	f.ssh.kind.SetText("xterm")
	f.ssh.command.SetText("tmux attach")
	f.ssh.scrollback.SetText("5000")
	f.ssh.encoding.SetText("latin1")
	if want := "More settings  ·  12 set"; f.fold.Text != want {
		t.Errorf("the fold says %q, want %q", f.fold.Text, want)
	}
	f.save()
	l.until("the saving", func() bool { return !f.box.Visible() })
	all, err := s.List(ctx)
	if err != nil || len(all) != 4 {
		t.Fatalf("%d machines, %v: %s", len(all), err, f.faults())
	}
	var got keychain.Host
	for _, h := range all {
		if h.Name == "lab" {
			got = h
		}
	}
	want := keychain.Host{
		ID: got.ID, Revision: got.Revision, Created: got.Created, Changed: got.Changed, Name: "lab", Protocol: viewer.SSH, Address: "lab.lan", Port: 2222, User: "me",
		Via: []string{gate.ID, inner.ID}, KeyFile: "~/.ssh/id_lab", CertificateFile: "~/.ssh/id_lab-cert.pub", LastPicture: true,
		SSH: keychain.SSH{NoAgent: true, NoConfig: true, ForwardAgent: true, KeepAlive: 30, Tunnels: []keychain.Tunnel{
			{Direction: keychain.TunnelLocal, Listen: "8080", Target: "web:80"}, {Direction: keychain.TunnelRemote, Listen: "9000", Target: "localhost:3000"},
			{Direction: keychain.TunnelSOCKS, Listen: "127.0.0.1:1080"}, {Direction: keychain.TunnelLocal, Listen: "[::1]:81", Target: "[fe80::1]:80"}}},
		Terminal: keychain.Terminal{Type: "xterm", Command: "tmux attach", Scrollback: 5000, Encoding: "latin1"},
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("saved\n%+v, want\n%+v", got, want)
	}
	l.s.EditID(got.ID)
	l.until("the form", func() bool { return f.box.Visible() })
	if f.ssh.via.Text != "gate, inner" || !f.by.Disabled() {
		t.Errorf("the way is shown as %q, the protocol can be changed: %v", f.ssh.via.Text, !f.by.Disabled())
	}
	if h, err := f.host(); err != nil || fmt.Sprintf("%+v", h) != fmt.Sprintf("%+v", got) {
		t.Errorf("the form gives\n%+v, %v, want\n%+v", h, err, got)
	}
}

// viaOptions are what the field for the way offers.
func (s *sshFields) viaOptions() []string { return s.options }

// An address that names its protocol chooses it.
func TestFormFollowsTheAddress(t *testing.T) {
	l := newLab(t, newStore(t))
	l.until("the first reading", func() bool { return l.s.read })
	f := l.s.form
	l.s.Add(keychain.Host{})
	f.address.SetText("ssh://me@lab:2200")
	if f.protocol() != viewer.SSH || !f.ssh.terminal.Visible() {
		t.Errorf("the protocol is %s", f.protocol())
	}
	h, err := f.host()
	if err != nil || h.Address != "lab" || h.Port != 2200 || h.User != "me" || h.Protocol != viewer.SSH {
		t.Errorf("the form gives %+v, %v", h, err)
	}
}

// What is wrong with a login is said under its field.
func TestFormSaysWhatIsWrongWithALogin(t *testing.T) {
	l := newLab(t, newStore(t))
	l.until("the first reading", func() bool { return l.s.read })
	f := l.s.form
	l.s.Add(keychain.Host{Protocol: viewer.SSH, Name: "x", Address: "h"})
	for _, c := range []struct {
		field *formLine
		set   func(string)
		text  string
		said  string
	}{
		{f.ssh.via.line, f.ssh.via.SetText, "nowhere", "o saved SSH machine is called"},
		{f.ssh.key.line, f.ssh.key.SetText, "-----BEGIN OPENSSH PRIVATE KEY-----", "not a key"},
		{f.ssh.alive.line, f.ssh.alive.SetText, "often", "number of seconds"},
		{f.ssh.scrollback.line, f.ssh.scrollback.SetText, "-3", "number of lines"},
		{f.ssh.tunnels.line, f.ssh.tunnels.SetText, "local 8080 web:80\nsideways 1 2", "ine 2"},
		{f.ssh.tunnels.line, f.ssh.tunnels.SetText, "local 8080 web", "cannot lead to"},
		{f.ssh.tunnels.line, f.ssh.tunnels.SetText, "socks 1080 web:80", "socks 1080"},
	} {
		c.set(c.text)
		f.save()
		if !c.field.fault.Visible() || !strings.Contains(c.field.fault.String(), c.said) || !f.box.Visible() {
			t.Errorf("%q: said %q, want %q", c.text, c.field.fault.String(), c.said)
		}
		c.set("")
		if c.field.fault.Visible() {
			t.Errorf("%q: still wrong when it is taken out", c.text)
		}
	}
}
