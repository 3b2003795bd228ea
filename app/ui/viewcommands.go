package ui

import (
	"context"
	"math"

	"deskvnc/app/ui/picture"
	"deskvnc/app/ui/term"
	"deskvnc/control/command"
	"deskvnc/control/grant"
)

// viewCommands are the commands about what is shown.
func (w *Window) viewCommands() []command.Command {
	session := []command.Param{sessionParam}
	mode := func(m picture.Mode) func() bool {
		return func() bool { return w.selected != nil && w.selected.pane.Mode() == m }
	}
	return []command.Command{
		{
			ID: "session.refresh", Label: "Refresh the picture", Menu: []string{"View"}, Kind: command.Action, Capability: grant.View, Window: true,
			Doc:    "Asks the machine for its whole picture once more.",
			Params: session, Enabled: w.needLive, Shortcuts: viewerKey("U"),
			Run: w.onTab(func(t *tab) error { t.session.Refresh(); return nil }),
		},
		{
			ID: "view.fit", Label: "Fit to the window", Menu: []string{"View"}, Kind: command.Action, Capability: grant.App, Window: true,
			Doc:    "Shows the whole remote screen, as large as fits.",
			Params: session, Enabled: w.needSession, Shortcuts: viewerKey("0"), On: mode(picture.Fit),
			Run: w.onTab(func(t *tab) error {
				if t.screen() != nil {
					w.setLook(func(l *terminalLook) { l.Size = term.UsualSize })
				}
				t.pane.SetMode(picture.Fit)
				w.update()
				return nil
			}),
		},
		{
			ID: "view.actualSize", Label: "Actual size", Menu: []string{"View"}, Kind: command.Action, Capability: grant.App, Window: true,
			Doc:    "Shows each remote pixel as one pixel of this screen; a larger screen scrolls.",
			Params: session, Enabled: w.needSession, Shortcuts: viewerKey("O"), On: mode(picture.Actual),
			Run: w.onTab(func(t *tab) error { t.pane.SetMode(picture.Actual); w.update(); return nil }),
		},
		{
			ID: "view.zoomIn", Label: "Zoom in", Menu: []string{"View"}, Kind: command.Action, Capability: grant.App, Window: true,
			Doc:    "Shows the remote screen one step larger.",
			Params: session, Enabled: w.needLive, Shortcuts: viewerKey("="),
			Run: w.onTab(func(t *tab) error { t.zoomStep(1); return nil }),
		},
		{
			ID: "view.zoomOut", Label: "Zoom out", Menu: []string{"View"}, Kind: command.Action, Capability: grant.App, Window: true,
			Doc:    "Shows the remote screen one step smaller.",
			Params: session, Enabled: w.needLive, Shortcuts: viewerKey("-"),
			Run: w.onTab(func(t *tab) error { t.zoomStep(-1); return nil }),
		},
		{
			ID: "view.zoom", Label: "Zoom", Kind: command.Action, Capability: grant.App, Window: true,
			Doc:     "Shows the remote screen at a percentage of its size.",
			Params:  []command.Param{sessionParam, {Name: "percent", Type: command.Integer, Required: true, Doc: "10 to 800; beyond that the nearest of these"}},
			Enabled: w.needLive,
			Run: func(_ context.Context, p command.Params) (any, error) {
				t, err := w.named(p)
				if err != nil {
					return nil, err
				}
				t.zoom(p.Int("percent"))
				return map[string]any{"session": t.session.ID(), "percent": int(math.Round(t.percent()))}, nil
			},
		},
		{
			ID: "view.fullscreen", Label: "Full screen", Menu: []string{"View"}, Kind: command.Action, Capability: grant.App, Window: true,
			Doc:       "Fills the screen with the shown session, or goes back.",
			Params:    []command.Param{{Name: "on", Type: command.Bool, Doc: "the other way round when missing"}},
			Shortcuts: viewerKey("F"), On: func() bool { return w.full },
			Run: func(_ context.Context, p command.Params) (any, error) {
				w.setFull(p.Bool("on", !w.full))
				return map[string]any{"on": w.full}, nil
			},
		},
		{
			ID: "view.showDot", Label: "Dot for a hidden pointer", Menu: []string{"View"}, Kind: command.Action, Capability: grant.App, Window: true,
			Doc:    "Shows a dot where the machine shows no pointer, in every session, or no longer. It is remembered.",
			Params: []command.Param{onParam}, On: func() bool { return w.dotted },
			Run: func(_ context.Context, p command.Params) (any, error) {
				w.setDotted(p.Bool("on", !w.dotted))
				if w.config.Library != nil {
					w.screen().Keep(keyDotted, w.dotted)
				}
				return map[string]any{"on": w.dotted}, nil
			},
		},
		{
			ID: "view.library", Label: "Start page", Menu: []string{"View"}, Kind: command.Action, Capability: grant.App, Window: true,
			Doc: "Shows the start page; sessions go on.", Shortcuts: viewerKey("L"),
			Run: func(context.Context, command.Params) (any, error) { w.choose(nil); return nil, nil },
		},
	}
}

// setDotted shows a dot for a hidden pointer in every session, or not.
func (w *Window) setDotted(on bool) {
	w.dotted = on
	for _, t := range w.tabs {
		t.pane.SetDotted(on)
	}
}

// zoomSteps are the percentages that zooming stops at.
var zoomSteps = []float64{10, 25, 33, 50, 67, 75, 90, 100, 110, 125, 150, 175, 200, 250, 300, 400, 600, 800}

// zoomStep is the next step above or below a percentage.
func zoomStep(from float64, direction int) int {
	if direction > 0 {
		for _, s := range zoomSteps {
			if s > from+0.5 {
				return int(s)
			}
		}
		return picture.MaxZoom
	}
	for i := len(zoomSteps) - 1; i >= 0; i-- {
		if zoomSteps[i] < from-0.5 {
			return int(zoomSteps[i])
		}
	}
	return picture.MinZoom
}

// percent is how large the remote screen is shown.
func (t *tab) percent() float64 { return 100 * t.pane.Place().Scale() }

// zoomStep shows the remote screen one step larger or smaller; of a terminal,
// the text.
func (t *tab) zoomStep(direction int) {
	if t.screen() != nil {
		t.w.setLook(func(l *terminalLook) { l.Size += float32(direction) })
		return
	}
	t.zoom(zoomStep(t.percent(), direction))
}

// zoom shows the remote screen at a percentage.
func (t *tab) zoom(percent int) {
	t.pane.Zoom(percent)
	t.w.update()
}
