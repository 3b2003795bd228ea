package rfb_test

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

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rect"
	"deskvnc/viewer/viewertest"
)

// TigerVNC's server for a screen that is there already: the exact picture, keys
// and clicks.
func TestTigerVNCScraper(t *testing.T) {
	program := need(t, "X0tigervnc")
	s := startX(t, "Xvfb", "-screen", "0", "640x480x24")
	s.port = freePort(t)
	start(t, exec.Command(program, "-display", s.display, "-localhost=1", "-UseSHM=0", "-rfbport", strconv.Itoa(s.port), "-SecurityTypes", "None"))
	listens(t, s.target())
	for i, e := range pictureEncodings {
		t.Run(e.name, func(t *testing.T) {
			l := viewertest.Open(t, rfb.New(rfb.Options{Encodings: []int32{e.number, rect.TypeCopyRect}}), s.target(), nil)
			l.Look(t)
			// It draws the pointer into the picture until the viewer has moved it.
			l.Post(t, viewer.Pointer{X: 639 - i, Y: 479})
			draw(t, s, l)
			used(t, l, e.number)
		})
	}
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
	l.Look(t)
	typesAndClicks(t, s, l)
}

// typesAndClicks presses a key and a button and has xev see them.
func typesAndClicks(t *testing.T, s *xServer, l *viewertest.Live) {
	t.Helper()
	xev := startXev(t, s.display)
	l.Post(t, viewer.Key{Sym: 'k', Down: true}, viewer.Key{Sym: 'k'},
		viewer.Pointer{X: 33, Y: 44, Buttons: viewer.Right}, viewer.Pointer{X: 33, Y: 44})
	want := []viewertest.Seen{{Down: true, Sym: 'k'}, {Sym: 'k'}, {Down: true, Button: 3, X: 33, Y: 44}, {Button: 3, X: 33, Y: 44}}
	if got := xev.wait(t, 4); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TightVNC takes keys and clicks, and Latin-1 both ways; what it cannot carry
// is counted (C083).
func TestTightVNCInputAndClipboard(t *testing.T) {
	s := startTight(t)
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
	l.Look(t)
	typesAndClicks(t, s, l)
	// It has the cut buffer of X of old, which xclip does not serve.
	lost, err := l.Session.(viewer.Clipboard).SetClipboard(t.Context(), "café €")
	if lost != 1 || err != nil {
		t.Errorf("got %d lost, %v, want 1", lost, err)
	}
}

// x11vnc calls the viewer.
func TestX11VNCCalls(t *testing.T) {
	s := startX(t, "Xvfb", "-screen", "0", "640x480x24")
	l, err := rfb.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	start(t, exec.Command(need(t, "x11vnc"), "-display", s.display, "-nopw", "-localhost", "-forever", "-shared", "-rfbport", "0",
		"-no6", "-noxrecord", "-noshm", "-connect", l.Addr().String()))
	ctx, cancel := context.WithTimeout(t.Context(), viewertest.Patience)
	defer cancel()
	call, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	live, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), call.Target(), nil, call.Dial)
	if err != nil {
		t.Fatal(err)
	}
	draw(t, s, live)
}

// A machine is reached by IPv6, with the network card in the address.
func TestIPv6(t *testing.T) {
	port := freePort(t)
	s := startX(t, "Xtigervnc", "-geometry", "640x480", "-depth", "24", "-interface", "::1", "-rfbport", strconv.Itoa(port), "-SecurityTypes", "None")
	for _, text := range []string{fmt.Sprintf("[::1]:%d", port), fmt.Sprintf("[::1%%lo]:%d", port)} {
		target, err := viewer.ParseTarget(text, viewer.VNC)
		if err != nil {
			t.Fatal(err)
		}
		draw(t, s, viewertest.Open(t, rfb.New(rfb.Options{}), target, nil))
	}
}

// OpenSSH's own SOCKS5 proxy (ssh -D) leads to a machine behind it.
func TestSSHDynamicForward(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can start a server of OpenSSH for itself")
	}
	sshd := "/usr/sbin/sshd" // it insists on its whole path
	if _, err := os.Stat(sshd); err != nil {
		missing(t, "openssh-server")
	}
	client := need(t, "ssh")
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	key := func(name string) string {
		path := filepath.Join(dir, name)
		if out, err := exec.Command(need(t, "ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", path).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
		return path
	}
	host, own := key("host"), key("own")
	public, err := os.ReadFile(own + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	allowed := filepath.Join(dir, "allowed")
	if err := os.WriteFile(allowed, bytes.TrimSpace(public), 0o600); err != nil {
		t.Fatal(err)
	}
	port, socks := strconv.Itoa(freePort(t)), freePort(t)
	start(t, exec.Command(sshd, "-D", "-e", "-f", "/dev/null", "-p", port, "-h", host, "-o", "ListenAddress=127.0.0.1",
		"-o", "AuthorizedKeysFile="+allowed, "-o", "StrictModes=no", "-o", "PermitRootLogin=yes", "-o", "PidFile=none", "-o", "UsePAM=no"))
	n, _ := strconv.Atoi(port)
	listens(t, viewer.Target{Address: "127.0.0.1", Port: n})
	start(t, exec.Command(client, "-F", "/dev/null", "-N", "-D", fmt.Sprintf("127.0.0.1:%d", socks), "-p", port, "-i", own,
		"-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes", "root@127.0.0.1"))
	listens(t, viewer.Target{Address: "127.0.0.1", Port: socks})
	s := startTiger(t, "-SecurityTypes", "None")
	target := s.target()
	target.Proxy = fmt.Sprintf("socks5://127.0.0.1:%d", socks)
	draw(t, s, viewertest.Open(t, rfb.New(rfb.Options{}), target, nil))
	target.Port = 1
	if _, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), target, nil, nil); viewer.KindOf(err) != viewer.Unreachable {
		t.Errorf("a port where nobody listens: got %v", err)
	}
}

// The viewer and the machine resize each other's screen, and the picture stays
// exact (C078, C080).
func TestTigerVNCResizedFromHere(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None")
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
	l.Look(t)
	l.Until(t, "the offer to resize", func() bool {
		return l.Session.(viewer.Signaller).Signals()[viewer.SignalResize].Availability == viewer.Live
	})
	sizes := [][2]int{{800, 600}, {320, 200}, {1919, 1079}, {641, 479}, {1280, 1024}, {640, 480}}
	for _, size := range sizes {
		if err := l.Session.(viewer.Resizer).Resize(t.Context(), size[0], size[1]); err != nil {
			t.Fatal(err)
		}
		l.Until(t, fmt.Sprint(size), func() bool { w, h := l.Frame.Size(); return w == size[0] && h == size[1] })
		scribble(t, s, uint64(size[0]))
		want := s.picture(t)
		l.Until(t, "the machine's own picture", func() bool { return same(l, want) })
	}
	// As a person drags the edge of a window: the last one counts.
	for w := 640; w <= 900; w++ {
		if err := l.Session.(viewer.Resizer).Resize(t.Context(), w, 500); err != nil {
			t.Fatal(err)
		}
	}
	l.Until(t, "the last size", func() bool { w, h := l.Frame.Size(); return w == 900 && h == 500 })
}

// A server that goes away and comes back is another connection; the first one
// says that it was closed.
func TestServerRestarts(t *testing.T) {
	port := freePort(t)
	var text strings.Builder
	for range 2 {
		s := startX(t, "Xtigervnc", "-geometry", "640x480", "-depth", "24", "-localhost", "-rfbport", strconv.Itoa(port), "-SecurityTypes", "None")
		s.port = port
		l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
		l.Look(t)
		if err := s.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		l.Wait(t)
		fmt.Fprintln(&text, viewer.KindOf(l.Err()))
		for end := time.Now().Add(viewertest.Patience); ; { // until its port is free
			c, err := dialOnce(s.target())
			if err != nil {
				break
			}
			c.Close()
			if time.Now().After(end) {
				t.Fatal("the server goes on")
			}
		}
	}
	if text.String() != "closed\nclosed\n" {
		t.Errorf("got %q", text.String())
	}
}
