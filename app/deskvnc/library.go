package main

import (
	"context"
	"errors"
	"fmt"

	"deskvnc/app/library"
	"deskvnc/app/ui"
	shelf "deskvnc/app/ui/library"
	"deskvnc/app/ui/pane"
	"deskvnc/keychain/secret"
	"deskvnc/keychain/store"
	"deskvnc/viewer"
	"deskvnc/viewer/drivers"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/sample"
)

// saved is the library as the window and the plane know it. Without one there
// are only the sample machines.
type saved struct {
	library *library.Library // nil without
	fault   error            // why there is none
	samples []viewer.Target
	end     func() error
	window  *ui.Window // set before the first session is opened
}

// openSaved opens the library and serves the sample machines that are asked
// for. A window without a library is better than none.
func openSaved(o options) (*saved, error) {
	s := &saved{end: func() error { return nil }}
	options := library.Options{
		MayPrompt: true, Sample: o.sample, SampleWidth: o.width, SampleHeight: o.height,
		Saved: func(t viewer.Target, err error) { s.window.PasswordSaved(t, err) },
	}
	if s.library, s.fault = library.Open(options); s.fault == nil {
		s.samples, s.end = s.library.Samples(), s.library.Close
		return s, nil
	}
	if o.sample {
		m, err := sample.Start(sample.Options{Width: o.width, Height: o.height, Shell: true})
		if err != nil {
			return nil, errors.New(viewer.Reason(err))
		}
		s.samples, s.end = m.Targets(), m.Close
	}
	return s, nil
}

// engine makes the engine, whose questions are answered by the keychain and
// then by the person at the window.
func (s *saved) engine() (e *engine.Engine, stop func()) {
	person := func(o *engine.Session) viewer.Asker { return s.window.Asker(o) }
	if s.library == nil {
		return engine.New(engine.Config{Drivers: drivers.Registry(), Asker: person}), func() {}
	}
	e = engine.New(engine.Config{Drivers: drivers.Judged(s.library.Judge()), Asker: s.library.Asker(person)})
	return e, s.library.Follow(e)
}

// configure tells the window of the library.
func (s *saved) configure(c *ui.Config) {
	c.Samples, c.Saved, c.LibraryFault = s.samples, s.Hosts, s.fault
	c.Listen = s.listen(c.Engine)
	if s.library != nil {
		c.Library, c.Tabs, c.Keeping = contents{s.library.Store(), s.library}, s.library.Store(), s.keeping
		c.Machines = machines{s.library.Store()}
	}
}

// Hosts are the saved machines and then the sample machines.
func (s *saved) Hosts() []viewer.Target {
	if s.library == nil {
		return s.samples
	}
	return s.library.Hosts()
}

// CredentialStored implements [plane.CredentialSource].
func (s *saved) CredentialStored(t viewer.Target) bool {
	return s.library != nil && s.library.CredentialStored(t)
}

// ViewOnly implements [plane.ViewOnlySource].
func (s *saved) ViewOnly(t viewer.Target) bool { return s.library != nil && s.library.ViewOnly(t) }

// keeping tells whether a password can be kept.
func (s *saved) keeping(ctx context.Context) pane.Keeping {
	st := s.library.Keychain(ctx)
	switch st.Kind {
	case secret.Available:
		return pane.Keeping{Possible: true}
	case secret.Locked:
		return pane.Keeping{Possible: true, Text: "The keychain is locked: you are asked to unlock it."}
	}
	text := "Passwords cannot be saved: " + st.Reason + "."
	if st.Advice != "" {
		text += " " + st.Advice + "."
	}
	return pane.Keeping{Text: text}
}

// contents are the saved machines for the screen of the library.
type contents struct {
	*store.Store
	library *library.Library
}

// Recent are the machines last connected to.
func (c contents) Recent(ctx context.Context, n int) ([]shelf.Recent, error) {
	found, err := c.Recents(ctx, n)
	if err != nil {
		return nil, err
	}
	out := make([]shelf.Recent, len(found))
	for i, r := range found {
		out[i] = shelf.Recent(r)
	}
	return out, nil
}

// Forget removes the secrets of a host. Where there is no keychain there are
// none.
func (c contents) Forget(ctx context.Context, id string) error {
	err := c.library.Logout(ctx, library.Owner{ID: id}, "")
	if secret.KindOf(err) == secret.Absent {
		return nil
	}
	if err != nil {
		return fmt.Errorf("keychain: %w", err)
	}
	return nil
}
