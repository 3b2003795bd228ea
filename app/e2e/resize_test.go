package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"deskvnc/keychain"
)

// dimensions is the size of a display's screen.
func dimensions(t *testing.T, display string) (w, h int) {
	t.Helper()
	for _, line := range strings.Split(run(t, display, "xdpyinfo"), "\n") {
		if n, _ := fmt.Sscanf(strings.TrimSpace(line), "dimensions: %dx%d", &w, &h); n == 2 {
			return w, h
		}
	}
	t.Fatal("xdpyinfo does not tell the dimensions")
	return 0, 0
}

// TestScreenFollowsTheWindow has a saved machine follow the window: a real
// server takes the size of the pane to the pixel, and another one when the
// window has another; a program on it sees the same.
func TestScreenFollowsTheWindow(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import", "Xtigervnc", "xsetroot", "xdpyinfo")
	server := newVNC(t)
	h := newHouse(t, t.TempDir(), "unix:path=/nonexistent")
	if _, err := h.store.Add(context.Background(), keychain.Host{Name: "lab", Protocol: "vnc", Address: "127.0.0.1", Port: server.port, RemoteResize: keychain.SizeFollow}); err != nil {
		t.Fatal(err)
	}
	w, _ := h.enter(t)
	w.goTo(t, server.port)
	follows := func() (int, int) {
		t.Helper()
		var rw, rh int
		eventually(t, func() string {
			rw, rh = dimensions(t, server.display)
			box := find(picture(t, w.display), remoteRed, remoteGreen, remoteBlue)
			if rw == remoteW && rh == remoteH || box.Dx() != rw || box.Dy() != rh {
				return fmt.Sprintf("the machine has %d x %d and is shown in %v", rw, rh, box)
			}
			return ""
		})
		return rw, rh
	}
	w1, h1 := follows()
	w.do(t, "windowsize", w.id(t), "820", "640")
	eventually(t, func() string {
		if w2, h2 := dimensions(t, server.display); w2 >= w1 || h2 >= h1 {
			return fmt.Sprintf("the machine stays at %d x %d", w2, h2)
		}
		return ""
	})
	follows()
	keep(t, w.display, "resize.png")
}
