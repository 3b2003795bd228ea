//go:build unix

package library

import (
	"os"
	"path/filepath"
	"testing"

	"deskvnc/keychain"
	"deskvnc/keychain/secret"
	"deskvnc/viewer"
	"deskvnc/viewer/sshdial/sshtest"
)

// knowHosts makes a home folder in which servers of the lab are known.
func knowHosts(t *testing.T, servers ...*sshtest.Server) {
	t.Helper()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, s := range servers {
		b, err := os.ReadFile(s.KnownHosts())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	if err := os.WriteFile(filepath.Join(home, ".ssh", "known_hosts"), all, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
}

// save saves a server of the lab.
func (b *lab) save(name string, s *sshtest.Server, h keychain.Host) keychain.Host {
	b.t.Helper()
	h.Name, h.Protocol, h.Address, h.Port = name, viewer.SSH, s.Host, s.Port
	h.SSH.NoAgent, h.SSH.NoConfig = true, true
	h, err := b.l.Store().Add(b.t.Context(), h)
	if err != nil {
		b.t.Fatal(err)
	}
	return h
}

func (b *lab) stored(owner, kind string) string {
	b.t.Helper()
	s, err := b.keys.Get(b.t.Context(), secret.Key{Owner: owner, Kind: kind})
	if secret.KindOf(err) != "" && secret.KindOf(err) != secret.NotFound {
		b.t.Fatal(err)
	}
	return string(s.Open())
}

func (b *lab) host(name string) viewer.Target {
	b.t.Helper()
	for _, t := range b.l.Hosts() {
		if t.Name == name {
			return t
		}
	}
	b.t.Fatalf("%s is not in the library", name)
	return viewer.Target{}
}

// A machine over another one: each has its own secrets in the keychain, kept
// when a person asks for it, and one that is refused is the refusing machine's.
func TestSecretsOfMachinesOnTheWay(t *testing.T) {
	account, password := sshtest.Account(t)
	jump := sshtest.Start(t, sshtest.Options{})
	far := sshtest.Start(t, sshtest.Options{Config: []string{"UsePAM yes", "PasswordAuthentication yes"}})
	knowHosts(t, jump, far)
	b := newLab(t, "unused", true)
	key := sshtest.Key(t, jump.Dir, "ed25519", "open it")
	jump.Authorize(key + ".pub")

	login, err := b.l.Store().AddLogin(t.Context(), keychain.Login{Name: "shared", User: jump.User, KeyFile: key})
	if err != nil {
		t.Fatal(err)
	}
	hop := b.save("jump", jump, keychain.Host{Login: login.ID})
	last := b.save("far", far, keychain.Host{User: account, Via: []string{hop.ID}, Terminal: keychain.Terminal{Command: "exec cat"}})
	if err := b.l.Login(t.Context(), Owner{ID: last.ID, Host: last.ID}, secret.Password, viewer.SecretString(password)); err != nil {
		t.Fatal(err)
	}

	to := b.host("far")
	if way := to.Through(); len(way) != 1 || way[0].HostID != hop.ID || way[0].User != jump.User || way[0].Settings().KeyFile != key || !way[0].Settings().NoAgent {
		t.Fatalf("the way is %+v", way)
	}
	if to.Settings().Command != "exec cat" || to.Settings().KeyFile != "" {
		t.Errorf("the settings are %+v", to.Settings())
	}

	b.person.says(viewer.Answer{Secret: viewer.SecretString("open it"), Save: true})
	s, st := b.connect(to)
	if st.Phase != viewer.Connected {
		t.Fatalf("got %+v", st)
	}
	if q := b.person.questions(); len(q) != 1 || q[0].Kind != viewer.AskPassphrase || q[0].Target.HostID != hop.ID || q[0].Name != key {
		t.Errorf("asked %+v", q)
	}
	if err := b.savedNow(); err != nil {
		t.Fatal(err)
	}
	if b.stored(login.ID, secret.KeyPassphrase) != "open it" || b.stored(last.ID, secret.KeyPassphrase) != "" || b.stored(hop.ID, secret.KeyPassphrase) != "" {
		t.Error("the passphrase is not kept for the login that has the key")
	}
	b.close(s)

	s, st = b.connect(b.host("far"))
	if q := b.person.questions(); st.Phase != viewer.Connected || len(q) != 0 {
		t.Errorf("the second time: %+v, asked %+v", st, q)
	}
	b.close(s)

	// A password that is refused is not given again; the passphrase is.
	if err := b.l.Login(t.Context(), Owner{ID: last.ID, Host: last.ID}, secret.Password, viewer.SecretString("wrong")); err != nil {
		t.Fatal(err)
	}
	s, st = b.connect(b.host("far"))
	if q := b.person.questions(); st.Kind != viewer.Denied || len(q) != 0 {
		t.Errorf("a wrong password: %+v, asked %+v", st, q)
	}
	b.person.says(viewer.Answer{Secret: viewer.SecretString(password)})
	st = b.reconnect(s)
	if q := b.person.questions(); st.Phase != viewer.Connected || len(q) != 1 || q[0].Kind != viewer.AskPassword || q[0].Note == "" {
		t.Errorf("after a wrong password: %+v, asked %+v", st, q)
	}
	b.close(s)
}

// A passphrase that is stored and wrong is asked for; one of another key is not
// given.
func TestStoredPassphrases(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	knowHosts(t, s)
	b := newLab(t, "unused", true)
	key := sshtest.Key(t, s.Dir, "ed25519", "right")
	s.Authorize(key + ".pub")
	h := b.save("box", s, keychain.Host{User: s.User, KeyFile: key, Terminal: keychain.Terminal{Command: "exec cat"}})
	if err := b.l.Login(t.Context(), Owner{ID: h.ID, Host: h.ID}, secret.KeyPassphrase, viewer.SecretString("wrong")); err != nil {
		t.Fatal(err)
	}
	if !b.l.CredentialStored(b.host("box")) {
		t.Error("the stored passphrase is not told")
	}
	b.person.says(viewer.Answer{Secret: viewer.SecretString("right")})
	live, st := b.connect(b.host("box"))
	if q := b.person.questions(); st.Phase != viewer.Connected || len(q) != 1 || q[0].Kind != viewer.AskPassphrase || q[0].Attempt != 2 {
		t.Errorf("got %+v, asked %+v", st, q)
	}
	b.close(live)
	e, _ := b.l.entry(b.host("box"))
	if b.l.fits(e, viewer.Question{Kind: viewer.AskPassphrase, Name: key + "x"}) {
		t.Error("the passphrase of one key would be given for another")
	}
}
