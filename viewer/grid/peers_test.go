package grid

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// peer is the path of a program that a test needs. Without it the test is
// skipped, unless all peers must be there.
func peer(t *testing.T, name string) string {
	t.Helper()
	p, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("DESKVNC_PEERS") == "required" {
			t.Fatalf("%s is missing: run .ci/install test", name)
		}
		t.Skipf("SKIPPED: %s is not installed", name)
	}
	return p
}

// A tmuxServer is one tmux of its own, with one pane.
type tmuxServer struct {
	t    *testing.T
	dir  string
	sock string
	fed  int
}

// startTmux starts one whose pane shows what is written to it.
func startTmux(t *testing.T, cols, rows int) *tmuxServer {
	t.Helper()
	tmux := peer(t, "tmux")
	s := &tmuxServer{t: t, dir: t.TempDir()}
	s.sock = filepath.Join(s.dir, "s")
	conf := filepath.Join(s.dir, "conf")
	err := os.WriteFile(conf, []byte("set -g status off\nset -g history-limit 5000\nset -g default-terminal screen-256color\nset -g allow-rename on\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(s.dir, "in")
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v %s", err, out)
	}
	// The pane's program passes on what comes through the fifo, unchanged, and
	// keeps it open between the feeds.
	cmd := exec.Command(tmux, "-S", s.sock, "-f", conf, "new-session", "-d", "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows),
		"stty raw -echo; exec 3<>"+fifo+"; exec cat <&3")
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v %s", err, out)
	}
	t.Cleanup(func() { exec.Command(tmux, "-S", s.sock, "kill-server").Run() })
	return s
}

func (s *tmuxServer) run(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", s.sock}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v %s", args, err, out)
	}
	return string(out)
}

// feed writes to the pane and waits until tmux has read all of it: its title
// is then the one that was written last. Every feed has a title of its own, so
// that a stale screen is not taken for a new one.
func (s *tmuxServer) feed(b []byte) {
	s.t.Helper()
	s.fed++
	mark := fmt.Sprintf("fed-%d-%d", os.Getpid(), s.fed)
	f, err := os.OpenFile(filepath.Join(s.dir, "in"), os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = f.Write(append(bytes.Clone(b), "\x1b]2;"+mark+"\x1b\\"...))
	f.Close()
	if err != nil {
		s.t.Fatal(err)
	}
	hang := time.Now().Add(time.Minute)
	for strings.TrimSpace(s.run("display-message", "-p", "#{pane_title}")) != mark {
		if time.Now().After(hang) {
			s.t.Fatal("tmux did not come to the end of what was fed")
		}
	}
}

// capture is the screen with its attributes, and the cursor.
func (s *tmuxServer) capture() []string {
	s.t.Helper()
	out := s.run("capture-pane", "-p", "-e", "-N")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	cur := strings.TrimSpace(s.run("display-message", "-p", "#{cursor_x},#{cursor_y}"))
	return append(lines, cur)
}

// fedToTmux is what a tmux of its own shows after b.
func fedToTmux(t *testing.T, cols, rows int, b []byte) []string {
	t.Helper()
	s := startTmux(t, cols, rows)
	s.feed(b)
	got := s.capture()
	if len(got) != rows+1 {
		t.Fatalf("tmux gave %d rows, want %d", len(got)-1, rows)
	}
	return got
}

// startX starts an X server without a screen, and gives its display.
func startX(t *testing.T) string {
	t.Helper()
	xvfb := peer(t, "Xvfb")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(xvfb, "-displayfd", "3", "-screen", "0", "1600x1200x24", "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait(); r.Close() })
	buf := make([]byte, 16)
	n, err := r.Read(buf)
	if err != nil {
		t.Fatalf("Xvfb: %v", err)
	}
	return ":" + strings.TrimSpace(string(buf[:n]))
}

// fedToXterm is what an xterm of its own prints of its screen after b, and
// where its cursor is.
func fedToXterm(t *testing.T, display string, cols, rows int, b []byte) []string {
	t.Helper()
	xterm := peer(t, "xterm")
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, b, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	script := `stty raw -echo min 0 time 2; cat "$1"; while [ -n "$(dd bs=4096 count=1 2>/dev/null)" ]; do :; done; ` +
		`stty min 1 time 0; printf '\033[6n'; p=; while :; do c=$(dd bs=1 count=1 2>/dev/null); [ "$c" = R ] && break; p="$p$c"; done; ` +
		`printf %s "$p" > "$2.pos"; printf '\033[?19h\033[i'; while [ ! -s "$2" ]; do sleep 0.02; done`
	cmd := exec.CommandContext(ctx, xterm, "-geometry", fmt.Sprintf("%dx%d", cols, rows), "-u8", "-fn", "6x13",
		"-xrm", "XTerm*printerCommand: sh -c 'cat > "+out+".part && mv "+out+".part "+out+"'",
		"-xrm", "XTerm*printerAutoClose: true", "-xrm", "XTerm*printAttributes: 0", "-xrm", "XTerm*allowWindowOps: false", "-xrm", "XTerm*precompose: false",
		"-xrm", "XTerm*decTerminalID: 420", "-xrm", "XTerm*utf8: 2", "-xrm", "XTerm*vt100.font: 6x13", "-xrm", "XTerm*wideFont: 6x13",
		"-e", "sh", "-c", script, "sh", in, out)
	cmd.Env = append(os.Environ(), "DISPLAY="+display, "LC_ALL=C.UTF-8")
	msg, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("xterm: %v %s", err, msg)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatalf("xterm printed nothing: %v", err)
	}
	pos, err := os.ReadFile(out + ".pos")
	if err != nil {
		t.Fatal(err)
	}
	var y, x int
	if _, err := fmt.Sscanf(string(pos), "\x1b[%d;%d", &y, &x); err != nil {
		t.Fatalf("xterm says its cursor is at %q", pos)
	}
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(text), "\r", ""), "\n"), "\n")
	if len(lines) != rows {
		t.Fatalf("xterm printed %d rows, want %d: %q", len(lines), rows, text)
	}
	return append(lines, fmt.Sprintf("%d,%d", x-1, y-1))
}
