package rfb_test

import (
	"bufio"
	"fmt"
	"image"
	"image/color"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"deskvnc/viewer"
	"deskvnc/viewer/viewertest"
)

func init() { xgb.Logger = log.New(io.Discard, "", 0) } // it tells of every closed connection

// need returns the path of a program, or skips the test without it, or fails
// it where peers are required.
func need(t testing.TB, program string) string {
	t.Helper()
	p, err := exec.LookPath(program)
	if err != nil {
		missing(t, program)
	}
	return p
}

func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("DESKVNC_PEERS") == "required" {
		t.Fatalf("%s is not installed and DESKVNC_PEERS=required", what)
	}
	t.Skipf("SKIPPED: %s is not installed; .ci/install test installs it", what)
}

// start runs a program until the end of the test. Its output is shown when
// the test fails.
func start(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	if cmd.Stdout == nil {
		cmd.Stdout = log
	}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		log.Close()
		if b, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(cmd.Path), b)
		}
	})
}

// freePort is a TCP port of loopback that nobody listens on.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// An xServer is an X server with a screen that can be drawn on and read.
type xServer struct {
	display string
	port    int // where its VNC side listens; 0 for none
	cmd     *exec.Cmd

	x    *xgb.Conn
	root xproto.Window
	gc   xproto.Gcontext
}

// startX starts a server that tells its display with -displayfd.
func startX(t testing.TB, program string, args ...string) *xServer {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := &xServer{cmd: exec.Command(need(t, program), append([]string{"-displayfd", "3", "-r"}, args...)...)}
	s.cmd.ExtraFiles = []*os.File{w}
	start(t, s.cmd)
	w.Close()
	_ = r.SetReadDeadline(time.Now().Add(viewertest.Patience))
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("%s did not tell its display: %v", program, err)
	}
	s.display = ":" + strings.TrimSpace(line)
	s.connect(t)
	return s
}

// startTiger starts Xtigervnc.
func startTiger(t testing.TB, args ...string) *xServer {
	t.Helper()
	port := freePort(t)
	s := startX(t, "Xtigervnc", append([]string{"-geometry", "640x480", "-depth", "24", "-localhost", "-rfbport", strconv.Itoa(port)}, args...)...)
	s.port = port
	return s
}

func (s *xServer) connect(t testing.TB) {
	t.Helper()
	x, err := xgb.NewConnDisplay(s.display)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	s.x, s.root = x, xproto.Setup(x).DefaultScreen(x).Root
	if s.gc, err = xproto.NewGcontextId(x); err != nil {
		t.Fatal(err)
	}
	err = xproto.CreateGCChecked(x, s.gc, xproto.Drawable(s.root), xproto.GcSubwindowMode|xproto.GcGraphicsExposures,
		[]uint32{xproto.SubwindowModeIncludeInferiors, 0}).Check()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *xServer) target() viewer.Target {
	return viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: s.port}
}

// fill paints a rectangle, and waits until the server has.
func (s *xServer) fill(t testing.TB, r image.Rectangle, c color.RGBA) {
	t.Helper()
	xproto.ChangeGC(s.x, s.gc, xproto.GcForeground, []uint32{uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B)})
	err := xproto.PolyFillRectangleChecked(s.x, xproto.Drawable(s.root), s.gc, []xproto.Rectangle{
		{X: int16(r.Min.X), Y: int16(r.Min.Y), Width: uint16(r.Dx()), Height: uint16(r.Dy())}}).Check()
	if err != nil {
		t.Fatal(err)
	}
}

// put draws pixels of 4 bytes each (blue, green, red, unused).
func (s *xServer) put(t testing.TB, x, y, w, h int, bgrx []byte) {
	t.Helper()
	err := xproto.PutImageChecked(s.x, xproto.ImageFormatZPixmap, xproto.Drawable(s.root), s.gc,
		uint16(w), uint16(h), int16(x), int16(y), 0, 24, bgrx).Check()
	if err != nil {
		t.Fatal(err)
	}
}

// move copies a rectangle of the screen.
func (s *xServer) move(t testing.TB, r image.Rectangle, to image.Point) {
	t.Helper()
	err := xproto.CopyAreaChecked(s.x, xproto.Drawable(s.root), xproto.Drawable(s.root), s.gc,
		int16(r.Min.X), int16(r.Min.Y), int16(to.X), int16(to.Y), uint16(r.Dx()), uint16(r.Dy())).Check()
	if err != nil {
		t.Fatal(err)
	}
}

// picture reads the screen back from the X server.
func (s *xServer) picture(t testing.TB) *image.RGBA {
	t.Helper()
	g, err := xproto.GetGeometry(s.x, xproto.Drawable(s.root)).Reply()
	if err != nil {
		t.Fatal(err)
	}
	img := image.NewRGBA(image.Rect(0, 0, int(g.Width), int(g.Height)))
	const rows = 16 // a reply has a size that clients agree on
	for y := 0; y < int(g.Height); y += rows {
		h := min(rows, int(g.Height)-y)
		p, err := xproto.GetImage(s.x, xproto.ImageFormatZPixmap, xproto.Drawable(s.root), 0, int16(y), g.Width, uint16(h), ^uint32(0)).Reply()
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < int(g.Width)*h; i++ {
			d := img.Pix[y*img.Stride+i*4:]
			d[0], d[1], d[2], d[3] = p.Data[i*4+2], p.Data[i*4+1], p.Data[i*4], 0xff
		}
	}
	return img
}

// tigerPeer makes a Peer of Xtigervnc with xev on its screen.
type tigerPeer struct {
	*xServer
	xev *xevLog
}

func newTigerPeer(t *testing.T) viewertest.Peer {
	s := startTiger(t, "-SecurityTypes", "None")
	return tigerPeer{s, startXev(t, s.display)}
}

func (p tigerPeer) Target(testing.TB) viewer.Target { return p.target() }

func (p tigerPeer) Paint(t testing.TB, r image.Rectangle, c color.RGBA) { p.fill(t, r, c) }

func (p tigerPeer) Seen(t testing.TB, n int) []viewertest.Seen { return p.xev.wait(t, n) }

func (p tigerPeer) Kill(t testing.TB) {
	if err := p.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
}

func (p tigerPeer) Clip(t testing.TB, want string) {
	t.Helper()
	clip := need(t, "xclip")
	var got []byte
	for end := time.Now().Add(viewertest.Patience); time.Now().Before(end); {
		// It fails while nobody owns the clipboard, and itself waits for the owner.
		got, _ = exec.Command(clip, "-display", p.display, "-selection", "clipboard", "-o").Output()
		if string(got) == want {
			return
		}
	}
	t.Errorf("the clipboard has %q, want %q", got, want)
}

// An xevLog collects what xev sees in a window that covers the screen.
type xevLog struct {
	mu   sync.Mutex // guards below
	seen []viewertest.Seen
	wake *sync.Cond
	over bool
}

var (
	xevEvent  = regexp.MustCompile(`^(KeyPress|KeyRelease|ButtonPress|ButtonRelease|Expose) event`)
	xevRoot   = regexp.MustCompile(`root:\((-?\d+),(-?\d+)\)`)
	xevKey    = regexp.MustCompile(`\(keysym (0x[0-9a-f]+),`)
	xevButton = regexp.MustCompile(`button (\d+),`)
)

// startXev starts xev and waits until its window is there.
func startXev(t testing.TB, display string) *xevLog {
	t.Helper()
	need(t, "xev")
	// xev's output would otherwise wait in its buffer.
	cmd := exec.Command(need(t, "stdbuf"), "-oL", "xev", "-display", display, "-geometry", "640x480+0+0", "-bw", "0")
	r, w := io.Pipe()
	cmd.Stdout = w
	start(t, cmd)
	l := &xevLog{}
	l.wake = sync.NewCond(&l.mu)
	ready, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		l.read(r, ready)
	}()
	t.Cleanup(func() {
		w.Close()
		<-ended
	})
	select {
	case <-ready:
	case <-time.After(viewertest.Patience):
		t.Fatal("xev shows no window")
	}
	return l
}

func (l *xevLog) read(r io.Reader, ready chan struct{}) {
	kind, exposed := "", false
	var at [2]int
	for lines := bufio.NewScanner(r); lines.Scan(); {
		line := lines.Text()
		if m := xevEvent.FindStringSubmatch(line); m != nil {
			kind = m[1]
			if kind == "Expose" && !exposed {
				exposed = true
				close(ready)
			}
			continue
		}
		if m := xevRoot.FindStringSubmatch(line); m != nil {
			at[0], _ = strconv.Atoi(m[1])
			at[1], _ = strconv.Atoi(m[2])
		}
		var s viewertest.Seen
		if m := xevKey.FindStringSubmatch(line); m != nil && strings.HasPrefix(kind, "Key") {
			sym, _ := strconv.ParseUint(m[1], 0, 32)
			s = viewertest.Seen{Down: kind == "KeyPress", Sym: uint32(sym)}
		} else if m := xevButton.FindStringSubmatch(line); m != nil && strings.HasPrefix(kind, "Button") {
			b, _ := strconv.Atoi(m[1])
			s = viewertest.Seen{Down: kind == "ButtonPress", Button: b, X: at[0], Y: at[1]}
		} else {
			continue
		}
		kind = ""
		l.mu.Lock()
		l.seen = append(l.seen, s)
		l.wake.Broadcast()
		l.mu.Unlock()
	}
	l.mu.Lock()
	l.over = true
	l.wake.Broadcast()
	l.mu.Unlock()
}

func (l *xevLog) wait(t testing.TB, n int) []viewertest.Seen {
	t.Helper()
	guard := time.AfterFunc(viewertest.Patience, func() {
		l.mu.Lock()
		l.over = true
		l.wake.Broadcast()
		l.mu.Unlock()
	})
	defer guard.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.seen) < n && !l.over {
		l.wake.Wait()
	}
	if len(l.seen) < n {
		t.Fatalf("xev saw %d keys and buttons, want %d: %s", len(l.seen), n, fmt.Sprint(l.seen))
	}
	return append([]viewertest.Seen(nil), l.seen...)
}

// dialOnce tries a connection to a machine.
func dialOnce(target viewer.Target) (net.Conn, error) {
	network := "tcp"
	if target.Socket() {
		network = "unix"
	}
	return net.DialTimeout(network, target.HostPort(), viewertest.Patience)
}
