// Package xlab starts X servers and drives their keyboard and mouse, for tests
// that need a real one. It is not part of any program.
package xlab

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

// Hang bounds every wait of the tests.
const Hang = 20 * time.Second

// Need finds a program, or skips the test, or fails it where peers are
// required.
func Need(t *testing.T, names ...string) {
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

// Start starts an X server of the test's own and returns its display. Args are
// more arguments for Xvfb.
func Start(t *testing.T, args ...string) string {
	t.Helper()
	Need(t, "Xvfb")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if len(args) == 0 {
		args = []string{"-screen", "0", "800x600x24"}
	}
	cmd := exec.Command("Xvfb", append([]string{"-displayfd", "3", "-nolisten", "tcp", "-noreset"}, args...)...)
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
	case <-time.After(Hang):
		t.Fatal("Xvfb did not start in time")
	}
	return ""
}

// quiet keeps the X library from writing to the standard error.
var quiet sync.Once

// A Driver moves the keyboard and mouse of a display.
type Driver struct {
	T *testing.T
	C *xgb.Conn
	W xproto.Window // a window of its own
	// Pause is how long the server waits before each input event, in
	// milliseconds: no two events of a person are in the same one.
	Pause uint32
}

// NewDriver makes a window of its own on the display, with the focus.
func NewDriver(t *testing.T, display string) *Driver {
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
	d := &Driver{T: t, C: c, W: id, Pause: 2}
	s := xproto.Setup(c).DefaultScreen(c)
	d.Check(xproto.CreateWindowChecked(c, s.RootDepth, id, s.Root, 100, 50, 300, 200, 0, xproto.WindowClassInputOutput, s.RootVisual, 0, nil).Check())
	d.Check(xproto.MapWindowChecked(c, id).Check())
	d.Focus(id)
	return d
}

// Check ends the test on an error.
func (d *Driver) Check(err error) {
	d.T.Helper()
	if err != nil {
		d.T.Fatal(err)
	}
}

// Focus gives a window the keyboard as soon as it can be seen.
func (d *Driver) Focus(w xproto.Window) {
	d.T.Helper()
	Until(d.T, "the window to be seen", func() bool {
		a, err := xproto.GetWindowAttributes(d.C, w).Reply()
		return err == nil && a.MapState == xproto.MapStateViewable
	})
	d.Check(xproto.SetInputFocusChecked(d.C, xproto.InputFocusParent, w, xproto.TimeCurrentTime).Check())
}

// Fake makes an input event: an event's number, a key or button, and a place.
func (d *Driver) Fake(kind, detail byte, x, y int) {
	d.T.Helper()
	d.Check(xtest.FakeInputChecked(d.C, kind, detail, d.Pause, xproto.Setup(d.C).DefaultScreen(d.C).Root, int16(x), int16(y), 0).Check())
}

// Key presses or releases a key.
func (d *Driver) Key(code int, down bool) {
	kind := byte(xproto.KeyPress)
	if !down {
		kind = xproto.KeyRelease
	}
	d.Fake(kind, byte(code), 0, 0)
}

// Tap presses and releases a key.
func (d *Driver) Tap(code int) { d.Key(code, true); d.Key(code, false) }

// Layout changes the keyboard's layout.
func Layout(t *testing.T, display string, args ...string) {
	t.Helper()
	Need(t, "setxkbmap")
	cmd := exec.Command("setxkbmap", append([]string{"-display", display}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("setxkbmap %v: %v\n%s", args, err, out)
	}
}

// A Lines collects what a program writes, line by line.
type Lines struct {
	mu      sync.Mutex
	all     []string
	rest    []byte
	changed chan struct{}
}

// Write takes what the program writes.
func (l *Lines) Write(p []byte) (int, error) {
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

// Wait waits until ok is true of the lines.
func (l *Lines) Wait(t *testing.T, what string, ok func([]string) bool) []string {
	t.Helper()
	limit := time.After(Hang)
	for {
		l.mu.Lock()
		all := l.all[:len(l.all):len(l.all)] // lines are only appended
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

// StartXev starts xev and returns its window and what it writes.
// Args are more arguments for it.
func StartXev(t *testing.T, display string, args ...string) (xproto.Window, *Lines) {
	t.Helper()
	Need(t, "xev", "stdbuf")
	out := &Lines{}
	cmd := exec.Command("stdbuf", append([]string{"-oL", "xev", "-display", display}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "XMODIFIERS=@im=none")
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	all := out.Wait(t, "xev's window", func(l []string) bool { return len(l) > 0 && strings.HasPrefix(l[0], "Outer window is") })
	var id uint32
	if _, err := fmt.Sscanf(all[0], "Outer window is 0x%x", &id); err != nil {
		t.Fatalf("%q: %v", all[0], err)
	}
	return xproto.Window(id), out
}

// Button presses or releases a button of the mouse.
func (d *Driver) Button(n int, down bool) {
	d.T.Helper()
	kind := byte(xproto.ButtonPress)
	if !down {
		kind = xproto.ButtonRelease
	}
	d.Fake(kind, byte(n), 0, 0)
}

// Move moves the pointer to a place of the screen.
func (d *Driver) Move(x, y int) {
	d.T.Helper()
	d.Fake(xproto.MotionNotify, 0, x, y)
}

// Click moves the pointer and clicks with a button.
func (d *Driver) Click(n, x, y int) {
	d.T.Helper()
	d.Move(x, y)
	d.Button(n, true)
	d.Button(n, false)
}

// Pointer is where the pointer is on the screen.
func (d *Driver) Pointer() (x, y int) {
	d.T.Helper()
	r, err := xproto.QueryPointer(d.C, xproto.Setup(d.C).DefaultScreen(d.C).Root).Reply()
	d.Check(err)
	return int(r.RootX), int(r.RootY)
}

// Until waits until ok is true.
func Until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(Hang); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("waited too long for %s", what)
		}
	}
}
