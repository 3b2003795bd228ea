package agents

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/control/command"
	"deskvnc/control/plane"
)

// rows are a list that is made anew only when it says something else, so that
// a button does not go away under the pointer.
type rows struct {
	box *fyne.Container
	of  string // what is listed
}

func newRows() *rows { return &rows{box: container.NewVBox(), of: "-"} }

// A row is one entry of a list.
type row struct {
	title, text string
	tinted      fyne.ThemeColorName // of the mark at the left; empty for none
	buttons     []action
}

// An action is a button of a row.
type action struct {
	label  string
	icon   fyne.Resource
	danger bool
	do     func()
}

// set lists entries, or says that there are none.
func (r *rows) set(none string, entries []row) {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.title + "\x00" + e.text + "\x00" + string(e.tinted))
		for _, a := range e.buttons {
			b.WriteString("\x00" + a.label)
		}
		b.WriteByte('\x01')
	}
	of := none + "\x02" + b.String()
	if r.of == of {
		return
	}
	r.of = of
	r.box.RemoveAll()
	if len(entries) == 0 {
		r.box.Add(look.NewParagraph(none, look.ColorMuted, theme.SizeNameCaptionText))
	}
	for _, e := range entries {
		r.box.Add(e.object())
	}
	r.box.Refresh()
}

// object draws an entry: a card with its title, text and buttons.
func (e row) object() fyne.CanvasObject {
	buttons := container.NewHBox()
	for _, a := range e.buttons {
		b := widget.NewButtonWithIcon(a.label, a.icon, a.do)
		if a.danger {
			b.Importance = widget.WarningImportance
		}
		if a.label == "" {
			b.Importance = widget.LowImportance
		}
		buttons.Add(b)
	}
	title := look.NewText(e.title, theme.ColorNameForeground, theme.SizeNameText, true)
	var content fyne.CanvasObject
	if e.text == "" { // one line with its button beside it
		title = look.NewText(e.title, theme.ColorNameForeground, theme.SizeNameText, false)
		content = container.NewBorder(nil, nil, nil, buttons, title)
		return container.NewStack(look.NewPanel(look.ColorBar, look.ColorBorder, 6), container.New(look.Inset{1, 2, 1, 2}, content))
	}
	lines := container.NewVBox(title, look.NewParagraph(e.text, look.ColorMuted, theme.SizeNameCaptionText))
	content = lines
	switch len(e.buttons) {
	case 0:
	case 1: // beside the text
		content = container.NewBorder(nil, nil, nil, container.New(look.Inset{0, 4, 0, 0}, container.NewVBox(layout.NewSpacer(), buttons, layout.NewSpacer())), lines)
	default:
		lines.Add(container.New(look.Inset{0, 4, 2, 6}, buttons))
	}
	if e.tinted != "" {
		mark := container.New(look.Free{Min: fyne.NewSize(4, 4)}, look.NewPanel(e.tinted, "", 2))
		content = container.NewBorder(nil, nil, mark, nil, content)
	}
	return container.NewStack(look.NewPanel(look.ColorBar, look.ColorBorder, 6), container.New(look.Inset{2, 4, 4, 2}, content))
}

// showAttached lists the agents.
func (p *Panel) showAttached() {
	titles := map[string]string{}
	for _, s := range p.view.Sessions {
		titles[s.Limb] = s.Title
	}
	named := func(limbs []string) string {
		var out []string
		for _, l := range limbs {
			if t, ok := titles[l]; ok {
				l = t
			}
			out = append(out, l)
		}
		return strings.Join(out, ", ")
	}
	var entries []row
	for _, a := range p.view.Attached {
		text := "Since " + a.Since.Format("15:04")
		if len(a.Driving) > 0 {
			text += " · drives " + named(a.Driving)
		}
		watched := slices.DeleteFunc(slices.Clone(a.Limbs), func(l string) bool { return slices.Contains(a.Driving, l) })
		switch {
		case len(watched) > 0:
			text += " · is at " + named(watched)
		case len(a.Limbs) == 0:
			text += " · at no session"
		}
		e := row{title: oneLine(a.Label), text: text, buttons: []action{{label: "Send away", do: func() {
			p.config.Run("agents.disconnect", command.Params{"agent": a.ID})
		}}}}
		if len(a.Driving) > 0 {
			e.tinted = look.ColorAgent
		}
		entries = append(entries, e)
	}
	none := "No agent is attached."
	if !p.view.Door.Open {
		none = "No agent can connect while the switch is off."
	}
	p.attached.set(none, entries)
}

// showSessions lists who drives.
func (p *Panel) showSessions() {
	var entries []row
	for _, s := range p.view.Sessions {
		e := row{title: s.Title}
		run := func(id string) func() {
			return func() { p.config.Run(id, command.Params{"session": s.ID}) }
		}
		take := action{label: "Take the wheel", danger: true, do: run("control.takeWheel")}
		off := action{label: "Keep off", do: run("control.keepOff")}
		back := action{label: "Hand back", do: run("control.handBack")}
		at := false // an agent is at the session
		for _, a := range p.view.Attached {
			at = at || slices.Contains(a.Limbs, s.Limb)
		}
		w := s.Wheel
		switch {
		case w.Holder == plane.HolderAgent:
			e.text = oneLine(w.Label) + " drives since " + w.Since.Format("15:04")
			if reason := oneLine(w.Reason); reason != "" {
				e.text += ": " + reason
			}
			e.tinted = look.ColorAgent
			e.buttons = []action{take, off}
		case len(w.Revoked) > 0:
			e.text = "Kept off: " + oneLine(strings.Join(w.Revoked, ", "))
			e.tinted = look.ColorHand
			e.buttons = []action{back}
		case s.ViewOnly:
			e.text = "View only: nobody drives"
		default:
			e.text = "Nobody drives"
			if w.Holder == plane.HolderHuman {
				e.text = "You drive"
			}
			if at {
				e.buttons = []action{off}
			}
		}
		entries = append(entries, e)
	}
	p.sessions.set("No session is open.", entries)
}

// showFolders lists folders.
func (p *Panel) showFolders(r *rows, folders []string, write bool) {
	var entries []row
	for _, f := range folders {
		entries = append(entries, row{title: f, buttons: []action{{icon: theme.DeleteIcon(), do: func() {
			p.config.Run("agents.removeFolder", command.Params{"path": f, "write": write})
		}}}})
	}
	r.set("None.", entries)
}
