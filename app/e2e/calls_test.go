package e2e

import (
	"image"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestMachineCallsTheWindow has a person wait for calls, by keyboard, and a real
// server call: the person is asked, agrees, and sees its screen. When the server
// ends, the tab waits for the next call and goes on with it.
func TestMachineCallsTheWindow(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import", "x11vnc", "xsetroot")
	far := display(t, "Xvfb", "-screen", "0", "800x500x24", "-nolisten", "tcp", "-noreset")
	run(t, far, "xsetroot", "-solid", "#1fa35b") // the colour that pane looks for
	w := newWindow(t)
	a := newAgent(t, w.env, "--connect", strconv.Itoa(w.control))
	port := freePort(t)
	w.do(t, "key", "ctrl+alt+shift+k")
	w.do(t, "type", "--delay", "5", "wait for calls")
	w.do(t, "key", "Return")
	w.settled(t)
	w.do(t, "key", "shift+Tab", "shift+Tab", "shift+Tab", "ctrl+a") // from Close to the port
	w.do(t, "type", "--delay", "5", strconv.Itoa(port))
	w.do(t, "key", "Return")
	listening(t, port) // looks like a call that says nothing
	w.settled(t)
	w.do(t, "key", "Escape")
	w.settled(t)

	call := func() *exec.Cmd {
		cmd := exec.Command("x11vnc", "-display", far, "-rfbport", "0", "-connect", "127.0.0.1:"+strconv.Itoa(port), "-q", "-nopw", "-noxdamage")
		cmd.Env = append(os.Environ(), "DISPLAY="+far)
		return start(t, cmd)
	}
	server := call()
	card := image.Rect(400, 130, 880, 420) // where it comes
	show := w.button(t, primary, card)
	keep(t, w.display, "call.png")
	if r := a.call(t, "dvv_limbs", map[string]any{}); strings.Contains(string(r.Structured), "\"limb_id\"") {
		t.Errorf("a session is there before the person agreed: %s", r.Structured)
	}
	w.click(t, show)
	limb := untilState(t, a, "connected")
	w.pane(t)
	stop(server)
	untilState(t, a, "disconnected")
	w.settled(t)
	keep(t, w.display, "call-ended.png")

	// It calls again.
	call()
	card.Max.Y = show.Y + 100 // the card of the ended session is lower
	w.click(t, w.button(t, primary, card))
	if again := untilState(t, a, "connected"); again != limb {
		t.Errorf("the machine that called again is %s, it was %s", again, limb)
	}
}
