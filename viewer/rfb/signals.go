package rfb

import (
	"sync/atomic"

	"deskvnc/viewer"
)

// signals notes what the machine has shown that it tells.
type signals struct {
	copyRect, cursorShape, cursorPosition, layout, fence, led atomic.Bool
}

// Signals tells which signals this connection carries. Whether a machine
// sends one is known only once it has.
func (s *Session) Signals() map[viewer.SignalName]viewer.Signal {
	m := map[viewer.SignalName]viewer.Signal{}
	set := func(name viewer.SignalName, seen *atomic.Bool, reason string) {
		if seen.Load() {
			m[name] = viewer.Signal{Availability: viewer.Live}
		} else {
			m[name] = viewer.Signal{Availability: viewer.Unknown, Reason: reason}
		}
	}
	set(viewer.SignalCopyRect, &s.signals.copyRect, "the machine has not moved a rectangle yet")
	shape := "the machine has not sent a pointer shape yet"
	if s.updates.Load() > 0 {
		shape = "the machine has sent a picture and no pointer shape: it draws the pointer itself, or none"
	}
	set(viewer.SignalCursorShape, &s.signals.cursorShape, shape)
	set(viewer.SignalCursorPosition, &s.signals.cursorPosition, "the machine has not moved the pointer yet")
	set(viewer.SignalFence, &s.signals.fence, "the machine has not sent a fence yet")
	set(viewer.SignalLEDState, &s.signals.led, "the machine has not told its lock keys yet")
	set(viewer.SignalScreenLayout, &s.signals.layout, "the machine has not sent its screen layout yet")
	set(viewer.SignalResize, &s.signals.layout, "the machine has not said that its screen can be resized")
	return m
}
