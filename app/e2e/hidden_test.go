package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// move has something move on a remote desktop until the test ends.
func (v *vnc) move(t *testing.T) {
	t.Helper()
	cmd := exec.Command("xterm", "-geometry", "60x12+20+20", "-e", "sh", "-c", "while :; do date +%N; sleep 0.02; done")
	cmd.Env = append(os.Environ(), "DISPLAY="+v.display)
	start(t, cmd)
}

// goTo types an address into the connect bar.
func (w *window) goTo(t *testing.T, port int) {
	t.Helper()
	w.do(t, "key", "ctrl+alt+shift+n")
	w.do(t, "type", "--delay", "5", fmt.Sprintf("127.0.0.1::%d", port))
	w.do(t, "key", "Return")
}

// TestHiddenSessionsRest has five machines with a moving picture: those that
// are not shown, and all of them while the window is minimised, send next to
// nothing; one that is shown again, or asked for by an agent, is fresh (C139).
func TestHiddenSessionsRest(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import", "Xtigervnc", "xsetroot", "xterm")
	const n = 5
	var servers [n]*vnc
	var relays [n]*relay
	for i := range n {
		servers[i] = newVNC(t)
		servers[i].move(t)
		relays[i] = newRelay(t, servers[i].port)
	}
	w := newWindow(t)
	a := newAgent(t, w.env, "--connect", strconv.Itoa(w.control))
	for i := range n {
		w.goTo(t, relays[i].port)
		w.pane(t)
	}
	// The shown one gets its picture as it moves.
	const moving = 2000
	shown := relays[n-1]
	eventually(t, func() string {
		before := shown.bytes.Load()
		time.Sleep(time.Second)
		if got := shown.bytes.Load() - before; got < moving {
			return fmt.Sprintf("the shown machine sends %d bytes a second; is anything moving?", got)
		}
		return ""
	})
	// rest waits until the hidden ones send next to nothing.
	rest := func(what string, hidden []*relay) {
		t.Helper()
		eventually(t, func() string {
			var before int64
			for _, r := range hidden {
				before += r.bytes.Load()
			}
			time.Sleep(2 * time.Second)
			var now int64
			for _, r := range hidden {
				now += r.bytes.Load()
			}
			if now-before > 400 {
				return fmt.Sprintf("%s: %d sessions that nobody sees get %d bytes in two seconds", what, len(hidden), now-before)
			}
			return ""
		})
	}
	rest("behind another tab", relays[:n-1])
	w.do(t, "key", "ctrl+alt+shift+l")
	rest("behind the start page", relays[:])

	// Shown again: what was drawn meanwhile is there.
	run(t, servers[1].display, "xsetroot", "-solid", "#0000ff")
	w.do(t, "key", "ctrl+alt+shift+2")
	eventually(t, func() string {
		if box := find(picture(t, w.display), 0, 0, 0xff); box.Dx() < 300 {
			return fmt.Sprintf("the session that is shown again covers %v in its new colour", box)
		}
		return ""
	})

	// Minimised, the shown one rests too; back again it is fresh.
	id := w.id(t)
	w.do(t, "windowminimize", id)
	rest("minimised", []*relay{relays[0], relays[1], relays[2], relays[3], relays[4]})
	run(t, servers[1].display, "xsetroot", "-solid", "#ff00ff")
	w.do(t, "windowmap", id, "windowactivate", id)
	eventually(t, func() string {
		if box := find(picture(t, w.display), 0xff, 0, 0xff); box.Dx() < 300 {
			return fmt.Sprintf("the window that is back covers %v in the new colour", box)
		}
		return ""
	})

	// An agent that looks at one of the hidden gets a picture of now.
	limb, _ := a.call(t, "dvv_limbs", map[string]any{}).get(t, "available.0.limb_id").(string)
	run(t, servers[0].display, "xsetroot", "-solid", "#0000ff")
	a.call(t, "dvv_status", map[string]any{"limbId": limb})
	eventually(t, func() string {
		img := decode(t, a.call(t, "dvv_screen", map[string]any{"limbId": limb}))
		if r, g, b, _ := img.At(remoteW-5, remoteH-5).RGBA(); r != 0 || g != 0 || b>>8 != 0xff {
			return "the agent's picture of a hidden session is not of now"
		}
		return ""
	})
}

// id is the window's id for xdotool.
func (w *window) id(t *testing.T) string {
	t.Helper()
	out := run(t, w.display, "xdotool", "search", "--onlyvisible", "--name", "DeskVNC")
	var id int
	if _, err := fmt.Sscan(out, &id); err != nil {
		t.Fatalf("xdotool search: %q", out)
	}
	return strconv.Itoa(id)
}
