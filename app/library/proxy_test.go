package library

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"deskvnc/keychain"
	"deskvnc/keychain/secret"
	"deskvnc/viewer"
)

// socks starts a proxy that wants a password, and gives its address with the
// user in it.
func socks(t *testing.T, password string) string {
	t.Helper()
	program, err := exec.LookPath("microsocks")
	if err != nil {
		if os.Getenv("DESKVNC_PEERS") == "required" {
			t.Fatal("microsocks is not installed and DESKVNC_PEERS=required")
		}
		t.Skip("SKIPPED: microsocks is not installed; .ci/install test installs it")
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(at)
	cmd := exec.Command(program, "-i", "127.0.0.1", "-p", port, "-u", "bob", "-P", password)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp4", at)
		if err == nil {
			c.Close()
			return "socks5://bob@" + at
		}
		if time.Now().After(end) {
			t.Fatal("the proxy does not listen")
		}
	}
}

// proxied is the password of a machine's proxy in the keychain; empty for none.
func (b *lab) proxied(owner string) string {
	b.t.Helper()
	s, err := b.keys.Get(b.t.Context(), secret.Key{Owner: owner, Kind: secret.ProxyPassword})
	if secret.KindOf(err) != "" && secret.KindOf(err) != secret.NotFound {
		b.t.Fatal(err)
	}
	return string(s.Open())
}

// The password of a proxy is asked for, kept when a person wants that, and then
// used; it is the machine's own, also when its login is shared.
func TestProxyPasswordIsKept(t *testing.T) {
	b := newLab(t, "sesame", true)
	login, err := b.l.Store().AddLogin(t.Context(), keychain.Login{Name: "all"})
	if err != nil {
		t.Fatal(err)
	}
	h := b.add(keychain.Host{Name: "lab", Proxy: socks(t, "secretword"), Login: login.ID})
	b.keep(login.ID, "sesame")

	b.person.says(viewer.Answer{Secret: viewer.SecretString("secretword"), Save: true})
	s, st := b.connect(b.l.Hosts()[0])
	if st.Phase != viewer.Connected {
		t.Fatalf("got %+v", st)
	}
	if q := b.person.questions(); len(q) != 1 || q[0].Kind != viewer.AskProxyPassword || q[0].Name != "bob" || q[0].Note != "" {
		t.Errorf("got the questions %+v, want one, of the proxy", q)
	}
	if err := b.savedNow(); err != nil {
		t.Fatal(err)
	}
	if b.proxied(h.ID) != "secretword" || b.proxied(login.ID) != "" {
		t.Error("the password is not kept for the machine alone")
	}
	b.close(s)

	if _, st := b.connect(b.l.Hosts()[0]); st.Phase != viewer.Connected {
		t.Errorf("got %+v", st)
	}
	if q := b.person.questions(); len(q) != 0 {
		t.Errorf("asked again: %+v", q)
	}
}

// A stored password that the proxy refuses is not sent again, and the machine's
// is not suspected; nor the other way round.
func TestProxyPasswordIsRefused(t *testing.T) {
	b := newLab(t, "sesame", false)
	h := b.add(keychain.Host{Name: "lab", Proxy: socks(t, "secretword")})
	target := b.l.Hosts()[0]
	says := func(st viewer.State, kind viewer.Kind, text string) {
		t.Helper()
		if st.Phase != viewer.Disconnected || st.Kind != kind || !strings.Contains(st.Reason, text) || strings.Contains(st.Reason, "secretword") {
			t.Errorf("got %+v, want %s and %q", st, kind, text)
		}
	}
	o, err := b.l.Owner(t.Context(), "lab")
	if err != nil {
		t.Fatal(err)
	}
	keep := func(kind, password string) {
		t.Helper()
		if err := b.l.Login(t.Context(), o, kind, viewer.SecretString(password)); err != nil {
			t.Fatal(err)
		}
	}

	s, st := b.connect(target)
	says(st, viewer.Credentials, `"dvv login lab --kind proxy-password"`)
	keep(secret.ProxyPassword, "wrong")
	says(b.reconnect(s), viewer.Denied, "the proxy")
	says(b.reconnect(s), viewer.Credentials, "the proxy asks for a password and it refused the one that is stored")
	keep(secret.ProxyPassword, "secretword")
	says(b.reconnect(s), viewer.Credentials, "the machine asks for a password and none is stored")
	keep(secret.VNCPassword, "wrong")
	says(b.reconnect(s), viewer.Denied, "")
	// The proxy's is given once more, the machine's is not.
	says(b.reconnect(s), viewer.Credentials, "the machine asks for a password and it refused the one that is stored")
	keep(secret.VNCPassword, "sesame")
	if st := b.reconnect(s); st.Phase != viewer.Connected {
		t.Errorf("got %+v", st)
	}

	if err := b.l.Logout(t.Context(), o, ""); err != nil || b.proxied(h.ID) != "" || b.kept(h.ID) != "" {
		t.Errorf("got %v, want no password left", err)
	}
	if err := b.l.Login(t.Context(), Owner{ID: "l_x", Shared: true}, secret.ProxyPassword, viewer.SecretString("x")); kindOf(err) != keychain.Invalid {
		t.Errorf("a proxy's password for a shared login: got %v", err)
	}
}

// A machine that is saved with its password is saved with the way to it.
func TestSavedAsItWasOpened(t *testing.T) {
	b := newLab(t, "sesame", true)
	b.person.says(viewer.Answer{Secret: viewer.SecretString("sesame"), Save: true})
	want := b.machine
	want.Picture = viewer.Picture{Quality: viewer.QualityFast, Encodings: "zrle,hextile"}
	want.Keys = viewer.KeysByPosition
	if _, st := b.connect(want); st.Phase != viewer.Connected {
		t.Fatalf("got %+v", st)
	}
	if err := b.savedNow(); err != nil {
		t.Fatal(err)
	}
	got := b.l.Known(b.machine)
	want.HostID, want.Name = got.HostID, got.Name
	if got != want || got.HostID == "" {
		t.Errorf("got %+v, want %+v", got, want)
	}
	other := viewer.Target{Protocol: viewer.VNC, Address: "elsewhere", Port: 1}
	if got := b.l.Known(other); got != other {
		t.Errorf("an unknown machine: got %+v", got)
	}
}
