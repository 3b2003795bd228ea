package ui

import (
	"context"
	"errors"

	"deskvnc/control/command"
	"deskvnc/control/grant"
	"deskvnc/keychain"
)

// clipboardCommands are the commands about the clipboard. All are a person's:
// agents have a tool that passes the wheel.
func (w *Window) clipboardCommands() []command.Command {
	session := []command.Param{sessionParam}
	menu := []string{"Clipboard"}
	way := func(on func(keychain.Sharing) bool) func() bool {
		return func() bool { return w.selected != nil && on(w.selected.sharing) }
	}
	return []command.Command{
		{
			ID: "clipboard.send", Label: "Send the clipboard", Menu: menu, Kind: command.Action, Capability: grant.ClipboardWrite, Person: true, Window: true,
			Doc:    "Puts the text on the clipboard here on the machine's, also when it was sent before.",
			Params: session, Enabled: w.needInput, Shortcuts: viewerKey("C"),
			Run: w.onTab(func(t *tab) error {
				if !toRemote(t.sharing) {
					return errNotToRemote
				}
				w.readHere(t.send)
				return nil
			}),
		},
		{
			ID: "clipboard.take", Label: "Take the machine's clipboard", Menu: menu, Kind: command.Action, Capability: grant.ClipboardRead, Person: true, Window: true,
			Doc:    "Puts the text that the machine last put on its clipboard on the one here.",
			Params: session, Shortcuts: viewerKey("Y"),
			Enabled: func(p command.Params) error {
				t, err := w.named(p)
				if err == nil && t.remote == "" {
					err = errors.New("the machine has told of no text on its clipboard")
				}
				return err
			},
			Run: w.onTab(func(t *tab) error { t.takeRemote(); return nil }),
		},
		{
			ID: "clipboard.toRemote", Label: "Share what is copied here", Menu: menu, Kind: command.Action, Capability: grant.ClipboardWrite, Person: true, Window: true,
			Doc:    "Has text that is copied here go to the machine when its picture gets the keyboard, or not. It is remembered for a saved machine.",
			Params: session, Enabled: w.needSession, On: way(toRemote),
			Run: w.onTab(func(t *tab) error { t.setSharing(ways(!toRemote(t.sharing), fromRemote(t.sharing))); return nil }),
		},
		{
			ID: "clipboard.fromRemote", Label: "Share what is copied there", Menu: menu, Kind: command.Action, Capability: grant.ClipboardRead, Person: true, Window: true,
			Doc:    "Has text that is copied on the machine come here while its picture has the keyboard, or not. It is remembered for a saved machine.",
			Params: session, Enabled: w.needSession, On: way(fromRemote),
			Run: w.onTab(func(t *tab) error { t.setSharing(ways(toRemote(t.sharing), !fromRemote(t.sharing))); return nil }),
		},
		{
			ID: "clipboard.mode", Label: "Clipboard sharing", Kind: command.Action, Capability: grant.ClipboardWrite, Person: true, Window: true,
			Doc: "Says which way the clipboard goes with the machine.",
			Params: []command.Param{sessionParam, {
				Name: "mode", Type: command.String, Required: true, Doc: "the way",
				Enum: []string{"both", string(keychain.ShareToRemote), string(keychain.ShareFromRemote), string(keychain.ShareOff)},
			}},
			Enabled: w.needSession,
			Run: func(_ context.Context, p command.Params) (any, error) {
				mode := keychain.Sharing(p.Text("mode"))
				if mode == "both" {
					mode = keychain.ShareBoth
				}
				return w.onTab(func(t *tab) error { t.setSharing(mode); return nil })(context.Background(), p)
			},
		},
	}
}
