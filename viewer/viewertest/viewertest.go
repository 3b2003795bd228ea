// Package viewertest is the contract of a session as one suite of tests. A
// driver passes it with every machine it has a [Peer] for.
package viewertest

import (
	"image"
	"image/color"
	"testing"

	"deskvnc/viewer"
)

// A Peer is a machine that a driver is tried on. Methods that cannot do what
// they should end the test.
type Peer interface {
	// Target is the machine, listening.
	Target(t testing.TB) viewer.Target
	// Paint fills a rectangle of its screen.
	Paint(t testing.TB, r image.Rectangle, c color.RGBA)
	// Seen waits until n keys and buttons have gone down or up on the machine,
	// and returns all that have, in order. Moves do not count.
	Seen(t testing.TB, n int) []Seen
	// Kill ends the machine's side as a crash would.
	Kill(t testing.TB)
}

// A Clipper is a Peer whose clipboard can be read.
type Clipper interface {
	// Clip waits until the clipboard's text is want.
	Clip(t testing.TB, want string)
}

// Seen is one key or button going down or up on the machine.
type Seen struct {
	Down   bool
	Sym    uint32 // of a key; 0 for a button
	Button int    // X11 number of a button
	X, Y   int    // where a button was
}

// A Machine starts a Peer whose screen is at least 200 x 150 pixels, and ends
// it with the test.
type Machine func(t *testing.T) Peer

// A Suite is one driver with one kind of machine.
type Suite struct {
	Driver  viewer.Driver
	Machine Machine
	Ask     viewer.Asker // answers what the machine asks; nil: nothing is asked
}

// Run runs the suite.
func (s Suite) Run(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Suite)
	}{
		{"open reports each phase", testOpen},
		{"the picture arrives and changes", testPicture},
		{"nobody looks, nothing is asked for", testNoDemand},
		{"inputs arrive in order", testInputs},
		{"many clicks stay in order", testManyClicks},
		{"release all lets go of buttons, then keys", testReleaseAll},
		{"a full queue says busy and takes releases", testBusy},
		{"moves are shed, never across a click", testMoves},
		{"close releases and ends", testClose},
		{"a machine that dies is noticed", testKill},
		{"open ends with its context", testCancel},
		{"nobody listens", testUnreachable},
		{"the screen is resized", testResize},
		{"text is put on the clipboard", testClipboard},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, s) })
	}
}
