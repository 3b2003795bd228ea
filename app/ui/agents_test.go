package ui

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"deskvnc/app/ui/agents"
	"deskvnc/control/command"
	"deskvnc/control/door"
	"deskvnc/control/grant"
	"deskvnc/viewer/sample"
)

// giveDoor gives the window a door, in a home of its own.
func (l *lab) giveDoor() *door.Door {
	l.t.Helper()
	home := l.t.TempDir()
	l.t.Setenv("XDG_RUNTIME_DIR", home)
	l.t.Setenv("XDG_CONFIG_HOME", home)
	d, err := door.New(door.Config{Plane: l.plane, Version: "test"})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(d.Close)
	d.Serve(l.w.commands)
	l.w.config.Door = d
	d.OnChange(l.w.fence.Target(l.w.updateAgents).Post)
	return d
}

// The panel's commands change what agents may do at once, and follow what
// happens; without a door they say why not.
func TestAgentsCommands(t *testing.T) {
	l := newLab(t, sample.Options{})
	s := l.open(0)
	if l.w.invoke("agents.listen", nil); !l.w.status.trouble {
		t.Error("agents are let in without a door")
	}
	d := l.giveDoor()
	l.w.invoke("agents.togglePlane", nil)
	if !l.w.panel.Object().Visible() || l.w.stage.Size().Width != l.w.chrome.Size().Width-agents.Width {
		t.Errorf("the panel is not beside the session: %v of %v", l.w.stage.Size(), l.w.chrome.Size())
	}
	l.win.Resize(fyne.NewSize(500, 400))
	if p := l.w.panel.Object(); p.Size().Width != l.w.chrome.Size().Width {
		t.Errorf("in a small window the panel is %v of %v", p.Size(), l.w.chrome.Size())
	}
	l.win.Resize(fyne.NewSize(1000, 700))
	l.w.invoke("view.fullscreen", nil)
	if l.w.panel.Object().Visible() {
		t.Error("the panel is over the full screen")
	}
	l.w.invoke("view.fullscreen", nil)
	if !l.w.panel.Object().Visible() {
		t.Error("the panel does not come back after full screen")
	}

	l.w.invoke("agents.listen", command.Params{"on": true})
	l.until("the open door", func() bool { return d.State().Open && l.w.status.control.Value() == "Agents may connect" })
	l.w.invoke("agents.copyClient", nil)
	if got := l.w.config.App.Clipboard().Content(); !strings.Contains(got, `"args": ["mcp", "--connect", "auto"]`) {
		t.Errorf("copied %s", got)
	}
	a := l.agent("Claude")
	l.until("the agent in the status line", func() bool { return l.w.status.control.Value() == "1 agent is attached" })
	limb := limbOf(s)
	read := func() any { return l.call(a, "dvv_clipboard", map[string]any{"limbId": limb, "action": "get"})["code"] }
	l.call(a, "dvv_status", map[string]any{"limbId": limb})
	if got := read(); got != "POLICY_DENIED" {
		t.Errorf("before the tick: %v", got)
	}
	l.w.invoke("agents.allow", command.Params{"capability": grant.ClipboardRead, "on": true})
	if got := read(); got == "POLICY_DENIED" {
		t.Errorf("after the tick: %v", got)
	}
	l.w.invoke("agents.allow", command.Params{"capability": grant.ClipboardRead, "on": false})
	if got := read(); got != "POLICY_DENIED" {
		t.Errorf("after the tick was taken away: %v", got)
	}
	folder := t.TempDir()
	l.w.invoke("agents.addFolder", command.Params{"path": folder, "write": true})
	if got := d.Grant().WriteFolders(); len(got) != 1 || got[0] != folder {
		t.Errorf("folders %q (%s)", got, l.w.status.message)
	}
	if l.w.invoke("agents.addFolder", command.Params{"path": "nowhere"}); !l.w.status.trouble {
		t.Error("a folder that is not there was taken")
	}
	l.w.invoke("agents.removeFolder", command.Params{"path": folder, "write": true})
	l.w.invoke("agents.anyHost", command.Params{"on": true})
	if g := d.Grant(); len(g.WriteFolders()) != 0 || !g.AnyHost() {
		t.Errorf("the grant is %+v", g)
	}
	for _, c := range l.w.commands.Commands() { // nothing that an agent reaches changes the door
		if strings.HasPrefix(c.ID, "agents.") && c.ID != "agents.list" && !c.Person {
			t.Errorf("%s is not for a person alone", c.ID)
		}
	}
	l.w.invoke("agents.listen", nil)
	l.until("the shut door", func() bool { return !d.State().Open && l.w.status.control.Value() == "" })
}
