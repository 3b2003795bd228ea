package door

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/control/client"
	"deskvnc/control/command"
	"deskvnc/control/grant"
	"deskvnc/control/plane"
	"deskvnc/control/socket"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// hang bounds every wait.
const hang = 30 * time.Second

// settings are preferences in memory.
type settings struct {
	mu    sync.Mutex
	value json.RawMessage
	fault error
	saved chan string
}

func newSettings(value string) *settings {
	return &settings{value: json.RawMessage(value), saved: make(chan string, 100)}
}

func (s *settings) Setting(_ context.Context, key string) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.value) == 0 {
		return nil, s.fault
	}
	return s.value, s.fault
}

func (s *settings) SetSetting(_ context.Context, key string, v json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		s.value = v
	}
	s.saved <- string(v)
	return s.fault
}

// newDoor makes a door over an engine without sessions, in a home of its own.
func newDoor(t *testing.T, s Settings, allow ...string) *Door {
	t.Helper()
	home := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("HOME", home)
	e := engine.New(engine.Config{Drivers: viewer.Registry{}})
	p := plane.New(plane.Config{Engine: e})
	commands := command.New(command.Here)
	run := func(context.Context, command.Params) (any, error) { return "done", nil }
	if err := commands.Add(
		command.Command{ID: "view.fit", Label: "Fit", Kind: command.Action, Capability: grant.App, Run: run},
		command.Command{ID: "app.quit", Label: "Quit", Kind: command.Action, Capability: grant.Admin, Run: run},
		command.Command{ID: "agents.allow", Label: "Allow", Kind: command.Action, Capability: grant.Admin, Person: true, Run: run},
	); err != nil {
		t.Fatal(err)
	}
	d, err := New(Config{Plane: p, Settings: s, Version: "test", Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	d.Serve(commands)
	t.Cleanup(func() { d.Close(); p.Close(); e.Close() })
	return d
}

// agent connects to an open door.
func agent(t *testing.T, d *Door) *client.Client {
	t.Helper()
	a, err := socket.Parse(d.State().Connect, false)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(client.Config{Address: a, Name: "tester"})
	t.Cleanup(func() { c.Close() })
	return c
}

func hosts(t *testing.T, c *client.Client) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	_, err := c.Call(ctx, "dvv_hosts", nil)
	return err
}

// The switch opens and shuts, agents come and are sent away, and it is
// remembered.
func TestSwitch(t *testing.T) {
	s := newSettings("")
	d := newDoor(t, s)
	if st := d.State(); st.Open || d.Remembered() {
		t.Fatalf("the door is open by itself: %+v", st)
	}
	if err := d.Switch(true); err != nil {
		t.Fatal(err)
	}
	if got := <-s.saved; got != `{"on":true}` {
		t.Errorf("saved %s", got)
	}
	if st := d.State(); !st.Open || st.Connect != socket.Auto || !strings.HasSuffix(st.Where, ".sock") || st.Trouble != "" {
		t.Errorf("open: %+v", st)
	}
	c := agent(t, d)
	if err := hosts(t, c); err != nil {
		t.Fatal(err)
	}
	at := d.config.Plane.Attachments()
	if len(at) != 1 || at[0].Label != "tester" {
		t.Fatalf("attached: %+v", at)
	}
	if !d.End(at[0].ID) || d.End(at[0].ID) || len(d.config.Plane.Attachments()) != 0 {
		t.Error("the agent was not sent away, or twice")
	}
	if err := d.Switch(false); err != nil {
		t.Fatal(err)
	}
	if got := <-s.saved; got != `{"on":false}` {
		t.Errorf("saved %s", got)
	}
	if d.State().Open || hosts(t, c) == nil {
		t.Error("an agent came in through a door that is shut")
	}
}

// An address that is taken is said, and a port tells how to get to it.
func TestOpenSomewhere(t *testing.T) {
	d := newDoor(t, nil)
	if err := d.Open("0"); err != nil {
		t.Fatal(err)
	}
	port := d.State().Connect
	if err := hosts(t, agent(t, d)); err != nil {
		t.Error(err)
	}
	two, err := New(Config{Plane: d.config.Plane})
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	if err := two.Open(port); err == nil || two.State().Open || two.State().Trouble == "" {
		t.Errorf("a port that is taken: %v, %+v", err, two.State())
	}
}

// What is ticked counts at once for who is there, is saved, and is there again
// at the next start.
func TestPermit(t *testing.T) {
	s := newSettings("")
	d := newDoor(t, s, grant.Record)
	changed := 0
	d.OnChange(func() { changed++ })
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"control":     d.Allow(grant.Control, true),
		"nonsense":    d.Allow("nonsense", true),
		"relative":    d.AddFolder("x", false),
		"not there":   d.AddFolder(filepath.Join(folder, "none"), false),
		"a file":      d.AddFolder(file, true),
		"the root":    d.AddFolder("/", true),
		"with a tail": nilIsFine(d.AddFolder(folder+"/./", true)),
		"again":       nilIsFine(d.AddFolder(folder, true)),
	} {
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	for _, err := range []error{d.Allow(grant.Exec, true), d.AllowAnyHost(true), d.AddFolder(folder, false), d.RemoveFolder(folder, false)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	g := d.Grant()
	if !g.Has(grant.Exec) || !g.Has(grant.Record) || !g.AnyHost() || len(g.ReadFolders()) != 0 || len(g.WriteFolders()) != 1 || g.WriteFolders()[0] != folder {
		t.Errorf("the grant is %+v", g)
	}
	if changed == 0 {
		t.Error("nobody is told of a change")
	}
	d.Close() // waits for what is saved
	if err := d.Switch(true); !errors.Is(err, errClosed) {
		t.Errorf("a closed door opens: %v", err)
	}
	again := newDoor(t, s)
	if g := again.Grant(); !g.Has(grant.Exec) || !g.AnyHost() || len(g.WriteFolders()) != 1 {
		t.Errorf("at the next start: %+v in %s", g, s.value)
	}
	if err := again.Allow(grant.Exec, false); err != nil || again.Grant().Has(grant.Exec) {
		t.Errorf("exec is still allowed (%v)", err)
	}
}

var errFine = errors.New("fine")

// nilIsFine turns the absence of an error into one, for a table of errors.
func nilIsFine(err error) error {
	if err == nil {
		return errFine
	}
	return nil
}

// What is stored and not known, or wrong, allows nothing.
func TestStrangeSettings(t *testing.T) {
	d := newDoor(t, newSettings(`{"on":false,"allow":["admin","exec","shutdown"],"read":["relative","/a/../b"],"new":1}`))
	if g := d.Grant(); g.Has(grant.Admin) || !g.Has(grant.Exec) || len(g.ReadFolders()) != 0 {
		t.Errorf("the grant is %+v", g)
	}
	for _, text := range []string{`[]`, `{"allow":"exec"}`, `{"on":"yes","allow":["exec"]}`} {
		d := newDoor(t, newSettings(text))
		if d.Grant().Has(grant.Exec) || d.Remembered() || d.State().Trouble == "" {
			t.Errorf("%s: %+v, %+v", text, d.Grant(), d.State())
		}
	}
}

// A change that cannot be saved holds, and is said.
func TestUnsaved(t *testing.T) {
	s := newSettings("")
	d := newDoor(t, s)
	s.mu.Lock()
	s.fault = errors.New("the disk is full")
	s.mu.Unlock()
	if err := d.Allow(grant.Exec, true); err != nil {
		t.Fatal(err)
	}
	d.saving.work.Wait()
	if !d.Grant().Has(grant.Exec) || !strings.Contains(d.State().Trouble, "the disk is full") {
		t.Errorf("%+v", d.State())
	}
}

// The window's commands are for agents that were allowed them, each with its
// own capability, and what only a person may do stays so.
func TestCommands(t *testing.T) {
	d := newDoor(t, nil)
	if err := d.Open(socket.Auto); err != nil {
		t.Fatal(err)
	}
	c := agent(t, d)
	execute := func(id string) string {
		ctx, cancel := context.WithTimeout(context.Background(), hang)
		defer cancel()
		raw, err := c.Request(ctx, "engine.execute", id, json.RawMessage(`{"command":"`+id+`"}`))
		if err != nil {
			return err.Error()
		}
		return string(raw)
	}
	refused := func(id, want string) {
		t.Helper()
		if got := execute(id); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	refused("view.fit", "PolicyDenied")
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	if raw, err := c.Request(ctx, "engine.commands", "engine.commands", json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "PolicyDenied") {
		t.Errorf("the list: %s, %v", raw, err)
	}
	if err := d.Allow(grant.App, true); err != nil {
		t.Fatal(err)
	}
	if got := execute("view.fit"); got != `"done"` {
		t.Errorf("allowed: %s", got)
	}
	refused("app.quit", "needs the capability admin")
	refused("agents.allow", "only a person")
	if raw, err := c.Request(ctx, "engine.commands", "engine.commands", json.RawMessage(`{}`)); err != nil || !strings.Contains(string(raw), "view.fit") {
		t.Errorf("the list: %s, %v", raw, err)
	}
	if err := d.Allow(grant.App, false); err != nil {
		t.Fatal(err)
	}
	refused("view.fit", "PolicyDenied")
}
