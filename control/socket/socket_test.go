package socket

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// home gives the test folders of its own.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	run := filepath.Join(dir, "r")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"HOME": dir, "XDG_CONFIG_HOME": filepath.Join(dir, "c"), "XDG_RUNTIME_DIR": run,
		"AppData": filepath.Join(dir, "c"), KeyVariable: ""} {
		t.Setenv(name, value)
	}
	return dir
}

func TestParse(t *testing.T) {
	home(t)
	for _, c := range []struct {
		in        string
		listening bool
		want      string // or the start of an error
	}{
		{"7990", false, "127.0.0.1:7990"},
		{" 7990 ", false, "127.0.0.1:7990"},
		{"65535", false, "127.0.0.1:65535"},
		{"lab01:7990", false, "lab01:7990"},
		{"[::1]:7990", false, "[::1]:7990"},
		{"0", true, "127.0.0.1:0"},
		{"localhost:7990", true, "localhost:7990"},
		{"/run/x.sock", false, "/run/x.sock"},
		{"./x.sock", false, "./x.sock"},
		{"", false, "! an address is needed"},
		{"  ", false, "! an address is needed"},
		{"--sample", false, "! an address is needed before --sample"},
		{"0", false, "! port 0 cannot be connected to"},
		{"70000", false, `! "70000" is not a port`},
		{"abc", false, `! "abc" is not a port`},
		{"-1", false, "! an address is needed before -1"},
		{"7990x", false, `! "7990x" is not a port`},
		{"lab01:", false, `! "" is not a port`},
		{":7990", false, `! ":7990" is not an address`},
		{"::1", false, `! "::1" is not an address`},
		{"lab01:7990", true, "! lab01 is not on this machine"},
		{"0.0.0.0:7990", true, "! 0.0.0.0 is not on this machine"},
		{"/" + strings.Repeat("x", maxSocketPath), false, "! the path of the socket has 104 bytes"},
	} {
		a, err := Parse(c.in, c.listening)
		got := a.String()
		if err != nil {
			got = "! " + err.Error()
		}
		if got != c.want && !(strings.HasPrefix(c.want, "!") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{"127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true,
		"localhost": true, "LOCALHOST": true, "10.0.0.1": false, "localhost.example": false, "::": false, "0.0.0.0": false, "lab01": false} {
		if got := (Address{Host: host, Port: 1}).Loopback(); got != want {
			t.Errorf("%s: got %v, want %v", host, got, want)
		}
	}
}

// meet lets a dialled connection say something and returns what arrived.
func meet(t *testing.T, l *Listener, a Address) (key string) {
	t.Helper()
	heard := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			heard <- err.Error()
			return
		}
		defer c.Close()
		b, _ := io.ReadAll(c)
		heard <- string(b)
	}()
	c, key, err := Dial(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, "hello")
	_ = c.Close()
	if got := <-heard; got != "hello" {
		t.Errorf("got %q, want hello", got)
	}
	return key
}

func listen(t *testing.T, text string) *Listener {
	t.Helper()
	l, err := Listen(text)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestTCPWithKeyFile(t *testing.T) {
	dir := home(t)
	l := listen(t, "0")
	if len(l.Key()) != 64 {
		t.Fatalf("got a key of %d digits, want 64", len(l.Key()))
	}
	if ip := l.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		t.Errorf("listens on %v", ip)
	}
	path := filepath.Join(dir, "c", "deskvnc", "control-key."+strconv.Itoa(l.Address().Port))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %o, want 600", info.Mode().Perm())
	}
	a, err := Parse(strconv.Itoa(l.Address().Port), false)
	if err != nil {
		t.Fatal(err)
	}
	if key := meet(t, l, a); key != l.Key() {
		t.Error("the caller got another key than the listener's")
	}
	local := Address{Host: "localhost", Port: a.Port}
	if key := meet(t, l, local); key != l.Key() {
		t.Error("localhost got another key")
	}

	other := strings.Repeat("ab", keyBytes)
	t.Setenv(KeyVariable, other)
	if key := meet(t, l, a); key != other {
		t.Error("the variable does not win over the file")
	}
	t.Setenv(KeyVariable, "secret-but-no-key")
	if _, _, err := Dial(context.Background(), a); err == nil || !strings.Contains(err.Error(), KeyVariable) || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v, want the variable named and not its value", err)
	}
	t.Setenv(KeyVariable, "")
	if runtime.GOOS != "windows" {
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Dial(context.Background(), a); err == nil || !strings.Contains(err.Error(), "can be read by others") {
			t.Errorf("got %v, want a key that others can read refused", err)
		}
	}

	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the key file is still there: %v", err)
	}
	_, _, err = Dial(context.Background(), a)
	var gone *Unreachable
	if !errors.As(err, &gone) || !strings.Contains(err.Error(), "deskvnc --control "+strconv.Itoa(a.Port)) {
		t.Errorf("got %v, want how to start the window", err)
	}
}

func TestNewKeyAtEveryStart(t *testing.T) {
	home(t)
	l := listen(t, "0")
	first, port := l.Key(), strconv.Itoa(l.Address().Port)
	_ = l.Close()
	if l = listen(t, port); l.Key() == first {
		t.Error("the key was used before")
	}
	if _, err := Listen(port); err == nil || !strings.Contains(err.Error(), port) {
		t.Errorf("got %v, want the port refused by its number", err)
	}
	// Whoever failed to listen must not have taken the key of the one who does.
	a, _ := Parse(port, false)
	if key := meet(t, l, a); key != l.Key() {
		t.Error("the key of a running window was lost")
	}
}

func TestAuto(t *testing.T) {
	home(t)
	l := listen(t, Auto)
	a, err := Parse(Auto, false)
	if err != nil {
		t.Fatal(err)
	}
	if key := meet(t, l, a); key != l.Key() {
		t.Error("the caller got another key than the listener's")
	}
	if runtime.GOOS == "windows" {
		return
	}
	if l.Key() != "" || a.Path == "" {
		t.Errorf("got key %q path %q, want a unix socket without a key", l.Key(), a.Path)
	}
	info, err := os.Stat(a.Path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v %v, want mode 600", info.Mode(), err)
	}
	if _, err := Listen(Auto); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("got %v, want a second window refused", err)
	}
	meet(t, l, a)
	_ = l.Close()
	if _, err := os.Stat(a.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	var gone *Unreachable
	if _, _, err := Dial(context.Background(), a); !errors.As(err, &gone) || !strings.Contains(err.Error(), "deskvnc --control auto") {
		t.Errorf("got %v, want how to start the window", err)
	}
}

// elsewhere is a connection whose other end is not on this machine.
type elsewhere struct{ net.Conn }

func (elsewhere) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 7990} }

// A name that is thought to be of this machine may lead anywhere: the key goes
// by where the connection leads.
func TestKeyStaysOnThisMachine(t *testing.T) {
	home(t)
	l := listen(t, "0")
	here, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	if !loopbackPeer(here) {
		t.Error("a loopback connection is taken for a foreign one")
	}
	if loopbackPeer(elsewhere{here}) {
		t.Error("a foreign connection would be given the key")
	}
}
