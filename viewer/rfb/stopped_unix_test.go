//go:build unix

package rfb_test

import (
	"bufio"
	"fmt"
	"image"
	"image/color"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/viewertest"
)

// A program that was stopped for longer than a machine may be silent goes on in
// the same session (C129).
func TestStoppedProgram(t *testing.T) {
	if address := os.Getenv("DESKVNC_STOPPED"); address != "" {
		watchPixel(t, address)
		return
	}
	for _, m := range []struct {
		name  string
		start func(testing.TB) *xServer
	}{
		{"TigerVNC", func(t testing.TB) *xServer { return startTiger(t, "-SecurityTypes", "None") }},
		{"TightVNC", startTight},
	} {
		t.Run(m.name, func(t *testing.T) {
			s := m.start(t)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd := exec.Command(os.Args[0], "-test.run=^TestStoppedProgram$")
			cmd.Env = append(os.Environ(), "DESKVNC_STOPPED="+s.target().HostPort())
			cmd.Stdout = w
			start(t, cmd)
			w.Close()
			_ = r.SetReadDeadline(time.Now().Add(4 * viewertest.Patience))
			lines := bufio.NewScanner(r)
			heard := func(want string) {
				t.Helper()
				if !lines.Scan() || lines.Text() != want {
					t.Fatalf("got %q, want %q", lines.Text(), want)
				}
			}
			heard("here")
			for i := range 6 {
				<-time.After(time.Duration(i) * silence / 3) // at another moment of its watch
				for _, sig := range []os.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
					if err := cmd.Process.Signal(sig); err != nil {
						t.Fatal(err)
					}
					if sig == syscall.SIGSTOP {
						<-time.After(5 * silence) // it sleeps
					}
				}
				s.fill(t, image.Rect(0, 0, 50, 50), color.RGBA{uint8(i + 1), 2, 3, 0xff})
				heard(fmt.Sprint(i + 1))
			}
		})
	}
}

// watchPixel says what one pixel becomes.
func watchPixel(t *testing.T, address string) {
	target, err := viewer.ParseTarget(address, viewer.VNC)
	if err != nil {
		t.Fatal(err)
	}
	l := viewertest.Open(t, rfb.New(rfb.Options{Silence: silence}), target, nil)
	l.Look(t)
	fmt.Println("here")
	for i := range 6 {
		l.Until(t, fmt.Sprint("the colour ", i+1), func() bool { return l.At(9, 9) == color.RGBA{uint8(i + 1), 2, 3, 0xff} })
		fmt.Println(i + 1)
	}
}
