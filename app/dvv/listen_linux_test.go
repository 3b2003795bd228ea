package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// peer is a program that a test needs.
func peer(t *testing.T, name string) string {
	t.Helper()
	p, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("DESKVNC_PEERS") == "required" {
			t.Fatalf("%s is not installed and DESKVNC_PEERS=required", name)
		}
		t.Skipf("SKIPPED: %s is not installed; .ci/install test installs it", name)
	}
	return p
}

// xServer starts an X server without a network port and gives its display.
func xServer(t *testing.T, name string, args ...string) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(peer(t, name), append([]string{"-displayfd", "3"}, args...)...)
	cmd.ExtraFiles = []*os.File{w}
	begin(t, cmd)
	w.Close()
	_ = r.SetReadDeadline(time.Now().Add(patience))
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("%s does not tell its display: %v", name, err)
	}
	return ":" + strings.TrimSpace(line)
}

// begin starts a program that ends with the test.
func begin(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// tiger is a TigerVNC server that does not listen; call has it call a viewer.
func tiger(t *testing.T, size string) (call func(port string)) {
	t.Helper()
	display := xServer(t, "Xtigervnc", "-geometry", size, "-depth", "24", "-SecurityTypes", "None", "-rfbport", "-1")
	config := peer(t, "vncconfig")
	return func(port string) {
		t.Helper()
		if out, err := exec.Command(config, "-display", display, "-connect", "127.0.0.1:"+port).CombinedOutput(); err != nil {
			t.Fatalf("vncconfig: %v: %s", err, out)
		}
	}
}

// A listener is "dvv listen" as a process.
type listener struct {
	t    *testing.T
	cmd  *exec.Cmd
	port string
	out  chan string // its lines on standard output
	err  *bufio.Reader
}

// newListener starts it with a standard input; nil is an empty one.
func newListener(t *testing.T, in *os.File, args ...string) *listener {
	t.Helper()
	l := &listener{t: t, cmd: program(t, append([]string{"listen", "--port", "0", "--bind", "127.0.0.1"}, args...)...), out: make(chan string, 64)}
	if in != nil {
		l.cmd.Stdin = in
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := l.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(patience, func() { _ = l.cmd.Process.Kill() })
	t.Cleanup(func() {
		guard.Stop()
		_ = l.cmd.Process.Kill()
	})
	go func() {
		defer close(l.out)
		for s := bufio.NewScanner(out); s.Scan(); {
			l.out <- s.Text()
		}
	}()
	l.err = bufio.NewReader(stderr)
	first := l.said("\n")
	_, rest, ok := strings.Cut(first, "127.0.0.1:")
	port, _, _ := strings.Cut(rest, ";")
	if !ok {
		t.Fatalf("got %q", first)
	}
	l.port = port
	return l
}

// said reads standard error up to a text.
func (l *listener) said(text string) string {
	l.t.Helper()
	var b []byte
	for !bytes.HasSuffix(b, []byte(text)) {
		c, err := l.err.ReadByte()
		if err != nil {
			l.t.Fatalf("it said %q, then %v; want %q", b, err, text)
		}
		b = append(b, c)
	}
	return string(b)
}

// line is its next line.
func (l *listener) line() string {
	l.t.Helper()
	s, ok := <-l.out
	if !ok {
		l.t.Fatal("it has ended")
	}
	return s
}

// ends waits for its end.
func (l *listener) ends() {
	l.t.Helper()
	for s := range l.out {
		l.t.Errorf("one more line: %q", s)
	}
	rest, _ := io.ReadAll(l.err)
	if err := l.cmd.Wait(); err != nil {
		l.t.Errorf("%v: %s", err, rest)
	}
}

// interrupt is Ctrl+C.
func (l *listener) interrupt() {
	l.t.Helper()
	if err := l.cmd.Process.Signal(os.Interrupt); err != nil {
		l.t.Fatal(err)
	}
	l.ends()
}

// holding has the test end with no holder left.
func holding(t *testing.T) {
	t.Helper()
	home(t)
	t.Cleanup(func() { _ = program(t, "hold", "--stop").Run() })
}

// dvv runs a verb and gives what it prints.
func dvv(t *testing.T, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := program(t, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("dvv %v: %v: %s", args, err, stderr.Bytes())
	}
	return string(out)
}

// A TigerVNC server and an x11vnc that call become sessions that every verb
// has, also once nobody listens any more; a machine that has gone goes on in
// the same session when it calls again.
func TestListen(t *testing.T) {
	holding(t)
	call := tiger(t, "320x240")
	l := newListener(t, nil, "--accept-from", "127.0.0.0/8")
	call(l.port)
	from, limb, _ := strings.Cut(l.line(), "  ")
	if from != "127.0.0.1" || !strings.HasPrefix(limb, "lmb_vnc_") {
		t.Fatalf("got %q, %q", from, limb)
	}
	picture := filepath.Join(t.TempDir(), "out.png")
	if got := dvv(t, "screen", limb, "--out", picture); !strings.Contains(got, "320x240") {
		t.Errorf("got %q", got)
	}

	display := xServer(t, "Xvfb", "-screen", "0", "400x300x24", "-nolisten", "tcp")
	x11vnc := exec.Command(peer(t, "x11vnc"), "-display", display, "-connect", "127.0.0.1:"+l.port, "-nopw", "-rfbport", "0", "-noshm", "-quiet", "-nossl", "-noipv6", "-localhost")
	x11vnc.Env = append(os.Environ(), "HOME="+t.TempDir())
	begin(t, x11vnc)
	_, second, _ := strings.Cut(l.line(), "  ")
	if second == limb || !strings.HasPrefix(second, "lmb_vnc_") {
		t.Fatalf("got %q, want another session", second)
	}
	if got := dvv(t, "screen", second, "--out", picture); !strings.Contains(got, "400x300") {
		t.Errorf("got %q", got)
	}
	l.interrupt()
	if got := dvv(t, "limbs"); strings.Count(got, "connected") != 2 {
		t.Errorf("after Ctrl+C: got %s", got)
	}

	// x11vnc goes; what calls next continues its session.
	_ = x11vnc.Process.Kill()
	for end := time.Now().Add(patience); !strings.Contains(dvv(t, "limbs"), "disconnected"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the session does not notice the end")
		}
	}
	l = newListener(t, nil, "--yes", "--once", "--json")
	call(l.port)
	var n struct{ From, LimbID string }
	if err := json.Unmarshal([]byte(l.line()), &n); err != nil || n.From != "127.0.0.1" || n.LimbID != second {
		t.Errorf("got %+v, %v, want the session %s", n, err, second)
	}
	l.ends() // --once
	if got := dvv(t, "limbs"); strings.Count(got, " connected") != 2 {
		t.Errorf("got %s", got)
	}
}

// A person at the terminal is asked about each caller, and a no sends nothing.
func TestListenAsks(t *testing.T) {
	holding(t)
	master, slave := terminal(t)
	l := newListener(t, slave)
	fmt.Fprintln(master, "y")                 // to no question
	for typed := bufio.NewReader(master); ; { // it is shown once the terminal has it
		c, err := typed.ReadByte()
		if err != nil {
			t.Fatal(err)
		}
		if c == '\n' {
			break
		}
	}
	stranger, err := net.Dial("tcp", "127.0.0.1:"+l.port)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	fmt.Fprint(stranger, "RFB 003.008\n")
	l.said("127.0.0.1 calls. Let it in? [y/N] ")
	fmt.Fprintln(master, "")
	if got := l.line(); got != "127.0.0.1  refused" {
		t.Errorf("got %q", got)
	}
	_ = stranger.SetReadDeadline(time.Now().Add(patience))
	if got, err := io.ReadAll(stranger); len(got) > 0 || err != nil {
		t.Errorf("the caller got %q, %v", got, err)
	}

	tiger(t, "320x240")(l.port)
	l.said("[y/N] ")
	fmt.Fprintln(master, "y")
	if got := l.line(); !strings.HasPrefix(got, "127.0.0.1  lmb_vnc_") {
		t.Errorf("got %q", got)
	}
	l.interrupt()
}

// A machine that wants a password is recognised by what was saved; without a
// password it is said what to do, and no session stays.
func TestListenForASavedMachine(t *testing.T) {
	holding(t)
	passwd := filepath.Join(t.TempDir(), "passwd")
	out, err := exec.Command(peer(t, "sh"), "-c", "echo sesame9 | vncpasswd -f").Output()
	if err != nil {
		t.Skipf("SKIPPED: vncpasswd does not run: %v", err)
	}
	if err := os.WriteFile(passwd, out, 0o600); err != nil {
		t.Fatal(err)
	}
	display := xServer(t, "Xtigervnc", "-geometry", "320x240", "-depth", "24", "-SecurityTypes", "VncAuth", "-PasswordFile", passwd, "-rfbport", "-1")
	dvv(t, "hosts", "add", "desk", "127.0.0.1::5500", "--view-only")
	l := newListener(t, nil, "--yes")
	if out, err := exec.Command(peer(t, "vncconfig"), "-display", display, "-connect", "127.0.0.1:"+l.port).CombinedOutput(); err != nil {
		t.Fatalf("vncconfig: %v: %s", err, out)
	}
	if got := l.line(); !strings.Contains(got, `none is stored: store one with "dvv login desk"`) && !strings.Contains(got, "keychain") {
		t.Errorf("got %q", got)
	}
	if got := dvv(t, "limbs"); !strings.Contains(got, "Nothing is open") {
		t.Errorf("got %s", got)
	}
	l.interrupt()
}

// The command line of "dvv listen", and a listener that is killed: nothing
// waits any more then.
func TestListenUsageAndEnd(t *testing.T) {
	holding(t)
	for args, want := range map[string]string{
		"":                          "give --accept-from ADDRESS, or --yes",
		"--port 70000 --yes":        "0 to 65535",
		"--accept-from lab":         "neither an IP address nor a network",
		"--connect 7990 --yes":      "a window waits for calls by itself",
		"x":                         `unknown argument "x"`,
		"--bind 192.0.2.1 --yes":    "cannot wait for machines at 192.0.2.1:5500",
		"--port 5500 --accept-from": "flag needs an argument",
	} {
		var stderr bytes.Buffer
		cmd := program(t, append([]string{"listen"}, strings.Fields(args)...)...)
		cmd.Stderr = &stderr
		if err := cmd.Run(); err == nil || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: got %v, %q, want %q", args, err, stderr.String(), want)
		}
	}
	l := newListener(t, nil, "--yes")
	if err := l.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+l.port)
		if err != nil {
			break
		}
		c.Close()
		if time.Now().After(end) {
			t.Fatal("it is still waited for calls")
		}
	}
	_ = l.cmd.Wait()
	// The holder that it started has nothing to hold.
	socket := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "deskvnc", "holder.sock")
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(socket); errors.Is(err, fs.ErrNotExist) {
			return
		}
		if time.Now().After(end) {
			t.Fatal("its holder stays")
		}
	}
}

// terminal is a pseudo terminal: what a person types at is master.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: no pseudo terminals: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}
