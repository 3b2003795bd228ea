package auth

import (
	"bufio"
	"context"
	"crypto/des"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
	"deskvnc/viewer/trust"
)

// hang is long enough for anything that is not stuck.
const hang = 60 * time.Second

// need returns the path of a program, or skips the test without it, or fails
// it where peers are required.
func need(t testing.TB, program string) string {
	t.Helper()
	p, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv("DESKVNC_PEERS") == "required" {
			t.Fatalf("%s is not installed and DESKVNC_PEERS=required", program)
		}
		t.Skipf("SKIPPED: %s is not installed", program)
	}
	return p
}

// start runs a program until the end of the test.
func start(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop(cmd)
		log.Close()
		if b, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(cmd.Path), b)
		}
	})
}

func stop(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// startTiger starts Xtigervnc with the security types given and returns its
// target and its display.
func startTiger(t testing.TB, port int, types string, args ...string) (viewer.Target, string, *exec.Cmd) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(need(t, "Xtigervnc"), append([]string{"-displayfd", "3", "-geometry", "64x48", "-depth", "24", "-localhost",
		"-rfbport", strconv.Itoa(port), "-SecurityTypes", types}, args...)...)
	cmd.ExtraFiles = []*os.File{w}
	start(t, cmd)
	w.Close()
	_ = r.SetReadDeadline(time.Now().Add(hang))
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("Xtigervnc did not tell its display: %v", err)
	}
	return viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: port}, ":" + strings.TrimSpace(line), cmd
}

// passwordFile is a file that VNC servers read a password from: encrypted by
// DES with a key that everybody knows.
func passwordFile(t testing.TB, password string) string {
	t.Helper()
	key := []byte{23, 82, 107, 6, 35, 78, 88, 7}
	for i, k := range key {
		key[i] = bits.Reverse8(k)
	}
	block, err := des.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	var b [8]byte
	copy(b[:], password)
	block.Encrypt(b[:], b[:])
	return writeFile(t, "passwd", b[:])
}

func writeFile(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A pair is a certificate and its key, in files.
type pair struct {
	cert      *x509.Certificate
	key       *rsa.PrivateKey
	certFile  string
	keyFile   string
	pemOfBoth []byte
}

// newPair makes a certificate for 127.0.0.1, issued by issuer or for itself.
func newPair(t testing.TB, bits int, issuer *pair, change func(*x509.Certificate)) *pair {
	t.Helper()
	p := &pair{}
	var err error
	if p.key, err = rsa.GenerateKey(rand.Reader, bits); err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "vnc test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if change != nil {
		change(tmpl)
	}
	parent, signer := tmpl, p.key
	if issuer != nil {
		parent, signer = issuer.cert, issuer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, &p.key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	if p.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	c := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	k := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(p.key)})
	p.pemOfBoth = append(slices.Clone(k), c...)
	p.certFile, p.keyFile = writeFile(t, "cert.pem", c), writeFile(t, "key.pem", k)
	return p
}

func (p *pair) args() []string { return []string{"-X509Cert", p.certFile, "-X509Key", p.keyFile} }

// A client is one who logs in, and what it saw.
type client struct {
	user, password string
	key            viewer.Answer // to questions about keys
	consent        bool
	only           uint8 // the one type of the server to see, or 0 for all
	judge          *trust.Judge

	mu      sync.Mutex // guards below
	asked   []viewer.Question
	notices []string
	chosen  []string

	sealed bool // the login put encryption around the connection
}

func newClient(password string) *client {
	return &client{password: password, key: viewer.Answer{Accept: true}, judge: &trust.Judge{Roots: x509.NewCertPool()}}
}

func (cl *client) Ask(_ context.Context, q viewer.Question) (viewer.Answer, error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.asked = append(cl.asked, q)
	switch q.Kind {
	case viewer.AskVNCPassword:
		return viewer.Answer{Secret: viewer.SecretString(cl.password)}, nil
	case viewer.AskPassword:
		return viewer.Answer{User: cl.user, Secret: viewer.SecretString(cl.password)}, nil
	case viewer.AskUnencrypted:
		return viewer.Answer{Accept: cl.consent}, nil
	}
	return cl.key, nil
}

// kinds are the questions that were asked, in order.
func (cl *client) kinds() string {
	var k []string
	for _, q := range cl.asked {
		k = append(k, string(q.Kind))
	}
	return strings.Join(k, " ")
}

func (cl *client) emit(e viewer.Event) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	switch e := e.(type) {
	case viewer.Notice:
		cl.notices = append(cl.notices, e.Text)
	case viewer.Progress:
		cl.chosen = append(cl.chosen, e.Method)
	}
}

func (cl *client) login(target viewer.Target) *Login {
	env := viewer.Env{Ask: cl, Emit: cl.emit}
	return NewLogin(context.Background(), target, env, cl.judge, func() func() { return func() {} })
}

// connect logs in to a target and reads a picture, over TCP.
func (cl *client) connect(t testing.TB, target viewer.Target) error {
	t.Helper()
	inner, err := net.Dial("tcp", target.HostPort())
	if err != nil {
		t.Fatal(err)
	}
	return cl.over(inner, target)
}

// over logs in over a connection and reads a picture. It speaks 3.8.
func (cl *client) over(inner net.Conn, target viewer.Target) error {
	if err := inner.SetDeadline(time.Now().Add(hang)); err != nil {
		return err
	}
	c := conn.New(inner)
	defer c.Close()
	if _, err := take(c, 12); err != nil {
		return fmt.Errorf("greeting: %w", err)
	}
	if err := write(c, []byte("RFB 003.008\n")...); err != nil {
		return err
	}
	types, err := takeTypes(c)
	if err != nil {
		return err
	}
	if cl.only != 0 {
		if !slices.Contains(types, cl.only) {
			return fmt.Errorf("the server offers the types %v, want %d among them", types, cl.only)
		}
		types = []uint8{cl.only}
	}
	l := cl.login(target)
	m := choose(Methods(l), types)
	if m == nil {
		return NoMethod(l, types)
	}
	l.Chosen(Name(m.Type()))
	if err := write(c, m.Type()); err != nil {
		return err
	}
	if err := m.Login(c); err != nil {
		return err
	}
	cl.sealed = c.Sealed()
	switch result, err := takeU32(c); {
	case err != nil:
		return fmt.Errorf("security result: %w", err)
	case result != 0:
		n, err := takeU32(c)
		if err != nil || n > 1000 {
			return fmt.Errorf("reason: %d, %w", n, err)
		}
		b, err := take(c, int(n))
		return errors.Join(&viewer.Error{Op: "test", Kind: viewer.Denied, Err: errors.New(string(b))}, err)
	}
	return picture(c, HasAbilities(m))
}

// picture reads ServerInit, asks for the picture and reads all of it.
func picture(c *conn.Conn, abilities bool) error {
	if err := write(c, 1); err != nil {
		return err
	}
	b, err := take(c, 24)
	if err != nil {
		return fmt.Errorf("ServerInit: %w", err)
	}
	depth := int(b[4]) / 8
	w, h := int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:]))
	if n := binary.BigEndian.Uint32(b[20:]); n > 1000 || w != 64 || h != 48 || b[4]%8 != 0 {
		return fmt.Errorf("got a screen of %dx%d, %d bits, a name of %d bytes", w, h, b[4], n)
	} else if err := c.Discard(int(n)); err != nil {
		return err
	}
	if abilities {
		if err := DiscardAbilities(c); err != nil {
			return err
		}
	}
	if err := write(c, 2, 0, 0, 1, 0, 0, 0, 0 /* Raw */, 3, 0, 0, 0, 0, 0, 0, 64, 0, 48); err != nil {
		return err
	}
	for area := 0; area < w*h; {
		b, err := take(c, 4)
		if err != nil {
			return fmt.Errorf("update: %w", err)
		}
		if b[0] != 0 {
			return fmt.Errorf("got message %d, want an update", b[0])
		}
		for range binary.BigEndian.Uint16(b[2:]) {
			r, err := take(c, 12)
			if err != nil {
				return err
			}
			n := int(binary.BigEndian.Uint16(r[4:])) * int(binary.BigEndian.Uint16(r[6:]))
			if binary.BigEndian.Uint32(r[8:]) != 0 || n > w*h {
				return fmt.Errorf("got the rectangle % x, want Raw", r)
			}
			if err := c.Discard(depth * n); err != nil {
				return err
			}
			area += n
		}
	}
	return nil
}

// dialOnce tries a connection to a machine.
func dialOnce(target viewer.Target) (net.Conn, error) {
	return net.DialTimeout("tcp", target.HostPort(), hang)
}
