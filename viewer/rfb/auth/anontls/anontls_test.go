package anontls

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// hang is long enough for anything that is not stuck.
const hang = 60 * time.Second

// openssl starts openssl s_server without a certificate, which sends every
// line back reversed, and returns its address.
func openssl(t *testing.T, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("openssl")
	if err != nil {
		if os.Getenv("DESKVNC_PEERS") == "required" {
			t.Fatal("openssl is not installed, and DESKVNC_PEERS=required")
		}
		t.Skip("SKIPPED: openssl is not installed (package openssl)")
	}
	cmd := exec.Command(path, append([]string{"s_server", "-accept", "127.0.0.1:0", "-rev"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe() // the server ends with its input
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	for s := bufio.NewScanner(out); s.Scan(); {
		if a, ok := strings.CutPrefix(s.Text(), "ACCEPT "); ok {
			go io.Copy(io.Discard, out) // ends with the process
			return a
		}
	}
	cmd.Wait()
	t.Fatalf("openssl did not start: %s", stderr.Bytes())
	return ""
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(hang)); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOpenSSL(t *testing.T) {
	tests := []struct {
		name, cipher string
		extended     bool
		want         string
	}{
		{"aes 256", "ADH-AES256-GCM-SHA384", true, suites[0].name},
		{"aes 128", "ADH-AES128-GCM-SHA256", true, suites[1].name},
		{"its choice", "aNULL", true, suites[0].name},
		{"without the extended master secret", "aNULL", false, suites[0].name},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := client(dial(t, openssl(t, "-nocert", "-tls1_2", "-cipher", tt.cipher+":@SECLEVEL=0")), tt.extended)
			if err != nil {
				t.Fatal(err)
			}
			if c.Cipher() != tt.want {
				t.Errorf("got the suite %s, want %s", c.Cipher(), tt.want)
			}
			echo(t, c)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// echo sends lines of many sizes, one write each, while it reads them back.
func echo(t *testing.T, c *Conn) {
	t.Helper()
	var lines [][]byte
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 100, 4000, 12000, 1, 15000, 7} {
		line := make([]byte, n)
		for i := range line {
			line[i] = 'a' + byte(rnd.IntN(26))
		}
		lines = append(lines, line)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, l := range lines {
			if n, err := c.Write(append(slices.Clone(l), '\n')); err != nil || n != len(l)+1 {
				t.Errorf("writing: %d, %v", n, err)
			}
		}
	})
	r := bufio.NewReader(c)
	for _, l := range lines {
		got, err := r.ReadBytes('\n')
		if err != nil {
			t.Errorf("reading: %v", err)
			break
		}
		want := slices.Clone(l)
		slices.Reverse(want)
		if !bytes.Equal(got[:len(got)-1], want) {
			t.Errorf("got %d bytes that are not the line reversed", len(got))
		}
	}
	wg.Wait()
}

// A server with certificates only refuses with an alert.
func TestNoCommonSuite(t *testing.T) {
	dir := t.TempDir()
	out, err := exec.Command("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
		"-keyout", dir+"/key", "-out", dir+"/cert", "-subj", "/CN=x").CombinedOutput()
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) && os.Getenv("DESKVNC_PEERS") != "required" {
			t.Skip("SKIPPED: openssl is not installed (package openssl)")
		}
		t.Fatalf("%v: %s", err, out)
	}
	_, err = Client(dial(t, openssl(t, "-key", dir+"/key", "-cert", dir+"/cert")))
	if !errors.Is(err, HandshakeFailure) {
		t.Errorf("got %v, want %v", err, HandshakeFailure)
	}
}

// The vector is the one that the authors of the protocol published for TLS 1.2
// with SHA-256 on the working group's list; openssl kdf TLS1-PRF gives the
// same.
func TestPRF(t *testing.T) {
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	secret, seed := unhex("9bbe436ba940f017b17652849a71db35"), unhex("a0ba9f936cda311827a6f796ffd5198c")
	tests := []struct {
		s    suite
		want string
	}{
		{suites[1], "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a"},
		{suites[0], "dd88775cd827187b67a3f7652b5c13f715791cc46e0274a6d3fb16651103defc"},
	}
	for _, tt := range tests {
		if got := hex.EncodeToString(tt.s.prf(secret, "test label", seed, 32)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.s.name, got, tt.want)
		}
	}
}
