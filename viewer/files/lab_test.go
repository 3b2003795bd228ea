package files

import (
	"bufio"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// A conn is what the servers of pkg/sftp serve.
type conn = io.ReadWriteCloser

// inProcess serves in this process over a pair of sockets.
func inProcess(t *testing.T, serve func(conn) error) *FS {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var done sync.WaitGroup
	done.Go(func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		serve(c)
	})
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	f, err := OpenPipe(testContext(t), c, c, func() { c.Close() })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.Close()
		done.Wait()
	})
	return f
}

// startPort starts a program that prints its port.
func startPort(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
		if s := stderr.String(); s != "" && t.Failed() {
			t.Log(s)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		t.Fatalf("no port: %v\n%s", err, stderr.String())
	}
	return strings.TrimSpace(line)
}

// dialAnyone logs in where nobody is asked who they are. The host keys of the
// tests' own servers on loopback are not what is tested here.
func dialAnyone(t testing.TB, addr string) *ssh.Client {
	t.Helper()
	c, err := ssh.Dial("tcp", addr, &ssh.ClientConfig{User: "test", HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A lab is a real sshd on loopback, run as the account of the test.
type lab struct {
	addr, port, dir, key string
	signer               ssh.Signer
	cmd                  *exec.Cmd
}

// startLab starts sshd with extra lines of configuration.
func startLab(t testing.TB, config ...string) *lab {
	t.Helper()
	sshd := "/usr/sbin/sshd"
	if _, err := os.Stat(sshd); err != nil {
		needed(t, "sshd")
	}
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	l := &lab{dir: dir, key: filepath.Join(dir, "user")}
	host := writeKey(t, filepath.Join(dir, "host"))
	l.signer = writeKey(t, l.key)
	write(t, dir+"/authorized", ssh.MarshalAuthorizedKey(l.signer.PublicKey()), 0o600)
	if os.Getuid() == 0 {
		must(t, os.MkdirAll("/run/sshd", 0o755))
	}
	// The port is taken by asking the system for a free one; another process
	// may take it in between, so it is tried again.
	for range 5 {
		n, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := n.Addr().(*net.TCPAddr).Port
		n.Close()
		l.port = strconv.Itoa(port)
		l.addr = "127.0.0.1:" + l.port
		conf := fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s/host\nAuthorizedKeysFile %s/authorized\nPidFile none\nStrictModes no\nUsePAM no\n"+
			"PasswordAuthentication no\nPermitRootLogin yes\nMaxStartups 100\nMaxSessions 50\nUseDNS no\nPrintMotd no\nSubsystem sftp %s\n%s\n",
			port, dir, dir, subsystem(config), strings.Join(notSubsystem(config), "\n"))
		write(t, dir+"/config", []byte(conf), 0o600)
		write(t, dir+"/known", fmt.Appendf(nil, "[127.0.0.1]:%d %s", port, ssh.MarshalAuthorizedKey(host.PublicKey())), 0o600)
		log, err := os.Create(dir + "/log")
		must(t, err)
		l.cmd = exec.Command(sshd, "-D", "-e", "-f", dir+"/config")
		l.cmd.Stderr = log
		must(t, l.cmd.Start())
		log.Close()
		if l.up() {
			t.Cleanup(func() {
				l.cmd.Process.Kill()
				l.cmd.Wait()
				if t.Failed() {
					b, _ := os.ReadFile(dir + "/log")
					t.Logf("%s", b)
				}
			})
			return l
		}
		l.cmd.Process.Kill()
		l.cmd.Wait()
	}
	b, _ := os.ReadFile(dir + "/log")
	t.Fatalf("sshd does not start:\n%s", b)
	return nil
}

// up waits until the server greets.
func (l *lab) up() bool {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		c, err := net.DialTimeout("tcp", l.addr, time.Second)
		if err != nil {
			continue
		}
		c.SetDeadline(time.Now().Add(5 * time.Second))
		b := make([]byte, 4)
		_, err = io.ReadFull(c, b)
		c.Close()
		if err == nil && string(b) == "SSH-" {
			return true
		}
	}
	return false
}

func subsystem(config []string) string {
	for _, c := range config {
		if s, ok := strings.CutPrefix(c, "Subsystem sftp "); ok {
			return s
		}
	}
	return "internal-sftp"
}

func notSubsystem(config []string) (rest []string) {
	for _, c := range config {
		if !strings.HasPrefix(c, "Subsystem sftp ") {
			rest = append(rest, c)
		}
	}
	return rest
}

// writeKey makes a key pair; the private half goes to a file.
func writeKey(t testing.TB, path string) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	must(t, err)
	write(t, path, pem.EncodeToMemory(block), 0o600)
	signer, err := ssh.NewSignerFromKey(private)
	must(t, err)
	return signer
}

// account is whose tests these are.
func account() string {
	u, err := user.Current()
	if err != nil {
		return os.Getenv("USER")
	}
	return u.Username
}

// dial logs in.
func (l *lab) dial(ciphers ...string) (*ssh.Client, error) {
	c := &ssh.ClientConfig{User: account(), Auth: []ssh.AuthMethod{ssh.PublicKeys(l.signer)}, HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: 30 * time.Second}
	c.Ciphers = ciphers
	return ssh.Dial("tcp", l.addr, c)
}

// open logs in and opens the files.
func (l *lab) open(t testing.TB, ciphers ...string) *FS {
	t.Helper()
	c, err := l.dial(ciphers...)
	must(t, err)
	f, err := Open(testContext(t), c)
	must(t, err)
	t.Cleanup(func() {
		f.Close()
		c.Close()
	})
	return f
}
