package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"deskvnc/app/ui/picture"
	"deskvnc/control/command"
	"deskvnc/control/grant"
	"deskvnc/control/plane"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/key"
)

// settleWait bounds how long a command waits for a session to connect or
// fail.
const settleWait = 55 * time.Second

// sessionParam names the session a command is for.
var sessionParam = command.Param{Name: "session", Type: command.String, Doc: "id of the session, or its place among the tabs from 1; the shown one when missing"}

// waitParam has a command wait.
var waitParam = command.Param{Name: "wait", Type: command.Bool, Default: true, Doc: "wait until it is connected, has failed or asks for something"}

// commandTable is everything the window can do.
func (w *Window) commandTable() []command.Command {
	viewerKey := func(keys ...string) (out []command.Shortcut) {
		for _, k := range keys {
			out = append(out, command.Shortcut{Chord: "Viewer+" + k})
		}
		return out
	}
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
			Run:    w.runConnect, Shortcuts: viewerKey("K"),
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
			Params: []command.Param{sessionParam, waitParam}, Enabled: w.needSession, Shortcuts: viewerKey("R"),
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
		{
			ID: "session.sendCtrlAltDel", Label: "Send Ctrl+Alt+Del", Menu: []string{"Keys"}, Kind: command.Action, Capability: grant.Control, Person: true, Window: true,
			Doc:    "Sends Ctrl+Alt+Del to the machine.",
			Params: session, Enabled: w.needLive, Shortcuts: viewerKey("End", "Insert"),
			Run: w.onTab(func(t *tab) error { return t.sendKeys(key.ControlL, key.AltL, key.Delete) }),
		},
		{
			ID: "session.releaseKeys", Label: "Release all keys", Menu: []string{"Keys"}, Kind: command.Action, Capability: grant.Control, Person: true, Window: true,
			Doc:    "Lets go of every key and button that is held down on the machine.",
			Params: session, Enabled: w.needLive, Shortcuts: viewerKey("Z"),
			Run: w.onTab(func(t *tab) error { t.pane.LetGo(); return t.releaseAll() }),
		},
		{
			ID: "session.grabKeyboard", Label: "Send system keys", Menu: []string{"Keys"}, Kind: command.Action, Capability: grant.Control, Person: true, Window: true,
			Doc:    "Takes the whole keyboard for the shown session, Alt+Tab and the Super keys too, or gives it back.",
			Params: []command.Param{{Name: "on", Type: command.Bool, Doc: "the other way round when missing"}}, Enabled: w.needGrab, Shortcuts: viewerKey("G"),
			Run: func(_ context.Context, p command.Params) (any, error) {
				if err := w.grab(p.Bool("on", !w.grabbed)); err != nil {
					return nil, err
				}
				return map[string]any{"on": w.grabbed}, nil
			},
		},
		{
			ID: "session.refresh", Label: "Refresh the picture", Menu: []string{"View"}, Kind: command.Action, Capability: grant.View, Window: true,
			Doc:    "Asks the machine for its whole picture once more.",
			Params: session, Enabled: w.needLive, Shortcuts: viewerKey("U"),
			Run: w.onTab(func(t *tab) error { t.session.Refresh(); return nil }),
		},
		{
			ID: "view.fit", Label: "Fit to the window", Menu: []string{"View"}, Kind: command.Action, Capability: grant.App, Window: true,
			Doc:    "Shows the whole remote screen, as large as fits.",
			Params: session, Enabled: w.needSession, Shortcuts: viewerKey("0"),
			Run: w.onTab(func(t *tab) error { t.pane.SetMode(picture.Fit); w.update(); return nil }),
		},
		{
			ID: "view.actualSize", Label: "Actual size", Menu: []string{"View"}, Kind: command.Action, Capability: grant.App, Window: true,
			Doc:    "Shows each remote pixel as one pixel of this screen; a larger screen scrolls.",
			Params: session, Enabled: w.needSession, Shortcuts: viewerKey("O"),
			Run: w.onTab(func(t *tab) error { t.pane.SetMode(picture.Actual); w.update(); return nil }),
		},
		{
			ID: "view.fullscreen", Label: "Full screen", Menu: []string{"View"}, Kind: command.Action, Capability: grant.App, Window: true,
			Doc:       "Fills the screen with the shown session, or goes back.",
			Params:    []command.Param{{Name: "on", Type: command.Bool, Doc: "the other way round when missing"}},
			Shortcuts: viewerKey("F"),
			Run: func(_ context.Context, p command.Params) (any, error) {
				w.setFull(p.Bool("on", !w.full))
				return map[string]any{"on": w.full}, nil
			},
		},
		{
			ID: "view.library", Label: "Start page", Menu: []string{"View"}, Kind: command.Action, Capability: grant.App, Window: true,
			Doc: "Shows the start page; sessions go on.", Shortcuts: viewerKey("L"),
			Run: func(context.Context, command.Params) (any, error) { w.choose(nil); return nil, nil },
		},
		{
			ID: "control.takeWheel", Label: "Take the wheel", Menu: []string{"Agents"}, Kind: command.Action, Capability: grant.Admin, Person: true, Window: true,
			Doc:    "Takes the wheel from the agent that drives; it stays off until it is handed back.",
			Params: session, Enabled: w.needLive, Shortcuts: viewerKey("Space"),
			Run: w.onTab(func(t *tab) error { t.person.TakeWheel(); return nil }),
		},
		{
			ID: "control.handBack", Label: "Hand back to the agent", Menu: []string{"Agents"}, Kind: command.Action, Capability: grant.Admin, Person: true, Window: true,
			Doc:    "Lets the agents drive again that the wheel was taken from.",
			Params: session, Shortcuts: viewerKey("H"),
			Enabled: func(p command.Params) error {
				t, err := w.named(p)
				if err == nil && len(t.wheel.Revoked) == 0 {
					err = errors.New("no agent waits for the wheel of this session")
				}
				return err
			},
			Run: w.onTab(func(t *tab) error { t.pane.LetGo(); t.person.HandBack(); return nil }),
		},
		{
			ID: "control.stopAgents", Label: "Stop all agents", Menu: []string{"Agents"}, Kind: command.Action, Capability: grant.Admin, Person: true, Window: true,
			Doc: "Takes the wheel of every session at once, releases everything held there and keeps agents off for a while.", Enabled: w.needSession, Shortcuts: viewerKey("X"),
			Run: func(context.Context, command.Params) (any, error) {
				for _, t := range w.tabs {
					t.person.Stop()
				}
				return nil, nil
			},
		},
		{
			ID: "app.shortcuts", Label: "Keyboard shortcuts", Menu: []string{"Help"}, Kind: command.Query, Capability: grant.App, Window: true,
			Doc: "Shows the viewer's own key chords.", Shortcuts: viewerKey("/"),
			Run: func(context.Context, command.Params) (any, error) { w.showShortcuts(); return w.shortcutList(), nil },
		},
		{
			ID: "app.about", Label: "About DeskVNC", Menu: []string{"Help"}, Kind: command.Query, Capability: grant.App, Window: true,
			Doc: "Shows name and version.",
			Run: func(context.Context, command.Params) (any, error) {
				w.showAbout()
				return map[string]any{"name": "DeskVNC", "version": w.config.Version}, nil
			},
		},
		{
			ID: "app.quit", Label: "Quit", Menu: []string{"Help"}, Kind: command.Action, Capability: grant.Admin, Window: true,
			Doc: "Closes every session and the window.", Shortcuts: viewerKey("Q"),
			Run: func(context.Context, command.Params) (any, error) { w.config.Quit(); return nil, nil },
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
		if t.session.ID() == id || strconv.Itoa(i+1) == id {
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

// sendKeys presses keys together and lets them go, as the person.
func (t *tab) sendKeys(syms ...uint32) error {
	t.pane.LetGo()
	var in []viewer.Input
	for _, sym := range syms {
		in = append(in, viewer.Key{Sym: sym, Scan: scanOf(sym), Down: true})
	}
	for _, sym := range slices.Backward(syms) {
		in = append(in, viewer.Key{Sym: sym, Scan: scanOf(sym)})
	}
	return outcome(t.person.Input(in...))
}

// scanOf is the scan code of a named key.
func scanOf(sym uint32) uint16 {
	for _, n := range key.Names() {
		if k, _, ok := key.Lookup(n); ok && k.Sym == sym {
			return k.Scan
		}
	}
	return 0
}

// releaseAll lets go of everything held on the machine, whoever holds it.
func (t *tab) releaseAll() error {
	if t.wheel.Holder == plane.HolderAgent {
		return errors.New("an agent is driving; take the wheel first")
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseWait)
	go func() {
		defer cancel()
		if err := t.session.ReleaseAll(ctx); err != nil {
			t.w.fence.Go(func() { t.w.status.say(reason(err), true) })
		}
	}()
	return nil
}

// releaseWait bounds how long releasing may take.
const releaseWait = 5 * time.Second

// same reports whether two targets are one machine.
func same(a, b viewer.Target) bool { return engine.Same(a, b) }
