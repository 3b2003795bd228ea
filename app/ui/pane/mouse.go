package pane

import (
	"image"
	"math"

	"deskvnc/viewer"
)

// wheelClick is what the toolkit scrolls for one click of the wheel.
const wheelClick = 25

// A mouse is the pointer at one session: where it is in remote pixels and
// which buttons are held. Motion is gathered until flush, so that a fast mouse
// sends one event for each round of the toolkit; everything else is sent at
// once, after the motion before it.
type mouse struct {
	send  func(viewer.Pointer)
	later func(func()) // has its argument run after the events of this moment

	at      image.Point
	known   bool // at is where the pointer has been
	held    viewer.Buttons
	moved   bool    // a motion is waiting
	planned bool    // a flush is on its way
	x, y    float64 // parts of a wheel click
}

// move takes the pointer to a remote pixel.
func (m *mouse) move(at image.Point) {
	if at == m.at && !m.moved && m.known {
		return
	}
	m.at, m.moved, m.known = at, true, true
	if !m.planned {
		m.planned = true
		m.later(m.flush)
	}
}

// flush sends the motion that is waiting.
func (m *mouse) flush() {
	m.planned = false
	if m.moved {
		m.emit(0, 0)
	}
}

// emit sends the pointer as it is, with wheel clicks.
func (m *mouse) emit(wheelX, wheelY int) {
	m.moved = false
	m.send(viewer.Pointer{X: m.at.X, Y: m.at.Y, Buttons: m.held, WheelX: wheelX, WheelY: wheelY})
}

// press takes buttons going down at a remote pixel.
func (m *mouse) press(b viewer.Buttons, at image.Point) {
	if b &^= m.held; b == 0 {
		m.move(at)
		return
	}
	if at != m.at && m.moved {
		m.emit(0, 0)
	}
	m.at, m.known = at, true
	m.held |= b
	m.emit(0, 0)
}

// release takes buttons going up at a remote pixel.
func (m *mouse) release(b viewer.Buttons, at image.Point) {
	if b &= m.held; b == 0 {
		m.move(at)
		return
	}
	if at != m.at && m.moved {
		m.emit(0, 0)
	}
	m.at = at
	m.held &^= b
	m.emit(0, 0)
}

// set makes the held buttons, of those in mask, what they really are.
func (m *mouse) set(held, mask viewer.Buttons, at image.Point) {
	m.move(at)
	if gone := m.held & mask &^ held; gone != 0 {
		m.release(gone, at)
	}
}

// scroll turns the wheel by parts of a click: to the right and down.
func (m *mouse) scroll(dx, dy float64, at image.Point) {
	m.x, m.y = m.x+dx, m.y+dy
	x, y := math.Trunc(m.x+math.Copysign(1e-6, m.x)), math.Trunc(m.y+math.Copysign(1e-6, m.y))
	m.x, m.y = m.x-x, m.y-y
	m.at = at
	if x != 0 || y != 0 {
		m.emit(int(x), int(y))
		return
	}
	m.move(at)
}

// reset forgets what is held, without a word to the remote side.
func (m *mouse) reset() { m.held, m.moved, m.x, m.y = 0, false, 0, 0 }
