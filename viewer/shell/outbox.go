package shell

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"deskvnc/viewer"
	"deskvnc/viewer/grid"
)

const (
	// batchInputs bounds the inputs written in one piece.
	batchInputs = 32
	// writePiece bounds what is written at once of a long input: the rest can
	// still be cleared.
	writePiece = 16 << 10
	// maxReplies bounds the answers to a program that asks and does not read.
	maxReplies = 64 << 10
	// maxClicks bounds the wheel clicks of one pointer input.
	maxClicks = 1000
	// maxWaiting bounds the bytes of all inputs that wait.
	maxWaiting = 2 * viewer.MaxPost
)

// pasteEnd is what follows a paste in brackets.
const pasteEnd = "\x1b[201~"

// An outbox holds what is to be written for the program, in order. The writer
// takes pieces out of it; nothing in it writes.
type outbox struct {
	grid *grid.Terminal
	text *charset

	mu       sync.Mutex // guards below
	cond     *sync.Cond // the writer waits on it
	end      error      // why nothing is taken any more
	queue    []viewer.Input
	bytes    int // of the queue
	taken    int // inputs of the piece being written
	replies  []byte
	rest     []byte // of a long input that is being written
	ending   []byte // what ends that input when the rest of it is cleared
	release  bool   // let go of everything first
	posted   uint64 // inputs and releases, counted
	written  uint64
	writing  uint64        // what will have been written with the piece
	progress chan struct{} // closed at the next change of written, or the end

	down    map[uint32]bool // keys held after the last input
	buttons viewer.Buttons  // after the last input
	keys    keyboard        // as the program knows it
}

func newOutbox(g *grid.Terminal, text *charset) *outbox {
	o := &outbox{grid: g, text: text, progress: make(chan struct{}), down: map[uint32]bool{}}
	o.cond = sync.NewCond(&o.mu)
	return o
}

// post queues inputs, all or none.
func (o *outbox) post(in []viewer.Input) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	more := 0
	for _, i := range in {
		n, err := checkInput(i)
		if err != nil {
			return err
		}
		more += n
	}
	if o.end != nil {
		return o.end
	}
	places := o.places(in)
	waiting := len(o.queue) + o.taken
	switch {
	case places > viewer.InputQueue:
		return &viewer.Error{Op: "shell.Post", Kind: viewer.Invalid, Err: fmt.Errorf("%d inputs in one call can never be queued: post at most %d", len(in), viewer.InputQueue)}
	case places > 0 && waiting+places > viewer.InputQueue, more > 0 && o.bytes+len(o.rest)+more > maxWaiting:
		return &viewer.Error{Op: "shell.Post", Kind: viewer.Busy, Err: fmt.Errorf("the program takes input slower than it is sent: %d inputs wait, try again in a moment", waiting)}
	}
	for _, i := range in {
		o.push(i)
	}
	o.cond.Signal()
	return nil
}

// checkInput refuses what can never be sent, and tells the bytes that an input
// holds.
func checkInput(in viewer.Input) (int, error) {
	bad := func(format string, args ...any) (int, error) {
		return 0, &viewer.Error{Op: "shell.Post", Kind: viewer.Invalid, Err: fmt.Errorf(format, args...)}
	}
	n := 0
	switch in := in.(type) {
	case viewer.Key:
		if in.Sym == 0 && in.Rune == 0 {
			return bad("a key without a symbol cannot be sent to a terminal (scan code %#x)", in.Scan)
		}
	case viewer.Pointer:
		if max(in.WheelX, -in.WheelX, in.WheelY, -in.WheelY) > maxClicks {
			return bad("more than %d wheel clicks in one input", maxClicks)
		}
	case viewer.Bytes:
		n = len(in.Data)
	case viewer.Paste:
		n = len(in.Text)
	case viewer.Focus:
	default:
		return bad("an input of type %T cannot be sent to a terminal", in)
	}
	if n > viewer.MaxPost {
		return bad("%d bytes in one input are more than %d", n, viewer.MaxPost)
	}
	return n, nil
}

// places is the number of free places that inputs need: a move replaces the
// move at the tail, and what only lets go of what is held always finds a place.
func (o *outbox) places(in []viewer.Input) int {
	n, buttons := 0, o.buttons
	tail := o.tailMoves()
	pressed := map[uint32]bool{}
	for _, i := range in {
		move := false
		switch i := i.(type) {
		case viewer.Pointer:
			move = i.Buttons == buttons && i.WheelX == 0 && i.WheelY == 0
			if !(move && tail) && !viewer.Releases(i, buttons) {
				n++
			}
			buttons = i.Buttons
		case viewer.Key:
			if i.Down {
				pressed[symOf(i)] = true
				n++
			} else if !o.down[symOf(i)] && !pressed[symOf(i)] {
				n++
			}
		default:
			n++
		}
		tail = move
	}
	return n
}

// symOf is what a key is known by.
func symOf(k viewer.Key) uint32 {
	if k.Sym == 0 {
		return 0x01000000 + uint32(k.Rune) // the keysym of a character
	}
	return k.Sym
}

// tailMoves reports whether the last input only moves the pointer. The caller
// holds mu.
func (o *outbox) tailMoves() bool {
	n := len(o.queue)
	if n == 0 {
		return false
	}
	p, ok := o.queue[n-1].(viewer.Pointer)
	before := o.keys.buttons
	for i := n - 2; i >= 0; i-- {
		if q, is := o.queue[i].(viewer.Pointer); is {
			before = q.Buttons
			break
		}
	}
	return ok && p.Buttons == before && p.WheelX == 0 && p.WheelY == 0
}

func (o *outbox) push(in viewer.Input) {
	o.posted++
	switch i := in.(type) {
	case viewer.Key:
		i.Sym = symOf(i)
		in = i
		if i.Down {
			o.down[i.Sym] = true
		} else {
			delete(o.down, i.Sym)
		}
	case viewer.Pointer:
		move := i.Buttons == o.buttons && i.WheelX == 0 && i.WheelY == 0 && o.tailMoves()
		o.buttons = i.Buttons
		if move {
			o.queue[len(o.queue)-1] = in
			return
		}
	}
	n, _ := checkInput(in)
	o.bytes += n
	o.queue = append(o.queue, in)
}

// take waits for something to write. ok is false at the end. The caller calls
// wrote afterwards.
func (o *outbox) take() (b []byte, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		if o.end != nil {
			return nil, false
		}
		if b := o.next(); len(b) > 0 {
			return b, true
		}
		if o.taken > 0 || o.writing > o.written { // what sends nothing is written at once
			o.settle()
			continue
		}
		o.cond.Wait()
	}
}

// next is the next piece. The caller holds mu.
func (o *outbox) next() []byte {
	if b := o.replies; len(b) > 0 {
		o.replies = nil
		return b
	}
	if len(o.rest) > 0 {
		return o.cut(o.rest)
	}
	modes := o.grid.Modes()
	w, h := o.grid.CellSize()
	var b []byte
	if o.release {
		o.release = false
		b = append(b, o.text.out(o.keys.release(modes, w, h))...)
	}
	for len(o.queue) > 0 && o.taken < batchInputs && len(b) < writePiece {
		in := o.queue[0]
		n, _ := checkInput(in)
		if n > writePiece && len(b) > 0 {
			break
		}
		o.queue = slices.Delete(o.queue, 0, 1)
		o.bytes -= n
		o.taken++
		piece := o.keys.bytes(in, modes, w, h)
		if _, raw := in.(viewer.Bytes); !raw {
			piece = o.text.out(piece)
		}
		if n > writePiece {
			if _, is := in.(viewer.Paste); is && modes.BracketedPaste {
				o.ending = []byte(pasteEnd)
			}
			return o.cut(piece)
		}
		b = append(b, piece...)
	}
	o.writing = o.posted - uint64(len(o.queue))
	return b
}

// cut takes a piece off a long input.
func (o *outbox) cut(b []byte) []byte {
	if len(b) > writePiece {
		o.rest = b[writePiece:]
		return b[:writePiece]
	}
	o.rest, o.ending = nil, nil
	o.writing = o.posted - uint64(len(o.queue))
	return b
}

// wrote notes that the piece was written, or could not be.
func (o *outbox) wrote(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		if o.end == nil {
			o.end = errClosed
		}
		o.tell()
		return
	}
	if len(o.rest) == 0 {
		o.settle()
	}
}

// settle notes that what was taken is written. The caller holds mu.
func (o *outbox) settle() {
	o.taken = 0
	o.written = max(o.written, o.writing)
	o.tell()
}

func (o *outbox) tell() {
	close(o.progress)
	o.progress = make(chan struct{})
}

// reply queues an answer of the terminal's own; those over the bound are
// dropped.
func (o *outbox) reply(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.end == nil && len(o.replies)+len(b) <= maxReplies {
		o.replies = append(o.replies, b...)
		o.cond.Signal()
	}
}

func (o *outbox) queued() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) + o.taken
}

// flush waits until all that was posted is written.
func (o *outbox) flush(ctx context.Context) error {
	o.mu.Lock()
	goal := o.posted
	for o.written < goal {
		if o.end != nil {
			defer o.mu.Unlock()
			return o.end
		}
		wait := o.progress
		o.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
		o.mu.Lock()
	}
	o.mu.Unlock()
	return nil
}

// releaseAll clears what waits and lets go of everything held.
func (o *outbox) releaseAll(ctx context.Context) error {
	o.mu.Lock()
	if o.end != nil {
		defer o.mu.Unlock()
		return o.end
	}
	o.queue, o.bytes = nil, 0
	if len(o.rest) > 0 {
		o.rest, o.ending = o.ending, nil
	}
	clear(o.down)
	o.buttons = 0
	o.posted++
	o.release = true
	o.cond.Signal()
	o.mu.Unlock()
	return o.flush(ctx)
}

// stop ends everything with err: nothing is taken or waited for any more.
func (o *outbox) stop(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.end == nil {
		o.end = err
	}
	o.queue, o.rest, o.replies, o.bytes = nil, nil, nil, 0
	o.cond.Signal()
	o.tell()
}
