package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fyne.io/fyne/v2"

	"deskvnc/app/ui/browse"
	"deskvnc/control/command"
	"deskvnc/control/grant"
	"deskvnc/viewer"
	"deskvnc/viewer/files"
)

// tabFiles is the file browser of a tab.
type tabFiles struct {
	browser *browse.Browser // nil until it is first shown
	shown   bool
	live    bool // the session was connected when last looked at
}

// fileCommands are the commands about files and tunnels.
func (w *Window) fileCommands() []command.Command {
	return []command.Command{
		{
			ID: "session.files", Label: "Files...", Menu: []string{"Session"}, Kind: command.Action, Capability: grant.FilesRead, Person: true, Window: true,
			Doc:    "Shows the files of this computer beside those of the machine, over SSH, or takes them away.",
			Params: []command.Param{sessionParam, {Name: "on", Type: command.Bool, Doc: "the other way round when missing"}}, Enabled: w.needSession, Shortcuts: viewerKey("E"),
			On: func() bool { return w.selected != nil && w.selected.files.shown },
			Run: func(_ context.Context, p command.Params) (any, error) {
				return w.onTab(func(t *tab) error {
					on := p.Bool("on", !t.files.shown)
					// Later: who has the keyboard when a key goes down must have it
					// for the rest of that key, which is the same shortcut again.
					w.fence.Go(func() {
						if slices.Contains(w.tabs, t) {
							t.showFiles(on)
						}
					})
					return nil
				})(context.Background(), p)
			},
		},
		{
			ID: "session.tunnels", Label: "Tunnels...", Menu: []string{"Session"}, Kind: command.Action, Capability: grant.Control, Person: true, Window: true,
			Doc:    "Shows the tunnels of a session, opens new ones and closes them.",
			Params: []command.Param{sessionParam}, Enabled: w.needSession,
			Run: w.onTab(func(t *tab) error { w.showTunnels(t); return nil }),
		},
	}
}

// showFiles shows or hides the files of a tab. What is being moved goes on.
func (t *tab) showFiles(on bool) {
	if on == t.files.shown {
		return
	}
	if !on {
		t.files.shown = false
		t.pane.Cover(nil, nil)
		t.w.update()
		return
	}
	w := t.w
	if t.files.browser == nil {
		t.files.browser = browse.New(browse.Config{
			Fence: w.fence, Canvas: w.win.Canvas(), Name: t.title(), Files: t.session.Files,
			Own: func(ctx context.Context) (*files.FS, error) {
				if t.session.Target().Protocol == viewer.SSH { // it comes back by itself
					_, err := t.session.WaitState(ctx, func(st viewer.State) bool {
						return st.Phase == viewer.Connected || st.Phase == viewer.Disconnected
					})
					if err != nil {
						return nil, err
					}
				}
				return t.session.OwnFiles(ctx)
			},
			ReadOnly: func() error {
				if t.person.ViewOnly() {
					return errors.New(t.title() + " is view only: nothing is changed there")
				}
				return nil
			},
			Chord: w.typedChord, Hint: w.hint, Say: w.status.say,
			Close: func() { t.showFiles(false) }, Tunnels: func() { w.showTunnels(t) },
		})
	}
	w.status.setHint("")
	t.files.shown = true
	b := t.files.browser
	t.pane.Cover(b.Object(), b.Focus)
	b.Open()
	w.update()
}

// filesConnected reads again what a lost link has kept from being read.
func (t *tab) filesConnected() {
	live := t.session.State().Phase == viewer.Connected
	if live && !t.files.live && t.files.browser != nil {
		t.files.browser.Connected()
	}
	t.files.live = live
}

// endFiles ends what moves. The window's end waits for it.
func (t *tab) endFiles() {
	if b := t.files.browser; b != nil {
		b.Close()
		t.w.background.Go(func() { <-b.Ended() })
	}
}

// dropped takes files that were dropped on the window: they are copied to the
// folder of the machine that is shown.
func (w *Window) dropped(_ fyne.Position, items []fyne.URI) {
	t := w.selected
	if t == nil {
		w.status.say("Open a session and its files first, then drop files there.", true)
		return
	}
	var paths []string
	for _, u := range items {
		if u.Scheme() == "file" {
			paths = append(paths, u.Path())
		}
	}
	if len(paths) == 0 {
		return
	}
	if !t.files.shown {
		t.showFiles(true)
		w.status.say("Choose the folder of "+t.title()+" to copy to, then drop the files again.", false)
		return
	}
	if err := t.files.browser.Drop(paths); err != nil {
		w.status.say(sentence(viewer.Reason(err)), true)
		return
	}
	w.status.say(fmt.Sprintf("Uploading %d dropped files to %s.", len(paths), t.title()), false)
}
