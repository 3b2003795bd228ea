package sample

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
	"deskvnc/viewer/grid"
	"deskvnc/viewer/sample/tree"
	"deskvnc/viewer/sshdial"
)

// startShell starts a desktop and a shell, and gives the shell's target.
func startShell(t *testing.T) (*Machines, viewer.Target) {
	t.Helper()
	m := start(t, Options{Width: 320, Height: 200, Shell: true})
	all := m.Targets()
	return m, all[len(all)-1]
}

// login logs in with our own client, which asks nobody.
func login(t *testing.T, to viewer.Target) *sshdial.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	home := t.TempDir()
	c, err := sshdial.Dial(ctx, sshdial.Config{Target: to, NoConfig: true, Login: sshdial.Login{NoAgent: true}, Home: home}, viewer.Env{
		Emit: func(viewer.Event) {},
		Ask: viewer.AskFunc(func(_ context.Context, q viewer.Question) (viewer.Answer, error) {
			t.Errorf("asked about %v", q.Kind)
			return viewer.Answer{}, errors.New("nobody")
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := os.Stat(filepath.Join(home, ".ssh")); err == nil {
		t.Error("known hosts were written")
	}
	return c
}

func guarded(t *testing.T, what string, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(hang):
		t.Fatalf("%s does not end", what)
		return nil
	}
}

func TestShellCommands(t *testing.T) {
	_, to := startShell(t)
	c := login(t, to)
	for _, tt := range []struct {
		line, out, errs string
		code            int
	}{
		{"echo hello", "hello\n", "", 0},
		{"echo a b | wc -w", "2\n", "", 0},
		{"seq 5 | grep -v 3 | tail -n 2", "4\n5\n", "", 0},
		{"yes | head -n 2", "y\ny\n", "", 0},
		{"true && echo yes || echo no; false || echo else", "yes\nelse\n", "", 0},
		{"cd /etc && cat hostname; pwd", "sample\n/etc\n", "", 0},
		{"cd '/etc' || exit 1\npwd", "/etc\n", "", 0},
		{"false; echo $?", "1\n", "", 0},
		{"exit 3", "", "", 3},
		{"nonesuch", "", "sh: nonesuch: command not found; help lists what there is\n", 127},
		{"cat /etc/shadow", "", "cat: /etc/shadow: Permission denied\n", 1},
		{"cat nowhere 2>&1", "cat: nowhere: No such file or directory\n", "", 1},
		{"echo one > /tmp/x; echo two >> /tmp/x; cat < /tmp/x; rm /tmp/x; cat /tmp/x 2> /dev/null", "one\ntwo\n", "", 1},
		{`A='x y'; echo "$A" $A '$A' \$A`, "x y x y $A $A\n", "", 0},
		{"echo documents/*.txt", "documents/languages.txt documents/poem.txt documents/read-only.txt\n", "", 0},
		{"ls many | wc -l", "2000\n", "", 0},
		{"wc -c < logs/big.log", "5000000\n", "", 0},
		{"head -n 1 logs/big.log", "000001 INFO  a line of the big file, all well   .\n", "", 0},
		{"mkdir -p /tmp/a/b && touch /tmp/a/b/c && cp -r /tmp/a /tmp/d && mv /tmp/d /tmp/e && ls -R /tmp/e && rm -r /tmp/a /tmp/e", "/tmp/e:\nb\n\n/tmp/e/b:\nc\n", "", 0},
		{"cat links/welcome | head -n 1; cat links/dangling links/loop", "This is a sample machine.\n", "cat: links/dangling: No such file or directory\ncat: links/loop: Too many levels of symbolic links\n", 1},
		{`printf '%03d|%-4s|\n' 7 ab`, "007|ab  |\n", "", 0},
		{"stty size", "", "stty: this is not a terminal\n", 1},
		{"echo 'open", "", "sh: syntax error: a ' is not closed\n", 2},
		{"whoami; uname", "sample\nSample\n", "", 0},
	} {
		t.Run(tt.line, func(t *testing.T) {
			s, err := c.SSH().NewSession()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var out, errs bytes.Buffer
			s.Stdout, s.Stderr = &out, &errs
			err = guarded(t, tt.line, func() error { return s.Run(tt.line) })
			code := 0
			var exit *ssh.ExitError
			if errors.As(err, &exit) {
				code = exit.ExitStatus()
			} else if err != nil {
				t.Fatal(err)
			}
			if out.String() != tt.out || errs.String() != tt.errs || code != tt.code {
				t.Errorf("got %q, %q, %d, want %q, %q, %d", out.String(), errs.String(), code, tt.out, tt.errs, tt.code)
			}
		})
	}
}

func TestShellSignals(t *testing.T) {
	_, to := startShell(t)
	c := login(t, to)
	for _, line := range []string{"sleep 1000", "yes > /dev/null", "cat", "cat | wc", "yes"} {
		t.Run(line, func(t *testing.T) {
			s, err := c.SSH().NewSession()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			in, _ := s.StdinPipe() // stays open
			defer in.Close()
			s.Stdout = io.Discard
			if err := s.Start(line); err != nil {
				t.Fatal(err)
			}
			if err := s.Signal(ssh.SIGTERM); err != nil {
				t.Fatal(err)
			}
			var exit *ssh.ExitError
			if err := guarded(t, line, s.Wait); !errors.As(err, &exit) || exit.Signal() != "TERM" {
				t.Errorf("got %v, want the signal TERM", err)
			}
		})
	}
	s, err := c.SSH().NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var exit *ssh.ExitError
	if err := guarded(t, "kill-self", func() error { return s.Run("kill-self") }); !errors.As(err, &exit) || exit.Signal() != "KILL" {
		t.Errorf("got %v, want the signal KILL", err)
	}
}

// A typedAt is a shell at a terminal, whose output a grid takes.
type typedAt struct {
	t    *testing.T
	s    *ssh.Session
	in   io.WriteCloser
	g    *grid.Terminal
	kick *grid.Watch
}

func terminal(t *testing.T, c *sshdial.Client) *typedAt {
	t.Helper()
	s, err := c.SSH().NewSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	g := grid.New(grid.Options{Cols: 60, Rows: 20})
	w := &typedAt{t: t, s: s, g: g, kick: g.Watch()}
	t.Cleanup(w.kick.Close)
	s.Stdout = g
	w.in, _ = s.StdinPipe()
	if err := s.RequestPty("xterm-256color", 20, 60, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Shell(); err != nil {
		t.Fatal(err)
	}
	w.shows("$")
	return w
}

func (w *typedAt) types(text string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, text); err != nil {
		w.t.Fatal(err)
	}
}

// last is the last line with something on it.
func (w *typedAt) last() string {
	lines := w.g.Screen().Lines
	for i := len(lines) - 1; i >= 0; i-- {
		if s := strings.TrimRight(lines[i], " "); s != "" {
			return s
		}
	}
	return ""
}

func (w *typedAt) wait(what string, ok func() bool) {
	w.t.Helper()
	guard := time.After(hang)
	for !ok() {
		select {
		case <-w.kick.Wake():
		case <-guard:
			w.t.Fatalf("not shown: %s\n%s", what, w.g.Screen())
		}
	}
}

// shows waits until the last line ends with a text.
func (w *typedAt) shows(end string) {
	w.t.Helper()
	w.wait(end, func() bool { return strings.HasSuffix(w.last(), end) })
}

// has waits until a line is shown.
func (w *typedAt) has(line string) {
	w.t.Helper()
	w.wait(line, func() bool {
		for _, l := range w.g.Screen().Lines {
			if strings.TrimRight(l, " ") == line {
				return true
			}
		}
		return false
	})
}

const at = "sample@sample:~$"

func TestShellAtTerminal(t *testing.T) {
	_, to := startShell(t)
	w := terminal(t, login(t, to))
	w.types("\x0c")
	w.types("stty size\r")
	w.has("20 60")
	size := ssh.Marshal(struct{ Cols, Rows, Width, Height uint32 }{50, 15, 0, 0})
	if ok, err := w.s.SendRequest("window-change", true, size); !ok || err != nil { // answered: it has been heard before what is typed next
		t.Fatal(ok, err)
	}
	w.g.Resize(50, 15)
	w.types("stty size\r")
	w.has("15 50")
	w.types("echo bc\x01\x1b[C\x1b[C\x1b[C\x1b[C\x1b[Ca\x05d\r") // arrows, Ctrl+A, Ctrl+E
	w.has("abcd")
	w.types("lost\x15echo one two\x17three\r") // Ctrl+U, Ctrl+W
	w.has("one three")
	w.types("\x1b[A\x7f\x7f\x7f\x7f\x7fagain\r") // the line before
	w.has("one again")
	w.types("gone\x03")
	w.shows(at)
	w.types("cat doc\tpo\t | head -n 1\r") // names by Tab
	w.has("A window on a far machine,")
	w.types("sleep 1000\r")
	w.has(at + " sleep 1000")
	w.types("\x03")
	w.types("echo $?\r")
	w.has("130")
	w.types("cat\rto cat\r\x04")
	w.types("\x0c")
	w.shows(at)
	w.types("less logs/big.log\r")
	w.has("logs/big.log lines 1-14/100000")
	w.types("G")
	w.has("logs/big.log lines 99987-100000/100000 (END)")
	w.types("/000500\rg")
	w.has("logs/big.log lines 1-14/100000")
	w.types("q")
	w.shows(at)
	w.types("top\r")
	w.wait("top", func() bool { return strings.HasPrefix(w.g.Screen().Lines[0], "top - ") && w.g.Screen().Alternate })
	w.types("q")
	w.shows(at)
	w.types("\x0cchart\r")
	w.has("Wide      日本語 한국어 中文 ｆｕｌｌ")
	w.types("yes\r")
	w.wait("y", func() bool { return w.last() == "y" })
	w.types("\x03")
	w.shows(at)
	w.types("\x04")
	if err := guarded(t, "the shell", w.s.Wait); err == nil {
		t.Error("the code of yes, ended by Ctrl+C, is lost")
	} else if exit := (*ssh.ExitError)(nil); !errors.As(err, &exit) || exit.ExitStatus() != 130 {
		t.Errorf("got %v, want 130", err)
	}
}

// TestShellTunnel: a way leads to the desktop and nowhere else.
func TestShellTunnel(t *testing.T) {
	m, to := startShell(t)
	c := login(t, to)
	for _, address := range []string{"localhost:5900", "sample:5900", m.Targets()[0].HostPort()} {
		conn, err := c.DialThrough(t.Context(), "tcp", address)
		if err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		conn.SetDeadline(time.Now().Add(hang))
		b := make([]byte, 4)
		if _, err := io.ReadFull(conn, b); err != nil || string(b) != "RFB " {
			t.Errorf("%s: %q, %v", address, b, err)
		}
		conn.Close()
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, address := range []string{l.Addr().String(), to.HostPort(), "localhost:5901", "example.com:5900"} {
		if conn, err := c.DialThrough(t.Context(), "tcp", address); err == nil {
			conn.Close()
			t.Errorf("%s was reached", address)
		}
	}
	if l, err := c.Listen(t.Context(), "tcp", "127.0.0.1:0"); err == nil {
		l.Close()
		t.Error("it listens for its client")
	}
}

// realClient runs a real client of OpenSSH.
func realClient(t *testing.T, in, program string, args ...string) (string, int) {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		missing(t, program)
	}
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func openSSH(to viewer.Target, port string) []string {
	return []string{"-F", "none", port, fmt.Sprint(to.Port), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
		"-o", "LogLevel=ERROR", "-o", "IdentityAgent=none", "-o", "BatchMode=yes"}
}

func TestOpenSSH(t *testing.T) {
	_, to := startShell(t)
	ssh := func(in, line string, more ...string) (string, int) {
		args := append(append(openSSH(to, "-p"), more...), "sample@127.0.0.1")
		if line != "" {
			args = append(args, line)
		}
		return realClient(t, in, "ssh", args...)
	}
	if out, code := ssh("", "echo hello; exit 7"); out != "hello\n" || code != 7 {
		t.Errorf("got %q, %d", out, code)
	}
	if out, code := ssh("b\na\n", "sort"); out != "a\nb\n" || code != 0 {
		t.Errorf("got %q, %d", out, code)
	}
	if _, code := ssh("", "kill-self TERM"); code != 255 {
		t.Errorf("ended by a signal: got %d, want 255", code)
	}
	if out, code := ssh("echo first\necho second; exit 4\n", "", "-T"); out != "first\nsecond\n" || code != 4 {
		t.Errorf("a script: got %q, %d", out, code)
	}
	if out, code := ssh("echo $((1\r\x03echo typed\rexit 5\r", "", "-tt"); !strings.Contains(out, "\ntyped\r\n") || code != 5 {
		t.Errorf("a terminal: got %q, %d", out, code)
	}
	if out, code := ssh("", "cat logs/big.log"); len(out) != tree.BigSize || code != 0 {
		t.Errorf("got %d bytes, %d", len(out), code)
	}
}

func TestOpenSFTP(t *testing.T) {
	m, to := startShell(t)
	dir := t.TempDir()
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	if err := os.WriteFile(filepath.Join(dir, "up"), data, 0o640); err != nil {
		t.Fatal(err)
	}
	large, err := os.Create(filepath.Join(dir, "large"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(large.Truncate(tree.MaxBytes), large.Close()); err != nil {
		t.Fatal(err)
	}
	sftp := func(batch string) (string, int) {
		return realClient(t, batch, "sftp", append(openSSH(to, "-P"), "-b", "-", "sample@127.0.0.1")...)
	}
	out, code := sftp(strings.ReplaceAll(`pwd
put -p DIR/up up
rename up documents/moved
chmod 600 documents/moved
ls -l documents/moved
ln -s documents/moved way
get way DIR/down
get logs/big.log DIR/big
get pictures/rings.png DIR/rings.png
ls -1 many
mkdir new
rmdir new
rm way
-rmdir documents
-get links/dangling DIR/none
-put DIR/up documents/read-only.txt
-rm locked/secret.txt
-put DIR/large large
`, "DIR", dir))
	if code != 0 {
		t.Fatalf("got %d\n%s", code, out)
	}
	for _, want := range []string{"/home/sample", "-rw-------", "many/entry-2000.txt", `write remote "/home/sample/large": Failure`, "Permission denied"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out[len(out)-min(len(out), 2000):])
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "down")); err != nil || !bytes.Equal(b, data) {
		t.Errorf("what came back is not what was sent: %d bytes, %v", len(b), err)
	}
	if st, err := os.Stat(filepath.Join(dir, "big")); err != nil || st.Size() != tree.BigSize {
		t.Errorf("the big file: %v, %v", st, err)
	}
	// It is in the shell, too, and nothing of this computer was reached.
	if out, code := realClient(t, "", "ssh", append(openSSH(to, "-p"), "sample@127.0.0.1", "wc -c < documents/moved; ls "+dir)...); !strings.Contains(out, "1048576\n") || code == 0 {
		t.Errorf("got %q, %d", out, code)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
