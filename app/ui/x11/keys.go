package x11

import (
	"time"

	"github.com/jezek/xgb/xproto"

	"deskvnc/app/ui/keyboard"
)

// A stroke is a press of a key as the X server told of it, and what the key
// meant then: some programs type a character by putting it on a spare key for
// a moment.
type stroke struct {
	code byte
	says keyboard.Stroke
	at   time.Time
}

// Bounds of the strokes that wait for the toolkit to tell of the same key.
const (
	maxStrokes = 256
	strokeLife = 3 * time.Second
	// strokeWait is how long Press waits for the X server's word on a key
	// that the toolkit has told of: both come from the same event.
	strokeWait = 30 * time.Millisecond
)

// key takes a key event.
func (h *Helper) key(code byte, state uint16, down bool) {
	h.mu.Lock()
	repeat := down && h.down[code]
	h.down[code] = down
	grabbed, says := h.grabbed, h.layout.stroke(code, state)
	if down && !repeat && !grabbed {
		if len(h.strokes) == maxStrokes {
			h.strokes = h.strokes[1:]
		}
		h.strokes = append(h.strokes, stroke{code, says, time.Now()})
		close(h.arrived)
		h.arrived = make(chan struct{})
	}
	h.mu.Unlock()
	if grabbed && h.events.Key != nil {
		h.events.Key(int(code), says, down)
	}
}

// Press tells what a key means that the toolkit says has just gone down.
func (h *Helper) Press(code int) (keyboard.Stroke, bool) {
	if code < 8 || code > 255 {
		return keyboard.Stroke{}, false
	}
	limit := time.NewTimer(strokeWait)
	defer limit.Stop()
	for {
		h.mu.Lock()
		l := h.layout
		says, ok := h.takeStroke(byte(code))
		arrived := h.arrived
		h.mu.Unlock()
		if ok {
			return says, true
		}
		select {
		case <-arrived:
		case <-limit.C:
			state, err := h.state()
			return l.stroke(byte(code), state), err == nil
		}
	}
}

// takeStroke finds the oldest press of a key and drops it and all before it:
// the toolkit tells in the same order. The caller holds mu.
func (h *Helper) takeStroke(code byte) (says keyboard.Stroke, ok bool) {
	old := time.Now().Add(-strokeLife)
	for i, s := range h.strokes {
		if s.code == code && s.at.After(old) {
			h.strokes = h.strokes[i+1:]
			return s.says, true
		}
	}
	return keyboard.Stroke{}, false
}

// last reports whether a press is the newest of its key. The caller holds mu.
func (h *Helper) last(i int) bool {
	for _, s := range h.strokes[i+1:] {
		if s.code == h.strokes[i].code {
			return false
		}
	}
	return true
}

// Forget drops the presses that the toolkit told somebody else of.
func (h *Helper) Forget() {
	h.mu.Lock()
	h.strokes = nil
	h.mu.Unlock()
}

// Grab takes the keyboard, so that the window manager's own keys come here
// too, or gives it back. It reports whether the keyboard is grabbed. While it
// is, keys come by Events.Key and the toolkit gets none.
func (h *Helper) Grab(on bool) bool {
	if !on {
		h.mu.Lock()
		was := h.grabbed
		h.grabbed, h.giving = false, was
		h.mu.Unlock()
		if was {
			xproto.UngrabKeyboard(h.keys, xproto.TimeCurrentTime)
		}
		return false
	}
	h.mu.Lock()
	h.grabbed = true // before the grab: its first keys come at once
	h.mu.Unlock()
	r, err := xproto.GrabKeyboard(h.keys, false, h.window, xproto.TimeCurrentTime, xproto.GrabModeAsync, xproto.GrabModeAsync).Reply()
	if err != nil || r == nil || r.Status != xproto.GrabStatusSuccess {
		h.mu.Lock()
		h.grabbed = false
		h.mu.Unlock()
		return false
	}
	return true
}
