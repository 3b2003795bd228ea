//go:build unix

package sshdial_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/sshdial"
	"deskvnc/viewer/sshdial/sshtest"
)

// configured logs in to the server as "box" of an SSH configuration.
func configured(t *testing.T, s *sshtest.Server, lines ...string) sshdial.Config {
	t.Helper()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "Host box\n" + strings.Join(lines, "\n") + "\nHostName 127.0.0.1\nPort " + fmt.Sprint(s.Port) + "\nUser " + s.User + "\nIdentityFile " + s.KeyFile + "\nUserKnownHostsFile " + s.KnownHosts() + "\n"
	if err := os.WriteFile(filepath.Join(home, ".ssh", "config"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return sshdial.Config{Target: viewer.Target{Protocol: viewer.SSH, Address: "box", Port: 22}, Login: sshdial.Login{NoAgent: true}, Home: home}
}

func TestConfiguration(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	c := configured(t, s, "ServerAliveInterval 7", "NoSuchThing 1")
	p := &person{}
	client, err := dial(t, c, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(output(t, client, "id -un")); got != s.User {
		t.Errorf("got the user %q", got)
	}
	if !strings.Contains(p.told(), "NoSuchThing") || len(p.asked) != 0 {
		t.Errorf("got the notices %q and %d questions", p.told(), len(p.asked))
	}
	// What is set here wins.
	c.Target.User = "somebody-else"
	if _, err := dial(t, c, &person{}); !strings.Contains(fmt.Sprint(err), "somebody-else@127.0.0.1") {
		t.Errorf("another user: got %v", err)
	}
	c.Target.User, c.Target.Port = "", 1
	if _, err := dial(t, c, &person{}); viewer.KindOf(err) != viewer.Unreachable {
		t.Errorf("another port: got %v", err)
	}
	c.Target.Port, c.KnownHostsFiles = 22, []string{filepath.Join(s.Dir, "other")}
	if _, err := dial(t, c, &person{}); viewer.KindOf(err) != viewer.Credentials || !strings.Contains(err.Error(), "not known yet") || !strings.Contains(err.Error(), "box:22 (127.0.0.1)") {
		t.Errorf("other known hosts: got %v", err)
	}
	c.NoConfig = true
	if _, err := dial(t, c, &person{}); viewer.KindOf(err) != viewer.Unreachable {
		t.Errorf("without the configuration: got %v", err)
	}
	// A configuration that is wrong says where.
	c = configured(t, s, "Port abc")
	if _, err := dial(t, c, &person{}); viewer.KindOf(err) != viewer.Invalid || !strings.Contains(err.Error(), "config line 2") {
		t.Errorf("got %v", err)
	}
	// The name of the host key is the one that is set.
	c = configured(t, s, "HostKeyAlias nickname")
	p = answering(viewer.Answer{Accept: true, Save: true})
	if _, err := dial(t, c, p); err != nil || len(p.asked) != 1 || !strings.Contains(p.asked[0].Text, "nickname") {
		t.Errorf("got %v and the questions %+v", err, p.asked)
	}
	if _, err := dial(t, c, &person{}); err != nil {
		t.Error(err)
	}
	c = configured(t, s, "IdentitiesOnly yes", "PubkeyAuthentication no")
	if _, err := dial(t, c, &person{}); viewer.KindOf(err) != viewer.Credentials {
		t.Errorf("without keys: got %v", err)
	}
}

// TestRelayProgram is no test: it is the program of a ProxyCommand.
func TestRelayProgram(t *testing.T) {
	to := os.Getenv("DESKVNC_TEST_RELAY")
	if to == "" {
		t.Skip("a part of another test")
	}
	c, err := net.Dial("tcp", to)
	if err != nil {
		fmt.Fprintln(os.Stderr, "the relay says\x1b[31m", err)
		os.Exit(1)
	}
	go func() {
		io.Copy(c, os.Stdin)
		c.(*net.TCPConn).CloseWrite()
	}()
	io.Copy(os.Stdout, c)
	os.Exit(0)
}

func TestProxyCommand(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	relay := "ProxyCommand env DESKVNC_TEST_RELAY=%h:%p " + os.Args[0] + " -test.run=^TestRelayProgram$"
	c := configured(t, s, relay)
	client, err := dial(t, c, &person{})
	if err != nil {
		t.Fatal(err)
	}
	if got := output(t, client, "echo through"); got != "through\n" {
		t.Errorf("got %q", got)
	}
	client.Close()
	c.Unattended = true
	if _, err := dial(t, c, &person{}); viewer.KindOf(err) != viewer.Invalid || !strings.Contains(err.Error(), "ProxyCommand") {
		t.Errorf("for an agent: got %v", err)
	}
	c = configured(t, s, strings.Replace(relay, "%h:%p", "127.0.0.1:1", 1))
	if _, err := dial(t, c, &person{}); viewer.KindOf(err) != viewer.Unreachable || !strings.Contains(err.Error(), "the relay says") || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("one that complains: got %v", err)
	}
	c = configured(t, s, "ProxyCommand sleep 1000")
	c.Limits.Greeting = 300e6
	if _, err := dial(t, c, &person{}); viewer.KindOf(err) != viewer.Timeout {
		t.Errorf("one that says nothing: got %v", err)
	}
	c = configured(t, s, relay)
	c.Target.User = "x;touch /nowhere"
	if _, err := dial(t, c, &person{}); viewer.KindOf(err) != viewer.Invalid || !strings.Contains(err.Error(), "shell") {
		t.Errorf("a hostile name: got %v", err)
	}
	c = configured(t, s, "ProxyCommand false", "ProxyJump none")
	if _, err := dial(t, c, &person{}); err == nil {
		t.Error("the first of the two did not stand")
	}
	c = configured(t, s, "ProxyCommand none")
	if _, err := dial(t, c, &person{}); err != nil {
		t.Error(err)
	}
}

// httpProxy is a proxy that counts the connections it makes.
func httpProxy(t *testing.T) (address string, count func() int) {
	t.Helper()
	var mu sync.Mutex
	n := 0
	target := serve(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		req, err := http.ReadRequest(r)
		if err != nil || req.Method != http.MethodConnect {
			return
		}
		out, err := net.Dial("tcp", req.Host)
		if err != nil {
			io.WriteString(c, "HTTP/1.1 502 no\r\n\r\n")
			return
		}
		defer out.Close()
		mu.Lock()
		n++
		mu.Unlock()
		io.WriteString(c, "HTTP/1.1 200 yes\r\n\r\n")
		go func() {
			io.Copy(out, r)
			out.Close()
		}()
		io.Copy(c, out)
	})
	return target.HostPort(), func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// A proxy leads to the first machine, and wins over what the configuration
// says.
func TestProxyOfTheTarget(t *testing.T) {
	s, near := sshtest.Start(t, sshtest.Options{}), sshtest.Start(t, sshtest.Options{})
	address, count := httpProxy(t)
	c := configured(t, s, "ProxyCommand false")
	c.Target.Proxy = "http://" + address
	if _, err := dial(t, c, &person{}); err != nil || count() != 1 {
		t.Errorf("got %v and %d connections", err, count())
	}
	c = config(s)
	c.Target.Proxy = "http://" + address
	c.Via = []sshdial.Hop{hopTo(near)}
	c.KnownHostsFiles = append(c.KnownHostsFiles, near.KnownHosts())
	if _, err := dial(t, c, &person{}); err != nil || count() != 2 {
		t.Errorf("with a jump host: got %v and %d connections", err, count())
	}
	c.Target.Proxy = "http://127.0.0.1:1"
	if _, err := dial(t, c, &person{}); viewer.KindOf(err) != viewer.Unreachable || !strings.Contains(err.Error(), "proxy") {
		t.Errorf("a proxy that is gone: got %v", err)
	}
}

// The connection may be given, as tunnels of others do.
func TestGivenDial(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	c := config(s)
	var asked []string
	p := &person{}
	env := p.env()
	env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		asked = append(asked, network+" "+address)
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	client, err := sshdial.Dial(context.Background(), c, env)
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
	if fmt.Sprint(asked) != "[tcp "+s.Addr()+"]" {
		t.Errorf("got %v", asked)
	}
}

// What is no longer safe is used for a machine alone that the configuration
// names, and is told.
func TestWeakAlgorithms(t *testing.T) {
	for _, tt := range []struct{ server, conf, want string }{
		{"KexAlgorithms diffie-hellman-group14-sha1", "KexAlgorithms +diffie-hellman-group14-sha1", "diffie-hellman-group14-sha1"},
		{"KexAlgorithms diffie-hellman-group1-sha1", "KexAlgorithms +diffie-hellman-group1-sha1", "diffie-hellman-group1-sha1"},
		{"Ciphers aes128-cbc", "Ciphers +aes128-cbc", "aes128-cbc"},
		{"HostKeyAlgorithms ssh-rsa", "HostKeyAlgorithms +ssh-rsa", "ssh-rsa"},
	} {
		s := sshtest.Start(t, sshtest.Options{Config: []string{tt.server}, HostKeys: []string{"rsa"}})
		option, _, _ := strings.Cut(tt.conf, " ")
		p := &person{}
		_, err := dial(t, configured(t, s), p)
		if viewer.KindOf(err) != viewer.Unsupported {
			t.Fatalf("%s: got %v", tt.want, err)
		}
		for _, want := range []string{"it offers " + tt.want, "this viewer takes ", option + " +" + tt.want, "Host box"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want it to say %q", tt.want, err, want)
			}
		}
		if _, err := dial(t, configured(t, s, tt.conf), p); err != nil || !strings.Contains(p.told(), tt.want+", which is no longer safe") {
			t.Errorf("%s: got %v and the notices %q", tt.want, err, p.told())
		}
		if _, err := dial(t, configured(t, s, option+" nothing-known"), p); viewer.KindOf(err) != viewer.Invalid || !strings.Contains(err.Error(), option) {
			t.Errorf("%s: got %v", option, err)
		}
	}
}

// An IPv6 address is dialled and filed as ssh does.
func TestIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("SKIPPED, NOTHING IS TESTED: no IPv6 here")
	}
	l.Close()
	s := sshtest.Start(t, sshtest.Options{Listen: "[::1]:0"})
	c := config(s)
	if _, err := dial(t, c, &person{}); err != nil {
		t.Error(err)
	}
	if want := fmt.Sprintf("[::1]:%d ", s.Port); !strings.HasPrefix(read(t, c.KnownHostsFiles[0]), want) {
		t.Errorf("got %q", read(t, c.KnownHostsFiles[0]))
	}
}
