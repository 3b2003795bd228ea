package main

import (
	"context"

	"deskvnc/app/callers"
	"deskvnc/app/ui"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// listen is how the window waits for machines that call.
func (s *saved) listen(e *engine.Engine) ui.ListenFunc {
	return func(address string, agree func(context.Context, viewer.Target) bool, told func(viewer.Target, *engine.Session, error)) (ui.Listener, error) {
		c := callers.Config{Engine: e, Agree: agree, Told: func(o callers.Outcome) { told(o.From, o.Session, o.Err) }}
		if s.library != nil {
			c.Known = s.library.Known
		}
		l, err := callers.Listen(address, c)
		if err != nil {
			return nil, err // not a nil *Waiting in the interface
		}
		return l, nil
	}
}
