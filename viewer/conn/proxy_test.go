package conn_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
)

func TestParseProxy(t *testing.T) {
	for text, want := range map[string]conn.Proxy{
		"socks5://10.0.0.1:1081":      {Kind: conn.SOCKS5, Address: "10.0.0.1:1081"},
		"SOCKS5H://bob@proxy":         {Kind: conn.SOCKS5, Address: "proxy:1080", User: "bob"},
		" http://proxy.example.com/ ": {Kind: conn.HTTP, Address: "proxy.example.com:8080"},
		"http://a%40b@[fe80::1]:3128": {Kind: conn.HTTP, Address: "[fe80::1]:3128", User: "a@b"},
	} {
		got, err := conn.ParseProxy(text)
		if err != nil || got.Kind != want.Kind || got.Address != want.Address || got.User != want.User || !got.Password.Empty() {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "proxy:1080", "https://proxy", "socks4://x", "http://", "http://u:hunter2@x", "http://x/path", "http://x?q", "socks5://" + strings.Repeat("u", 256) + "@x"} {
		got, err := conn.ParseProxy(text)
		if viewer.KindOf(err) != viewer.Invalid || strings.Contains(fmt.Sprint(err), "hunter2") {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
}

// hostile listens and plays a script of what is read ("<n" bytes) and sent.
func hostile(t *testing.T, script ...string) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		for _, s := range script {
			if n, err := strconv.Atoi(strings.TrimPrefix(s, "<")); err == nil && s[0] == '<' {
				if _, err := io.CopyN(io.Discard, c, int64(n)); err != nil {
					return
				}
			} else if _, err := io.WriteString(c, s); err != nil {
				return
			}
		}
		_, _ = io.Copy(io.Discard, c)
	}()
	return l.Addr().String()
}

func TestProxiesThatRefuse(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   string
		to     string
		script []string
		want   string
	}{
		{"not SOCKS", conn.SOCKS5, "h:1", []string{"<3", "HTTP/1.1 400 no\r\n\r\n"}, "does not speak SOCKS5"},
		{"an unknown login", conn.SOCKS5, "h:1", []string{"<3", "\x05\x01"}, "kind 1"},
		{"refused", conn.SOCKS5, "h:1", []string{"<3", "\x05\x00", "<8", "\x05\x05\x00\x01"}, "nothing listens"},
		{"a reason that is not known", conn.SOCKS5, "h:1", []string{"<3", "\x05\x00", "<8", "\x05\x63\x00\x01"}, "reason 99"},
		{"another version", conn.SOCKS5, "h:1", []string{"<3", "\x05\x00", "<8", "\x04\x00\x00\x01"}, "version, 4"},
		{"an address of no kind", conn.SOCKS5, "h:1", []string{"<3", "\x05\x00", "<8", "\x05\x00\x00\x09"}, "kind 9"},
		{"a network card's address", conn.SOCKS5, "[fe80::1%eth0]:1", []string{"<3"}, "network card"},
		{"a long name", conn.SOCKS5, strings.Repeat("n", 256) + ":1", nil, "more than 255"},
		{"no HTTP", conn.HTTP, "h:1", []string{"<10", "SSH-2.0-x\r\n\r\n"}, "does not speak HTTP"},
		{"no code", conn.HTTP, "h:1", []string{"<10", "HTTP/1.1 abc\r\n\r\n"}, "does not speak HTTP"},
		{"forbidden", conn.HTTP, "h:1", []string{"<10", "HTTP/1.1 403 Forbidden\x1b[2J\r\nX: y\r\n\r\n"}, "answered 403"},
		{"an endless head", conn.HTTP, "h:1", []string{"<10", "HTTP/1.1 200 ok\r\nX: " + strings.Repeat("x", 64<<10)}, "too long"},
		{"an address with a line", conn.HTTP, "h\r\nX:1", nil, "cannot be asked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := conn.Proxy{Kind: c.kind, Address: hostile(t, c.script...)}
			_, err := conn.Dial(t.Context(), c.to, p.Through(nil))
			if viewer.KindOf(err) != viewer.Unreachable || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestProxyThatIsNotThere(t *testing.T) {
	p := conn.Proxy{Kind: conn.HTTP, Address: "127.0.0.1:1"}
	_, err := conn.Dial(t.Context(), "h:1", p.Through(nil))
	if viewer.KindOf(err) != viewer.Unreachable || !strings.Contains(err.Error(), "the proxy: 127.0.0.1:1 refused") {
		t.Errorf("got %v", err)
	}
	if _, err := conn.Dial(t.Context(), "/run/x", p.Through(nil)); viewer.KindOf(err) != viewer.Invalid {
		t.Errorf("a socket through a proxy: %v", err)
	}
}

// A proxy that never answers is left as soon as nobody wants it any more.
func TestProxyThatIsSilent(t *testing.T) {
	for _, kind := range []string{conn.SOCKS5, conn.HTTP} {
		p := conn.Proxy{Kind: kind, Address: hostile(t)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := conn.Dial(ctx, "h:1", p.Through(nil))
			done <- err
		}()
		cancel()
		if err := <-done; viewer.KindOf(err) != viewer.Cancelled {
			t.Errorf("%s: got %v", kind, err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := conn.Dial(ctx, "h:1", conn.Proxy{Kind: kind, Address: hostile(t)}.Through(nil))
		cancel()
		if viewer.KindOf(err) != viewer.Timeout {
			t.Errorf("%s: got %v", kind, err)
		}
	}
}

// What the machine says at once, behind the proxy's answer, is not lost.
func TestNothingBehindTheAnswerIsLost(t *testing.T) {
	for kind, script := range map[string][]string{
		conn.HTTP:   {"<10", "HTTP/1.1 200 ok\r\nA: b\r\n\r\nRFB 003.008\n"},
		conn.SOCKS5: {"<3", "\x05\x00", "<8", "\x05\x00\x00\x03\x04name\x00\x00RFB 003.008\n"},
	} {
		c, err := conn.Dial(t.Context(), "h:1", conn.Proxy{Kind: kind, Address: hostile(t, script...)}.Through(nil))
		if err != nil {
			t.Fatal(err)
		}
		b, err := c.Peek(12)
		if err != nil || string(b) != "RFB 003.008\n" {
			t.Errorf("%s: got %q, %v", kind, b, err)
		}
		c.Close()
	}
}

func missing(t *testing.T, program string) string {
	t.Helper()
	p, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv("DESKVNC_PEERS") == "required" {
			t.Fatalf("%s is not installed and DESKVNC_PEERS=required", program)
		}
		t.Skipf("SKIPPED: %s is not installed; .ci/install test installs it", program)
	}
	return p
}

// run starts a program until the end of the test, and waits until it listens.
func run(t *testing.T, address string, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not listen", cmd.Path)
		}
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// echo is a machine that sends a greeting and then what it gets.
func echo(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.WriteString(c, "hello\n")
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

func talk(t *testing.T, to string, dial conn.DialFunc) {
	t.Helper()
	c, err := conn.Dial(t.Context(), to, dial)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	if s, err := r.ReadString('\n'); s != "hello\n" {
		t.Fatalf("got %q, %v", s, err)
	}
	sent := append(bytes.Repeat([]byte("x"), 100<<10), '\n')
	go func() { _, _ = c.Write(sent) }()
	got, err := r.ReadBytes('\n')
	if err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("got %d bytes back, %v", len(got), err)
	}
}

func TestMicrosocks(t *testing.T) {
	program := missing(t, "microsocks")
	for _, user := range []string{"", "bob"} {
		port := freePort(t)
		args := []string{"-i", "127.0.0.1", "-p", port}
		if user != "" {
			args = append(args, "-u", user, "-P", "secret-word")
		}
		run(t, "127.0.0.1:"+port, exec.Command(program, args...))
		p, err := conn.ParseProxy("socks5://127.0.0.1:" + port)
		if err != nil {
			t.Fatal(err)
		}
		p.User, p.Password = user, viewer.SecretString("secret-word")
		v4 := echo(t, "tcp4", "127.0.0.1:0")
		talk(t, v4, p.Through(nil))
		_, port4, _ := net.SplitHostPort(v4)
		talk(t, "localhost:"+port4, p.Through(nil))
		talk(t, echo(t, "tcp6", "[::1]:0"), p.Through(nil))
		if _, err := conn.Dial(t.Context(), "127.0.0.1:1", p.Through(nil)); viewer.KindOf(err) != viewer.Unreachable || !strings.Contains(err.Error(), "nothing listens") {
			t.Errorf("got %v", err)
		}
		if user != "" {
			p.Password = viewer.SecretString("other-word")
			if _, err := conn.Dial(t.Context(), v4, p.Through(nil)); viewer.KindOf(err) != viewer.Denied || !strings.Contains(err.Error(), "did not accept") || strings.Contains(err.Error(), "other-word") {
				t.Errorf("got %v", err)
			}
		}
	}
}

func TestTinyproxy(t *testing.T) {
	program := missing(t, "tinyproxy")
	port := freePort(t)
	config := filepath.Join(t.TempDir(), "conf")
	text := "Port " + port + "\nListen 127.0.0.1\nTimeout 60\nMaxClients 10\nBasicAuth bob secretword\nLogLevel Critical\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "127.0.0.1:"+port, exec.Command(program, "-d", "-c", config))
	p, err := conn.ParseProxy("http://bob@127.0.0.1:" + port)
	if err != nil {
		t.Fatal(err)
	}
	p.Password = viewer.SecretString("secretword")
	to := echo(t, "tcp4", "127.0.0.1:0")
	talk(t, to, p.Through(nil))
	p.Password = viewer.SecretString("otherword")
	if _, err := conn.Dial(t.Context(), to, p.Through(nil)); viewer.KindOf(err) != viewer.Denied || !strings.Contains(err.Error(), "did not accept") || strings.Contains(err.Error(), "otherword") {
		t.Errorf("a wrong password: %v", err)
	}
}

// Addresses of one network card are dialled as they are.
func TestZone(t *testing.T) {
	to := echo(t, "tcp6", "[::1]:0")
	_, port, _ := net.SplitHostPort(to)
	talk(t, "[::1%lo]:"+port, nil)
}

func TestSocketErrors(t *testing.T) {
	dir := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "gone"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	for path, want := range map[string]string{
		filepath.Join(dir, "none"): "there is no socket", filepath.Join(dir, "gone"): "nothing listens on the socket",
	} {
		if _, err := conn.Dial(t.Context(), path, nil); viewer.KindOf(err) != viewer.Unreachable || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	talk(t, echo(t, "unix", filepath.Join(dir, "live")), nil)
}

func FuzzProxyAnswers(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 ok\r\n\r\nrest"), true)
	f.Add([]byte("\x05\x02\x01\x00\x05\x00\x00\x03\x01x\x00\x00"), false)
	f.Fuzz(func(t *testing.T, answer []byte, http bool) {
		p := conn.Proxy{Kind: conn.SOCKS5, Address: "p:1", User: "u", Password: viewer.SecretString("hidden-word")}
		if http {
			p.Kind = conn.HTTP
		}
		c, err := p.Through(func(context.Context, string, string) (net.Conn, error) {
			return &memory{r: bytes.NewReader(answer)}, nil
		})(t.Context(), "tcp", "machine:5900")
		if err == nil {
			c.Close()
			return
		}
		if k := viewer.KindOf(err); k != viewer.Unreachable && k != viewer.Denied || strings.Contains(err.Error(), "hidden-word") {
			t.Errorf("got %v", err)
		}
	})
}

// memory is a connection that brings bytes and ends.
type memory struct {
	net.Conn
	r *bytes.Reader
}

func (m *memory) Read(p []byte) (int, error)  { return m.r.Read(p) }
func (m *memory) Write(p []byte) (int, error) { return len(p), nil }
func (m *memory) Close() error                { return nil }
func (m *memory) SetDeadline(time.Time) error { return nil }
