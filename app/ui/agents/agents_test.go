package agents

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/control/command"
	"deskvnc/control/door"
	"deskvnc/control/plane"
)

func TestMain(m *testing.M) {
	os.Setenv("LC_ALL", "en_US.UTF-8") // the toolkit complains about C
	os.Exit(m.Run())
}

// walk calls fn for everything that is shown below o.
func walk(o fyne.CanvasObject, fn func(fyne.CanvasObject)) {
	if !o.Visible() {
		return
	}
	fn(o)
	switch o := o.(type) {
	case *container.Scroll:
		walk(o.Content, fn)
	case *fyne.Container:
		for _, c := range o.Objects {
			walk(c, fn)
		}
	}
}

// texts are all texts and labels of buttons that are shown.
func texts(p *Panel) string {
	var out []string
	walk(p.Object(), func(o fyne.CanvasObject) {
		switch o := o.(type) {
		case *look.Text:
			out = append(out, o.Value())
		case *widget.RichText:
			out = append(out, o.String())
		case *widget.Button:
			out = append(out, "["+o.Text+"]")
		case *widget.Label:
			out = append(out, o.Text)
		}
	})
	return strings.Join(out, "\n")
}

// press taps the n-th shown button of a label.
func press(t *testing.T, p *Panel, label string, n int) {
	t.Helper()
	var found []*widget.Button
	walk(p.Object(), func(o fyne.CanvasObject) {
		if b, ok := o.(*widget.Button); ok && b.Text == label {
			found = append(found, b)
		}
	})
	if n >= len(found) {
		t.Fatalf("%d buttons %q in\n%s", len(found), label, texts(p))
	}
	test.Tap(found[n])
}

// Every state is told, and every button runs the command for the right one.
func TestPanel(t *testing.T) {
	a := test.NewTempApp(t)
	a.Settings().SetTheme(look.Theme{})
	var ran []string
	works := true
	p := New(Config{
		Run: func(id string, params command.Params) bool {
			ran = append(ran, fmt.Sprint(id, map[string]any(params)))
			return works
		},
		Chord: func(string) string { return "" },
	})
	win := test.NewTempWindow(t, p.Object())
	win.Resize(fyne.NewSize(Width, 600))
	took := func(want ...string) {
		t.Helper()
		if !slices.Equal(ran, want) {
			t.Errorf("ran %q, want %q", ran, want)
		}
		ran = nil
	}
	has := func(want ...string) {
		t.Helper()
		all := texts(p)
		for _, w := range want {
			if !strings.Contains(all, w) {
				t.Errorf("%q is not shown in\n%s", w, all)
			}
		}
	}

	p.Show(View{})
	has("No agent can connect while the switch is off.", "No session is open.", "None.")
	took()
	if p.client.Visible() || !p.stop.Disabled() {
		t.Error("while the switch is off there are lines for a client, or something to stop")
	}
	test.Tap(p.open)
	took("agents.listenmap[on:true]")
	works = false
	p.Show(View{})
	test.Tap(p.open)
	took("agents.listenmap[on:true]")
	if p.open.Checked {
		t.Error("a switch that did not work stays on")
	}
	works = true

	since := time.Date(2026, 11, 30, 15, 4, 0, 0, time.Local)
	v := View{
		Door:   door.State{Open: true, Where: "/run/x/control.sock", Connect: "auto", Trouble: "the disk is full"},
		Permit: door.Permit{Capabilities: []string{"exec"}, AnyHost: true, ReadFolders: []string{"/home/a/in"}, WriteFolders: []string{"/home/a/out"}},
		Attached: []plane.AttachmentInfo{
			{ID: "att_1", Label: "Claude\nDesktop", Since: since, Limbs: []string{"l1", "l2"}, Driving: []string{"l1"}},
			{ID: "att_2", Label: "other", Since: since},
		},
		Sessions: []Session{
			{ID: "s_1", Limb: "l1", Title: "lab one", Wheel: plane.WheelState{Holder: plane.HolderAgent, Label: "Claude", Reason: "fill in\nthe form", Since: since}},
			{ID: "s_2", Limb: "l2", Title: "lab two", Wheel: plane.WheelState{Holder: plane.HolderNone, Revoked: []string{"Claude"}}},
			{ID: "s_3", Limb: "l3", Title: "lab three", ViewOnly: true},
		},
		Client: "{lines}",
	}
	p.Show(v)
	has("Agents connect to /run/x/control.sock.", "{lines}", "the disk is full", "Claude Desktop", "Since 15:04 · drives lab one · is at lab two", "at no session",
		"Claude drives since 15:04: fill in the form", "Kept off: Claude", "View only: nobody drives", "/home/a/in", "/home/a/out")
	took()
	if !p.ticks["exec"].Checked || p.ticks["files.write"].Checked || !p.anyHost.Checked || !p.open.Checked {
		t.Error("the ticks are not those of the permit")
	}
	press(t, p, "Send away", 1)
	press(t, p, "Take the wheel", 0)
	press(t, p, "Keep off", 0)
	press(t, p, "Hand back", 0)
	press(t, p, "Stop all agents", 0)
	press(t, p, "Copy", 0)
	press(t, p, "Add a folder...", 0)
	press(t, p, "Add a folder...", 1)
	press(t, p, "", 0)
	press(t, p, "", 1)
	took("agents.disconnectmap[agent:att_2]", "control.takeWheelmap[session:s_1]", "control.keepOffmap[session:s_1]", "control.handBackmap[session:s_2]",
		"control.stopAgentsmap[]", "agents.copyClientmap[]", "agents.addFoldermap[write:false]", "agents.addFoldermap[write:true]",
		"agents.removeFoldermap[path:/home/a/in write:false]", "agents.removeFoldermap[path:/home/a/out write:true]")
	test.Tap(p.ticks["exec"])
	test.Tap(p.ticks["files.write"])
	took("agents.allowmap[capability:exec on:false]", "agents.allowmap[capability:files.write on:true]")

	// What did not change is not made anew, so that a press is not lost.
	before := p.attached.box.Objects[0]
	p.Show(v)
	if p.attached.box.Objects[0] != before {
		t.Error("the list of agents is made anew although it says the same")
	}
}
