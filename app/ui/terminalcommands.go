package ui

import (
	"context"
	"errors"
	"math"

	"deskvnc/app/ui/term"
	"deskvnc/control/command"
	"deskvnc/control/grant"
)

// needTerminal says why nothing can be done with a terminal.
func (w *Window) needTerminal(p command.Params) error {
	t, err := w.named(p)
	if err == nil && t.screen() == nil {
		err = errors.New("the session is no terminal")
	}
	return err
}

// schemeItems are the colours to choose from.
func (w *Window) schemeItems() []variant {
	out := []variant{{"Like the window", command.Params{"scheme": term.Auto}, w.terminals.Scheme == term.Auto}}
	for _, s := range term.Schemes {
		out = append(out, variant{s.Name, command.Params{"scheme": s.ID}, w.terminals.Scheme == s.ID})
	}
	return out
}

// terminalCommands are the commands about terminals. Those that act for the
// person at the keyboard are a person's.
func (w *Window) terminalCommands() []command.Command {
	menu := []string{"Terminal"}
	session := []command.Param{sessionParam}
	on := func(do func(*term.Screen)) func(context.Context, command.Params) (any, error) {
		return w.onTab(func(t *tab) error { do(t.screen()); return nil })
	}
	schemes := []string{term.Auto}
	for _, s := range term.Schemes {
		schemes = append(schemes, s.ID)
	}
	all := []command.Command{
		{
			ID: "terminal.copy", Label: "Copy  (Ctrl+Shift+C)", Menu: menu, Kind: command.Action, Capability: grant.ClipboardRead, Person: true, Window: true,
			Doc: "Puts the text that is selected in the terminal on the clipboard here.", Params: session,
			Run: on(func(s *term.Screen) { s.Copy() }),
		},
		{
			ID: "terminal.paste", Label: "Paste  (Ctrl+Shift+V)", Menu: menu, Kind: command.Action, Capability: grant.ClipboardWrite, Person: true, Window: true,
			Doc: "Sends the text on the clipboard here to the program in the terminal. More than one line is shown first.", Params: session,
			Run: on(func(s *term.Screen) { s.Paste() }),
		},
		{
			ID: "terminal.selectAll", Label: "Select everything", Menu: menu, Kind: command.Action, Capability: grant.App, Window: true,
			Doc: "Selects all text of the terminal, with what has scrolled away.", Params: session,
			Run: on(func(s *term.Screen) { s.SelectAll() }),
		},
		{
			ID: "terminal.find", Label: "Find...  (Ctrl+Shift+F)", Menu: menu, Kind: command.Action, Capability: grant.App, Window: true,
			Doc:    "Searches in the terminal and in what has scrolled away.",
			Params: []command.Param{sessionParam, {Name: "text", Type: command.String, Doc: "what to search for"}},
			Run: func(ctx context.Context, p command.Params) (any, error) {
				return on(func(s *term.Screen) {
					if p.Has("text") {
						s.FindText(p.Text("text"))
					} else {
						s.Find()
					}
				})(ctx, p)
			},
		},
		{
			ID: "terminal.larger", Label: "Larger text  (Ctrl+Shift+Plus)", Menu: menu, Kind: command.Action, Capability: grant.App, Window: true,
			Doc: "Makes the text of all terminals one step larger. It is remembered.", Params: session,
			Run: on(func(*term.Screen) { w.setLook(func(l *terminalLook) { l.Size++ }) }),
		},
		{
			ID: "terminal.smaller", Label: "Smaller text  (Ctrl+Shift+Minus)", Menu: menu, Kind: command.Action, Capability: grant.App, Window: true,
			Doc: "Makes the text of all terminals one step smaller. It is remembered.", Params: session,
			Run: on(func(*term.Screen) { w.setLook(func(l *terminalLook) { l.Size-- }) }),
		},
		{
			ID: "terminal.size", Label: "Usual size of text  (Ctrl+Shift+0)", Menu: menu, Kind: command.Action, Capability: grant.App, Window: true,
			Doc:    "Gives the text of all terminals its usual size, or the size given. It is remembered.",
			Params: []command.Param{sessionParam, {Name: "size", Type: command.Integer, Doc: "in units of the window, 6 to 48; 14 when missing"}},
			Run: func(ctx context.Context, p command.Params) (any, error) {
				size := float32(term.UsualSize)
				if p.Has("size") {
					size = float32(p.Int("size"))
				}
				w.setLook(func(l *terminalLook) { l.Size = size })
				return map[string]any{"size": int(math.Round(float64(w.terminals.Size)))}, nil
			},
		},
		{
			ID: "terminal.colors", Label: "Colours", Menu: append(menu, "Colours"), Kind: command.Action, Capability: grant.App, Window: true,
			Doc:    "Changes the colours of all terminals; auto is dark or light as the window is. It is remembered.",
			Params: []command.Param{sessionParam, {Name: "scheme", Type: command.String, Required: true, Doc: "the colours", Enum: schemes}},
			Run: func(_ context.Context, p command.Params) (any, error) {
				w.setLook(func(l *terminalLook) { l.Scheme = p.Text("scheme") })
				return map[string]any{"scheme": w.terminals.Scheme}, nil
			},
		},
		{
			ID: "terminal.bell", Label: "Sound of the bell", Menu: menu, Kind: command.Action, Capability: grant.App, Window: true,
			Doc:    "Has the bell of terminals ring, or only be seen. It is remembered.",
			Params: []command.Param{onParam}, On: func() bool { return w.terminals.Bell },
			Run: func(_ context.Context, p command.Params) (any, error) {
				w.setLook(func(l *terminalLook) { l.Bell = p.Bool("on", !l.Bell) })
				return map[string]any{"on": w.terminals.Bell}, nil
			},
		},
	}
	for i := range all {
		all[i].Enabled = w.needTerminal
	}
	return all
}
