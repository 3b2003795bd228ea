package x11

import (
	"time"

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

// key takes a key event; seq is the number of the last request that the X
// server had taken from us before.
func (h *Helper) key(seq uint16, code byte, state uint16, down bool) {
	h.handing.Lock() // until it is known from which key on who gets them
	h.mu.Lock()
	h.handing.Unlock()
	repeat := down && h.down[code]
	h.down[code] = down
	grabbed, says := h.ours(seq), h.layout.stroke(code, state)
	// The toolkit does not tell of the release of a key whose press it did
	// not get.
	past := grabbed || !down && h.past[code]
	h.past[code] = down && grabbed
	if down && !repeat && !grabbed {
		if len(h.strokes) == maxStrokes {
			h.strokes = h.strokes[1:]
		}
		h.strokes = append(h.strokes, stroke{code, says, time.Now()})
		close(h.arrived)
		h.arrived = make(chan struct{})
	}
	h.mu.Unlock()
	if past && h.events.Key != nil {
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
