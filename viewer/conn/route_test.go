package conn_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
)

// asked is a person who knows the password of a proxy.
type asked struct {
	password string
	err      error
	got      []viewer.Question
}

func (a *asked) Ask(_ context.Context, q viewer.Question) (viewer.Answer, error) {
	a.got = append(a.got, q)
	return viewer.Answer{Secret: viewer.SecretString(a.password)}, a.err
}

// route dials by way of a proxy, as a driver does.
func route(t *testing.T, proxy, to string, a *asked) error {
	t.Helper()
	dial, err := conn.Route(t.Context(), viewer.Target{Protocol: viewer.VNC, Address: "desk", Port: 1, Proxy: proxy}, viewer.Env{Ask: a})
	if err != nil {
		return err
	}
	c, err := conn.Dial(t.Context(), to, dial)
	if err != nil {
		return err
	}
	return c.Close()
}

// The password at a proxy is asked for, once, and a refused one is an error
// after which nobody tries it again.
func TestProxyPassword(t *testing.T) {
	socks, http := freePort(t), freePort(t)
	run(t, "127.0.0.1:"+socks, exec.Command(missing(t, "microsocks"), "-i", "127.0.0.1", "-p", socks, "-u", "bob", "-P", "secretword"))
	config := filepath.Join(t.TempDir(), "conf")
	text := "Port " + http + "\nListen 127.0.0.1\nTimeout 60\nMaxClients 10\nBasicAuth bob secretword\nLogLevel Critical\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "127.0.0.1:"+http, exec.Command(missing(t, "tinyproxy"), "-d", "-c", config))
	to := echo(t, "tcp4", "127.0.0.1:0")
	for kind, port := range map[string]string{"socks5": socks, "http": http} {
		with, without := kind+"://bob@127.0.0.1:"+port, kind+"://127.0.0.1:"+port
		a := &asked{password: "secretword"}
		if err := route(t, with, to, a); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if len(a.got) != 1 || a.got[0].Kind != viewer.AskProxyPassword || a.got[0].Name != "bob" || !strings.Contains(a.got[0].Text, "unencrypted") {
			t.Errorf("%s: got the questions %+v", kind, a.got)
		}
		a = &asked{password: "otherword"}
		if err := route(t, with, to, a); viewer.KindOf(err) != viewer.Denied || strings.Contains(err.Error(), "otherword") || len(a.got) != 1 {
			t.Errorf("%s: a wrong password: got %v after %d questions", kind, err, len(a.got))
		}
		a = &asked{}
		if err := route(t, without, to, a); viewer.KindOf(err) != viewer.Credentials || !strings.Contains(err.Error(), kind+"://user@") || len(a.got) != 0 {
			t.Errorf("%s: without a user: got %v", kind, err)
		}
		a = &asked{err: &viewer.Error{Op: "ask", Kind: viewer.Cancelled, Err: errors.New("no")}}
		if err := route(t, with, to, a); viewer.KindOf(err) != viewer.Cancelled {
			t.Errorf("%s: a person who says no: got %v", kind, err)
		}
	}
}

// The way of a target without a proxy is that of its environment.
func TestRouteWithoutProxy(t *testing.T) {
	if dial, err := conn.Route(t.Context(), viewer.Target{}, viewer.Env{}); dial != nil || err != nil {
		t.Errorf("got %v, want the plain way", err)
	}
	want := errors.New("mine")
	own := func(context.Context, string, string) (net.Conn, error) { return nil, want }
	dial, err := conn.Route(t.Context(), viewer.Target{}, viewer.Env{Dial: own})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dial(t.Context(), "tcp", "x"); err != want {
		t.Errorf("got %v", err)
	}
	if _, err := conn.Route(t.Context(), viewer.Target{Proxy: "ftp://x"}, viewer.Env{}); viewer.KindOf(err) != viewer.Invalid {
		t.Errorf("a proxy of no kind: got %v", err)
	}
}

// A SOCKS5 proxy that has no login by password says so.
func TestProxyWithoutPasswords(t *testing.T) {
	for _, answer := range []string{"\x05\xff", "\x05\x01"} {
		p := conn.Proxy{Kind: conn.SOCKS5, Address: hostile(t, "<4", answer), User: "bob", Password: viewer.SecretString("secretword")}
		if _, err := conn.Dial(t.Context(), "h:1", p.Through(nil)); viewer.KindOf(err) != viewer.Unreachable {
			t.Errorf("got %v", err)
		}
	}
}
