package e2e

import (
	"bufio"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Places in the window at its first size of 1100 x 740, in pixels of its
// inside: the panel about agents stands at the right, 344 wide.
var (
	switchAt = image.Pt(783, 138) // the switch at the panel's top
	tickAt   = image.Pt(783, 298) // with the panel scrolled down: read the clipboard
	appAt    = image.Pt(783, 370) // the same: use the commands of this window
	stopAt   = image.Pt(930, 687) // stop all agents
	saveAt   = image.Pt(897, 611) // save, in the dialog for a file
)

// origin is where the inside of the window begins on the screen.
func (w *window) origin(t *testing.T) image.Point {
	t.Helper()
	id := strings.TrimSpace(run(t, w.display, "xdotool", "search", "--onlyvisible", "--name", "DeskVNC"))
	var at image.Point
	for line := range strings.Lines(run(t, w.display, "xwininfo", "-id", strings.Fields(id)[0])) {
		fmt.Sscanf(strings.TrimSpace(line), "Absolute upper-left X: %d", &at.X)
		fmt.Sscanf(strings.TrimSpace(line), "Absolute upper-left Y: %d", &at.Y)
	}
	return at
}

// clickAt clicks on a place inside the window.
func (w *window) clickAt(t *testing.T, p image.Point) {
	t.Helper()
	p = p.Add(w.origin(t))
	w.do(t, "mousemove", strconv.Itoa(p.X+1), strconv.Itoa(p.Y)) // waiting for no motion takes for ever
	w.do(t, "mousemove", "--sync", strconv.Itoa(p.X), strconv.Itoa(p.Y))
	w.do(t, "click", "1")
}

// pixelAt is the colour of a place inside the window.
func (w *window) pixelAt(t *testing.T, p image.Point) [3]uint8 {
	t.Helper()
	p = p.Add(w.origin(t))
	r, g, b, _ := picture(t, w.display).At(p.X, p.Y).RGBA()
	return [3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}
}

// connect has the person open a session and returns where its picture is.
func (w *window) connect(t *testing.T, v *vnc) image.Rectangle {
	t.Helper()
	w.do(t, "type", "--delay", "5", fmt.Sprintf("127.0.0.1::%d", v.port))
	w.do(t, "key", "Return")
	return w.pane(t)
}

// limbOf finds the session for an agent.
func limbOf(t *testing.T, a *agent) string {
	t.Helper()
	limb, _ := a.call(t, "dvv_limbs", map[string]any{}).get(t, "available.0.limb_id").(string)
	if limb == "" {
		t.Fatal("the person's session is not there for the agent")
	}
	a.call(t, "dvv_status", map[string]any{"limbId": limb})
	return limb
}

// code calls a tool and returns the code of its refusal, or "".
func (a *agent) code(t *testing.T, tool string, args map[string]any) string {
	t.Helper()
	r := parseResult(t, await(t, tool, a.start(t, tool, args)))
	if !r.IsError {
		return ""
	}
	code, _ := r.get(t, "code").(string)
	return code
}

// A person switches the control socket on in the panel, ticks and unticks what
// an agent may do, stops it, and switches off again; what was switched is
// remembered by the next run.
func TestAgentsPanel(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import", "Xtigervnc", "xev", "xsetroot", "stdbuf", "xwininfo", "xprop")
	server := newVNC(t)
	w := newPlainWindow(t)
	w.connect(t, server)

	early := newAgent(t, w.env, "--connect", "auto")
	if code := early.code(t, "dvv_limbs", map[string]any{}); code == "" {
		t.Fatal("an agent came in before anybody let it")
	}

	w.do(t, "key", "ctrl+alt+shift+a")
	w.pane(t) // smaller now, beside the panel
	unticked := [3]uint8{}
	eventually(t, func() string {
		if unticked = w.pixelAt(t, switchAt); unticked[2] > 0x40 {
			return fmt.Sprintf("the panel's switch is not drawn: %x", unticked)
		}
		return ""
	})
	w.clickAt(t, switchAt)
	sock := filepath.Join(w.home, "run", "deskvnc", "control.sock")
	eventually(t, func() string {
		if _, err := os.Stat(sock); err != nil {
			return err.Error()
		}
		return ""
	})
	if info, err := os.Stat(sock); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", info, err)
	}
	a := newAgent(t, w.env, "--connect", "auto")
	limb := limbOf(t, a)
	read := func() string { return a.code(t, "dvv_clipboard", map[string]any{"limbId": limb, "action": "get"}) }
	if code := read(); code != "POLICY_DENIED" {
		t.Errorf("reading the clipboard before it is ticked: %q", code)
	}
	// To the end of the panel, where the ticks are.
	at := w.origin(t).Add(image.Pt(930, 480))
	w.do(t, "mousemove", "--sync", strconv.Itoa(at.X), strconv.Itoa(at.Y))
	w.do(t, "click", "--repeat", "60", "--delay", "5", "5")
	until := func(place image.Point, what string, ok func() bool) {
		t.Helper()
		w.clickAt(t, place)
		eventually(t, func() string {
			if !ok() {
				return what
			}
			return ""
		})
	}
	// A click while the panel still scrolls would hit something else.
	before := picture(t, w.display)
	eventually(t, func() string {
		after := picture(t, w.display)
		moved := differences(before, after)
		before = after
		if moved > 500 { // a cursor may blink
			return "the panel does not come to rest"
		}
		return ""
	})
	until(tickAt, "the agent may not read the clipboard after the tick", func() bool { return read() != "POLICY_DENIED" })
	until(tickAt, "the agent may read the clipboard after the tick was taken away", func() bool { return read() == "POLICY_DENIED" })

	// The commands of the window, over the socket, as the agent that drives.
	commands := func() string {
		c, err := net.Dial("unix", sock)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(patience))
		if _, err := io.WriteString(c, `{"id":1,"method":"engine.execute","params":{"command":"session.list"}}`+"\n"); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	if got := commands(); !strings.Contains(got, "PolicyDenied") {
		t.Errorf("the window's commands before they are ticked: %s", got)
	}
	until(appAt, "the window's commands are refused after the tick", func() bool { return strings.Contains(commands(), `"ok":true`) })
	until(appAt, "the window's commands are served after the tick was taken away", func() bool { return strings.Contains(commands(), "PolicyDenied") })
	keep(t, w.display, "agents-panel.png")

	// Stop, while the agent drives; it stays off until it is handed back.
	acquire := map[string]any{"limbId": limb, "action": "acquire", "reason": "fill in the form"}
	if got := a.call(t, "dvv_control", acquire); got.get(t, "held") != true {
		t.Fatalf("acquire: %s", got.Structured)
	}
	w.clickAt(t, stopAt)
	eventually(t, func() string {
		if code := a.code(t, "dvv_control", map[string]any{"limbId": limb, "action": "acquire", "reason": "go on"}); code == "" {
			return "after stop the agent still gets the wheel"
		}
		return ""
	})
	w.do(t, "key", "ctrl+alt+shift+h")
	eventually(t, func() string {
		if code := a.code(t, "dvv_control", acquire); code != "" {
			return "after the hand-back the agent is answered " + code
		}
		return ""
	})
	// Keep off, by the list of all commands and the keyboard alone.
	w.do(t, "key", "ctrl+alt+shift+k")
	w.do(t, "type", "--delay", "10", "keep agents")
	w.do(t, "key", "Return")
	eventually(t, func() string {
		if code := a.code(t, "dvv_control", acquire); code != "LEASE_REVOKED" {
			return "kept off, the agent is answered " + code
		}
		return ""
	})

	// Off: the agent is sent away and the socket is gone.
	w.do(t, "key", "ctrl+alt+shift+k")
	w.do(t, "type", "--delay", "10", "let agents connect")
	w.do(t, "key", "Return")
	eventually(t, func() string {
		if _, err := os.Stat(sock); err == nil {
			return "the socket is still there"
		}
		return ""
	})
	if code := a.code(t, "dvv_limbs", map[string]any{}); code == "" {
		t.Error("an agent is served after the switch was turned off")
	}
}

// View only keeps the person's input and the agent's away from the machine.
func TestViewOnly(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import", "Xtigervnc", "xev", "xsetroot", "stdbuf", "xprop")
	server := newVNC(t)
	w := newWindow(t)
	pane := w.connect(t, server)
	server.watch(t, 100, 100, 400, 300)
	click := func() {
		w.do(t, "mousemove", "--sync", strconv.Itoa(pane.Min.X+pane.Dx()*3/8), strconv.Itoa(pane.Min.Y+pane.Dy()/2))
		w.do(t, "click", "1")
	}
	a := newAgent(t, w.env, "--connect", strconv.Itoa(w.control))
	limb := limbOf(t, a)
	control := func() string {
		return a.code(t, "dvv_control", map[string]any{"limbId": limb, "action": "acquire", "reason": "look"})
	}
	w.do(t, "key", "ctrl+alt+shift+v")
	eventually(t, func() string {
		if code := control(); code == "" {
			return "the agent gets the wheel of a session that is view only"
		}
		return ""
	})
	mark := server.xev.mark()
	click()
	w.do(t, "key", "x")
	w.do(t, "key", "ctrl+alt+shift+v")
	eventually(t, func() string {
		if code := control(); code != "" {
			return "after view only the agent is answered " + code
		}
		return ""
	})
	a.call(t, "dvv_control", map[string]any{"limbId": limb, "action": "release"})
	w.do(t, "key", "y")
	server.xev.waitFrom(t, mark, "(keysym 0x79, y)")
	said := server.xev.String()[mark:]
	if strings.Contains(said, "ButtonPress") || strings.Contains(said, "(keysym 0x78, x)") {
		t.Errorf("input reached a machine that is view only:\n%s", said)
	}
}

// Keys that never come from the keyboard, read back on the machine.
func TestSendKeys(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import", "Xtigervnc", "xev", "xsetroot", "stdbuf", "xprop", "xclip")
	server := newVNC(t)
	w := newWindow(t)
	pane := w.connect(t, server)
	server.watch(t, 100, 100, 400, 300)
	w.do(t, "mousemove", "--sync", strconv.Itoa(pane.Min.X+pane.Dx()*3/8), strconv.Itoa(pane.Min.Y+pane.Dy()/2))
	w.do(t, "click", "1")
	server.xev.wait(t, "ButtonRelease")

	expect := func(mark int, syms ...string) {
		t.Helper()
		for _, s := range syms {
			server.xev.waitFrom(t, mark, s)
		}
		rest := server.xev.String()[mark:]
		for _, s := range syms { // in this order
			i := strings.Index(rest, s)
			if i < 0 {
				t.Fatalf("%s is out of order in\n%s", s, server.xev.String()[mark:])
			}
			rest = rest[i+len(s):]
		}
	}
	mark := server.xev.mark()
	w.do(t, "key", "ctrl+alt+shift+End")
	expect(mark, "Control_L)", "Alt_L)", "Delete)", "Delete)", "Alt_L)", "Control_L)")
	if said := server.xev.String()[mark:]; !strings.Contains(said, "state 0xc, keycode") || strings.Contains(said, ", End)") {
		t.Errorf("Delete came without Ctrl and Alt, or End came too:\n%s", said)
	}
	palette := func(words string) int {
		mark := server.xev.mark()
		w.do(t, "key", "ctrl+alt+shift+k")
		w.do(t, "type", "--delay", "10", words)
		w.do(t, "key", "Return")
		return mark
	}
	expect(palette("send alt+f4"), "Alt_L)", "F4)", "F4)", "Alt_L)")
	expect(palette("send the super"), "Super_L)", "Super_L)")
	expect(palette("send print"), "Print)", "Print)")
	expect(palette("send f11"), "F11)", "F11)")

	// A text typed as keys.
	cmd := exec.Command("xclip", "-selection", "clipboard", "-i")
	cmd.Env, cmd.Stdin = w.env, strings.NewReader("Ab 9!\n")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	expect(palette("type the clipboard"), "(keysym 0x41, A)", "(keysym 0x62, b)", "(keysym 0x20, space)", "(keysym 0x39, 9)", "(keysym 0x21, exclam)", "(keysym 0xff0d, Return)")
}

// The picture that is saved is the machine's, pixel by pixel, and a file that
// is there is not replaced without asking.
func TestSavePicture(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import", "Xtigervnc", "xev", "xsetroot", "stdbuf", "xprop", "xwininfo")
	server := newVNC(t)
	w := newWindow(t)
	w.connect(t, server)
	server.watch(t, 150, 100, 300, 200)
	before := picture(t, server.display)
	eventually(t, func() string {
		after := picture(t, server.display)
		still := differences(before, after) == 0
		before = after
		if !still {
			return "the machine's screen does not come to rest"
		}
		return ""
	})
	w.do(t, "key", "ctrl+alt+shift+s")
	var files []string
	eventually(t, func() string { // the dialog comes when it has read the folder
		w.clickAt(t, saveAt)
		files, _ = filepath.Glob(filepath.Join(w.home, "*.png"))
		if len(files) != 1 {
			return fmt.Sprintf("the saved pictures are %q", files)
		}
		if info, err := os.Stat(files[0]); err != nil || info.Size() == 0 {
			return "the picture is empty"
		}
		return ""
	})
	if name := filepath.Base(files[0]); !strings.Contains(name, " 20") || strings.ContainsAny(name, ":/") {
		t.Errorf("the file is called %q", name)
	}
	var saved image.Image
	eventually(t, func() string {
		f, err := os.Open(files[0])
		if err != nil {
			return err.Error()
		}
		defer f.Close()
		if saved, err = png.Decode(f); err != nil {
			return err.Error()
		}
		return ""
	})
	want := picture(t, server.display)
	if saved.Bounds() != image.Rect(0, 0, remoteW, remoteH) {
		t.Fatalf("the saved picture is %v", saved.Bounds())
	}
	if different := differences(saved, want); different != 0 {
		t.Errorf("%d of %d pixels differ", different, remoteW*remoteH)
	}
}

// differences counts the pixels that differ between two pictures of one size.
func differences(a, b image.Image) (n int) {
	flat := func(img image.Image) *image.RGBA {
		out := image.NewRGBA(img.Bounds())
		draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
		return out
	}
	x, y := flat(a), flat(b)
	if x.Rect != y.Rect {
		return -1
	}
	for i := 0; i < len(x.Pix); i += 4 {
		if x.Pix[i] != y.Pix[i] || x.Pix[i+1] != y.Pix[i+1] || x.Pix[i+2] != y.Pix[i+2] {
			n++
		}
	}
	return n
}

// Full screen and back by the keyboard alone, with the keyboard grabbed too.
func TestFullScreenByKeyboard(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import", "Xtigervnc", "xev", "xsetroot", "stdbuf", "xprop", "xwininfo")
	server := newVNC(t)
	w := newWindow(t)
	w.connect(t, server)
	server.watch(t, 100, 100, 400, 300)
	id := strings.Fields(run(t, w.display, "xdotool", "search", "--onlyvisible", "--name", "DeskVNC"))[0]
	state := func() string { return run(t, w.display, "xprop", "-id", id, "_NET_WM_STATE") }
	full := func(want bool) {
		t.Helper()
		eventually(t, func() string {
			if s := state(); strings.Contains(s, "FULLSCREEN") != want {
				return "the window's state is " + s
			}
			return ""
		})
	}
	types := func(key, sym string) {
		t.Helper()
		mark := server.xev.mark()
		w.do(t, "key", key)
		server.xev.waitFrom(t, mark, sym)
	}
	run(t, server.display, "xdotool", "mousemove", "200", "200") // over the window that tells
	for range 2 {
		w.do(t, "key", "ctrl+alt+shift+f")
		full(true)
		types("a", "(keysym 0x61, a)")
		w.do(t, "key", "ctrl+alt+shift+g") // grab the keyboard, and give it back
		types("b", "(keysym 0x62, b)")
		w.do(t, "key", "ctrl+alt+shift+g")
		types("c", "(keysym 0x63, c)")
		w.do(t, "key", "ctrl+alt+shift+f")
		full(false)
		types("d", "(keysym 0x64, d)")
	}
}

// Text goes from one clipboard to the other, both ways, whatever is in it.
func TestClipboardBothWays(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import", "Xtigervnc", "xev", "xsetroot", "stdbuf", "xprop", "xclip")
	server := newVNC(t, "-SecurityTypes", "None", "-MaxCutText", "10000000")
	w := newWindow(t)
	pane := w.connect(t, server)
	remote := append(os.Environ(), "DISPLAY="+server.display)
	put := func(env []string, text string) {
		t.Helper()
		cmd := exec.Command("xclip", "-selection", "clipboard", "-i")
		cmd.Env, cmd.Stdin = env, strings.NewReader(text)
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
	}
	get := func(env []string) string {
		cmd := exec.Command("timeout", "10", "xclip", "-selection", "clipboard", "-o")
		cmd.Env = env
		out, _ := cmd.Output() // nobody may own it yet
		return string(out)
	}
	arrives := func(env []string, text, where string) {
		t.Helper()
		eventually(t, func() string {
			if got := get(env); got != text {
				return fmt.Sprintf("%s has %d bytes, %.60q, want %d, %.60q", where, len(got), got, len(text), text)
			}
			return ""
		})
	}
	w.do(t, "mousemove", "--sync", strconv.Itoa(pane.Min.X+20), strconv.Itoa(pane.Max.Y-20))
	w.do(t, "click", "1")
	for i, text := range []string{"plain", "café ÿ ä", "日本語 😀 zażółć", "two\nlines\n", strings.Repeat("0123456789abcdef", 20_000)} {
		put(w.env, text)
		arrives(remote, text, fmt.Sprintf("text %d: the machine", i))
		back := strings.ToUpper(text) + "!"
		put(remote, back)
		arrives(w.env, back, fmt.Sprintf("text %d: this side", i))
	}
	// Always the newest, also when one follows the other at once.
	for i := range 10 {
		put(w.env, fmt.Sprintf("first %d", i))
		put(w.env, fmt.Sprintf("second %d", i))
		arrives(remote, fmt.Sprintf("second %d", i), "the machine")
	}
}
