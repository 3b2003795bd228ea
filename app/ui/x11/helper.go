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
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jezek/xgb"
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
	// Key: a key while the keyboard is grabbed, and the release of one that
	// went down then.
	Key func(code int, s keyboard.Stroke, down bool)
	// Ungrabbed: the grab has ended by itself.
	Ungrabbed func()
}

// A Helper serves one window. Its methods are safe for concurrent use.
type Helper struct {
	window xproto.Window
	root   xproto.Window
	events Events

	keys  *xgb.Conn // gets the keys, the layout and the focus
	watch *xgb.Conn // gets changes of the window and the clipboard

	xkb         byte   // the keyboard extension's major opcode
	xkbEvent    byte   // and the code of its events
	xinput      byte   // the major opcode of the input extension, 0 without
	xfixesEvent byte   // the code of the clipboard's events, 0 without
	device      uint16 // the pointer's, for XInput

	clip selection
	size atomic.Int64 // of the window: width and height

	handing sync.Mutex // held while the keyboard changes hands

	mu      sync.Mutex // guards below
	layout  *layout
	strokes []stroke
	down    [256]bool
	arrived chan struct{} // closed and made anew with each stroke
	grabbed bool
	giving  bool      // the end of our grab has not been told of
	turns   []turn    // of the keyboard, that no key has come after
	mine    bool      // the last key came by the grab
	past    [256]bool // went down past the toolkit

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
	h.followLayout()
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
	if g, err := xproto.GetGeometry(h.watch, xproto.Drawable(h.window)).Reply(); err == nil {
		h.size.Store(int64(g.Width)<<32 | int64(g.Height))
	}
	return nil
}

// Requests of the X fixes extension.
const (
	xfixesQueryVersion         = 0
	xfixesSelectSelectionInput = 2
	xfixesSetOwner             = 1 << 0 // event mask: a new owner
)

// prepareClipboard asks to be told of a new owner of the clipboard. Without
// the extension nobody is told. The requests are made by hand: the library's
// package for them writes to a table that its other connections read.
func (h *Helper) prepareClipboard() error {
	if err := h.clip.prepare(h.watch); err != nil {
		return err
	}
	ext, err := xproto.QueryExtension(h.watch, uint16(len("XFIXES")), "XFIXES").Reply()
	if err != nil || ext == nil || !ext.Present {
		return nil
	}
	q := make([]byte, 12)
	q[0], q[1], q[2], q[4] = ext.MajorOpcode, xfixesQueryVersion, 3, 5
	if _, err := ask(h.watch, q); err != nil {
		return nil
	}
	h.xfixesEvent = ext.FirstEvent
	q = make([]byte, 16)
	q[0], q[1], q[2] = ext.MajorOpcode, xfixesSelectSelectionInput, 4
	binary.LittleEndian.PutUint32(q[4:], uint32(h.clip.window))
	binary.LittleEndian.PutUint32(q[8:], uint32(h.clip.clipboard))
	binary.LittleEndian.PutUint32(q[12:], xfixesSetOwner)
	h.watch.NewRequest(q, h.watch.NewCookie(false, false))
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
			h.key(ev.Sequence, byte(ev.Detail), ev.State, true)
		case xproto.KeyReleaseEvent:
			h.key(ev.Sequence, byte(ev.Detail), ev.State, false)
		case rawEvent:
			if ev[0]&0x7f == h.xkbEvent { // in order with the keys
				if l, err := h.readLayout(); err == nil {
					h.mu.Lock()
					h.layout = l
					h.mu.Unlock()
				}
			}
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
	for i := range h.strokes { // pressed before, and told of by the toolkit only after this
		h.strokes[i].says.Lost = h.strokes[i].says.Lost || tell && h.down[h.strokes[i].code] && h.last(i)
	}
	h.down = [256]bool{}
	ours := h.grabbed || h.giving // our own grab looks the same
	if tell && !h.grabbed {
		h.giving = false
	}
	h.mu.Unlock()
	if tell && !ours && h.events.Taken != nil {
		h.events.Taken()
	}
}

// A rawEvent is an event of an extension that the X library does not know.
type rawEvent []byte

// Bytes is the event.
func (e rawEvent) Bytes() []byte { return e }

// String says what it is.
func (e rawEvent) String() string { return fmt.Sprintf("event %d of an extension", e[0]&0x7f) }

// The library drops events that it does not know; here they come through. The
// codes of extensions begin at 64, and those it does know replace these. Only
// before the first connection may its table be written to.
func init() {
	for n := 64; n < 128; n++ {
		if xgb.NewEventFuncs[n] == nil {
			xgb.NewEventFuncs[n] = func(buf []byte) xgb.Event { return rawEvent(buf) }
		}
	}
}

// watchLoop takes what concerns the window and the clipboard.
func (h *Helper) watchLoop() {
	for {
		ev, err := h.watch.WaitForEvent()
		if ev == nil && err == nil {
			h.clip.end()
			return
		}
		switch ev := ev.(type) {
		case xproto.ConfigureNotifyEvent:
			if ev.Window == h.window {
				h.size.Store(int64(ev.Width)<<32 | int64(ev.Height))
			}
		case xproto.UnmapNotifyEvent:
			h.visible(ev.Window == h.window, false)
		case xproto.MapNotifyEvent:
			h.visible(ev.Window == h.window, true)
		case rawEvent:
			if ev[0]&0x7f == h.xfixesEvent && h.events.Clipboard != nil {
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

// Window is the size of the window in pixels.
func (h *Helper) Window() image.Point {
	s := h.size.Load()
	return image.Pt(int(s>>32), int(s&0xffffffff))
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
