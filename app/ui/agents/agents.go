// Package agents is the panel about agents: whether they may come in and how a
// client gets there, who is attached, who drives which session, and what
// agents are allowed.
//
// A Panel belongs to the goroutine of the widgets. It decides and changes
// nothing: every button runs a command of the window.
package agents

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/control/command"
	"deskvnc/control/door"
	"deskvnc/control/grant"
	"deskvnc/control/plane"
)

// Width is how wide the panel is when there is room.
const Width = 344

// A Session is an open session as the panel tells of it.
type Session struct {
	ID       string // for commands
	Limb     string // for agents
	Title    string
	Wheel    plane.WheelState
	ViewOnly bool
}

// A View is everything that the panel shows.
type View struct {
	Door     door.State
	Permit   door.Permit
	Attached []plane.AttachmentInfo
	Sessions []Session
	// Client is what to give to an MCP client.
	Client string
}

// Config is what a Panel is made of.
type Config struct {
	// Run runs a command of the window and reports whether it worked; what
	// did not is told to the person there.
	Run func(id string, p command.Params) bool
	// Chord is the chord of a command, or "".
	Chord func(id string) string
}

// A Panel is the panel about agents.
type Panel struct {
	config Config
	view   View
	object *fyne.Container

	open    *widget.Check
	where   *widget.RichText
	trouble *widget.RichText
	client  *fyne.Container
	lines   *widget.Label

	attached, sessions *rows
	reading, writing   *rows
	ticks              map[string]*widget.Check // by capability
	anyHost            *widget.Check
	stop               *widget.Button
	showing            bool // the checks are being set, not clicked
}

// ticks are the capabilities that the panel offers, in its order.
var ticks = []struct{ capability, label string }{
	{grant.Exec, "Run commands on machines"},
	{grant.ClipboardRead, "Read the clipboard of machines"},
	{grant.FilesWrite, "Write files on machines"},
	{grant.App, "Use the commands of this window"},
}

// New returns a panel that shows nothing yet.
func New(c Config) *Panel {
	p := &Panel{config: c, ticks: map[string]*widget.Check{}}
	p.open = widget.NewCheck("Let agents connect", p.switched(func(on bool) bool {
		return c.Run("agents.listen", command.Params{"on": on})
	}))
	p.where = look.NewParagraph("", look.ColorMuted, theme.SizeNameCaptionText)
	p.trouble = look.NewParagraph("", theme.ColorNameError, theme.SizeNameCaptionText)
	p.trouble.Hide()
	p.lines = widget.NewLabel("")
	p.lines.TextStyle = fyne.TextStyle{Monospace: true}
	p.lines.SizeName = theme.SizeNameCaptionText
	p.lines.Selectable = true
	p.lines.Wrapping = fyne.TextWrapBreak
	copyLines := widget.NewButtonWithIcon("Copy", theme.ContentCopyIcon(), func() { c.Run("agents.copyClient", nil) })
	p.client = container.NewVBox(
		look.NewParagraph("Give this to an MCP client:", look.ColorMuted, theme.SizeNameCaptionText),
		container.NewStack(look.NewPanel(theme.ColorNameInputBackground, look.ColorBorder, 6), p.lines),
		container.NewHBox(copyLines),
	)
	p.attached, p.sessions, p.reading, p.writing = newRows(), newRows(), newRows(), newRows()
	p.stop = widget.NewButtonWithIcon("Stop all agents", theme.MediaStopIcon(), func() { c.Run("control.stopAgents", nil) })
	p.stop.Importance = widget.DangerImportance

	allowed := container.NewVBox()
	for _, t := range ticks {
		check := widget.NewCheck(t.label, p.switched(func(on bool) bool {
			return c.Run("agents.allow", command.Params{"capability": t.capability, "on": on})
		}))
		p.ticks[t.capability] = check
		allowed.Add(check)
	}
	p.anyHost = widget.NewCheck("Open any address", p.switched(func(on bool) bool {
		return c.Run("agents.anyHost", command.Params{"on": on})
	}))
	allowed.Add(p.anyHost)

	shut := look.NewButton("", theme.CancelIcon(), func() { c.Run("agents.togglePlane", command.Params{"on": false}) }, nil)
	head := container.NewBorder(nil, nil, look.NewText("Agents", theme.ColorNameForeground, theme.SizeNameSubHeadingText, true), shut)
	head.Objects[0].(*look.Text).SetMinWidth(120)
	body := container.NewVBox(
		p.open, p.where, p.trouble, p.client,
		section("Attached"), p.attached.box,
		section("Who drives"), p.sessions.box,
		section("What agents may do"),
		look.NewParagraph("They may always look, point, type, and open and close machines that are saved, found or open here.", look.ColorMuted, theme.SizeNameCaptionText),
		allowed,
		section("Folders of this computer they may read"), p.reading.box, p.adder(false),
		section("Folders of this computer they may write"), p.writing.box, p.adder(true),
	)
	scroll := container.NewVScroll(container.New(look.Inset{0, 14, 12, 8}, body))
	p.object = container.NewStack(look.NewGround(look.ColorCard), container.NewBorder(nil, nil, edge(), nil,
		container.NewBorder(container.New(look.Inset{6, 6, 2, 8}, head), container.New(look.Inset{6, 14, 10, 12}, p.stop), nil, nil, scroll)))
	return p
}

// Object is what to put on the canvas.
func (p *Panel) Object() fyne.CanvasObject { return p.object }

// edge is the line at the panel's left.
func edge() fyne.CanvasObject {
	return container.New(look.Free{Min: fyne.NewSize(1, 1)}, look.NewGround(look.ColorBorder))
}

// section is a heading.
func section(text string) fyne.CanvasObject {
	return container.New(look.Inset{8, 0, 0, 0}, look.NewText(text, theme.ColorNameForeground, theme.SizeNameText, true))
}

// adder is the button that adds a folder.
func (p *Panel) adder(write bool) fyne.CanvasObject {
	b := widget.NewButtonWithIcon("Add a folder...", theme.FolderNewIcon(), func() { p.config.Run("agents.addFolder", command.Params{"write": write}) })
	return container.NewHBox(b)
}

// switched is what a check does when a person switches it: when the command
// does not work, it goes back.
func (p *Panel) switched(run func(on bool) bool) func(bool) {
	return func(on bool) {
		if !p.showing && !run(on) {
			p.Show(p.view)
		}
	}
}

// Show shows things as they are now.
func (p *Panel) Show(v View) {
	p.view = v
	p.showing = true
	defer func() { p.showing = false }()
	p.open.SetChecked(v.Door.Open)
	switch {
	case v.Door.Open:
		look.SetParagraph(p.where, "Agents connect to "+v.Door.Where+".", look.ColorMuted)
		p.lines.SetText(v.Client)
		p.client.Show()
	default:
		look.SetParagraph(p.where, "Programs on this computer that you start, such as an AI assistant, then see the open sessions and may drive them. You can take the wheel at any time.", look.ColorMuted)
		p.client.Hide()
	}
	look.SetParagraph(p.trouble, v.Door.Trouble, theme.ColorNameError)
	if v.Door.Trouble == "" {
		p.trouble.Hide()
	} else {
		p.trouble.Show()
	}
	for c, check := range p.ticks {
		check.SetChecked(v.Permit.Has(c))
	}
	p.anyHost.SetChecked(v.Permit.AnyHost)
	p.showAttached()
	p.showSessions()
	p.showFolders(p.reading, v.Permit.ReadFolders, false)
	p.showFolders(p.writing, v.Permit.WriteFolders, true)
	if len(v.Sessions) > 0 {
		p.stop.Enable()
	} else {
		p.stop.Disable()
	}
}

// oneLine makes a text that an agent gave fit for a line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
