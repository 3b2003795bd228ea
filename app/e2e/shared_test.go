package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestPersonAndAgentOnOneDesktop is the product in one test: a person connects
// in the window and clicks; an agent finds the same session, gets the wheel,
// looks, clicks and types; the person's click in the middle of a drag takes the
// wheel back, and hands it over again.
func TestPersonAndAgentOnOneDesktop(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import", "Xtigervnc", "xev", "xsetroot", "stdbuf")
	server := newVNC(t)
	w := newWindow(t)
	// An agent that was there before the session, as a client's MCP server is.
	a := newAgent(t, w.env, "--connect", strconv.Itoa(w.control))

	var tools struct {
		Result struct{ Tools []json.RawMessage }
	}
	if err := json.Unmarshal(a.request(t, "tools/list", map[string]any{}), &tools); err != nil || len(tools.Result.Tools) != 25 {
		t.Fatalf("%d tools, want 25 (%v)", len(tools.Result.Tools), err)
	}

	// The person types an address and connects.
	w.do(t, "type", "--delay", "5", fmt.Sprintf("127.0.0.1::%d", server.port))
	w.do(t, "key", "Return")
	pane := w.pane(t)
	scale := float64(pane.Dx()) / remoteW
	on := func(x, y int) []string { // remote pixel to a place on the screen
		return []string{strconv.Itoa(pane.Min.X + int((float64(x)+0.5)*scale)), strconv.Itoa(pane.Min.Y + int((float64(y)+0.5)*scale))}
	}
	click := func(x, y int) { // in two steps: the pointer must have arrived
		w.do(t, append([]string{"mousemove", "--sync"}, on(x, y)...)...)
		w.do(t, "click", "1")
	}
	server.watch(t, 100, 100, 400, 300)

	// The person's own click reaches the server, to the pixel.
	mark := server.xev.mark()
	click(300, 250)
	server.xev.waitFrom(t, mark, "ButtonRelease")
	if said := server.xev.String()[mark:]; !strings.Contains(said, "root:(300,250)") {
		t.Errorf("a click on 300,250 arrived elsewhere:\n%s", said)
	}

	// The agent finds the session of the person and attaches by its id.
	limbs := a.call(t, "dvv_limbs", map[string]any{})
	limb, _ := limbs.get(t, "available.0.limb_id").(string)
	if limb == "" {
		t.Fatalf("the person's session is not available: %s", limbs.Structured)
	}
	status := a.call(t, "dvv_status", map[string]any{"limbId": limb})
	if status.get(t, "state.state") != "connected" || status.get(t, "geometry.space.width") != float64(remoteW) {
		t.Errorf("status: %s", status.Structured)
	}
	a.refused(t, "LEASE_NOT_HELD", "dvv_click", map[string]any{"limbId": limb, "action": "click", "x": 10, "y": 10})

	// The person has clicked a moment ago; the agent gets the wheel all the same.
	began := time.Now()
	got := a.call(t, "dvv_control", map[string]any{"limbId": limb, "action": "acquire", "reason": "fill in the form"})
	if got.get(t, "held") != true {
		t.Fatalf("acquire: %s", got.Structured)
	}
	t.Logf("the wheel was had after %v", time.Since(began).Round(time.Millisecond))

	// It must look before it types.
	a.refused(t, "SCREEN_CHANGED", "dvv_type", map[string]any{"limbId": limb, "text": "x"})
	shot := a.call(t, "dvv_screen", map[string]any{"limbId": limb})
	img := decode(t, shot)
	if r, g, b, _ := img.At(5, 5).RGBA(); uint8(r>>8) != remoteRed || uint8(g>>8) != remoteGreen || uint8(b>>8) != remoteBlue {
		t.Errorf("the agent's picture shows %v at 5,5, not the desktop's colour", img.At(5, 5))
	}
	mark = server.xev.mark()
	a.call(t, "dvv_click", map[string]any{"limbId": limb, "action": "click", "x": 222, "y": 180})
	server.xev.waitFrom(t, mark, "ButtonRelease")
	if said := server.xev.String()[mark:]; !strings.Contains(said, "root:(222,180)") {
		t.Errorf("the agent's click on 222,180 arrived elsewhere:\n%s", said)
	}
	mark = server.xev.mark()
	a.call(t, "dvv_type", map[string]any{"limbId": limb, "text": "aZ"})
	server.xev.waitFrom(t, mark, "keysym 0x5a, Z")

	// In the middle of a drag with a key held, the person clicks in the pane.
	// A drag lasts a tenth of a second: where the click came too late, the
	// machine is handed back and it is tried again.
	handBack := func() {
		t.Helper()
		w.do(t, "key", "ctrl+alt+shift+h")
		eventually(t, func() string {
			r := parseResult(t, await(t, "acquire", a.start(t, "dvv_control", map[string]any{"limbId": limb, "action": "acquire", "reason": "going on"})))
			if r.IsError {
				return fmt.Sprintf("after the hand-back: %s", r.Structured)
			}
			return ""
		})
	}
	interrupted := false
	for try := 0; !interrupted; try++ {
		if try == 20 {
			t.Fatal("the person's click never met the drag")
		}
		mark = server.xev.mark()
		dragging := a.start(t, "dvv_click", map[string]any{"limbId": limb, "action": "drag", "x": 150, "y": 150, "toX": 450, "toY": 350, "modifiers": []string{"ctrl"}})
		w.do(t, "click", "1")
		keep(t, w.display, "take-over.png")
		r := parseResult(t, await(t, "the drag", dragging))
		pressed := strings.Contains(server.xev.String()[mark:], "ButtonPress event")
		switch {
		case r.IsError && r.get(t, "code") != "LEASE_REVOKED":
			t.Fatalf("the interrupted drag: %s", r.Structured)
		case r.IsError && pressed:
			interrupted = true
		default: // before the press or after the release
			handBack()
		}
	}
	server.xev.waitFrom(t, mark, "ButtonRelease")
	server.xev.waitFrom(t, mark, "KeyRelease")
	a.refused(t, "LEASE_REVOKED", "dvv_click", map[string]any{"limbId": limb, "action": "click", "x": 200, "y": 200})
	status = a.call(t, "dvv_status", map[string]any{"limbId": limb})
	if status.get(t, "lease.human_took_over") != true {
		t.Errorf("status after the take-over: %s", status.Structured)
	}
	// One press: the agent's. The person's consumed click never got there.
	if said := server.xev.String()[mark:]; strings.Count(said, "ButtonPress event") != 1 {
		t.Errorf("the click that took the wheel reached the server:\n%s", said)
	}
	// The next one does.
	mark = server.xev.mark()
	click(310, 260)
	server.xev.waitFrom(t, mark, "root:(310,260)")
	a.refused(t, "LEASE_REVOKED", "dvv_control", map[string]any{"limbId": limb, "action": "acquire"})

	// The person hands the machine back by its chord.
	handedBack := picture(t, w.display)
	handBack()
	bar := image.Rect(pane.Min.X, pane.Min.Y-40, pane.Max.X, pane.Min.Y)
	eventually(t, func() string {
		if same(picture(t, w.display), handedBack, bar) {
			return "nothing in the window says that the agent drives"
		}
		return ""
	})
	keep(t, w.display, "agent-drives.png")
	a.call(t, "dvv_close", map[string]any{"limbId": limb})
	if w.pane(t).Empty() {
		t.Error("the agent's close ended the person's session")
	}
}

// decode is the picture of a dvv_screen result.
func decode(t *testing.T, r toolResult) image.Image {
	t.Helper()
	for _, c := range r.Content {
		if c.Type != "image" {
			continue
		}
		b, err := base64.StdEncoding.DecodeString(c.Data)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		return img
	}
	t.Fatalf("no picture in %s", r.Structured)
	return nil
}

// TestServerKilledAndBack shows the reason while the machine is away, refuses
// the agent, and comes back by itself under the same id.
func TestServerKilledAndBack(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import", "Xtigervnc", "xsetroot")
	server := newVNC(t)
	w := newWindow(t, fmt.Sprintf("127.0.0.1::%d", server.port))
	w.pane(t)
	a := newAgent(t, w.env, "--connect", strconv.Itoa(w.control))
	limb, _ := a.call(t, "dvv_limbs", map[string]any{}).get(t, "available.0.limb_id").(string)
	generation := a.call(t, "dvv_status", map[string]any{"limbId": limb}).get(t, "geometry.generation").(float64)
	stop(server.cmd)
	eventually(t, func() string {
		if s := a.call(t, "dvv_status", map[string]any{"limbId": limb}); s.get(t, "state.state") != "reconnecting" || s.get(t, "state.reason") == "" {
			return fmt.Sprintf("status: %s", s.Structured)
		}
		return ""
	})
	a.refused(t, "NOT_READY", "dvv_screen", map[string]any{"limbId": limb})
	eventually(t, func() string { // the pictures' and the test's timing differ
		if box := find(picture(t, w.display), remoteRed, remoteGreen, remoteBlue); box.Dx() > 300 {
			return "the pane shows the lost desktop as if it were live"
		}
		return ""
	})
	keep(t, w.display, "server-killed.png")
	server.restart(t)
	a.call(t, "dvv_wait", map[string]any{"limbId": limb, "until": "connected", "timeoutMs": 25000})
	w.pane(t)
	eventually(t, func() string {
		s := a.call(t, "dvv_status", map[string]any{"limbId": limb})
		if now, _ := s.get(t, "geometry.generation").(float64); s.get(t, "state.state") != "connected" || now <= generation {
			return fmt.Sprintf("generation %v before, now: %s", generation, s.Structured)
		}
		return ""
	})
}

// TestPassword asks for the password in the window, tells a wrong one apart,
// and takes the right one.
func TestPassword(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import", "Xtigervnc", "xsetroot", "vncpasswd")
	server := newVNC(t, "-SecurityTypes", "VncAuth", "-PasswordFile", passwordFile(t, "sesame1"))
	w := newWindow(t, fmt.Sprintf("127.0.0.1::%d", server.port))
	a := newAgent(t, w.env, "--connect", strconv.Itoa(w.control))
	state := func() (string, toolResult) {
		r := a.call(t, "dvv_limbs", map[string]any{})
		s, _ := r.get(t, "available.0.state.state").(string)
		return s, r
	}
	until := func(want string) {
		t.Helper()
		eventually(t, func() string {
			if s, r := state(); s != want {
				return fmt.Sprintf("state %q, want %q: %s", s, want, r.Structured)
			}
			return ""
		})
	}
	until("authenticating")
	w.do(t, "sleep", "0.5", "type", "--delay", "5", "wrong11")
	keep(t, w.display, "password.png")
	w.do(t, "key", "Return")
	until("disconnected")
	keep(t, w.display, "password-wrong.png")
	w.do(t, "key", "ctrl+alt+shift+r")
	until("authenticating")
	w.do(t, "sleep", "0.5", "type", "--delay", "5", "sesame1")
	w.do(t, "key", "Return")
	until("connected")
	w.pane(t)
	if said := w.log.String(); strings.Contains(said, "sesame1") || strings.Contains(said, "wrong11") {
		t.Errorf("a password is in the log:\n%s", said)
	}
}
