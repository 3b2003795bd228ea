package x11

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
)

// hang bounds every wait of the tests.
const hang = 20 * time.Second

// need finds a program, or skips the test, or fails it where peers are
// required.
func need(t *testing.T, names ...string) {
	t.Helper()
	for _, n := range names {
		if _, err := exec.LookPath(n); err != nil {
			if os.Getenv("DESKVNC_PEERS") == "required" {
				t.Fatalf("%s is not installed", n)
			}
			t.Skipf("SKIPPED: %s is not installed", n)
		}
	}
}

// startX starts an X server of the test's own and returns its display.
func startX(t *testing.T) string {
	t.Helper()
	need(t, "Xvfb")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset")
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait(); r.Close() })
	line := make(chan string, 1)
	go func() {
		s, _ := bufio.NewReader(r).ReadString('\n')
		line <- strings.TrimSpace(s)
	}()
	select {
	case n := <-line:
		if n == "" {
			t.Fatal("Xvfb did not start")
		}
		return ":" + n
	case <-time.After(hang):
		t.Fatal("Xvfb did not start in time")
	}
	return ""
}

// A driver moves the keyboard and mouse of a display.
type driver struct {
	t *testing.T
	c *xgb.Conn
	w xproto.Window
}

// newDriver makes a window of its own on the display, with the focus.
func newDriver(t *testing.T, display string) *driver {
	t.Helper()
	quiet.Do(func() { xgb.Logger = log.New(io.Discard, "", 0) })
	c, err := xgb.NewConnDisplay(display)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := xtest.Init(c); err != nil {
		t.Fatal(err)
	}
	id, err := xproto.NewWindowId(c)
	if err != nil {
		t.Fatal(err)
	}
	d := &driver{t: t, c: c, w: id}
	s := xproto.Setup(c).DefaultScreen(c)
	d.check(xproto.CreateWindowChecked(c, s.RootDepth, id, s.Root, 100, 50, 300, 200, 0, xproto.WindowClassInputOutput, s.RootVisual, 0, nil).Check())
	d.check(xproto.MapWindowChecked(c, id).Check())
	d.focus(id)
	return d
}

func (d *driver) check(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *driver) focus(w xproto.Window) {
	d.t.Helper()
	d.check(xproto.SetInputFocusChecked(d.c, xproto.InputFocusParent, w, xproto.TimeCurrentTime).Check())
}

func (d *driver) fake(kind, detail byte, x, y int) {
	d.t.Helper()
	d.check(xtest.FakeInputChecked(d.c, kind, detail, 0, xproto.Setup(d.c).DefaultScreen(d.c).Root, int16(x), int16(y), 0).Check())
}

func (d *driver) key(code int, down bool) {
	kind := byte(xproto.KeyPress)
	if !down {
		kind = xproto.KeyRelease
	}
	d.fake(kind, byte(code), 0, 0)
}

func (d *driver) tap(code int) { d.key(code, true); d.key(code, false) }

// layoutTo changes the keyboard's layout.
func layoutTo(t *testing.T, display string, args ...string) {
	t.Helper()
	need(t, "setxkbmap")
	cmd := exec.Command("setxkbmap", append([]string{"-display", display}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("setxkbmap %v: %v\n%s", args, err, out)
	}
}

// A lines collects what a program writes, line by line.
type lines struct {
	mu      sync.Mutex
	all     []string
	rest    []byte
	changed chan struct{}
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 {
			break
		}
		l.all = append(l.all, string(l.rest[:i]))
		l.rest = l.rest[i+1:]
	}
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
	return len(p), nil
}

// wait waits until ok is true of the lines.
func (l *lines) wait(t *testing.T, what string, ok func([]string) bool) []string {
	t.Helper()
	limit := time.After(hang)
	for {
		l.mu.Lock()
		all := append([]string(nil), l.all...)
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		changed := l.changed
		l.mu.Unlock()
		if ok(all) {
			return all
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("waited too long for %s; the last of %d lines: %q", what, len(all), tail(all))
		}
	}
}

func tail(s []string) []string { return s[max(len(s)-12, 0):] }

// startXev starts xev and returns its window and what it writes.
func startXev(t *testing.T, display string) (xproto.Window, *lines) {
	t.Helper()
	need(t, "xev", "stdbuf")
	out := &lines{}
	cmd := exec.Command("stdbuf", "-oL", "xev", "-display", display, "-event", "keyboard")
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "XMODIFIERS=@im=none")
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	all := out.wait(t, "xev's window", func(l []string) bool { return len(l) > 0 && strings.HasPrefix(l[0], "Outer window is") })
	var id uint32
	if _, err := fmt.Sscanf(all[0], "Outer window is 0x%x", &id); err != nil {
		t.Fatalf("%q: %v", all[0], err)
	}
	return xproto.Window(id), out
}
