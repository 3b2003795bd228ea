// Package x11 knows about the window what the toolkit does not tell: which
// keysym a key has and which locks are on, that the window manager has taken
// the keyboard, where the pointer is and which buttons are down outside the
// window, whether the window can be seen, and who owns the clipboard. It can
// grab the keyboard and take a picture of the window.
//
// It speaks to the X server over connections of its own, in pure Go, and
// touches no widget.
package x11

import (
	"errors"
	"fmt"
	"io"
	"log"
	"sync"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"

	"deskvnc/app/ui/keyboard"
)

// Events are the functions that a Helper calls, each from a goroutine of its
// own. Those left nil are not called.
type Events struct {
	// Taken: the window manager has taken the keyboard for a moment, or
	// another window has it; what is held is not told of any more.
	Taken func()
	// Visible: the window came onto the screen or left it.
	Visible func(bool)
	// Clipboard: somebody else has put something on the clipboard.
	Clipboard func()
	// Key: a key while the keyboard is grabbed.
	Key func(code int, s keyboard.Stroke, down bool)
	// Ungrabbed: the grab has ended by itself.
	Ungrabbed func()
}

// A Helper serves one window. Its methods are safe for concurrent use.
type Helper struct {
	window xproto.Window
	root   xproto.Window
	events Events

	keys  *xgb.Conn // knows XKB; gets the keys and the focus
	watch *xgb.Conn // a plain client: gets changes of the mapping, the window and the clipboard

	xkb    byte   // the extension's major opcode
	xinput byte   // the same of XInput, 0 without
	device uint16 // the pointer's, for XInput

	clip selection

	mu      sync.Mutex // guards below
	layout  *layout
	strokes []stroke
	down    [256]bool
	arrived chan struct{} // closed and made anew with each stroke
	grabbed bool

	stop sync.WaitGroup // the loops
}

// Dial connects to the X server of a window. Display is as in DISPLAY; empty
// means the variable.
func Dial(display string, window uint32, events Events) (*Helper, error) {
	quiet.Do(func() { xgb.Logger = log.New(io.Discard, "", 0) })
	h := &Helper{window: xproto.Window(window), events: events, arrived: make(chan struct{})}
	var err error
	if h.watch, err = xgb.NewConnDisplay(display); err != nil {
		return nil, fmt.Errorf("x11: connect: %w", err)
	}
	// Before the second connection: it adds to a table that both read.
	if err = h.prepareClipboard(); err == nil {
		if h.keys, err = xgb.NewConnDisplay(display); err != nil {
			err = fmt.Errorf("x11: connect: %w", err)
		} else if err = h.prepare(); err != nil {
			h.keys.Close()
		}
	}
	if err != nil {
		h.watch.Close()
		return nil, err
	}
	h.stop.Go(h.keyLoop)
	h.stop.Go(h.watchLoop)
	return h, nil
}

// quiet keeps the X library from writing to the standard error.
var quiet sync.Once

// prepare asks for what the helper lives on.
func (h *Helper) prepare() error {
	h.root = xproto.Setup(h.keys).DefaultScreen(h.keys).Root
	if err := h.useKeyboard(); err != nil {
		return err
	}
	l, err := h.readLayout()
	if err != nil {
		return err
	}
	h.layout = l
	h.useInput()

	mask := uint32(xproto.EventMaskKeyPress | xproto.EventMaskKeyRelease | xproto.EventMaskFocusChange)
	if err := xproto.ChangeWindowAttributesChecked(h.keys, h.window, xproto.CwEventMask, []uint32{mask}).Check(); err != nil {
		return fmt.Errorf("x11: watch the window: %v", err)
	}
	if err := xproto.ChangeWindowAttributesChecked(h.watch, h.window, xproto.CwEventMask, []uint32{xproto.EventMaskStructureNotify}).Check(); err != nil {
		return fmt.Errorf("x11: watch the window: %v", err)
	}
	return nil
}

// prepareClipboard asks to be told of a new owner of the clipboard. Without
// the extension nobody is told.
func (h *Helper) prepareClipboard() error {
	if err := h.clip.prepare(h.watch); err != nil {
		return err
	}
	if err := xfixes.Init(h.watch); err != nil {
		return nil
	}
	if _, err := xfixes.QueryVersion(h.watch, 5, 0).Reply(); err != nil {
		return nil
	}
	xfixes.SelectSelectionInput(h.watch, h.clip.window, h.clip.clipboard, xfixes.SelectionEventMaskSetSelectionOwner)
	return nil
}

// Close ends the helper and waits for its goroutines.
func (h *Helper) Close() {
	h.Grab(false)
	h.keys.Close()
	h.watch.Close()
	h.stop.Wait()
}

// keyLoop takes the keys and the focus.
func (h *Helper) keyLoop() {
	for {
		ev, err := h.keys.WaitForEvent()
		if ev == nil && err == nil {
			return
		}
		switch ev := ev.(type) {
		case xproto.KeyPressEvent:
			h.key(byte(ev.Detail), ev.State, true)
		case xproto.KeyReleaseEvent:
			h.key(byte(ev.Detail), ev.State, false)
		case xproto.FocusOutEvent:
			// The grab of the window manager's own keys, for example Alt+Tab,
			// takes the keyboard without the toolkit being told.
			h.lost(ev.Mode == xproto.NotifyModeGrab || ev.Mode == xproto.NotifyModeWhileGrabbed)
		case xproto.FocusInEvent:
			h.lost(ev.Mode == xproto.NotifyModeUngrab)
		}
	}
}

// lost forgets what is down, and tells about it when the toolkit does not.
func (h *Helper) lost(tell bool) {
	h.mu.Lock()
	h.down = [256]bool{}
	ours := h.grabbed // our own grab looks the same
	h.mu.Unlock()
	if tell && !ours && h.events.Taken != nil {
		h.events.Taken()
	}
}

// watchLoop takes what concerns the window, the mapping and the clipboard.
func (h *Helper) watchLoop() {
	for {
		ev, err := h.watch.WaitForEvent()
		if ev == nil && err == nil {
			h.clip.end()
			return
		}
		switch ev := ev.(type) {
		case xproto.MappingNotifyEvent:
			if l, err := h.readLayout(); err == nil {
				h.mu.Lock()
				h.layout = l
				h.mu.Unlock()
			}
		case xproto.UnmapNotifyEvent:
			h.visible(ev.Window == h.window, false)
		case xproto.MapNotifyEvent:
			h.visible(ev.Window == h.window, true)
		case xfixes.SelectionNotifyEvent:
			if ev.Owner != h.clip.window && h.events.Clipboard != nil {
				h.events.Clipboard()
			}
		case xproto.SelectionNotifyEvent:
			h.clip.notify(ev)
		case xproto.PropertyNotifyEvent:
			h.clip.property(ev)
		}
	}
}

func (h *Helper) visible(ours, on bool) {
	if ours && h.events.Visible != nil {
		h.events.Visible(on)
	}
}

// Bell rings the keyboard's bell.
func (h *Helper) Bell() { xproto.Bell(h.keys, 0) }

// replyWait bounds how long a question to the X server may take.
const replyWait = 2 * time.Second

var errSilent = errors.New("x11: the X server does not answer")

// ask sends a request of an extension and waits for its reply. A fault that
// the X library does not know would leave it waiting for ever.
func ask(c *xgb.Conn, request []byte) ([]byte, error) {
	cookie := c.NewCookie(true, true)
	c.NewRequest(request, cookie)
	type reply struct {
		data []byte
		err  error
	}
	got := make(chan reply, 1)
	go func() {
		data, err := cookie.Reply()
		got <- reply{data, err}
	}()
	select {
	case r := <-got:
		if r.err == nil && len(r.data) < 32 {
			r.err = errSilent
		}
		return r.data, r.err
	case <-time.After(replyWait):
		return nil, errSilent
	}
}
