// Package secrettest gives tests a desktop session of their own: a private
// bus, a real gnome-keyring on it with an empty home, and a prompter that
// answers for the person. It touches neither the bus nor the keyrings of
// whoever runs the tests.
package secrettest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// guard bounds every wait of a test; only a hang reaches it.
const guard = 60 * time.Second

// Need skips the test when a program is missing, and fails it where
// DESKVNC_PEERS=required.
func Need(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err == nil {
			continue
		}
		if os.Getenv("DESKVNC_PEERS") == "required" {
			t.Fatalf("%s is not installed", p)
		}
		t.Skipf("SKIPPED: %s is not installed", p)
	}
}

// A Session is a private bus and a home for the programs on it.
type Session struct {
	Address string // of the bus
	Home    string
	env     []string
	daemon  *exec.Cmd
}

// busConfig has no folder of services, so that nothing starts by itself, and
// the limit of a session bus, which secret-tool needs for many items.
const busConfig = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=%s</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
  <limit name="max_replies_per_connection">50000</limit>
</busconfig>
`

// New starts a bus without any service and points the environment of the test
// at it. The test may not be parallel.
func New(t testing.TB) *Session {
	t.Helper()
	Need(t, "dbus-daemon")
	home := Isolate(t)
	s := &Session{Home: home}
	config := filepath.Join(home, "bus.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, busConfig, filepath.Join(home, "run", "bus")), 0o600); err != nil {
		t.Fatal(err)
	}
	bus := exec.Command("dbus-daemon", "--nofork", "--nopidfile", "--config-file="+config, "--print-address=1")
	line := start(t, bus, nil, "unix:")
	s.Address = strings.TrimSpace(line)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", s.Address)
	s.env = os.Environ()
	return s
}

// Isolate gives the test an empty home and runtime folder and no session bus.
func Isolate(t testing.TB) (home string) {
	t.Helper()
	// Not t.TempDir, whose names are longer than the path of a socket may be.
	home, err := os.MkdirTemp("", "secret")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	for name, dir := range map[string]string{
		"HOME": "", "XDG_RUNTIME_DIR": "run", "XDG_DATA_HOME": "data",
		"XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache",
	} {
		dir = filepath.Join(home, dir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv(name, dir)
	}
	for _, name := range []string{"DBUS_SESSION_BUS_ADDRESS", "GNOME_KEYRING_CONTROL", "DISPLAY", "WAYLAND_DISPLAY"} {
		t.Setenv(name, "")
	}
	return home
}

// start runs cmd until the test ends and returns its first line of output that
// has the prefix; "" waits for none.
func start(t testing.TB, cmd *exec.Cmd, stdin io.Reader, prefix string) string {
	t.Helper()
	cmd.Stdin = stdin
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(cmd) })
	if prefix == "" {
		return ""
	}
	found := make(chan string, 1)
	go func() {
		defer close(found)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), prefix) {
				found <- lines.Text()
				return
			}
		}
	}()
	select {
	case line, ok := <-found:
		if !ok {
			t.Fatalf("%s ended early", cmd.Path)
		}
		return line
	case <-time.After(guard):
		t.Fatalf("%s printed no %s", cmd.Path, prefix)
		return ""
	}
}

// stop ends cmd, once.
func stop(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		cmd.Process.Kill()
		cmd.Wait()
	}
}

// Dial connects the test itself to the bus.
func (s *Session) Dial(t testing.TB, o ...dbus.ConnOption) *dbus.Conn {
	t.Helper()
	c, err := dbus.Connect(s.Address, o...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// StartKeyring starts gnome-keyring. With a password it unlocks the login
// keyring, and makes it where there is none; with "" it stays as it is.
func (s *Session) StartKeyring(t testing.TB, password string) {
	t.Helper()
	Need(t, "gnome-keyring-daemon")
	c := s.Dial(t)
	defer c.Close()
	args := []string{"--foreground", "--components=secrets"}
	var stdin io.Reader
	if password != "" {
		args, stdin = append(args, "--unlock"), strings.NewReader(password)
	}
	s.daemon = exec.Command("gnome-keyring-daemon", args...)
	s.daemon.Env = s.env
	start(t, s.daemon, stdin, "")
	s.await(t, c, true)
}

// StopKeyring ends gnome-keyring as a crash would.
func (s *Session) StopKeyring(t testing.TB) {
	t.Helper()
	c := s.Dial(t)
	defer c.Close()
	stop(s.daemon)
	s.await(t, c, false)
}

// await waits until the service is on the bus, or gone from it.
func (s *Session) await(t testing.TB, c *dbus.Conn, there bool) {
	t.Helper()
	const service = "org.freedesktop.secrets"
	changes := make(chan *dbus.Signal, 64)
	c.Signal(changes)
	if err := c.AddMatchSignal(dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, service)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), guard)
	defer cancel()
	for {
		var has bool
		if err := c.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, service).Store(&has); err != nil {
			t.Fatal(err)
		}
		if has == there {
			return
		}
		select {
		case <-changes:
		case <-ctx.Done():
			t.Fatalf("waiting for the keyring service to be there (%v): %v", there, ctx.Err())
		}
	}
}

// Search lists the items with the attributes given (name, value ...) through
// secret-tool, a program of libsecret: one line of attributes and labels each.
// It shows no secret.
func (s *Session) Search(t testing.TB, attributes ...string) []string {
	t.Helper()
	out := s.Tool(t, "", append([]string{"search", "--all"}, attributes...)...)
	var items []string
	for _, line := range strings.Split(out, "\n") {
		switch {
		case strings.HasPrefix(line, "["):
			items = append(items, "")
		case len(items) > 0 && (strings.HasPrefix(line, "label = ") || strings.HasPrefix(line, "attribute.")):
			items[len(items)-1] += line + "\n"
		}
	}
	return items
}

// Tool runs secret-tool and gives all its output.
func (s *Session) Tool(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	Need(t, "secret-tool")
	ctx, cancel := context.WithTimeout(t.Context(), guard)
	defer cancel()
	cmd := exec.CommandContext(ctx, "secret-tool", args...)
	cmd.Env = s.env
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) > 0 {
		t.Fatalf("secret-tool %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// Monitor records every message on the bus from now on, as dbus-monitor does.
// Calling what it returns ends the record and gives it.
func (s *Session) Monitor(t testing.TB) func() []*dbus.Message {
	t.Helper()
	var seen []*dbus.Message
	watcher, marker := s.Dial(t), s.Dial(t)
	all := make(chan *dbus.Message, 1<<16)
	watcher.Eavesdrop(all)
	// With eavesdropping on, the reply to this call is not handed to it.
	watcher.BusObject().Go("org.freedesktop.DBus.Monitoring.BecomeMonitor", 0, make(chan *dbus.Call, 1), []string{}, uint32(0))
	// A call of a name that only the marker makes shows that the monitor has
	// begun, and later that it has seen everything before.
	mark := func(name string) {
		for {
			if err := marker.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, name).Err; err != nil {
				t.Fatal(err)
			}
			for len(all) > 0 {
				m := <-all
				seen = append(seen, m)
				if len(m.Body) == 1 && m.Body[0] == name {
					return
				}
			}
		}
	}
	mark("test.monitor.begins")
	return func() []*dbus.Message {
		mark("test.monitor.ends")
		return seen
	}
}
