package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds every wait: long enough for a loaded machine, so that only
// what hangs fails.
const patience = 60 * time.Second

// Programs built once for all tests.
var deskvnc, dvv string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "deskvnc-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := func() int {
		defer os.RemoveAll(dir)
		deskvnc, dvv = filepath.Join(dir, "deskvnc"), filepath.Join(dir, "dvv")
		for program, from := range map[string]string{deskvnc: "deskvnc/app/deskvnc", dvv: "deskvnc/app/dvv"} {
			if out, err := exec.Command("go", "build", "-o", program, from).CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "building %s: %v\n%s", from, err, out)
				return 1
			}
		}
		return m.Run()
	}()
	os.Exit(code)
}

// need skips the test when a program is missing, or fails it where every peer
// is required.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err == nil {
			continue
		}
		if os.Getenv("DESKVNC_PEERS") == "required" {
			t.Fatalf("%s is not installed; run .ci/install test", p)
		}
		t.Skipf("NOT TESTED: %s is not installed; run .ci/install test", p)
	}
}

// eventually waits until ok says "" and fails with its last complaint.
func eventually(t *testing.T, ok func() string) {
	t.Helper()
	end := time.Now().Add(patience)
	for {
		complaint := ok()
		if complaint == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatal(complaint)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// start runs a program until the test ends.
func start(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", cmd.Path, err)
	}
	t.Cleanup(func() { stop(cmd) })
	return cmd
}

// stop ends a program politely, then not.
func stop(cmd *exec.Cmd) {
	if cmd.ProcessState != nil {
		return
	}
	cmd.Process.Signal(os.Interrupt)
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		cmd.Process.Kill()
		<-done
	}
}

// display starts an X server that picks its own free display and returns the
// display's name.
func display(t *testing.T, server string, args ...string) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(server, append([]string{"-displayfd", "3"}, args...)...)
	cmd.ExtraFiles = []*os.File{w}
	start(t, cmd)
	w.Close()
	r.SetReadDeadline(time.Now().Add(patience))
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("%s did not start: %v", server, err)
	}
	return ":" + strings.TrimSpace(line)
}

// freePort is a TCP port that nobody listens on now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// listening waits until something listens on a port.
func listening(t *testing.T, port int) {
	t.Helper()
	eventually(t, func() string {
		c, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), time.Second)
		if err != nil {
			return err.Error()
		}
		c.Close()
		return ""
	})
}

// A vnc is a real Xtigervnc with a window that tells what reaches it.
type vnc struct {
	display  string
	port     int
	security []string
	cmd      *exec.Cmd
	xev      *transcript
}

// The remote desktop's colour, which nothing else on the screen has, and its
// size.
const (
	remoteRed, remoteGreen, remoteBlue = 0x1f, 0xa3, 0x5b
	remoteW, remoteH                   = 800, 500
)

// newVNC starts a server with the arguments for its login.
func newVNC(t *testing.T, security ...string) *vnc {
	t.Helper()
	if len(security) == 0 {
		security = []string{"-SecurityTypes", "None"}
	}
	v := &vnc{port: freePort(t), security: security}
	v.restart(t)
	return v
}

// restart starts the server, again at the port it had.
func (v *vnc) restart(t *testing.T) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v.cmd = exec.Command("Xtigervnc", append([]string{"-displayfd", "3", "-rfbport", strconv.Itoa(v.port), "-localhost", "-AlwaysShared",
		"-geometry", fmt.Sprintf("%dx%d", remoteW, remoteH), "-depth", "24"}, v.security...)...)
	v.cmd.ExtraFiles = []*os.File{w}
	start(t, v.cmd)
	w.Close()
	r.SetReadDeadline(time.Now().Add(patience))
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("Xtigervnc did not start: %v", err)
	}
	v.display = ":" + strings.TrimSpace(line)
	listening(t, v.port)
	run(t, v.display, "xsetroot", "-solid", fmt.Sprintf("#%02x%02x%02x", remoteRed, remoteGreen, remoteBlue))
}

// watch opens the window that tells, x, y, w, h on the remote desktop.
func (v *vnc) watch(t *testing.T, x, y, w, h int) {
	t.Helper()
	cmd := exec.Command("stdbuf", "-oL", "xev", "-geometry", fmt.Sprintf("%dx%d+%d+%d", w, h, x, y), "-event", "button", "-event", "keyboard", "-event", "structure")
	cmd.Env = append(os.Environ(), "DISPLAY="+v.display)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	v.xev = newTranscript(out)
	start(t, cmd)
	v.xev.wait(t, "MapNotify")
}

// run runs an X client to its end and returns what it printed.
func run(t *testing.T, display string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "DISPLAY="+display)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// picture is what a display shows.
func picture(t *testing.T, display string) image.Image {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "import", "-silent", "-window", "root", "png:-")
	cmd.Env = append(os.Environ(), "DISPLAY="+display)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("import: %v", err)
	}
	img, err := png.Decode(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// find is the bounding box of a colour in a picture.
func find(img image.Image, r, g, b uint8) image.Rectangle {
	var box image.Rectangle
	bounds := img.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			cr, cg, cb, _ := img.At(x, y).RGBA()
			if uint8(cr>>8) == r && uint8(cg>>8) == g && uint8(cb>>8) == b {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// same reports whether two pictures are equal within a rectangle.
func same(a, b image.Image, r image.Rectangle) bool {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if a.At(x, y) != b.At(x, y) {
				return false
			}
		}
	}
	return true
}

// keep saves a picture of a display among the build's results.
func keep(t *testing.T, display, name string) {
	t.Helper()
	dir := filepath.Join("..", "..", "build")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, display, "import", "-silent", "-window", "root", filepath.Join(dir, name))
}

// A transcript collects what a program prints.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func newTranscript(r io.Reader) *transcript {
	tr := &transcript{}
	go io.Copy(tr, r)
	return tr
}

func (tr *transcript) Write(b []byte) (int, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.text.Write(b)
}

func (tr *transcript) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.text.String()
}

// mark is a place from which to look on.
func (tr *transcript) mark() int { return len(tr.String()) }

func (tr *transcript) wait(t *testing.T, text string) {
	t.Helper()
	tr.waitFrom(t, 0, text)
}

// waitFrom waits until text was printed after a mark.
func (tr *transcript) waitFrom(t *testing.T, mark int, text string) {
	t.Helper()
	eventually(t, func() string {
		if s := tr.String(); strings.Contains(s[mark:], text) {
			return ""
		} else {
			return fmt.Sprintf("%q was not printed; only:\n%s", text, s[mark:])
		}
	})
}

// window is the real viewer under its own Xvfb and window manager.
type window struct {
	display string
	control int
	home    string
	log     *transcript
	env     []string
}

// newWindow starts the viewer, where agents may connect, with more arguments
// and waits until it shows.
func newWindow(t *testing.T, args ...string) *window {
	t.Helper()
	port := freePort(t)
	w := newPlainWindow(t, append([]string{"--control", strconv.Itoa(port)}, args...)...)
	w.control = port
	listening(t, port)
	return w
}

// newPlainWindow starts the viewer with just these arguments.
func newPlainWindow(t *testing.T, args ...string) *window {
	t.Helper()
	return newWindowIn(t, t.TempDir(), args...)
}

// newWindowIn starts the viewer of somebody whose home is a folder.
func newWindowIn(t *testing.T, home string, args ...string) *window {
	t.Helper()
	w := &window{display: display(t, "Xvfb", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"), home: home, log: &transcript{}}
	w.env = append(os.Environ(), "DISPLAY="+w.display, "HOME="+home, "XDG_CONFIG_HOME="+home+"/config", "XDG_DATA_HOME="+home+"/data",
		"XDG_CACHE_HOME="+home+"/cache", "XDG_RUNTIME_DIR="+home+"/run", "DBUS_SESSION_BUS_ADDRESS=unix:path="+home+"/no-bus")
	if err := os.Mkdir(home+"/run", 0o700); err != nil {
		t.Fatal(err)
	}
	wm := exec.Command("openbox")
	wm.Env = w.env
	start(t, wm)
	eventually(t, func() string { // the toolkit looks only once whether there is one
		if out := run(t, w.display, "xprop", "-root", "_NET_SUPPORTING_WM_CHECK"); !strings.Contains(out, "window id") {
			return "the window manager does not start"
		}
		return ""
	})
	cmd := exec.Command(deskvnc, args...)
	cmd.Env = w.env
	cmd.Stdout, cmd.Stderr = w.log, w.log
	start(t, cmd)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the viewer said:\n%s", w.log)
			keep(t, w.display, "failed-"+strings.ReplaceAll(t.Name(), "/", "-")+".png")
		}
	})
	eventually(t, func() string {
		if cmd.ProcessState != nil {
			return "the viewer ended"
		}
		find := exec.Command("xdotool", "search", "--onlyvisible", "--name", "DeskVNC")
		find.Env = w.env
		if out, err := find.Output(); err != nil || len(out) == 0 {
			return "the viewer shows no window named DeskVNC"
		}
		focus := exec.Command("xdotool", "getwindowfocus", "getwindowname")
		focus.Env = w.env
		if out, err := focus.Output(); err != nil || !strings.Contains(string(out), "DeskVNC") {
			return "the window does not get the keyboard" // what is typed before that is lost
		}
		return ""
	})
	return w
}

// do drives the window with xdotool.
func (w *window) do(t *testing.T, args ...string) {
	t.Helper()
	run(t, w.display, append([]string{"xdotool"}, args...)...)
}

// pane waits until the remote desktop's colour shows and returns where.
func (w *window) pane(t *testing.T) image.Rectangle {
	t.Helper()
	var box image.Rectangle
	eventually(t, func() string {
		box = find(picture(t, w.display), remoteRed, remoteGreen, remoteBlue)
		if box.Dx() < 300 || box.Dy() < 200 {
			return fmt.Sprintf("the window does not show the remote desktop: its colour covers %v", box)
		}
		return ""
	})
	return box
}

// passwordFile makes the file in which a VNC server keeps its password.
func passwordFile(t *testing.T, password string) string {
	t.Helper()
	cmd := exec.Command("vncpasswd", "-f")
	cmd.Stdin = strings.NewReader(password + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("vncpasswd: %v", err)
	}
	name := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(name, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
