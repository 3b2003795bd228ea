package ui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/control/command"
	"deskvnc/control/grant"
	"deskvnc/viewer"
)

// connectionCommands are the commands about how a session is connected.
func (w *Window) connectionCommands() []command.Command {
	return []command.Command{{
		ID: "session.info", Label: "Connection...", Menu: []string{"Session"}, Kind: command.Query, Capability: grant.View, Person: true, Window: true,
		Doc:    "Shows how a session is connected: address, login, encryption, size, encoding and speed.",
		Params: []command.Param{sessionParam}, Enabled: w.needSession, Shortcuts: viewerKey("I"),
		Run: func(_ context.Context, p command.Params) (any, error) {
			t, err := w.named(p)
			if err != nil {
				return nil, err
			}
			w.showConnection(t)
			facts := t.facts()
			out := map[string]any{"session": t.session.ID()}
			for _, f := range facts {
				out[f.key] = f.value
			}
			return out, nil
		},
	}}
}

// A fact is one line about a connection.
type fact struct {
	key   string // for a caller
	label string
	value string
}

// phases are the phases of a session for a person.
var phases = map[viewer.Phase]string{
	viewer.Connected: "Connected", viewer.Disconnected: "Not connected", viewer.Reconnecting: "Waiting to connect again",
}

// facts is what is known of a session's connection. What is not known has no
// line.
func (t *tab) facts() (out []fact) {
	s := t.session
	st, info, target := s.State(), s.Info(), s.Target()
	add := func(key, label, value string) {
		if value != "" {
			out = append(out, fact{key, label, value})
		}
	}
	live := st.Phase == viewer.Connected
	state := phases[st.Phase]
	if state == "" {
		state = "Connecting"
	}
	add("state", "State", state)
	if info.Connections > 1 {
		add("connections", "Connected", itoa(info.Connections)+" times since it was opened")
	}
	add("address", "Address", target.HostPort())
	if target.RepeaterID != "" {
		add("repeater", "Repeater", target.RepeaterID)
	}
	add("proxy", "Proxy", target.Proxy)
	add("protocol", "Protocol", strings.ToUpper(string(target.Protocol)))
	if info.NameKnown {
		add("name", "Name there", strings.TrimSpace(info.Name))
	}
	if !live {
		return out
	}
	add("login", "Login", info.Method)
	if s.Encrypted() {
		add("encryption", "Encryption", "Encrypted")
	} else {
		add("encryption", "Encryption", "None")
	}
	if w, h := s.Frame().Size(); w > 0 {
		text := size(w, h)
		if n := len(info.Screens); n > 1 {
			text += fmt.Sprintf(" on %d screens", n)
		}
		add("size", "Size", text)
	}
	if pic, err := s.Tuned(); err == nil {
		text := presetOf(pic.Quality).label
		if pic.Colors != viewer.ColorsFull {
			text += ", " + colorWords[pic.Colors]
		}
		add("quality", "Quality", text)
		add("encodings", "Asked for", pic.Encodings)
	}
	return append(out, t.figures()...)
}

// colorWords are the colours for a person.
var colorWords = map[viewer.Colors]string{
	viewer.ColorsHigh: "16-bit colours", viewer.ColorsLow: "8-bit colours", viewer.ColorsServer: "the machine's own colours",
}

// figureTime is how often the figures on the card are brought up to date.
const figureTime = time.Second

// showConnection shows how a session is connected until it is closed.
func (w *Window) showConnection(t *tab) {
	grid := container.New(pairs{})
	var shown []fact
	paint := func() {
		facts := t.facts()
		for i, f := range facts {
			if i < len(shown) && shown[i] == f {
				continue
			}
			if i < len(shown) {
				grid.Objects[2*i].(*look.Text).SetText(f.label)
				grid.Objects[2*i+1].(*look.Text).SetText(f.value)
				continue
			}
			label := look.NewText(f.label, look.ColorMuted, theme.SizeNameText, false)
			label.SetMinWidth(100)
			value := look.NewText(f.value, theme.ColorNameForeground, theme.SizeNameText, false)
			grid.Add(label)
			grid.Add(value)
		}
		if len(facts) < len(shown) {
			grid.Objects = grid.Objects[:2*len(facts)]
			grid.Refresh()
		}
		shown = facts
	}
	paint()
	scroll := container.NewVScroll(grid)
	// Room for lines that come while the card is shown.
	scroll.SetMinSize(fyne.NewSize(380, min(max(grid.MinSize().Height, 300), max(w.win.Canvas().Size().Height-130, 60))))
	duplicate := look.NewChoice("Copy", widget.MediumImportance, func() {
		w.config.App.Clipboard().SetContent(factText(t.title(), t.facts()))
		w.status.say("Copied how "+t.title()+" is connected.", false)
	})
	w.showModal("Connection to "+t.title(), scroll, duplicate)
	w.keepPainted(paint)
}

// keepPainted paints the card that is shown again and again, until another one
// or none is.
func (w *Window) keepPainted(paint func()) {
	shown := w.modal
	var next *time.Timer
	var again func()
	again = func() {
		next = time.AfterFunc(figureTime, func() {
			w.fence.Go(func() {
				if w.modal == shown {
					paint()
					again()
				}
			})
		})
	}
	again()
	w.modalEnd = func() { next.Stop() }
}

// factText is the facts as text.
func factText(title string, facts []fact) string {
	text := title + "\n"
	for _, f := range facts {
		text += f.label + ": " + f.value + "\n"
	}
	return text
}
