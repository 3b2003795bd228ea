package ui

import (
	"context"
	"fmt"
	"slices"

	"deskvnc/control/command"
	"deskvnc/control/grant"
	"deskvnc/keychain"
	"deskvnc/viewer"
)

// A preset is a quality as a person and a caller name it.
type preset struct {
	quality viewer.Quality
	word    string // in a command
	label   string
}

// presets are the qualities in the order they are shown.
var presets = []preset{
	{viewer.QualityAuto, "auto", "Auto"},
	{viewer.QualityLossless, string(viewer.QualityLossless), "Lossless"},
	{viewer.QualityBest, string(viewer.QualityBest), "High"},
	{viewer.QualityBalanced, string(viewer.QualityBalanced), "Medium"},
	{viewer.QualityFast, string(viewer.QualityFast), "Low"},
	{viewer.QualityGrey, string(viewer.QualityGrey), "Grey"},
}

// presetOf is the preset of a quality.
func presetOf(q viewer.Quality) preset {
	if i := slices.IndexFunc(presets, func(p preset) bool { return p.quality == q }); i >= 0 {
		return presets[i]
	}
	return presets[0]
}

// fullColors is the word for the zero value of [viewer.Colors].
const fullColors = "full"

// qualityCommands are the commands about how pictures are asked for.
func (w *Window) qualityCommands() []command.Command {
	var words, colors []string
	for _, p := range presets {
		words = append(words, p.word)
	}
	for _, c := range viewer.AllColors {
		colors = append(colors, colorWord(c))
	}
	return []command.Command{{
		ID: "session.quality", Label: "Picture quality", Menu: []string{"Session", "Quality"}, Kind: command.Action, Capability: grant.App, Window: true,
		Doc: "Changes how the picture of a session is asked for, at once and until the session is closed. What is left out stays as it is.",
		Params: []command.Param{
			sessionParam,
			{Name: "preset", Type: command.String, Required: true, Enum: words, Doc: "auto follows the connection"},
			{Name: "encoding", Type: command.String, Doc: "names of encodings in the order they are asked for, such as tight,zrle; auto for the usual order"},
			{Name: "colors", Type: command.String, Enum: colors, Doc: "how many colours are asked for"},
		},
		Enabled: w.needTuner, Run: w.runQuality,
	}}
}

func colorWord(c viewer.Colors) string {
	if c == viewer.ColorsFull {
		return fullColors
	}
	return string(c)
}

// needTuner says why the picture cannot be asked for in another way.
func (w *Window) needTuner(p command.Params) error {
	if err := w.needLive(p); err != nil {
		return err
	}
	t, err := w.named(p)
	if err != nil {
		return err
	}
	_, err = t.session.Tuned()
	return err
}

// runQuality has a session's picture asked for in another way.
func (w *Window) runQuality(_ context.Context, p command.Params) (any, error) {
	t, err := w.named(p)
	if err != nil {
		return nil, err
	}
	pic, err := t.session.Tuned()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(presets, func(o preset) bool { return o.word == p.Text("preset") })
	pic.Quality = presets[i].quality // the registry has checked the word
	if p.Has("colors") {
		pic.Colors = viewer.Colors(p.Text("colors"))
		if pic.Colors == fullColors {
			pic.Colors = viewer.ColorsFull
		}
	}
	if p.Has("encoding") {
		if pic.Encodings = p.Text("encoding"); pic.Encodings == "auto" {
			pic.Encodings = ""
		}
	}
	if err := t.session.Tune(pic); err != nil {
		return nil, err
	}
	w.status.say(fmt.Sprintf("The picture of %s is asked for in quality %s.", t.title(), presets[i].label), false)
	return map[string]any{"session": t.session.ID(), "preset": presets[i].word, "encoding": pic.Encodings, "colors": colorWord(pic.Colors)}, nil
}

// A variant is a menu item of a command that runs it with parameters.
type variant struct {
	label  string
	params command.Params
	on     bool
}

// variants are the items of a command beside the plain one.
func (w *Window) variants(c *command.Command) (out []variant) {
	switch c.ID {
	case "session.resizeRemote":
		on := w.selected != nil && w.selected.size.policy == keychain.SizeFollow
		return []variant{{"Follow the window's size", command.Params{"follow": !on}, on}}
	case "terminal.colors":
		return w.schemeItems()
	case "session.quality":
	default:
		return nil
	}
	var now preset
	if w.selected != nil {
		if pic, err := w.selected.session.Tuned(); err == nil {
			now = presetOf(pic.Quality)
		} else { // greyed, with the reason
			out = append(out, variant{sentence(viewer.Reason(err)), command.Params{"preset": presets[0].word}, false})
		}
	}
	for _, p := range presets {
		out = append(out, variant{p.label, command.Params{"preset": p.word}, p == now})
	}
	return out
}
