package ui

import (
	"context"

	"deskvnc/control/command"
	"deskvnc/control/grant"
)

// helpCommands are the commands about the program itself.
func (w *Window) helpCommands() []command.Command {
	return []command.Command{
		{
			ID: "app.palette", Label: "All commands", Menu: []string{"Help"}, Kind: command.Action, Capability: grant.App, Person: true, Window: true,
			Doc: "Lists everything that can be done, to be found by its name and run with the keyboard.", Shortcuts: viewerKey("K"),
			Run: func(context.Context, command.Params) (any, error) { w.showPalette(); return nil, nil },
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
