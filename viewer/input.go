package viewer

// An Input is one thing a person or an agent does to a session: a [Key], a
// [Pointer] event or a [Motion]. A session delivers inputs in the order they were posted.
type Input interface{ input() }

// A Key is one key going down or up.
type Key struct {
	Sym  uint32 // X11 keysym; 0 when unknown
	Scan uint16 // XT set 1 scan code, extended keys as 0xE0xx; 0 when unknown
	Rune rune   // the character, when the key makes one; 0 otherwise
	Down bool
	// Locks are the lock keys of the keyboard it came from.
	Locks Locks
}

// Locks are lock keys. Known is false when their state is not known.
type Locks struct {
	Caps, Num, Scroll bool
	Known             bool
}

// Buttons is a set of held pointer buttons, bit n-1 for X11 button n. Wheel
// clicks (X11 buttons 4 to 7) are never held; see [Pointer].
type Buttons uint16

// The pointer buttons.
const (
	Left    Buttons = 1 << 0
	Middle  Buttons = 1 << 1
	Right   Buttons = 1 << 2
	Back    Buttons = 1 << 7
	Forward Buttons = 1 << 8
)

// A Pointer is the pointer's position and the buttons held there, in pixels
// of the remote screen, and the wheel clicks turned at that point.
type Pointer struct {
	X, Y    int
	Buttons Buttons
	WheelX  int // clicks; positive to the right
	WheelY  int // clicks; positive is down, towards the person
}

// A Motion moves the pointer by a way instead of to a place, for machines that
// have no places: see [PointerMode]. On any other it moves from the last place
// sent, inside of the screen.
type Motion struct {
	DX, DY  int
	Buttons Buttons
	WheelX  int // clicks; positive to the right
	WheelY  int // clicks; positive is down, towards the person
}

func (Key) input()     {}
func (Pointer) input() {}
func (Motion) input()  {}

// Releases reports whether an input can only let something go: a key up.
// A pointer event is judged against the mask that was sent before.
func Releases(in Input, held Buttons) bool {
	switch in := in.(type) {
	case Key:
		return !in.Down
	case Pointer:
		return in.WheelX == 0 && in.WheelY == 0 && in.Buttons&^held == 0 && in.Buttons != held
	case Motion:
		return in == Motion{Buttons: in.Buttons} && in.Buttons&^held == 0 && in.Buttons != held
	}
	return false
}
