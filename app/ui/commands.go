package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"deskvnc/control"
	"deskvnc/control/command"
	"deskvnc/control/grant"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// settleWait bounds how long a command waits for a session to connect or
// fail.
const settleWait = 55 * time.Second

// sessionParam names the session a command is for.
var sessionParam = command.Param{Name: "session", Type: command.String, Doc: "id of the session or of its limb, or its place among the tabs from 1; the shown one when missing"}

// waitParam has a command wait.
var waitParam = command.Param{Name: "wait", Type: command.Bool, Default: true, Doc: "wait until it is connected, has failed or asks for something"}

// viewerKey makes shortcuts of keys pressed with the viewer's prefix.
func viewerKey(keys ...string) (out []command.Shortcut) {
	for _, k := range keys {
		out = append(out, command.Shortcut{Chord: "Viewer+" + k})
	}
	return out
}

// commandTable is everything the window can do.
func (w *Window) commandTable() []command.Command {
	return slices.Concat(w.sessionCommands(), w.qualityCommands(), w.connectionCommands(), w.callCommands(), w.keyCommands(), w.viewCommands(), w.resizeCommands(), w.clipboardCommands(), w.terminalCommands(), w.fileCommands(), w.agentCommands(), w.helpCommands())
}

// sessionCommands are the commands about sessions.
func (w *Window) sessionCommands() []command.Command {
	var places []command.Shortcut
	for i := 1; i <= 9; i++ {
		n := strconv.Itoa(i)
		places = append(places, command.Shortcut{Chord: "Viewer+" + n, Params: command.Params{"session": n}})
	}
	session := []command.Param{sessionParam}
	return []command.Command{
		{
			ID: "session.quickConnect", Label: "Connect", Menu: []string{"Session"}, Kind: command.Action, Capability: grant.Open, Window: true,
			Doc:    "Opens a session to an address such as host, host:1, host::5901 or vnc://user@host:5901. Without a target the connect bar gets the keyboard.",
			Params: []command.Param{{Name: "target", Type: command.String, Doc: "the address"}, waitParam},
			Run:    w.runConnect, Shortcuts: viewerKey("N"),
		},
		{
			ID: "session.sample", Label: "Open the sample desktop", Menu: []string{"Session"}, Kind: command.Action, Capability: grant.Open, Window: true,
			Doc:    "Opens a session to the built-in sample desktop.",
			Params: []command.Param{waitParam}, Enabled: func(command.Params) error {
				if len(w.config.Samples) == 0 {
					return errors.New("the program was started without --sample")
				}
				return nil
			},
			Run: func(_ context.Context, p command.Params) (any, error) { return w.open(w.config.Samples[0], p) },
		},
		{
			ID: "session.list", Label: "List sessions", Kind: command.Query, Capability: grant.View,
			Doc: "Lists the open sessions in the order of their tabs.",
			Run: func(context.Context, command.Params) (any, error) { return w.listSessions(), nil },
		},
		{
			ID: "session.reconnect", Label: "Reconnect", Menu: []string{"Session"}, Kind: command.Action, Capability: grant.Open, Window: true,
			Doc:    "Drops the connection of a session and makes a new one.",
			Params: []command.Param{sessionParam, waitParam}, Enabled: w.needCallable, Shortcuts: viewerKey("R"),
			Run: func(_ context.Context, p command.Params) (any, error) {
				t, err := w.named(p)
				if err != nil {
					return nil, err
				}
				t.session.Reconnect()
				return w.settled(t.session, p), nil
			},
		},
		{
			ID: "session.close", Label: "Close session", Menu: []string{"Session"}, Kind: command.Action, Capability: grant.Close, Window: true,
			Doc:    "Ends a session and closes its tab.",
			Params: session, Enabled: w.needSession, Shortcuts: viewerKey("W"),
			Run: w.onTab(func(t *tab) error { w.closeSession(t.session); return nil }),
		},
		{
			ID: "session.viewOnly", Label: "View only", Menu: []string{"Session"}, Kind: command.Action, Capability: grant.Control, Person: true, Window: true,
			Doc:    "Has a session take no input, from a person or an agent, or take it again. It is remembered for a saved machine.",
			Params: []command.Param{sessionParam, {Name: "on", Type: command.Bool, Doc: "the other way round when missing"}}, Enabled: w.needSession, Shortcuts: viewerKey("V"),
			On: func() bool { return w.selected != nil && w.selected.person.ViewOnly() },
			Run: func(_ context.Context, p command.Params) (any, error) {
				return w.onTab(func(t *tab) error { t.setViewOnly(p.Bool("on", !t.person.ViewOnly())); return nil })(context.Background(), p)
			},
		},
		{
			ID: "session.screenshot", Label: "Save the picture...", Menu: []string{"Session"}, Kind: command.Query, Capability: grant.Capture, Person: true, Window: true,
			Doc:     "Saves the picture of the shown session as a PNG file. Without a path a person is asked where. A file that is there is not replaced unless that is said.",
			Params:  []command.Param{{Name: "path", Type: command.String, Doc: "the file"}, {Name: "overwrite", Type: command.Bool, Default: false, Doc: "replace a file that is there"}},
			Enabled: w.needPicture, Shortcuts: viewerKey("S"), Run: w.runScreenshot,
		},
		{
			ID: "session.select", Label: "Show session", Kind: command.Action, Capability: grant.View, Window: true,
			Doc:    "Shows the tab of a session.",
			Params: []command.Param{{Name: "session", Type: command.String, Required: true, Doc: sessionParam.Doc}}, Enabled: w.needSession, Shortcuts: places,
			Run: w.onTab(func(t *tab) error { w.choose(t); return nil }),
		},
		{
			ID: "session.next", Label: "Next session", Menu: []string{"Session"}, Kind: command.Action, Capability: grant.View, Window: true,
			Doc: "Shows the tab to the right.", Enabled: w.needTwo, Shortcuts: viewerKey("]"),
			Run: func(context.Context, command.Params) (any, error) { return w.step(1), nil },
		},
		{
			ID: "session.previous", Label: "Previous session", Menu: []string{"Session"}, Kind: command.Action, Capability: grant.View, Window: true,
			Doc: "Shows the tab to the left.", Enabled: w.needTwo, Shortcuts: viewerKey("["),
			Run: func(context.Context, command.Params) (any, error) { return w.step(-1), nil },
		},
	}
}

// onTab makes a Run of something done to the named tab.
func (w *Window) onTab(do func(*tab) error) func(context.Context, command.Params) (any, error) {
	return func(_ context.Context, p command.Params) (any, error) {
		t, err := w.named(p)
		if err != nil {
			return nil, err
		}
		if err := do(t); err != nil {
			return nil, err
		}
		return map[string]any{"session": t.session.ID()}, nil
	}
}

// named is the tab that the parameters name, or the shown one.
func (w *Window) named(p command.Params) (*tab, error) {
	id := p.Text("session")
	if id == "" {
		if w.selected == nil {
			return nil, errors.New("no session is shown")
		}
		return w.selected, nil
	}
	for i, t := range w.tabs {
		if t.session.ID() == id || strconv.Itoa(i+1) == id || control.LimbID(t.session.Target(), t.session.Slot()) == id {
			return t, nil
		}
	}
	return nil, fmt.Errorf("there is no session %q", id)
}

func (w *Window) needSession(p command.Params) error {
	if len(w.tabs) == 0 {
		return errors.New("no session is open")
	}
	if p == nil && w.selected == nil {
		return errors.New("no session is shown")
	}
	return nil
}

// needCallable says why no new connection can be made.
func (w *Window) needCallable(p command.Params) error {
	if err := w.needSession(p); err != nil {
		return err
	}
	t, err := w.named(p)
	if err == nil && t.session.Called() {
		err = errors.New("the machine has called by itself: wait until it calls again")
	}
	return err
}

func (w *Window) needTwo(command.Params) error {
	if len(w.tabs) < 2 {
		return errors.New("there is no other session")
	}
	return nil
}

func (w *Window) needLive(p command.Params) error {
	t, err := w.named(p)
	if err != nil {
		return err
	}
	if t.session.State().Phase != viewer.Connected {
		return errors.New("the session is not connected")
	}
	return nil
}

// runConnect opens what the connect bar, or a caller, names.
func (w *Window) runConnect(_ context.Context, p command.Params) (any, error) {
	if !p.Has("target") {
		w.choose(nil)
		w.start.focus()
		return nil, nil
	}
	target, err := viewer.ParseTarget(p.Text("target"), viewer.VNC)
	if err != nil {
		return nil, err
	}
	if t := w.known(target); t.HostID != "" {
		return w.openOnce(t, p)
	}
	return w.open(target, p)
}

// open starts a session and shows it.
func (w *Window) open(target viewer.Target, p command.Params) (any, error) {
	s, err := w.engine.Open(target)
	if err != nil {
		return nil, err
	}
	w.addTab(s) // the engine's own word comes later
	if t := w.tabOf(s); t != nil {
		w.choose(t)
	}
	return w.settled(s, p), nil
}

// settled is the result of a command that has a session connect.
func (w *Window) settled(s *engine.Session, p command.Params) any {
	if !p.Bool("wait", true) {
		return sessionRecord(s)
	}
	return command.Later(func(ctx context.Context) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, settleWait)
		defer cancel()
		s.WaitState(ctx, func(st viewer.State) bool {
			return st.Phase == viewer.Connected || st.Phase == viewer.Disconnected || st.Asking != ""
		})
		return sessionRecord(s), nil
	})
}

// A record tells of a session.
type record struct {
	Session string `json:"session"`
	Name    string `json:"name"`
	Address string `json:"address"`
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Asking  string `json:"asking,omitempty"`
	Shown   bool   `json:"shown"`
}

func sessionRecord(s *engine.Session) record {
	st := s.State()
	return record{Session: s.ID(), Name: s.Target().Label(), Address: s.Target().HostPort(), State: string(st.Phase), Reason: st.Reason, Asking: string(st.Asking)}
}

func (w *Window) listSessions() []record {
	out := []record{}
	for _, t := range w.tabs {
		r := sessionRecord(t.session)
		r.Name, r.Shown = t.title(), t == w.selected
		out = append(out, r)
	}
	return out
}

// step shows the tab n places to the right.
func (w *Window) step(n int) any {
	i := slices.Index(w.tabs, w.selected)
	if i < 0 && n < 0 {
		i = 0
	}
	t := w.tabs[(i+n+len(w.tabs))%len(w.tabs)]
	w.choose(t)
	return map[string]any{"session": t.session.ID()}
}

// same reports whether two targets are one machine.
func same(a, b viewer.Target) bool { return engine.Same(a, b) }
