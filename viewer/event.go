package viewer

import "image"

// An Event is something a session reports. Drivers emit them in order through
// [Env.Emit]; picture changes are not events, they are damage in the frame.
type Event interface{ event() }

// A Phase is how far a session has come. The values are the ones of the
// observation that agents see.
type Phase string

// The phases of a session.
const (
	Idle           Phase = "idle"
	Resolving      Phase = "resolving"
	Connecting     Phase = "connecting"
	Authenticating Phase = "authenticating"
	Negotiating    Phase = "negotiating"
	Connected      Phase = "connected"
	Reconnecting   Phase = "reconnecting"
	Disconnected   Phase = "disconnected"
)

// Progress says that a session being opened has reached a phase. Method is
// the login method while authenticating.
type Progress struct {
	Phase  Phase
	Method string
}

// A Screen is one monitor of a remote desktop.
type Screen struct {
	ID      uint32
	Bounds  image.Rectangle // in pixels of the frame
	Primary bool
}

// Resized says that the remote screen has a new size or layout. The frame has
// been resized already. No Screens means one that covers the whole frame.
type Resized struct {
	Width, Height int
	Screens       []Screen
}

// Named carries the desktop's name, cleaned of control characters and cut to
// a sane length.
type Named struct{ Name string }

// Bell is the remote bell.
type Bell struct{}

// CutText is text that the remote side put on its clipboard.
type CutText struct{ Text string }

// Cursor is a new pointer shape. A nil Image hides the pointer.
type Cursor struct {
	Image *image.NRGBA
	Hot   image.Point // inside the image
}

// CursorMoved says that the remote side moved the pointer itself.
type CursorMoved struct{ At image.Point }

// PointerMode says whether the remote side takes motion of the pointer instead
// of places, as an emulator without a tablet does: its pointer is then moved
// best by [Motion], and stands where only it knows.
type PointerMode struct{ Relative bool }

// LockState is the remote side's lock keys.
type LockState struct{ Locks Locks }

// Refusal is the remote side's answer to something that it will not do, such
// as a size it refuses.
type Refusal struct{ Text string }

// Notice is something a person should know about the connection although
// nothing has failed.
type Notice struct{ Text string }

func (Progress) event()    {}
func (Resized) event()     {}
func (Named) event()       {}
func (Bell) event()        {}
func (CutText) event()     {}
func (Cursor) event()      {}
func (CursorMoved) event() {}
func (PointerMode) event() {}
func (LockState) event()   {}
func (Refusal) event()     {}
func (Notice) event()      {}
