//go:build unix

package drivers_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/shell"
	"deskvnc/viewer/sshdial/sshtest"
)

// guard bounds what would hang otherwise.
const guard = 60 * time.Second

// A lab is an engine, and a person who answers from a list and notes what was
// asked.
type lab struct {
	t      testing.TB
	engine *engine.Engine

	mu      sync.Mutex // guards below
	answers map[viewer.QuestionKind]viewer.Answer
	asked   []viewer.Question
}

func newLab(t testing.TB, known ...*sshtest.Server) *lab {
	t.Helper()
	l := &lab{t: t, answers: map[viewer.QuestionKind]viewer.Answer{}}
	var keys []byte
	for _, s := range known {
		b, err := os.ReadFile(s.KnownHosts())
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, b...)
	}
	home := t.TempDir()
	file := filepath.Join(home, "known")
	if err := os.WriteFile(file, keys, 0o600); err != nil {
		t.Fatal(err)
	}
	l.engine = engine.New(engine.Config{
		Drivers: viewer.Registry{
			viewer.VNC: rfb.New(rfb.Options{}),
			viewer.SSH: shell.New(shell.Options{Home: home, KnownHostsFiles: []string{file}}),
		},
		Asker: func(*engine.Session) viewer.Asker { return l },
	})
	t.Cleanup(l.engine.Close)
	return l
}

func (l *lab) Ask(_ context.Context, q viewer.Question) (viewer.Answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, q)
	a, ok := l.answers[q.Kind]
	if !ok {
		return a, &viewer.Error{Op: "ask", Kind: viewer.Credentials, Err: errors.New("nobody is here")}
	}
	return a, nil
}

// questions takes what was asked.
func (l *lab) questions() []viewer.Question {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.asked
	l.asked = nil
	return q
}

// open opens a target and waits until it is connected, or has ended.
func (l *lab) open(to viewer.Target) (*engine.Session, viewer.State) {
	l.t.Helper()
	s, err := l.engine.Open(to)
	if err != nil {
		l.t.Fatal(err)
	}
	return s, l.wait(s, func(st viewer.State) bool {
		return st.Phase == viewer.Connected || st.Phase == viewer.Disconnected
	})
}

func (l *lab) connected(to viewer.Target) *engine.Session {
	l.t.Helper()
	s, st := l.open(to)
	if st.Phase != viewer.Connected {
		l.t.Fatalf("the state is %+v", st)
	}
	return s
}

func (l *lab) wait(s *engine.Session, ok func(viewer.State) bool) viewer.State {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	defer cancel()
	st, err := s.WaitState(ctx, ok)
	if err != nil {
		l.t.Fatalf("the state is %+v: %v", st, err)
	}
	return st
}

// again waits until a session has been connected n times.
func (l *lab) again(s *engine.Session, n int) {
	l.t.Helper()
	l.wait(s, func(st viewer.State) bool { return st.Phase == viewer.Connected && s.Info().Connections >= n })
}

func login(s *sshtest.Server) *viewer.SSHSettings {
	return &viewer.SSHSettings{KeyFile: s.KeyFile, NoAgent: true, NoConfig: true}
}

// sshTarget runs a program that ends with its input.
func sshTarget(s *sshtest.Server) viewer.Target {
	t := s.Target()
	t.SSH = login(s)
	t.SSH.Command = "echo READY; exec cat"
	return t
}

// desktop starts an Xtigervnc on an address of this computer.
func desktop(t testing.TB, address string, port int, args ...string) {
	t.Helper()
	sshtest.Need(t, "Xtigervnc")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("Xtigervnc", append([]string{"-displayfd", "3", "-geometry", "320x240", "-depth", "24", "-interface", address, "-rfbport", strconv.Itoa(port), "-AlwaysShared", "-BlacklistThreshold", "1000"}, args...)...)
	var log bytes.Buffer
	cmd.Stderr, cmd.ExtraFiles = &log, []*os.File{w}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		t.Fatalf("Xtigervnc does not start: %s", log.Bytes())
	}
	for end := time.Now().Add(guard); ; time.Sleep(time.Millisecond) { // it tells its display before it listens
		c, err := net.Dial("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// A desktop over two machines on the way, each with its own key and its own
// questions; a break anywhere is a lost link.
func TestDesktopOverMachines(t *testing.T) {
	near, far := sshtest.Start(t, sshtest.Options{}), sshtest.Start(t, sshtest.Options{})
	l := newLab(t, near, far)
	port := freePort(t)
	desktop(t, "127.0.0.1", port, "-SecurityTypes", "None")

	locked := sshtest.Key(t, far.Dir, "ed25519", "open it")
	far.Authorize(locked + ".pub")
	hop := func(s *sshtest.Server, name, key string) viewer.Target {
		h := s.Target()
		h.Name, h.SSH = name, login(s)
		h.SSH.KeyFile = key
		return h
	}
	l.answers[viewer.AskPassphrase] = viewer.Answer{Secret: viewer.SecretString("open it")}
	to := viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: port, Name: "desk",
		SSH: &viewer.SSHSettings{Via: []viewer.Target{hop(near, "near", near.KeyFile), hop(far, "far", locked)}}}
	s := l.connected(to)
	if q := l.questions(); len(q) != 1 || q[0].Kind != viewer.AskPassphrase || q[0].Target.Name != "far" || q[0].Name != locked {
		t.Errorf("asked %+v", q)
	}
	if w, h := s.Frame().Size(); w != 320 || h != 240 {
		t.Errorf("the picture is %dx%d", w, h)
	}
	if near.Connections() != 1 || far.Connections() != 1 {
		t.Errorf("%d and %d connections", near.Connections(), far.Connections())
	}
	id := s.ID()
	for n, cut := range []*sshtest.Server{near, far} {
		cut.KillConnections()
		l.again(s, n+2)
	}
	if q := l.questions(); len(q) != 0 || s.ID() != id {
		t.Errorf("a new connection asked %+v", q)
	}
	s.Close()
	for end := time.Now().Add(guard); near.Connections()+far.Connections() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d and %d connections are left", near.Connections(), far.Connections())
		}
	}

	// A machine on the way that is refused is named.
	bad := *to.SSH
	bad.Via = []viewer.Target{hop(near, "near", sshtest.Key(t, near.Dir, "ecdsa", ""))}
	to.SSH = &bad
	_, st := l.open(to)
	if st.Phase != viewer.Disconnected || st.Kind != viewer.Denied || !strings.Contains(st.Reason, "near") {
		t.Errorf("the state is %+v", st)
	}
}

// certificate makes one, and the arguments that give it to Xtigervnc.
func certificate(t testing.TB, address string) []string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: address}, IPAddresses: []net.IP{net.ParseIP(address)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := []string{"-SecurityTypes", "X509None", "-X509Cert", filepath.Join(dir, "cert"), "-X509Key", filepath.Join(dir, "key")}
	for path, block := range map[string]*pem.Block{args[3]: {Type: "CERTIFICATE", Bytes: der}, args[5]: {Type: "PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return args
}

// Two machines behind one jump host, on the same port, are two machines: each
// has its own certificate, asked about once.
func TestCertificatesBehindOneJump(t *testing.T) {
	jump := sshtest.Start(t, sshtest.Options{})
	l := newLab(t, jump)
	l.answers[viewer.AskCertificate] = viewer.Answer{Accept: true}
	hop := jump.Target()
	hop.SSH = login(jump)
	port := freePort(t)
	for round := range 2 {
		for _, address := range []string{"127.0.0.2", "127.0.0.3"} {
			if round == 0 {
				desktop(t, address, port, certificate(t, address)...)
			}
			s := l.connected(viewer.Target{Protocol: viewer.VNC, Address: address, Port: port, SSH: &viewer.SSHSettings{Via: []viewer.Target{hop}}})
			q := l.questions()
			switch {
			case round == 0 && (len(q) != 1 || q[0].Kind != viewer.AskCertificate || q[0].Key.Pinned != nil || q[0].Key.Subject == "" || !strings.Contains(q[0].Key.Subject, address)):
				t.Errorf("%s: asked %+v", address, q)
			case round == 1 && len(q) != 0:
				t.Errorf("%s: asked again: %+v", address, q)
			}
			s.Close()
		}
	}
}

// The files of a session: of an SSH machine over its own login, of a desktop
// over one beside it; opened once, and closed with the session.
func TestFiles(t *testing.T) {
	m := sshtest.Start(t, sshtest.Options{})
	l := newLab(t, m)
	port := freePort(t)
	desktop(t, "127.0.0.1", port, "-SecurityTypes", "None")
	beside := login(m)
	beside.Port = m.Port
	for name, to := range map[string]viewer.Target{
		"ssh": sshTarget(m),
		"vnc": {Protocol: viewer.VNC, Address: "127.0.0.1", Port: port, User: m.User, SSH: beside},
	} {
		t.Run(name, func(t *testing.T) {
			s := l.connected(to)
			before := m.Accepted()
			var all sync.WaitGroup
			for range 5 {
				all.Go(func() {
					fs, err := s.Files(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					if home, err := fs.Home(t.Context()); err != nil || !strings.HasPrefix(home, "/") {
						t.Errorf("got %q, %v", home, err)
					}
				})
			}
			all.Wait()
			want := before
			if name == "vnc" {
				want++
			}
			if n := m.Accepted(); n != want {
				t.Errorf("%d logins, want %d", n, want)
			}
			first, err := s.Files(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			m.KillConnections()
			<-first.Done()
			if name == "ssh" {
				l.again(s, 2)
			}
			second, err := s.Files(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := second.Home(t.Context()); err != nil || second == first {
				t.Errorf("after a break: %v", err)
			}
			s.Close()
			select {
			case <-second.Done():
			case <-time.After(guard):
				t.Error("the files outlive the session")
			}
			if _, err := s.Files(t.Context()); viewer.KindOf(err) != viewer.Closed {
				t.Errorf("after the end: got %v", err)
			}
		})
	}
	if st := l.questions(); len(st) != 0 {
		t.Errorf("asked %+v", st)
	}
}

// A login beside a desktop is refused in words, and changes nothing of the
// desktop.
func TestFilesRefused(t *testing.T) {
	m := sshtest.Start(t, sshtest.Options{})
	l := newLab(t) // knows no machine
	port := freePort(t)
	desktop(t, "127.0.0.1", port, "-SecurityTypes", "None")
	beside := login(m)
	beside.Port = m.Port
	s := l.connected(viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: port, User: m.User, SSH: beside})
	_, err := s.Files(t.Context())
	if k := viewer.KindOf(err); k != viewer.Untrusted && k != viewer.Credentials {
		t.Errorf("an unknown machine: got %v (%s)", err, k)
	}
	if q := l.questions(); len(q) != 1 || q[0].Kind != viewer.AskServerKey {
		t.Errorf("asked %+v", q)
	}
	l.answers[viewer.AskServerKey] = viewer.Answer{Accept: true}
	m.SetConfig("Subsystem sftp /nope/sftp")
	if _, err := s.Files(t.Context()); err == nil {
		t.Error("a machine without file transfer gave files")
	}
	if st := s.State(); st.Phase != viewer.Connected || st.Asking != "" {
		t.Errorf("the desktop is %+v", st)
	}
	none := &viewer.SSHSettings{Port: freePort(t), NoConfig: true, NoAgent: true}
	s = l.connected(viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: port, User: m.User, SSH: none})
	if _, err := s.Files(t.Context()); viewer.KindOf(err) != viewer.Unreachable {
		t.Errorf("nobody listens: got %v", err)
	}
}

// echo serves connections that get back what they send.
func echo(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// through sends bytes to an address and checks that they come back.
func through(t testing.TB, address string, n int) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(guard))
	sent := bytes.Repeat([]byte("0123456789abcdef"), n/16)
	go func() {
		c.Write(sent)
		c.(*net.TCPConn).CloseWrite()
	}()
	if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes came back: %v", len(got), len(sent), err)
	}
}

// waitTunnels waits until the tunnels of a session fit.
func waitTunnels(t testing.TB, s *engine.Session, ok func([]viewer.TunnelState) bool) []viewer.TunnelState {
	t.Helper()
	for end := time.Now().Add(guard); ; time.Sleep(time.Millisecond) {
		all := s.Tunnels()
		if ok(all) {
			return all
		}
		if time.Now().After(end) {
			t.Fatalf("the tunnels are %+v", all)
		}
	}
}

func listening(all []viewer.TunnelState) bool {
	for _, st := range all {
		if st.Address == "" {
			return false
		}
	}
	return len(all) > 0
}

// Tunnels of all three kinds, counted, opened again with the connection, and
// closed with the session.
func TestTunnels(t *testing.T) {
	m := sshtest.Start(t, sshtest.Options{})
	l := newLab(t, m)
	at := echo(t)
	taken := at[strings.LastIndexByte(at, ':')+1:]
	to := sshTarget(m)
	local, remote, socks := strconv.Itoa(freePort(t)), strconv.Itoa(freePort(t)), strconv.Itoa(freePort(t))
	to.SSH.Tunnels = []viewer.Tunnel{
		{Direction: viewer.TunnelLocal, Listen: local, To: at},
		{Direction: viewer.TunnelRemote, Listen: remote, To: at},
		{Direction: viewer.TunnelSOCKS, Listen: "localhost:" + socks},
		{Direction: viewer.TunnelLocal, Listen: taken, To: at},
	}
	s := l.connected(to)
	opened := func(all []viewer.TunnelState) bool { return len(all) == 4 && listening(all[:3]) && all[3].Err != nil }
	all := waitTunnels(t, s, opened)
	if viewer.KindOf(all[3].Err) != viewer.Unreachable || !strings.Contains(all[3].Err.Error(), taken) {
		t.Errorf("a port that is taken: got %v", all[3].Err)
	}
	for _, st := range all[:3] {
		if !strings.HasPrefix(st.Address, "127.0.0.1:") {
			t.Errorf("%s listens on %s", st.Direction, st.Address)
		}
	}
	const size = 1 << 20
	through(t, "127.0.0.1:"+local, size)
	through(t, "127.0.0.1:"+remote, size)
	for _, st := range waitTunnels(t, s, func(all []viewer.TunnelState) bool { return all[0].Open == 0 && all[1].Open == 0 })[:2] {
		if st.Sent != size || st.Received != size || st.Connections != 1 || st.Err != nil {
			t.Errorf("got %+v", st)
		}
	}
	if out := curl(t, socks, "http://"+at+"/through"); !strings.Contains(out, "GET /through") {
		t.Errorf("through SOCKS: %q", out)
	}

	s.Reconnect()
	l.again(s, 2)
	waitTunnels(t, s, opened)
	through(t, "127.0.0.1:"+local, 1<<10)

	id, err := s.OpenTunnel(t.Context(), viewer.Tunnel{Direction: viewer.TunnelLocal, Listen: "127.0.0.1:0", To: "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	all = s.Tunnels()
	last := all[len(all)-1]
	if last.ID != id || last.Address == "" {
		t.Errorf("got %+v", last)
	}
	c, err := net.Dial("tcp", last.Address)
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(guard))
	if n, err := c.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes from nowhere", n)
	}
	c.Close()
	waitTunnels(t, s, func(all []viewer.TunnelState) bool {
		return viewer.KindOf(all[len(all)-1].Err) == viewer.Unreachable
	})
	if err := s.CloseTunnel(id); err != nil || len(s.Tunnels()) != 4 {
		t.Errorf("closed: %v, %+v", err, s.Tunnels())
	}
	if err := s.CloseTunnel(id); viewer.KindOf(err) != viewer.Invalid {
		t.Errorf("closed again: %v", err)
	}
	for _, bad := range []viewer.Tunnel{{}, {Direction: viewer.TunnelLocal, Listen: "x", To: at}, {Direction: viewer.TunnelLocal, Listen: "1", To: "nowhere"}, {Direction: viewer.TunnelSOCKS, Listen: "1", To: at}} {
		if _, err := s.OpenTunnel(t.Context(), bad); viewer.KindOf(err) != viewer.Invalid {
			t.Errorf("%+v: got %v", bad, err)
		}
	}
	s.Close()
	if c, err := net.Dial("tcp", "127.0.0.1:"+local); err == nil {
		c.Close()
		t.Error("a tunnel outlives its session")
	}
}

// curl gets a page of a server that sends back the request, whose head is the
// page.
func curl(t testing.TB, socks, address string) string {
	t.Helper()
	sshtest.Need(t, "curl")
	out, err := exec.Command("curl", "-s", "--http0.9", "--max-time", "5", "--socks5-hostname", "127.0.0.1:"+socks, address).Output()
	var code *exec.ExitError
	if err != nil && !errors.As(err, &code) {
		t.Fatal(err)
	}
	return string(out)
}
