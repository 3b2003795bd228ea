package rfb

import (
	"image"
	"time"
)

// A wire is what updates have to be decoded by: their pixel format, and the
// quality at which ZYWRLE was asked for, 0 when it is not.
type wire struct {
	format pixelFormat
	wave   int
}

// The steps by which a machine without fences is brought to rest, so that
// another pixel format changes no update that is on its way.
type rest uint8

const (
	restNone   rest = iota
	restFirst       // waiting for the answer of one pixel, or of what was asked for before
	restSecond      // waiting for the answer of another pixel: all before it is here
	restQuiet       // nothing may come for a moment
	restFenced      // of a machine with fences: waiting for the one around the change
)

const (
	// restTime is how long nothing may come before a machine without fences is
	// told of another format.
	restTime = 250 * time.Millisecond
	// restGiveUp ends the attempt: the machine does not answer as it should, and
	// keeps the format it has.
	restGiveUp = 8 * time.Second
)

// A wires is the change from one wire to the next, guarded by the outbox. A
// machine with fences is told in mid-stream: the fence that comes back stands
// between the updates of the old format and those of the new. Any other is not
// asked for updates until all those on their way have come; what proves it is
// the answer to a request for one pixel.
type wires struct {
	now, next wire
	rest      rest
	begun     time.Time
	until     time.Time // of restQuiet
	asked     bool      // the pixel that is waited for has been asked for
	fence     uint64    // the number of the last fence sent
	onWay     wire      // what it stands before
	reading   int       // updates that are being read or drawn
	stale     int       // of them, those that began before the request that is waited for
	failed    bool      // the machine did not come to rest: its format stays
}

// settled reports whether nothing is to change.
func (w *wires) settled() bool { return w.now == w.next && w.rest != restFenced || w.failed }

// changes reports whether the machine has not been told of the next wire.
func (w *wires) changes() bool {
	told := w.now
	if w.rest == restFenced {
		told = w.onWay
	}
	return told != w.next && !w.failed
}

// holds reports whether no updates may be asked for.
func (w *wires) holds() bool { return w.rest != restNone && w.rest != restFenced }

// ended takes note of an update that has been drawn.
func (w *wires) ended(area image.Rectangle, size [2]int, now time.Time) {
	w.reading--
	if w.stale > 0 {
		w.stale--
		return
	}
	switch {
	case w.rest == restFirst && w.asked && area.Overlaps(firstPixel()):
		w.rest, w.asked = restSecond, false
	case w.rest == restSecond && w.asked && area.Overlaps(lastPixel(size)):
		w.rest, w.until = restQuiet, now.Add(restTime)
	case w.rest == restQuiet:
		w.until = now.Add(restTime)
	}
}

func firstPixel() image.Rectangle { return image.Rect(0, 0, 1, 1) }

func lastPixel(size [2]int) image.Rectangle {
	return image.Rect(size[0]-1, size[1]-1, size[0], size[1])
}

// resized notes the screen's size. What was asked for to bring a machine to rest
// may lie outside of it, and is asked for anew.
func (o *outbox) resized(size [2]int) {
	o.size, o.held.size = size, size
	if o.wires.holds() {
		o.wires.rest = restNone
	}
}

// began takes note of the head of an update, which answers what was asked for
// if answered, and returns what it is decoded by.
func (o *outbox) began(answered bool) wire {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wires.reading++
	if answered {
		o.answered()
		o.wake()
	}
	return o.wires.now
}

// wire is what is decoded by now.
func (o *outbox) wire() wire {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.wires.now
}

// takeWire appends what brings the next wire nearer; or tells in how long to
// look again. The caller holds the lock.
func (o *outbox) takeWire(b []byte, now time.Time) ([]byte, time.Duration) {
	w, r := &o.wires, &o.requests
	if w.rest == restFenced {
		return b, 0
	}
	if w.now == w.next || w.failed || !r.demand {
		w.rest = restNone
		return b, 0
	}
	if w.rest == restNone && r.fence {
		w.fence++
		w.rest, w.onWay = restFenced, w.next
		b = appendFence(b, fenceRequest|fenceSyncNext, fencePayload(fenceBefore, w.fence))
		b, o.format = w.next.format.appendSet(b), w.next.format
		return appendFence(b, fenceRequest|fenceBlockBefore, fencePayload(fenceBehind, w.fence)), 0
	}
	if w.rest == restNone {
		w.rest, w.asked, w.begun = restFirst, false, now
	}
	left := w.begun.Add(restGiveUp).Sub(now)
	if left <= 0 {
		w.rest, w.failed = restNone, true
		return b, 0
	}
	b, wait := o.takeRest(b, now)
	return b, sooner(wait, left)
}

// takeRest appends the next request for a pixel, or the change itself.
func (o *outbox) takeRest(b []byte, now time.Time) ([]byte, time.Duration) {
	w := &o.wires
	switch w.rest {
	case restFirst, restSecond:
		if !w.asked {
			at := firstPixel()
			if w.rest == restSecond {
				at = lastPixel(o.size)
			}
			w.asked, w.stale, o.requests.inFlight = true, w.reading, true
			b = appendAreaRequest(b, at)
		}
	case restQuiet:
		if left := w.until.Sub(now); left > 0 || w.reading > 0 {
			return b, max(left, time.Millisecond)
		}
		b, o.format = w.next.format.appendSet(b), w.next.format
		w.now, w.rest = w.next, restNone
		o.requests.inFlight = false
	}
	return b, 0
}

// returned takes the fence around a change: what comes from here on is
// decoded by the next wire.
func (w *wires) returned(number uint64) {
	if w.rest == restFenced && number == w.fence {
		w.now, w.rest = w.onWay, restNone
	}
}
