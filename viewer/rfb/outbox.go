package rfb

import (
	"context"
	"errors"
	"fmt"
	"image"
	"sync"
	"time"

	"deskvnc/viewer"
)

const (
	// batchInputs bounds the inputs written in one piece: what is being
	// written can no longer be cleared.
	batchInputs = 32
	// moveEvery is the least time between two moves of the pointer that
	// nothing waits behind: 125 a second, as fast as a mouse used to be.
	moveEvery = 8 * time.Millisecond
	// maxClicks bounds the wheel clicks of one pointer input.
	maxClicks = 1000
	// keptBatch is the largest buffer kept from one write to the next.
	keptBatch = 64 << 10
)

// An outbox holds what is to be sent to the machine, in order, and the state
// that decides when. Nothing in it waits or writes; the writer takes batches
// out of it.
type outbox struct {
	kick chan struct{} // gets a value when there may be something to take

	mu      sync.Mutex // guards below; never held across I/O
	end     error      // why nothing is taken any more; nil while it is
	sealed  bool       // no more inputs: the session is closing
	queue   []entry
	taken   int // inputs of the batch being written
	counter uint64
	written uint64 // the last entry that was written
	writing uint64 // the last entry of the batch being written
	waiters []waiter

	posted   viewer.Buttons     // the buttons after the last entry
	down     map[keyID]struct{} // the keys held after the last entry
	held     held
	lastMove time.Time

	requests requests
	hello    []byte // what is sent before anything else
	fences   []byte // answers to fences, and the question whether the machine is there
	clip     clipboard

	wish      wish
	pace      pace
	steady    bool // the pace is off, whatever is wished
	wires     wires
	full, own pixelFormat     // the whole colours of the session, and what the machine has by itself; set once
	format    pixelFormat     // that the machine was told last
	told      []int32         // the encodings that it was told last
	quality   int             // of JPEG, that it was told last
	refine    image.Rectangle // to be asked for without losses
	ping      ping

	size   [2]int       // the screen, for requests
	resize *sizeRequest // wanted and not sent yet
	layout *sizeRequest // the machine's first screen; nil: it cannot be resized

	out []byte // the batch; owned by the writer while it writes
}

// An entry is one place of the queue: an input, a release of everything, or a
// whole message.
type entry struct {
	n       uint64
	in      viewer.Input
	move    bool // a pointer input that moves only, to a place
	still   bool // a motion that changes no button
	release bool
	text    []byte // a ClientCutText message
	kind    textKind
}

type waiter struct {
	n    uint64
	done chan struct{}
}

type sizeRequest struct {
	w, h      int
	id, flags uint32
}

func newOutbox() *outbox {
	return &outbox{kick: make(chan struct{}, 1), down: map[keyID]struct{}{}}
}

func (o *outbox) wake() {
	select {
	case o.kick <- struct{}{}:
	default:
	}
}

// update changes the state under the lock and wakes the writer.
func (o *outbox) update(change func()) {
	o.mu.Lock()
	change()
	o.mu.Unlock()
	o.wake()
}

// post queues inputs, all or none.
func (o *outbox) post(in []viewer.Input) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, i := range in {
		if err := o.checkInput(i); err != nil {
			return err
		}
	}
	if o.end != nil {
		return o.end
	}
	if o.sealed {
		return errClosed
	}
	places := o.places(in)
	if places > viewer.InputQueue {
		return &viewer.Error{Op: "rfb.Post", Kind: viewer.Invalid,
			Err: fmt.Errorf("%d inputs in one call can never be queued: post at most %d", len(in), viewer.InputQueue)}
	}
	if places > 0 && o.inputs()+places > viewer.InputQueue {
		return &viewer.Error{Op: "rfb.Post", Kind: viewer.Busy,
			Err: fmt.Errorf("the machine takes input slower than it is sent: %d inputs wait, try again in a moment", o.inputs())}
	}
	for _, i := range in {
		o.push(i)
	}
	o.wake()
	return nil
}

var errClosed = &viewer.Error{Op: "rfb.Session", Kind: viewer.Closed, Err: errors.New("the session was closed")}

// checkInput refuses what can never be sent. The caller holds the lock.
func (o *outbox) checkInput(in viewer.Input) error {
	bad := func(format string, args ...any) error {
		return &viewer.Error{Op: "rfb.Post", Kind: viewer.Invalid, Err: fmt.Errorf(format, args...)}
	}
	switch in := in.(type) {
	case viewer.Key:
		if !o.held.can(in) {
			return bad("a key without a symbol cannot be sent to this machine (scan code %#x)", in.Scan)
		}
	case viewer.Pointer:
		if max(in.WheelX, -in.WheelX, in.WheelY, -in.WheelY) > maxClicks {
			return bad("more than %d wheel clicks in one input", maxClicks)
		}
	case viewer.Motion:
		if max(in.WheelX, -in.WheelX, in.WheelY, -in.WheelY) > maxClicks {
			return bad("more than %d wheel clicks in one input", maxClicks)
		}
		if max(in.DX, -in.DX, in.DY, -in.DY) > relativeZero {
			return bad("a motion of more than %d pixels", relativeZero)
		}
	default:
		return bad("an input of type %T cannot be sent over VNC", in)
	}
	return nil
}

// inputs is the number of inputs not written yet. The caller holds the lock.
func (o *outbox) inputs() int {
	n := o.taken
	for i := range o.queue {
		if o.queue[i].in != nil {
			n++
		}
	}
	return n
}

// places is the number of free places that inputs need: a move replaces the
// move at the tail, and what only lets something go always finds a place.
func (o *outbox) places(in []viewer.Input) int {
	n := 0
	buttons := o.posted
	tail := len(o.queue) > 0 && o.queue[len(o.queue)-1].move
	var pressed map[keyID]struct{}
	for _, i := range in {
		switch i := i.(type) {
		case viewer.Pointer:
			move := isMove(i, buttons)
			if !(move && tail) && !viewer.Releases(i, buttons) {
				n++
			}
			buttons, tail = i.Buttons, move
		case viewer.Motion:
			if !viewer.Releases(i, buttons) {
				n++ // one more at most: it may yet be added to the one before
			}
			buttons, tail = i.Buttons, false
		case viewer.Key:
			id := idOf(i)
			_, before := o.down[id]
			_, now := pressed[id]
			if i.Down {
				if pressed == nil {
					pressed = map[keyID]struct{}{}
				}
				pressed[id] = struct{}{}
			}
			if i.Down || !before && !now {
				n++
			}
			tail = false
		}
	}
	return n
}

// isMove reports whether a pointer input only moves while buttons are held.
func isMove(p viewer.Pointer, buttons viewer.Buttons) bool {
	return p.Buttons == buttons && p.WheelX == 0 && p.WheelY == 0
}

// push appends one input, or puts it in the place of a move at the tail.
func (o *outbox) push(in viewer.Input) {
	o.counter++
	e := entry{n: o.counter, in: in}
	switch in := in.(type) {
	case viewer.Pointer:
		e.move = isMove(in, o.posted)
		o.posted = in.Buttons
		if n := len(o.queue); e.move && n > 0 && o.queue[n-1].move {
			o.queue[n-1] = e
			return
		}
	case viewer.Motion:
		still := in.Buttons == o.posted && in.WheelX == 0 && in.WheelY == 0
		o.posted = in.Buttons
		if n := len(o.queue); still && n > 0 && o.queue[n-1].add(in) {
			o.queue[n-1].n = o.counter
			return
		}
		e.still = still
	case viewer.Key:
		if id := idOf(in); in.Down {
			o.down[id] = struct{}{}
		} else {
			delete(o.down, id)
		}
	}
	o.queue = append(o.queue, e)
}

// add adds a motion to the one of the entry, which only moves too, unless that
// would be more than one can carry.
func (e *entry) add(m viewer.Motion) bool {
	before, ok := e.in.(viewer.Motion)
	x, y := before.DX+m.DX, before.DY+m.DY
	if !ok || before.Buttons != m.Buttons || before.WheelX != 0 || before.WheelY != 0 || !e.still || max(x, -x, y, -y) > relativeZero {
		return false
	}
	before.DX, before.DY = x, y
	e.in = before
	return true
}

// releaseAll clears the queue of everything but pointer releases and text,
// queues the release of everything, and returns its number. Key releases in
// the queue are part of it.
func (o *outbox) releaseAll() uint64 {
	buttons := o.lastMask()
	kept := o.queue[:0]
	var texts []entry
	for _, e := range o.queue {
		switch {
		case e.text != nil:
			texts = append(texts, e)
		case e.in != nil:
			if held, ok := buttonsOf(e.in); ok && viewer.Releases(e.in, buttons) {
				kept = append(kept, e)
				buttons = held
			}
		}
	}
	o.counter++
	n := o.counter
	kept = append(kept, entry{n: n, release: true})
	for _, e := range texts {
		o.counter++
		e.n = o.counter
		kept = append(kept, e)
	}
	clear(o.queue[min(len(kept), len(o.queue)):])
	o.queue = kept
	o.posted = 0
	clear(o.down)
	return n
}

// buttonsOf are the buttons held after an input of the pointer.
func buttonsOf(in viewer.Input) (viewer.Buttons, bool) {
	switch in := in.(type) {
	case viewer.Pointer:
		return in.Buttons, true
	case viewer.Motion:
		return in.Buttons, true
	}
	return 0, false
}

// seal refuses inputs from now on, queues the release of what is held, and
// returns the number to wait for.
func (o *outbox) seal() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sealed = true
	o.requests.setDemand(false)
	if len(o.queue) > 0 || o.taken > 0 || o.held.any() {
		o.releaseAll()
	}
	o.wake()
	return o.counter
}

// lastMask is the button mask that was sent last.
func (o *outbox) lastMask() viewer.Buttons { return viewer.Buttons(o.held.mask) }

// wait waits until entry n and all before it are written.
func (o *outbox) wait(ctx context.Context, n uint64) error {
	o.mu.Lock()
	if o.written >= n {
		o.mu.Unlock()
		return nil
	}
	if o.end != nil {
		o.mu.Unlock()
		return o.end
	}
	w := waiter{n: n, done: make(chan struct{})}
	o.waiters = append(o.waiters, w)
	o.mu.Unlock()
	o.wake()
	select {
	case <-w.done:
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.written >= n {
			return nil
		}
		return o.end
	case <-ctx.Done():
		o.mu.Lock()
		defer o.mu.Unlock()
		for i := range o.waiters {
			if o.waiters[i].done == w.done {
				o.waiters = append(o.waiters[:i], o.waiters[i+1:]...)
				break
			}
		}
		return ctx.Err()
	}
}

// take returns the next bytes to write, or in how long to look again (0: when
// kicked). The caller calls wrote afterwards.
func (o *outbox) take(now time.Time) (b []byte, wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.end != nil {
		return nil, 0
	}
	if cap(o.out) > keptBatch {
		o.out = nil
	}
	b = append(o.out[:0], o.hello...)
	o.hello = nil
	b, refresh := o.takePlan(b, now)
	b = o.takePing(b, now)
	b = append(b, o.fences...)
	o.fences = o.fences[:0]
	b, wait = o.takeEntries(b, now)
	if r := o.resize; r != nil {
		b = appendSetDesktopSize(b, r.w, r.h, r.id, r.flags)
		o.resize = nil
	}
	if o.clip.wanted && o.clip.can(clipRequest) {
		b = appendExtended(b, clipRequest|clipText, nil)
	}
	o.clip.wanted = false
	o.requests.held, o.requests.later = o.wires.holds(), o.wires.changes()
	b = o.requests.steer(b, o.size)
	ask, incremental, later := o.requests.next(now)
	if ask {
		b = appendUpdateRequest(b, incremental, o.size[0], o.size[1])
	}
	wait = sooner(sooner(wait, later), refresh)
	if len(b) == 0 && o.writing > o.written {
		o.settle() // a release of nothing: there are no bytes to wait for
	}
	o.out = b
	return b, wait
}

// sooner is the shorter of two waits, of which 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// takeEntries appends the messages of the entries that are due.
func (o *outbox) takeEntries(b []byte, now time.Time) ([]byte, time.Duration) {
	if len(o.queue) == 1 && o.queue[0].move && len(o.waiters) == 0 && !o.sealed {
		if wait := o.lastMove.Add(moveEvery).Sub(now); wait > 0 {
			return b, wait
		}
	}
	n := 0
	for n < len(o.queue) && n < batchInputs {
		e := &o.queue[n]
		n++
		o.writing = e.n
		switch {
		case e.release:
			b = o.held.releaseAll(b)
		case e.text != nil:
			b = append(b, e.text...)
		default:
			b = o.held.append(b, e.in)
			o.taken++
			if e.move {
				o.lastMove = now
			}
		}
	}
	o.queue = append(o.queue[:0], o.queue[n:]...)
	return b, 0
}

// wrote notes that the batch was written.
func (o *outbox) wrote() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settle()
}

// settle wakes whoever waits for what has been taken. The caller holds the
// lock.
func (o *outbox) settle() {
	o.taken = 0
	if o.writing > o.written {
		o.written = o.writing
	}
	rest := o.waiters[:0]
	for _, w := range o.waiters {
		if w.n <= o.written {
			close(w.done)
		} else {
			rest = append(rest, w)
		}
	}
	o.waiters = rest
}

// stop ends everything with err: nothing is taken or waited for any more.
func (o *outbox) stop(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.end == nil {
		o.end = err
	}
	for _, w := range o.waiters {
		close(w.done)
	}
	o.waiters = nil
	o.queue, o.taken = nil, 0
}
