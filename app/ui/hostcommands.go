package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"deskvnc/app/ui/library"
	"deskvnc/control/command"
	"deskvnc/control/grant"
	"deskvnc/keychain"
	"deskvnc/viewer"
)

// hostParam names the machine a command is for.
var hostParam = command.Param{Name: "host", Type: command.String, Doc: "id or name of a saved machine; the chosen one when missing"}

// onParam switches something.
var onParam = command.Param{Name: "on", Type: command.Bool, Doc: "the other way round when missing"}

// libraryCommands are what can be done with the saved machines.
func (w *Window) libraryCommands() []command.Command {
	menu := []string{"Library"}
	host := []command.Param{hostParam}
	return []command.Command{
		{
			ID: "host.add", Label: "Add a machine...", Menu: menu, Kind: command.Edit, Capability: grant.Admin, Window: true,
			Doc:     "Opens the form of a new machine; Ctrl+N does it too while the library is shown.",
			Enabled: w.needLibrary, Shortcuts: viewerKey("M"),
			Run: func(context.Context, command.Params) (any, error) {
				w.choose(nil)
				w.screen().Add(w.typedHost())
				return nil, nil
			},
		},
		{
			ID: "host.save", Label: "Save this machine...", Menu: menu, Kind: command.Edit, Capability: grant.Admin, Window: true,
			Doc:    "Opens the form with the address of the shown session, or of the chosen machine, when it is not saved.",
			Params: []command.Param{sessionParam}, Enabled: func(p command.Params) error { _, err := w.unsaved(p); return err },
			Run: func(_ context.Context, p command.Params) (any, error) {
				t, err := w.unsaved(p)
				if err != nil {
					return nil, err
				}
				w.choose(nil)
				w.screen().Add(keychain.Host{Name: t.Name, Protocol: t.Protocol, Address: t.Address, Port: t.Port, User: t.User})
				return nil, nil
			},
		},
		{
			ID: "host.connect", Label: "Connect to the chosen machine", Kind: command.Action, Capability: grant.Open, Window: true,
			Doc:    "Goes to the session of a machine, or opens one.",
			Params: []command.Param{hostParam, waitParam}, Enabled: w.needChosen,
			Run: func(_ context.Context, p command.Params) (any, error) {
				t, err := w.chosenTarget(p)
				if err != nil {
					return nil, err
				}
				return w.openOnce(t, p)
			},
		},
		{
			ID: "host.edit", Label: "Edit the machine...", Menu: menu, Kind: command.Edit, Capability: grant.Admin, Window: true,
			Doc:    "Opens the form of a saved machine.",
			Params: host, Enabled: w.needHost,
			Run: w.onHost(func(t viewer.Target) { w.choose(nil); w.screen().EditID(t.HostID) }),
		},
		{
			ID: "host.duplicate", Label: "Duplicate the machine", Menu: menu, Kind: command.Edit, Capability: grant.Admin, Window: true,
			Doc:    "Saves a copy of a machine. Passwords are not copied.",
			Params: host, Enabled: w.needHost,
			Run: w.onHost(func(t viewer.Target) { w.screen().Duplicate(t.HostID) }),
		},
		{
			ID: "host.favourite", Label: "Favourite", Menu: menu, Kind: command.Edit, Capability: grant.Admin, Window: true,
			Doc:    "Lists a machine first, or no longer.",
			Params: []command.Param{hostParam, onParam}, Enabled: w.needHost,
			On: func() bool { e, ok := w.screen().Chosen(); return ok && e.Host.Favourite },
			Run: func(_ context.Context, p command.Params) (any, error) {
				t, err := w.hostTarget(p)
				if err != nil {
					return nil, err
				}
				e, _ := w.screen().Chosen()
				on := p.Bool("on", e.Host.ID != t.HostID || !e.Host.Favourite)
				w.screen().SetFavourite(t.HostID, on)
				return map[string]any{"host": t.HostID, "on": on}, nil
			},
		},
		{
			ID: "host.copyAddress", Label: "Copy the address", Kind: command.Action, Capability: grant.HostsRead, Person: true, Window: true,
			Doc: "Puts the address of the chosen machine on the clipboard here.", Enabled: w.needChosen,
			Run: func(_ context.Context, p command.Params) (any, error) {
				t, err := w.chosenTarget(p)
				if err != nil {
					return nil, err
				}
				w.config.App.Clipboard().SetContent(targetText(t))
				w.status.say("Copied "+targetText(t), false)
				return nil, nil
			},
		},
		{
			ID: "host.delete", Label: "Delete the machine", Menu: menu, Kind: command.Edit, Capability: grant.Admin, Window: true,
			Doc:    "Takes a machine and its saved passwords away. It can be undone until another is deleted or the window closes.",
			Params: host, Enabled: w.needHost,
			Run: w.onHost(func(t viewer.Target) { w.screen().Delete(keychain.Host{ID: t.HostID, Name: t.Name}) }),
		},
		{
			ID: "host.undelete", Label: "Undo delete", Menu: menu, Kind: command.Edit, Capability: grant.Admin, Window: true,
			Doc: "Brings the machine back that was deleted last; Ctrl+Z does it too among the machines.",
			Enabled: func(command.Params) error {
				if w.screen().CanUndo() == "" {
					return errors.New("no machine was deleted just now")
				}
				return nil
			},
			Run: func(context.Context, command.Params) (any, error) { w.screen().Undo(); return nil, nil },
		},
		{
			ID: "library.search", Label: "Search the library", Menu: menu, Kind: command.Action, Capability: grant.App, Window: true,
			Doc: "Gives the search of the library the keyboard; Ctrl+F does it too while the library is shown.", Shortcuts: []command.Shortcut{{Chord: "Viewer+J"}},
			Run: func(context.Context, command.Params) (any, error) {
				w.choose(nil)
				w.screen().FocusSearch()
				return nil, nil
			},
		},
		{
			ID: "library.cards", Label: "Show as cards", Kind: command.Action, Capability: grant.App, Window: true,
			Doc: "Shows the machines as cards, with their last picture.", On: func() bool { return w.screen().Cards() },
			Run: func(context.Context, command.Params) (any, error) { w.screen().SetCards(true); return nil, nil },
		},
		{
			ID: "library.rows", Label: "Show as a list", Kind: command.Action, Capability: grant.App, Window: true,
			Doc: "Shows the machines as a list.", On: func() bool { return !w.screen().Cards() },
			Run: func(context.Context, command.Params) (any, error) { w.screen().SetCards(false); return nil, nil },
		},
		{
			ID: "library.reopen", Label: "Reopen sessions at the start", Kind: command.Action, Capability: grant.App, Window: true,
			Doc:    "Has the program open the sessions of before when it starts, or no longer.",
			Params: []command.Param{onParam}, Enabled: w.needLibrary, On: func() bool { return w.reopen },
			Run: func(_ context.Context, p command.Params) (any, error) {
				w.reopen = p.Bool("on", !w.reopen)
				w.screen().Keep(keyReopen, w.reopen)
				return map[string]any{"on": w.reopen}, nil
			},
		},
	}
}

func (w *Window) screen() *library.Screen { return w.start.screen }

func (w *Window) needLibrary(command.Params) error {
	switch {
	case w.config.Library != nil:
		return nil
	case w.config.LibraryFault != nil:
		return errors.New(library.Reason(w.config.LibraryFault))
	}
	return errors.New("this window has no library")
}

// typedHost is a new host with what stands in the connect bar.
func (w *Window) typedHost() keychain.Host {
	t, err := viewer.ParseTarget(w.start.bar.Text, viewer.VNC)
	if err != nil {
		return keychain.Host{Protocol: viewer.VNC}
	}
	return keychain.Host{Protocol: t.Protocol, Address: t.Address, Port: t.Port, User: t.User}
}

// chosenTarget is the machine that the parameters name, or the chosen one,
// saved or not.
func (w *Window) chosenTarget(p command.Params) (viewer.Target, error) {
	name := p.Text("host")
	if name == "" {
		e, ok := w.screen().Chosen()
		if !ok {
			return viewer.Target{}, errors.New("no machine is chosen")
		}
		return w.known(e.Target), nil
	}
	var found []viewer.Target
	for _, t := range w.savedTargets() {
		if t.HostID == name {
			return t, nil
		}
		if t.Name == name {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 0:
		return viewer.Target{}, fmt.Errorf("there is no saved machine %.64q", name)
	case 1:
		return found[0], nil
	}
	return viewer.Target{}, fmt.Errorf("%d saved machines are called %.64q; give the id", len(found), name)
}

// hostTarget is the same for a saved machine.
func (w *Window) hostTarget(p command.Params) (viewer.Target, error) {
	if err := w.needLibrary(p); err != nil {
		return viewer.Target{}, err
	}
	t, err := w.chosenTarget(p)
	if err == nil && (t.HostID == "" || w.isSample(t)) {
		err = errors.New("the machine is not saved")
	}
	return t, err
}

func (w *Window) needChosen(p command.Params) error { _, err := w.chosenTarget(p); return err }

func (w *Window) needHost(p command.Params) error { _, err := w.hostTarget(p); return err }

// onHost makes a Run of something done to a saved machine.
func (w *Window) onHost(do func(viewer.Target)) func(context.Context, command.Params) (any, error) {
	return func(_ context.Context, p command.Params) (any, error) {
		t, err := w.hostTarget(p)
		if err != nil {
			return nil, err
		}
		do(t)
		return map[string]any{"host": t.HostID}, nil
	}
}

// unsaved is the machine of a session, or the chosen one, that is not saved.
func (w *Window) unsaved(p command.Params) (viewer.Target, error) {
	if err := w.needLibrary(p); err != nil {
		return viewer.Target{}, err
	}
	var t viewer.Target
	if tab, err := w.named(p); err == nil {
		t = tab.session.Target()
	} else if e, ok := w.screen().Chosen(); ok && p.Text("session") == "" {
		t = e.Target
	} else {
		return t, err
	}
	if t = w.known(t); t.HostID != "" || w.isSample(t) {
		return t, fmt.Errorf("%s is saved already", t.Label())
	}
	return t, nil
}

func (w *Window) isSample(t viewer.Target) bool {
	return slices.ContainsFunc(w.config.Samples, func(s viewer.Target) bool { return same(s, t) })
}
