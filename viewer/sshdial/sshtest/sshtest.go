//go:build unix

// Package sshtest is a laboratory for tests of everything that runs over SSH:
// real OpenSSH servers on loopback, run for one test as the one who runs it,
// with their own host keys, users' keys and configuration.
//
// Each connection is served by an sshd of its own, which reads the
// configuration anew: what a test changes holds for the next connection.
package sshtest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
	"deskvnc/viewer/sshdial/knownhosts"
)

// Options describe a server. The zero value is a server with an Ed25519 and an
// ECDSA host key that takes the key in KeyFile.
type Options struct {
	// Config are lines of sshd_config(5); they win over those of the lab.
	Config []string
	// HostKeys are the kinds of host key, as ssh-keygen -t names them.
	HostKeys []string
	// Listen is the address; empty: 127.0.0.1:0.
	Listen string
}

// A Server is a running OpenSSH server.
type Server struct {
	Host string
	Port int
	// User is who may log in, with the private key in KeyFile.
	User, KeyFile string
	// Dir is a folder of the test's own.
	Dir string

	t        testing.TB
	listener *net.TCPListener
	serving  sync.WaitGroup

	mu       sync.Mutex // guards below
	config   []string
	kinds    []string
	running  map[*exec.Cmd]struct{}
	closed   bool
	accepted int
}

// Need skips the test when a program is missing, or fails it when
// DESKVNC_PEERS is required.
func Need(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			if os.Getenv("DESKVNC_PEERS") == "required" {
				t.Fatalf("%s is required and missing", p)
			}
			t.Skipf("SKIPPED, NOTHING IS TESTED: %s is missing", p)
		}
	}
}

// sshd is where Debian and most others have it.
const sshd = "/usr/sbin/sshd"

// Start starts a server, which ends with the test.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	Need(t, sshd, "ssh-keygen")
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // where sshd puts the process that is not trusted yet
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} { // other accounts may log in too
		if err := os.Chmod(d, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().(*net.TCPAddr)
	s := &Server{
		Host: at.IP.String(), Port: at.Port, User: u.Username, Dir: dir, t: t, listener: l.(*net.TCPListener),
		config: o.Config, kinds: o.HostKeys, running: map[*exec.Cmd]struct{}{},
	}
	if s.kinds == nil {
		s.kinds = []string{"ed25519", "ecdsa"}
	}
	t.Cleanup(s.stop)
	s.NewHostKeys()
	s.KeyFile = Key(t, s.Dir, "ed25519", "")
	s.Authorize(s.KeyFile + ".pub")
	s.serving.Go(s.accept)
	return s
}

// Key makes a key pair with ssh-keygen and returns the file of the private
// half; extra are further arguments.
func Key(t testing.TB, dir, kind, passphrase string, extra ...string) string {
	t.Helper()
	f, err := os.CreateTemp(dir, "key-*")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	os.Remove(f.Name())
	// Few rounds of bcrypt: a test need not take long.
	args := append([]string{"-q", "-t", kind, "-b", bits(kind), "-a", "4", "-N", passphrase, "-C", filepath.Base(f.Name()), "-f", f.Name()}, extra...)
	if out, err := exec.Command("ssh-keygen", args...).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	return f.Name()
}

// bits are as few as a kind of key may have: they take time.
func bits(kind string) string {
	if kind == "rsa" {
		return "2048"
	}
	return "256"
}

// Target is the server as a machine.
func (s *Server) Target() viewer.Target {
	return viewer.Target{Protocol: viewer.SSH, Address: s.Host, Port: s.Port, User: s.User}
}

// Addr is host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

func (s *Server) file(name string) string { return filepath.Join(s.Dir, name) }

// HostKeyFile is the private host key of a kind.
func (s *Server) HostKeyFile(kind string) string { return s.file("host_" + kind) }

// HostKey is the public host key of a kind.
func (s *Server) HostKey(kind string) ssh.PublicKey {
	s.t.Helper()
	return PublicKey(s.t, s.HostKeyFile(kind)+".pub")
}

// PublicKey reads a public key.
func PublicKey(t testing.TB, file string) ssh.PublicKey {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(b)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// NewHostKeys gives the server new host keys, of the kinds named or of those it
// has.
func (s *Server) NewHostKeys(kinds ...string) {
	s.t.Helper()
	s.mu.Lock()
	if len(kinds) > 0 {
		s.kinds = kinds
	}
	kinds = s.kinds
	s.mu.Unlock()
	for _, k := range kinds {
		for _, f := range []string{s.HostKeyFile(k), s.HostKeyFile(k) + ".pub"} {
			os.Remove(f)
		}
		if out, err := exec.Command("ssh-keygen", "-q", "-t", k, "-b", bits(k), "-N", "", "-C", "host", "-f", s.HostKeyFile(k)).CombinedOutput(); err != nil {
			s.t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
}

// KnownHosts writes a known_hosts file with all keys of the server and returns
// its name. Each call makes a new file.
func (s *Server) KnownHosts() string {
	s.t.Helper()
	f, err := os.CreateTemp(s.Dir, "known_hosts-*")
	if err != nil {
		s.t.Fatal(err)
	}
	f.Close()
	s.mu.Lock()
	kinds := s.kinds
	s.mu.Unlock()
	for _, k := range kinds {
		if err := knownhosts.Add(f.Name(), knownhosts.Name(s.Host, s.Port), s.HostKey(k), false); err != nil {
			s.t.Fatal(err)
		}
	}
	return f.Name()
}

// Authorize lets more keys in: files of public keys, or whole lines of
// authorized_keys.
func (s *Server) Authorize(keys ...string) {
	s.t.Helper()
	f, err := os.OpenFile(s.file("authorized_keys"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	for _, k := range keys {
		if b, err := os.ReadFile(k); err == nil {
			k = string(b)
		}
		if _, err := f.WriteString(strings.TrimSpace(k) + "\n"); err != nil {
			s.t.Fatal(err)
		}
	}
}

// SetConfig changes the lines of the configuration for further connections.
func (s *Server) SetConfig(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config = lines
}

// writeConfig writes the configuration; the first line of an option stands.
func (s *Server) writeConfig() (string, error) {
	s.mu.Lock()
	lines := append([]string(nil), s.config...)
	for _, k := range s.kinds {
		lines = append(lines, "HostKey "+s.HostKeyFile(k))
	}
	s.accepted++
	name := s.file(fmt.Sprintf("sshd_config-%d", s.accepted))
	s.mu.Unlock()
	// What follows a Match would count under it alone.
	var match []string
	for i, l := range lines {
		if strings.HasPrefix(strings.ToLower(l), "match ") {
			end := len(lines) - len(s.kinds)
			match = append(match, lines[i:end]...)
			lines = append(lines[:i:i], lines[end:]...)
			break
		}
	}
	lines = append(lines, "AuthorizedKeysFile "+s.file("authorized_keys"), "StrictModes no", "UsePAM no", "PermitRootLogin yes",
		"PasswordAuthentication no", "KbdInteractiveAuthentication no", "UseDNS no", "PrintMotd no", "PrintLastLog no",
		"LogLevel VERBOSE", "Subsystem sftp internal-sftp", "AcceptEnv LANG LC_* DESKVNC_*")
	lines = append(lines, match...)
	return name, os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}

func (s *Server) accept() {
	for {
		c, err := s.listener.AcceptTCP()
		if err != nil {
			return
		}
		if err := s.serve(c); err != nil {
			c.Close()
			s.mu.Lock()
			closed := s.closed
			s.mu.Unlock()
			if !closed {
				s.t.Errorf("sshd: %v", err)
			}
		}
	}
}

// serve starts an sshd for one connection.
func (s *Server) serve(c *net.TCPConn) error {
	config, err := s.writeConfig()
	if err != nil {
		return err
	}
	f, err := c.File()
	if err != nil {
		return err
	}
	defer f.Close()
	cmd := exec.Command(sshd, "-i", "-f", config, "-E", s.file("log"))
	cmd.Stdin, cmd.Stdout = f, f
	cmd.SysProcAttr = group()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.Close() // the server has it now
	s.running[cmd] = struct{}{}
	s.serving.Go(func() {
		_ = cmd.Wait() // how it ends is in the log
		s.mu.Lock()
		delete(s.running, cmd)
		s.mu.Unlock()
	})
	return nil
}

// Connections is how many connections are being served.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running)
}

// Accepted is how many connections there were.
func (s *Server) Accepted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// KillConnections ends the servers of all connections at once, without a word.
func (s *Server) KillConnections() { s.signal(syscall.SIGKILL) }

// Freeze stops the servers of all connections: they take what comes, but say
// nothing more, like a machine that hangs. Thaw lets them go on.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw ends a Freeze.
func (s *Server) Thaw() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for cmd := range s.running {
		signalGroup(cmd.Process.Pid, sig)
	}
}

// Log is what the servers have logged so far.
func (s *Server) Log() string {
	b, err := os.ReadFile(s.file("log"))
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(b))
}

func (s *Server) stop() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.listener.Close()
	s.Thaw()
	s.KillConnections()
	s.serving.Wait()
	if s.t.Failed() {
		s.t.Logf("the log of the SSH server:\n%s", s.Log())
	}
}
