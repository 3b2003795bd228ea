package viewer

import (
	"context"
	"net"

	"deskvnc/viewer/frame"
	"deskvnc/viewer/grid"
)

// A Session is one live connection to a machine. What more it can do are
// optional abilities: [Desktop], [Inputter], [Resizer], [Clipboard],
// [Encrypter], [Signaller]. All methods are safe for concurrent use.
type Session interface {
	// Done is closed when the session has ended and everything it started
	// has stopped. Err then tells why; nil means Close was called.
	Done() <-chan struct{}
	Err() error
	// Close ends the session: held buttons and keys are released on the wire
	// first. It returns when Done is closed, and may be called twice.
	Close() error
}

// A Desktop is a Session with a picture, drawn into the [Env.Frame] it was
// opened with.
type Desktop interface {
	// Demand says whether anybody looks. At false no pixels are asked for;
	// going to true asks for the whole picture once, then for changes.
	Demand(on bool)
	// Refresh asks for the whole picture once more.
	Refresh()
}

// A Sparer is a Desktop that can be asked for less than all changes.
type Sparer interface {
	// Spare says whether those who look do so now and then only: changes are
	// then asked for every few seconds. Once it is false again, what has changed
	// is asked for at once.
	Spare(on bool)
}

// A Steadier is a Desktop whose quality can be kept from following the
// connection.
type Steadier interface {
	// Steady says whether somebody acts by what is seen: pixels of the same
	// content are then never sent again in another quality, as [QualityAuto] does
	// otherwise. It asks for a picture without losses. Other qualities stay.
	Steady(on bool)
}

// An Inputter is a Session that takes keyboard and pointer input through one
// ordered queue of [InputQueue] places.
type Inputter interface {
	// Post queues inputs, all or none; it never blocks. Without room the
	// error's Kind is Busy. A pure move at the queue's tail with the same
	// buttons is replaced by a newer one; nothing else is ever dropped.
	Post(in ...Input) error
	// Queued is the number of inputs not written yet.
	Queued() int
	// Flush waits until all that was posted before has been written.
	Flush(ctx context.Context) error
}

// InputQueue is the number of places in a session's input queue.
const InputQueue = 256

// A Releaser is a Session that can let go of everything it holds down.
type Releaser interface {
	// ReleaseAll clears the queue of everything but releases, then sends a
	// pointer event with no buttons at the last point sent, then the release
	// of every key held down: always in that order, and the pointer event
	// even when no button is held. It returns when they are written.
	ReleaseAll(ctx context.Context) error
}

// A Resizer is a Session whose remote screen follows the window.
type Resizer interface {
	// Resize asks for a screen of w times h pixels. The answer comes as a
	// [Resized] or a [Refusal] event.
	Resize(ctx context.Context, w, h int) error
}

// A Clipboard is a Session that can put text on the remote clipboard.
type Clipboard interface {
	// SetClipboard sends text. Lost is the number of characters that the
	// protocol could not carry and that were replaced.
	SetClipboard(ctx context.Context, text string) (lost int, err error)
}

// An Encrypter is a Session that knows whether it is protected on its way: all
// of it, not only the login.
type Encrypter interface{ Encrypted() bool }

// A Signaller is a Session that says which signals its connection carries.
type Signaller interface {
	// Signals tells, for each name that the driver knows of, whether it is
	// live, absent or unknown. Names left out are absent.
	Signals() map[SignalName]Signal
}

// A SignalName names something that a connection may or may not tell.
type SignalName string

// The signals.
const (
	SignalCopyRect       SignalName = "copy_rect"
	SignalFence          SignalName = "fence"
	SignalLEDState       SignalName = "led_state"
	SignalCursorPosition SignalName = "cursor_position"
	SignalCursorShape    SignalName = "cursor_shape"
	SignalScreenLayout   SignalName = "screen_layout"
	SignalContentHint    SignalName = "content_hint"
	SignalErrInfo        SignalName = "errinfo"
	SignalAltScreen      SignalName = "alt_screen"
	SignalResize         SignalName = "resize"
	SignalWindows        SignalName = "window_structure"
)

// A Signal is live, or says why it is not.
type Signal struct {
	Availability Availability
	Reason       string // empty when live
}

// An Availability is one of three words, never a fourth.
type Availability string

// The availabilities: live; absent, the far side does not do it, for the whole
// session; unknown, nothing has arrived yet.
const (
	Live    Availability = "live"
	Absent  Availability = "absent"
	Unknown Availability = "unknown"
)

// Env is what the engine gives a driver for one session.
type Env struct {
	// Frame is the picture to draw into. The driver resets it to the remote
	// size before it reports itself connected.
	Frame *frame.Frame
	// Grid is the terminal to draw into, for drivers of terminals. It has the
	// size that the program is told at its start, and is kept when the
	// connection is made anew: Again says that it was.
	Grid  *grid.Terminal
	Again bool
	// Ask answers questions. Never nil.
	Ask Asker
	// Emit takes events, in order; it never blocks. Never nil.
	Emit func(Event)
	// Dial makes the connection; nil means a plain TCP dial. Tunnels and
	// tests set it.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// A Driver opens sessions of one protocol.
type Driver interface {
	// Open dials, logs in, negotiates, and returns a live session. It returns
	// promptly when ctx ends; a session that is open outlives ctx.
	Open(ctx context.Context, t Target, env Env) (Session, error)
}

// A Registry holds the drivers of a build, by protocol.
type Registry map[Protocol]Driver
