package ui

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"

	"deskvnc/app/ui/agents"
	"deskvnc/control"
	"deskvnc/control/command"
	"deskvnc/control/door"
	"deskvnc/control/grant"
)

// agentCommands are the commands about agents. All that changes something is
// for a person alone.
func (w *Window) agentCommands() []command.Command {
	session := []command.Param{sessionParam}
	menu := []string{"Agents"}
	person := func(c command.Command) command.Command {
		c.Kind, c.Capability, c.Person, c.Window = command.Action, grant.Admin, true, true
		return c
	}
	write := command.Param{Name: "write", Type: command.Bool, Default: false, Doc: "to write, not to read"}
	return []command.Command{
		person(command.Command{
			ID: "agents.togglePlane", Label: "Agents panel", Menu: menu, Shortcuts: viewerKey("A"), On: func() bool { return w.panelOn },
			Doc:    "Shows or hides the panel about agents.",
			Params: []command.Param{onParam},
			Run: func(_ context.Context, p command.Params) (any, error) {
				w.showAgents(p.Bool("on", !w.panelOn))
				return map[string]any{"on": w.panelOn}, nil
			},
		}),
		person(command.Command{
			ID: "agents.listen", Label: "Let agents connect", Menu: menu, Enabled: w.needDoor,
			On:     func() bool { return w.config.Door != nil && w.config.Door.State().Open },
			Doc:    "Opens or closes the control socket that agents connect to, and has that remembered. Closing it sends away the agents that are there.",
			Params: []command.Param{onParam},
			Run: func(_ context.Context, p command.Params) (any, error) {
				d := w.config.Door
				on := p.Bool("on", !d.State().Open)
				w.background.Go(func() { // it waits for those who are there
					if err := d.Switch(on); err != nil {
						w.fence.Go(func() { w.status.say("Agents cannot connect: "+sentence(err.Error()), true) })
					}
				})
				return map[string]any{"on": on}, nil
			},
		}),
		person(command.Command{
			ID: "agents.allow", Label: "Allow to agents", Enabled: w.needDoor,
			Doc: "Allows a capability to agents, or forbids it, from their next call on.",
			Params: []command.Param{
				{Name: "capability", Type: command.String, Required: true, Enum: door.Ticked(), Doc: "the capability"},
				{Name: "on", Type: command.Bool, Required: true, Doc: "allow it"},
			},
			Run: func(_ context.Context, p command.Params) (any, error) {
				return nil, w.config.Door.Allow(p.Text("capability"), p.Bool("on", false))
			},
		}),
		person(command.Command{
			ID: "agents.anyHost", Label: "Let agents open any address", Enabled: w.needDoor,
			Doc:    "Lets agents open every address, or only machines that are saved, found on the network or open.",
			Params: []command.Param{{Name: "on", Type: command.Bool, Required: true, Doc: "every address"}},
			Run: func(_ context.Context, p command.Params) (any, error) {
				return nil, w.config.Door.AllowAnyHost(p.Bool("on", false))
			},
		}),
		person(command.Command{
			ID: "agents.addFolder", Label: "Let agents use a folder", Enabled: w.needDoor,
			Doc:    "Lets agents read the files below a folder of this computer, or write them. Without a path a person is asked which.",
			Params: []command.Param{{Name: "path", Type: command.String, Doc: "the folder"}, write},
			Run: func(_ context.Context, p command.Params) (any, error) {
				if !p.Has("path") {
					w.askFolder(p.Bool("write", false))
					return nil, nil
				}
				return nil, w.config.Door.AddFolder(p.Text("path"), p.Bool("write", false))
			},
		}),
		person(command.Command{
			ID: "agents.removeFolder", Label: "Keep agents out of a folder", Enabled: w.needDoor,
			Doc:    "Takes back what let agents use a folder.",
			Params: []command.Param{{Name: "path", Type: command.String, Required: true, Doc: "the folder"}, write},
			Run: func(_ context.Context, p command.Params) (any, error) {
				return nil, w.config.Door.RemoveFolder(p.Text("path"), p.Bool("write", false))
			},
		}),
		person(command.Command{
			ID: "agents.copyClient", Label: "Copy the lines for an MCP client", Menu: menu,
			Enabled: func(p command.Params) error {
				if err := w.needDoor(p); err != nil {
					return err
				}
				if !w.config.Door.State().Open {
					return errors.New("agents cannot connect; let them first")
				}
				return nil
			},
			Doc: "Puts what an MCP client needs to connect here on the clipboard.",
			Run: func(context.Context, command.Params) (any, error) {
				lines := clientLines(w.config.Door.State().Connect)
				w.config.App.Clipboard().SetContent(lines)
				w.status.say("Copied. Paste it into the settings of your MCP client.", false)
				return lines, nil
			},
		}),
		person(command.Command{
			ID: "agents.disconnect", Label: "Send an agent away", Enabled: w.needDoor,
			Doc:    "Ends the connection of an agent: what it does is cancelled, what it holds is let go. It may connect again.",
			Params: []command.Param{{Name: "agent", Type: command.String, Required: true, Doc: "its id, as agents.list tells it"}},
			Run: func(_ context.Context, p command.Params) (any, error) {
				id := p.Text("agent")
				w.background.Go(func() {
					if !w.config.Door.End(id) {
						w.fence.Go(func() { w.status.say("There is no such agent any more.", true) })
					}
				})
				return nil, nil
			},
		}),
		{
			ID: "agents.list", Label: "List agents", Kind: command.Query, Capability: grant.Admin,
			Doc: "Lists the agents that are attached.",
			Run: func(context.Context, command.Params) (any, error) { return w.listAgents(), nil },
		},
		person(command.Command{
			ID: "control.takeWheel", Label: "Take the wheel", Menu: menu, Params: session, Enabled: w.needLive, Shortcuts: viewerKey("Space"),
			Doc: "Takes the wheel from the agent that drives; it stays off until it is handed back.",
			Run: w.onTab(func(t *tab) error { t.person.TakeWheel(); return nil }),
		}),
		person(command.Command{
			ID: "control.keepOff", Label: "Keep agents off", Menu: menu, Params: session,
			Doc: "Takes the wheel from the agent that drives and keeps the agents at the session off it until it is handed back.",
			Enabled: func(p command.Params) error {
				t, err := w.named(p)
				if err == nil && !w.attended(t) {
					err = errors.New("no agent is at this session")
				}
				return err
			},
			Run: w.onTab(func(t *tab) error { t.person.KeepOff(); return nil }),
		}),
		person(command.Command{
			ID: "control.handBack", Label: "Hand back to the agent", Menu: menu, Params: session, Shortcuts: viewerKey("H"),
			Doc: "Lets the agents drive again that the wheel was taken from.",
			Enabled: func(p command.Params) error {
				t, err := w.named(p)
				if err == nil && len(t.wheel.Revoked) == 0 {
					err = errors.New("no agent waits for the wheel of this session")
				}
				return err
			},
			Run: w.onTab(func(t *tab) error { t.pane.LetGo(); t.person.HandBack(); return nil }),
		}),
		person(command.Command{
			ID: "control.stopAgents", Label: "Stop all agents", Menu: menu, Shortcuts: viewerKey("X"),
			Doc: "Takes the wheel of every session at once, releases everything held there and keeps agents off for a while.",
			Enabled: func(command.Params) error {
				if len(w.tabs) == 0 {
					return errors.New("no session is open")
				}
				return nil
			},
			Run: func(context.Context, command.Params) (any, error) {
				for _, t := range w.tabs {
					t.person.Stop()
					t.person.KeepOff()
				}
				w.status.say("Every agent was stopped and stays off its sessions until you hand back.", false)
				return nil, nil
			},
		}),
	}
}

// needDoor says why agents cannot be let in at all.
func (w *Window) needDoor(command.Params) error {
	if w.config.Door == nil {
		return errors.New("this window has no control socket")
	}
	return nil
}

// limbOf is what agents call a session.
func limbOf(t *tab) string { return control.LimbID(t.session.Target(), t.session.Slot()) }

// attended reports whether an agent is at a session.
func (w *Window) attended(t *tab) bool {
	limb := limbOf(t)
	for _, a := range w.plane.Attachments() {
		for _, l := range a.Limbs {
			if l == limb {
				return true
			}
		}
	}
	return false
}

// An agentRecord tells of an attached agent.
type agentRecord struct {
	Agent   string   `json:"agent"`
	Label   string   `json:"label"`
	Since   string   `json:"since"`
	Limbs   []string `json:"limbs"`
	Driving []string `json:"driving"`
}

func (w *Window) listAgents() []agentRecord {
	out := []agentRecord{}
	for _, a := range w.plane.Attachments() {
		out = append(out, agentRecord{a.ID, a.Label, a.Since.UTC().Format("2006-01-02T15:04:05Z"), append([]string{}, a.Limbs...), append([]string{}, a.Driving...)})
	}
	return out
}

// newAgents makes the panel about agents and has it follow what happens.
func (w *Window) newAgents() {
	w.panel = agents.New(agents.Config{
		Run: func(id string, p command.Params) bool { return w.invoke(id, p) },
		Chord: func(id string) string {
			c, _ := w.commands.Command(id)
			return shortcutOf(c)
		},
	})
	w.panel.Object().Hide()
	follow := w.fence.Target(w.updateAgents)
	w.unplane = w.plane.OnChange(follow.Post)
	if d := w.config.Door; d != nil {
		d.OnChange(follow.Post)
		w.updateDoor()
	}
}

// showAgents shows or hides the panel. In full screen it waits until that ends.
func (w *Window) showAgents(on bool) {
	if on {
		w.setFull(false)
	}
	w.panelOn = on
	if on {
		w.panel.Object().Show()
		if w.win.Canvas().Size().Width-agents.Width < minStage { // it covers the session
			w.LetGo()
			w.win.Canvas().Unfocus()
		}
	} else {
		w.panel.Object().Hide()
	}
	w.update()
	w.updateAgents()
}

// updateAgents follows the door, the agents and the sessions.
func (w *Window) updateAgents() {
	w.updateDoor()
	w.people.SetOn(w.panelOn)
	if !w.panelOn || w.full {
		return
	}
	v := agents.View{Attached: w.plane.Attachments()}
	if d := w.config.Door; d != nil {
		v.Door, v.Permit = d.State(), d.Permit()
		v.Client = clientLines(v.Door.Connect)
	}
	for _, t := range w.tabs {
		v.Sessions = append(v.Sessions, agents.Session{ID: t.session.ID(), Limb: limbOf(t), Title: t.title(), Wheel: t.wheel, ViewOnly: t.person.ViewOnly()})
	}
	w.panel.Show(v)
}

// updateDoor tells in the status line where agents connect.
func (w *Window) updateDoor() {
	d := w.config.Door
	if d == nil {
		return
	}
	switch s := d.State(); {
	case s.Trouble != "":
		w.SetControl("Agents: "+s.Trouble, true)
	case s.Open:
		text := "Agents may connect"
		if n := len(w.plane.Attachments()); n == 1 {
			text = "1 agent is attached"
		} else if n > 1 {
			text = itoa(n) + " agents are attached"
		}
		w.SetControl(text, false)
	default:
		w.SetControl("", false)
	}
}

// askFolder lets a person choose a folder for agents.
func (w *Window) askFolder(write bool) {
	w.LetGo()
	d := dialog.NewFolderOpen(func(chosen fyne.ListableURI, err error) {
		switch {
		case err != nil:
			w.status.say("The folder cannot be used: "+sentence(err.Error()), true)
		case chosen != nil:
			w.invoke("agents.addFolder", command.Params{"path": chosen.Path(), "write": write})
		}
	}, w.win)
	size := w.win.Canvas().Size()
	d.Resize(fyne.NewSize(min(size.Width-40, 760), min(size.Height-40, 520)))
	d.Show()
}

// clientLines are what an MCP client needs to connect to this window.
func clientLines(connect string) string {
	program := "dvv"
	if self, err := os.Executable(); err == nil {
		name := filepath.Join(filepath.Dir(self), program)
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			program = name
		}
	}
	quoted := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil { // a string always has a JSON form
			return `""`
		}
		return string(b)
	}
	return `{"mcpServers": {
  "deskvnc": {
    "command": ` + quoted(program) + `,
    "args": ["mcp", "--connect", ` + quoted(connect) + `]
  }
}}`
}
