package main

import (
	"fmt"
	"image"
	"image/color"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"

	"deskvnc/app/ui/x11/xlab"
)

// program builds deskvnc once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "deskvnc")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "deskvnc")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %v\n%s", err, out)
	}
	return path, nil
})

var built string // removed at the end

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// binary is the built program, or the test is skipped.
func binary(t *testing.T) string {
	t.Helper()
	path, err := program()
	if err != nil {
		if os.Getenv("DESKVNC_PEERS") == "required" {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED: the window cannot be built here: %v", err)
	}
	return path
}

// start starts a program that ends with the test.
func start(t *testing.T, display, name string, args ...string) *output {
	t.Helper()
	o := &output{}
	cmd := exec.Command(name, args...)
	cmd.Env = environment(display)
	cmd.Stdout, cmd.Stderr = o, o
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-done:
		case <-time.After(xlab.Hang):
			cmd.Process.Kill()
			<-done
			t.Errorf("%s did not end when it was asked to", filepath.Base(name))
		}
		if t.Failed() {
			said := o.String()
			t.Logf("%s said at last:\n%s", filepath.Base(name), said[max(len(said)-3000, 0):])
		}
	})
	o.done, o.pid = done, cmd.Process.Pid
	return o
}

// environment is that of the programs: a display, a home of their own.
func environment(display string, more ...string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(), "LC_ALL=C.UTF-8", "XMODIFIERS=@im=none", "FYNE_THEME=dark", "XDG_RUNTIME_DIR=" + built}
	if display != "" {
		env = append(env, "DISPLAY="+display)
	}
	return append(env, more...)
}

// output is what a program wrote.
type output struct {
	mu   sync.Mutex
	text strings.Builder
	done chan struct{}
	pid  int
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// cover is the colour of the remote screen.
var cover = color.RGBA{200, 30, 160, 255}

// A stage is a screen with a window manager and the program on it, connected
// to a VNC server whose screen is covered by xev.
type stage struct {
	t        *testing.T
	display  string
	here     *xlab.Driver  // the person's keyboard and mouse
	there    *xlab.Driver  // the machine
	remote   string        // its display
	keys     *xlab.Lines   // what the machine's window gets
	window   xproto.Window // the program's
	app      *output
	xvnc     *output
	seen     int // lines of keys read so far
	geometry image.Point
}

// raise starts a stage with a window manager. The remote screen has a size;
// args go to the program.
func raise(t *testing.T, remote string, env []string, args ...string) *stage {
	t.Helper()
	return raiseStage(t, true, remote, env, args...)
}

// raiseStage starts a stage, with a window manager or without: it grabs the
// mouse for a moment at each press, and on a busy machine the release of a
// quick drag gets lost in that, for any program.
func raiseStage(t *testing.T, managed bool, remote string, env []string, args ...string) *stage {
	t.Helper()
	bin := binary(t)
	xlab.Need(t, "openbox", "Xtigervnc", "xev", "stdbuf")
	s := &stage{t: t}
	s.display = xlab.Start(t, "-screen", "0", "1280x900x24", "+extension", "GLX")
	s.here = xlab.NewDriver(t, s.display)
	if managed {
		start(t, s.display, "openbox", "--config-file", windowManager(t))
	}
	xlab.Layout(t, s.display, "-layout", "us")

	port := freePort(t)
	s.remote = ":" + fmt.Sprint(port-5900)
	s.xvnc = start(t, "", "Xtigervnc", s.remote, "-SecurityTypes", "None", "-localhost", "-rfbport", fmt.Sprint(port), "-geometry", remote, "-depth", "24", "-desktop", "lab", "-Log", "*:stderr:100", "-noreset")
	xlab.Until(t, "the VNC server", func() bool {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	s.there = xlab.NewDriver(t, s.remote)
	fmt.Sscanf(remote, "%dx%d", &s.geometry.X, &s.geometry.Y)
	window, keys := xlab.StartXev(t, s.remote, "-geometry", remote+"+0+0")
	s.keys = keys
	s.there.Focus(window)

	s.app = start(t, s.display, "env", append(append(env, bin), append(args, fmt.Sprintf("127.0.0.1::%d", port))...)...)
	xlab.Until(t, "the session's window", func() bool {
		var ok bool
		s.window, ok = s.here.Named(func(title string) bool { return title == "lab – DeskVNC" })
		return ok
	})
	if !managed {
		s.here.Focus(s.window)
	}
	s.ready()
	return s
}

// windowManager is a configuration that binds Alt+Tab and nothing else. Its
// usual grab of each click in a window loses some of a quick series, with xev
// as with us.
func windowManager(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rc.xml")
	err := os.WriteFile(path, []byte(`<?xml version="1.0"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <keyboard><keybind key="A-Tab"><action name="NextWindow"/></keybind></keyboard>
  <mouse>
    <context name="Titlebar"><mousebind button="Left" action="Press"><action name="Raise"/></mousebind></context>
  </mouse>
</openbox_config>
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func freePort(t *testing.T) int {
	t.Helper()
	for range 50 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		if n := port - 5900; n > 100 {
			if _, err := os.Stat(fmt.Sprintf("/tmp/.X11-unix/X%d", n)); os.IsNotExist(err) {
				return port
			}
		}
	}
	t.Fatal("no free port")
	return 0
}

// ready waits until a key reaches the machine.
func (s *stage) ready() {
	s.t.Helper()
	xlab.Until(s.t, "the first key", func() bool {
		s.here.Tap(codeEscape)
		return len(s.events()) > 0
	})
	s.drain()
}

// drain waits until the machine has got all that was sent so far: a mark is
// sent and waited for, and everything up to it forgotten.
func (s *stage) drain() []event {
	s.t.Helper()
	s.here.Tap(codeMark)
	var out []event
	s.keys.Wait(s.t, "the mark", func(all []string) bool {
		evs := report(all)
		for i := s.seen; i < len(evs); i++ {
			if evs[i].code == codeMark && !evs[i].down {
				out = nil
				for _, e := range evs[s.seen:i] {
					if e.code != codeMark {
						out = append(out, e)
					}
				}
				s.seen = i + 1
				return true
			}
		}
		return false
	})
	return out
}

// events are the keys and buttons that have come since the last drain.
func (s *stage) events() []event {
	var out []event
	s.keys.Wait(s.t, "xev", func(all []string) bool { out = report(all); return true })
	return out[min(s.seen, len(out)):]
}

// Key codes.
const (
	codeEscape, codeTab, codeQ, codeE, codeLeftCtrl, codeA, codeS, codeLeftShift, codeRightShift = 9, 23, 24, 26, 37, 38, 39, 50, 62
	codeLeftAlt, codeCaps, codeRightAlt, codeF12, codeMark, codeSuper, codeF, codeO, codeZero    = 64, 66, 108, 96, 127, 133, 41, 32, 19
)

// An event is one line of xev's report.
type event struct {
	down   bool
	code   int // key; 0 for a button
	sym    uint32
	button int
	state  int
	x, y   int
	text   string // what the key typed
}

func (e event) String() string {
	sign := "-"
	if e.down {
		sign = "+"
	}
	if e.button != 0 {
		return fmt.Sprintf("%sbutton%d", sign, e.button)
	}
	return fmt.Sprintf("%s%x", sign, e.sym)
}

var (
	keyLine    = regexp.MustCompile(`state 0x([0-9a-f]+), keycode (\d+) \(keysym 0x([0-9a-f]+),`)
	buttonLine = regexp.MustCompile(`state 0x([0-9a-f]+), button (\d+),`)
	placeLine  = regexp.MustCompile(`root:\((-?\d+),(-?\d+)\)`)
	textLine   = regexp.MustCompile(`XmbLookupString gives \d+ bytes: \([^)]*\) "([^"]*)"`)
)

// report reads xev's report.
func report(all []string) []event {
	var out []event
	for i := 0; i+2 < len(all); i++ {
		e := event{down: strings.HasPrefix(all[i], "KeyPress") || strings.HasPrefix(all[i], "ButtonPress")}
		if !e.down && !strings.HasPrefix(all[i], "KeyRelease") && !strings.HasPrefix(all[i], "ButtonRelease") {
			continue
		}
		if m := placeLine.FindStringSubmatch(all[i+1]); m != nil {
			fmt.Sscan(m[1], &e.x)
			fmt.Sscan(m[2], &e.y)
		}
		if m := keyLine.FindStringSubmatch(all[i+2]); m != nil {
			fmt.Sscanf(m[1], "%x", &e.state)
			fmt.Sscan(m[2], &e.code)
			fmt.Sscanf(m[3], "%x", &e.sym)
			if e.code == 0 {
				continue // composed text
			}
			for j := i + 3; j < len(all) && j < i+6; j++ {
				if m := textLine.FindStringSubmatch(all[j]); m != nil {
					e.text = m[1]
				}
			}
		} else if m := buttonLine.FindStringSubmatch(all[i+2]); m != nil {
			fmt.Sscanf(m[1], "%x", &e.state)
			fmt.Sscan(m[2], &e.button)
		} else {
			continue
		}
		out = append(out, e)
	}
	return out
}

func spell(evs []event) string {
	var s []string
	for _, e := range evs {
		s = append(s, e.String())
	}
	return strings.Join(s, " ")
}

// picture is where the remote screen is shown, found by its colour.
func (s *stage) picture() image.Rectangle {
	s.t.Helper()
	w := s.there.Cover(cover)
	var r, last image.Rectangle
	xlab.Until(s.t, "the remote screen on the window", func() bool {
		last, r = r, xlab.Find(s.here.Screen(), cover)
		return !r.Empty() && r == last
	})
	s.there.Uncover(w)
	return r
}
