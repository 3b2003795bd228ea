package x11

import (
	"time"

	"github.com/jezek/xgb/xproto"
)

// A turn is a request that takes the keyboard or gives it back. Keys carry the
// number of the last request that the X server had taken before them, so that
// of those on their way each is known to be ours alone, or the toolkit's.
type turn struct {
	seq uint16
	on  bool
	at  time.Time
}

// turnLife is how long a turn is compared by its number, which wraps around.
const turnLife = 10 * time.Second

// ours reports whether a key with this number comes by our grab. The caller
// holds mu.
func (h *Helper) ours(seq uint16) bool {
	for len(h.turns) > 0 {
		t := h.turns[0]
		if int16(seq-t.seq) < 0 && time.Since(t.at) < turnLife {
			break
		}
		h.mine, h.turns = t.on, h.turns[1:]
	}
	return h.mine
}

// turned notes a turn.
func (h *Helper) turned(seq uint16, on bool) {
	h.mu.Lock()
	h.turns = append(h.turns, turn{seq, on, time.Now()})
	h.mu.Unlock()
}

// Grab takes the keyboard, so that the window manager's own keys come here
// too, or gives it back. It reports whether the keyboard is grabbed. While it
// is, keys come by Events.Key and the toolkit gets none; those pressed before
// the end of the grab may come so after it.
func (h *Helper) Grab(on bool) bool {
	h.handing.Lock()
	defer h.handing.Unlock()
	h.mu.Lock()
	was := h.grabbed
	h.grabbed = on // before the grab: its own focus events come at once
	if !on {
		h.giving = was
	}
	h.mu.Unlock()
	if !on {
		if was {
			h.turned(xproto.UngrabKeyboard(h.keys, xproto.TimeCurrentTime).Sequence, false)
		}
		return false
	}
	c := xproto.GrabKeyboard(h.keys, false, h.window, xproto.TimeCurrentTime, xproto.GrabModeAsync, xproto.GrabModeAsync)
	if r, err := c.Reply(); err != nil || r == nil || r.Status != xproto.GrabStatusSuccess {
		h.mu.Lock()
		h.grabbed = false
		h.mu.Unlock()
		return false
	}
	h.turned(c.Sequence, true)
	return true
}
