package e2e

import (
	"context"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"deskvnc/control"
	"deskvnc/keychain"
	"deskvnc/keychain/secret/secrettest"
	"deskvnc/keychain/store"
)

// A house is a person's home, with a screen, where the viewer is started more
// than once.
type house struct {
	display string
	env     []string
	store   *store.Store
}

// newHouse makes one in a home folder, with a session bus or none.
func newHouse(t *testing.T, home, bus string) *house {
	t.Helper()
	h := &house{display: display(t, "Xvfb", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset")}
	path := filepath.Join(home, "data", "library.db")
	h.env = append(os.Environ(), "DISPLAY="+h.display, "HOME="+home, "XDG_CONFIG_HOME="+home+"/config", "XDG_DATA_HOME="+home+"/data",
		"XDG_CACHE_HOME="+home+"/cache", "XDG_RUNTIME_DIR="+home+"/run", "DBUS_SESSION_BUS_ADDRESS="+bus, "DESKVNC_LIBRARY="+path)
	if err := os.MkdirAll(home+"/run", 0o700); err != nil {
		t.Fatal(err)
	}
	wm := exec.Command("openbox")
	wm.Env = h.env
	start(t, wm)
	s, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h.store = s
	return h
}

// hosts are the names in the library, as another process reads them.
func (h *house) hosts(t *testing.T) string {
	t.Helper()
	all, err := h.store.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range all {
		names = append(names, o.Name)
	}
	return strings.Join(names, " ")
}

// until waits until the library holds these names.
func (h *house) until(t *testing.T, want string) {
	t.Helper()
	eventually(t, func() string {
		if got := h.hosts(t); got != want {
			return fmt.Sprintf("the library holds %q, want %q", got, want)
		}
		return ""
	})
}

// enter starts the viewer and waits until it shows.
func (h *house) enter(t *testing.T, args ...string) (*window, *exec.Cmd) {
	t.Helper()
	w := &window{display: h.display, control: freePort(t), log: &transcript{}, env: h.env}
	cmd := exec.Command(deskvnc, append([]string{"--control", strconv.Itoa(w.control)}, args...)...)
	cmd.Env = h.env
	cmd.Stdout, cmd.Stderr = w.log, w.log
	start(t, cmd)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the viewer said:\n%s", w.log)
			keep(t, h.display, "failed-"+t.Name()+".png")
		}
	})
	eventually(t, func() string {
		find := exec.Command("xdotool", "search", "--onlyvisible", "--name", "DeskVNC")
		find.Env = h.env
		if out, err := find.Output(); err != nil || len(out) == 0 {
			return "the viewer shows no window named DeskVNC"
		}
		return ""
	})
	listening(t, w.control)
	w.settled(t)
	return w, cmd
}

// leave quits the viewer by its chord and waits for its end.
func (w *window) leave(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	w.do(t, "key", "ctrl+alt+shift+q")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the viewer ended with %v:\n%s", err, w.log)
	}
}

// settled waits until the screen does not change any more, but for the cursor
// of a line that is typed into.
func (w *window) settled(t *testing.T) image.Image {
	t.Helper()
	var now image.Image
	calm := 0
	eventually(t, func() string {
		last := now
		if now = picture(t, w.display); last == nil || different(last, now) > 200 {
			calm = 0
			return "the window does not come to rest"
		}
		if calm++; calm < 3 {
			return "the window does not come to rest"
		}
		return ""
	})
	return now
}

// different counts the pixels that differ.
func different(a, b image.Image) (n int) {
	r := a.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if a.At(x, y) != b.At(x, y) {
				n++
			}
		}
	}
	return n
}

// add saves a machine through the form, with the keyboard alone.
func (w *window) add(t *testing.T, name, address string) {
	t.Helper()
	w.do(t, "key", "ctrl+n")
	w.settled(t)
	w.do(t, "type", "--delay", "5", name)
	w.do(t, "key", "Tab")
	w.do(t, "type", "--delay", "5", address)
	w.do(t, "key", "Return")
}

// state is where the only session stands, as an agent sees it.
func state(t *testing.T, a *agent) (state, limb string) {
	t.Helper()
	r := a.call(t, "dvv_limbs", map[string]any{})
	state, _ = r.get(t, "available.0.state.state").(string)
	limb, _ = r.get(t, "available.0.limb_id").(string)
	return state, limb
}

func untilState(t *testing.T, a *agent, want string) (limb string) {
	t.Helper()
	eventually(t, func() string {
		s, id := state(t, a)
		if limb = id; s != want {
			return fmt.Sprintf("the session is %q, want %q", s, want)
		}
		return ""
	})
	return limb
}

// TestComingBack adds a machine through the window, connects, has the password
// saved, quits, and connects again without typing it; then deletes the machine,
// brings it back with its password, and deletes it for good.
func TestComingBack(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import", "Xtigervnc", "xsetroot", "vncpasswd", "gnome-keyring-daemon", "secret-tool")
	session := secrettest.New(t)
	session.StartKeyring(t, "login")
	server := newVNC(t, "-SecurityTypes", "VncAuth", "-PasswordFile", passwordFile(t, "sesame1"))
	h := newHouse(t, session.Home, session.Address)
	w, cmd := h.enter(t)
	keep(t, w.display, "library-empty.png")
	w.add(t, "lab", fmt.Sprintf("127.0.0.1::%d", server.port))
	h.until(t, "lab")
	hosts, err := h.store.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	id := hosts[0].ID

	a := newAgent(t, w.env, "--connect", strconv.Itoa(w.control))
	w.settled(t)
	w.do(t, "key", "Return") // the new one is chosen
	limb := untilState(t, a, "authenticating")
	if want := control.LimbID(hosts[0].Target(), 0); limb != want {
		t.Errorf("the session of the saved machine is %s, not %s", limb, want)
	}
	w.settled(t)
	w.do(t, "type", "--delay", "5", "sesame1")
	w.do(t, "key", "Tab", "space")
	w.settled(t)
	keep(t, w.display, "library-password.png")
	w.do(t, "key", "shift+Tab", "Return")
	untilState(t, a, "connected")
	w.pane(t)
	stored := func() string { return strings.Join(session.Search(t, "service", "DeskVNC"), "\n") }
	eventually(t, func() string {
		if !strings.Contains(stored(), id) {
			return "the password is not in the keychain"
		}
		return ""
	})
	w.leave(t, cmd)

	// Another day.
	w, cmd = h.enter(t)
	a = newAgent(t, w.env, "--connect", strconv.Itoa(w.control))
	w.do(t, "key", "ctrl+f")
	w.do(t, "type", "--delay", "5", "lab")
	w.settled(t)
	keep(t, w.display, "library-search.png")
	w.do(t, "key", "Return")
	untilState(t, a, "connected")
	w.pane(t)

	// The machine is deleted while it is connected, and brought back.
	w.do(t, "key", "ctrl+alt+shift+l")
	w.settled(t)
	keep(t, w.display, "library-live.png")
	w.do(t, "key", "ctrl+f")
	w.do(t, "key", "Down", "Delete")
	h.until(t, "")
	w.settled(t)
	keep(t, w.display, "library-deleted.png")
	if !strings.Contains(stored(), id) {
		t.Error("the password went before the offer to undo had gone")
	}
	w.do(t, "key", "ctrl+z")
	h.until(t, "lab")
	if s, _ := state(t, a); s != "connected" {
		t.Errorf("deleting the machine left its session %q", s)
	}

	// For good: the secret goes as well (C241).
	w.settled(t)
	w.do(t, "key", "Delete")
	h.until(t, "")
	w.settled(t)
	w.leave(t, cmd)
	if s := stored(); strings.Contains(s, id) {
		t.Errorf("the password of the deleted machine is still there: %s", s)
	}
	if said := w.log.String(); strings.Contains(said, "sesame1") {
		t.Errorf("a password is in the log:\n%s", said)
	}
}

// TestKilledAfterSave kills the viewer as soon as a machine is saved: it is
// there in the next run.
func TestKilledAfterSave(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import")
	h := newHouse(t, t.TempDir(), "unix:path=/nonexistent")
	for i, want := range []string{"one", "one two", "one three two"} {
		w, cmd := h.enter(t)
		name := []string{"one", "two", "three"}[i]
		w.add(t, name, fmt.Sprintf("127.0.0.1::%d", 6000+i))
		h.until(t, want)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		again, err := store.Open(h.store.Path())
		if err != nil {
			t.Fatal(err)
		}
		if all, err := again.List(context.Background()); err != nil || len(all) != i+1 {
			t.Errorf("%d machines after the kill, %v", len(all), err)
		}
		again.Close()
	}
	w, _ := h.enter(t)
	keep(t, w.display, "library-three.png")
}

// TestOthersChangesAppear changes the library from a shell while the window
// shows it.
func TestOthersChangesAppear(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import")
	h := newHouse(t, t.TempDir(), "unix:path=/nonexistent")
	w, _ := h.enter(t)
	before := w.settled(t)
	add := exec.Command(dvv, "hosts", "add", "shell", "10.0.0.7:1")
	add.Env = h.env
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("dvv hosts add: %v\n%s", err, out)
	}
	eventually(t, func() string {
		if different(before, picture(t, w.display)) < 5000 {
			return "the window does not show the machine that the shell added"
		}
		return ""
	})
}

// TestSaveFails makes the library read-only under the window: what was typed
// stays on the screen with the reason, and is saved once that is possible
// (C256).
func TestSaveFails(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import")
	h := newHouse(t, t.TempDir(), "unix:path=/nonexistent")
	if _, err := h.store.Add(context.Background(), keychain.Host{Name: "old", Protocol: "vnc", Address: "10.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	w, _ := h.enter(t)
	// Somebody has the library locked for longer than anyone waits.
	lock := exec.Command("python3", "-c", "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1],isolation_level=None)\nc.execute('BEGIN IMMEDIATE')\nprint('locked',flush=True)\nsys.stdin.read()", h.store.Path())
	need(t, "python3")
	in, err := lock.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said := &transcript{}
	lock.Stdout, lock.Stderr = said, said
	start(t, lock)
	said.wait(t, "locked")
	w.do(t, "key", "ctrl+n")
	open := w.settled(t)
	w.do(t, "type", "--delay", "5", "new")
	w.do(t, "key", "Tab")
	w.do(t, "type", "--delay", "5", "10.0.0.2")
	w.do(t, "key", "Return")
	eventually(t, func() string {
		r, g, b := uint8(0xec), uint8(0x6a), uint8(0x5e)
		if find(picture(t, w.display), r, g, b).Empty() {
			return "nothing on the screen says that the machine was not saved"
		}
		return ""
	})
	keep(t, w.display, "library-not-saved.png")
	if different(open, picture(t, w.display)) > 200000 {
		t.Error("the form has gone with what was typed")
	}
	if got := h.hosts(t); got != "old" {
		t.Errorf("the library holds %q", got)
	}
	in.Close()
	lock.Wait()
	w.do(t, "key", "Return")
	h.until(t, "new old")
}
