package viewer

import "time"

// Figures are what was measured of a connection that carries a picture, over
// its last updates.
type Figures struct {
	FPS float64 // updates a second that changed pixels; 0 when none came for a while
	// RoundTrip is the way to the machine and back, when RoundTripKnown.
	RoundTrip      time.Duration
	RoundTripKnown bool
	// Duty is the share of the time in which the machine was sending, 0 to 1.
	Duty       float64
	Throughput float64       // bytes of updates a second
	Decode     time.Duration // that an update takes to read and draw, the network not counted
	Encoding   int32         // of the last rectangle, by its registered number; of VNC
	// JPEGQuality is the quality that the machine was asked for, 1 to 9; 0 for
	// a picture without losses.
	JPEGQuality uint8
}

// A Measured is a Session that measures its picture.
type Measured interface {
	// Figures tells what was measured; ok is false before anything was.
	Figures() (f Figures, ok bool)
}
