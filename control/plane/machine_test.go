package plane

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"sync"
	"sync/atomic"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

// A machine is a desktop in memory: it writes down what arrives on its wire,
// in order, and draws what a test tells it to.
type machine struct {
	w, h   int
	silent bool // draws nothing by itself, not even when asked for everything
	refuse error

	mu        sync.Mutex
	changed   *sync.Cond
	log       []string
	onWire    func(entry string) // called for each entry, outside the lock
	stuck     bool               // the wire takes nothing
	refreshes int
	opens     int
	clip      string
	live      *link
}

func newMachine(w, h int) *machine {
	m := &machine{w: w, h: h}
	m.changed = sync.NewCond(&m.mu)
	return m
}

// wire is what arrived so far.
func (m *machine) wire() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.log)
}

func (m *machine) forget() {
	m.mu.Lock()
	m.log = nil
	m.mu.Unlock()
}

// stick stops or lets go on the wire.
func (m *machine) stick(on bool) {
	m.mu.Lock()
	m.stuck = on
	m.changed.Broadcast()
	m.mu.Unlock()
}

func (m *machine) link() *link {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.live
}

// paint draws one server update of rectangles in a colour.
func (m *machine) paint(c byte, from frame.Source, rects ...image.Rectangle) {
	f := m.link().env.Frame
	px := f.Lock()
	for _, r := range rects {
		r = r.Intersect(image.Rect(0, 0, px.W, px.H))
		for y := r.Min.Y; y < r.Max.Y; y++ {
			row := px.Pix[y*px.Stride+r.Min.X*4 : y*px.Stride+r.Max.X*4]
			for i := range row {
				row[i] = c
			}
		}
		f.Touch(r.Min.X, r.Min.Y, r.Dx(), r.Dy(), from)
	}
	f.Unlock()
	f.EndUpdate()
}

// all is the whole screen.
func (m *machine) all() image.Rectangle { return image.Rect(0, 0, m.w, m.h) }

// cut breaks the connection.
func (m *machine) cut() {
	m.link().end(&viewer.Error{Op: "wire", Kind: viewer.Closed, Err: errors.New("cut")})
}

// driver opens machines by address.
type driver struct {
	mu       sync.Mutex
	machines map[string]*machine
}

func (d *driver) Open(ctx context.Context, t viewer.Target, env viewer.Env) (viewer.Session, error) {
	d.mu.Lock()
	m := d.machines[t.Address]
	d.mu.Unlock()
	if m == nil {
		return nil, &viewer.Error{Op: "dial", Kind: viewer.Unreachable, Err: errors.New("no route")}
	}
	m.mu.Lock()
	m.opens++
	refuse, w, h := m.refuse, m.w, m.h
	m.mu.Unlock()
	if refuse != nil {
		return nil, refuse
	}
	if err := env.Frame.Reset(w, h, frame.BGRX); err != nil {
		return nil, err
	}
	l := &link{m: m, env: env, done: make(chan struct{}), keys: map[uint32]viewer.Key{}}
	m.mu.Lock()
	m.live = l
	m.mu.Unlock()
	env.Emit(viewer.Named{Name: "desk of " + t.Address})
	l.writers.Go(l.write)
	return l, nil
}

// A link is one connection to a machine.
type link struct {
	m       *machine
	env     viewer.Env
	done    chan struct{}
	writers sync.WaitGroup
	wanted  atomic.Bool

	// Guarded by m.mu; m.changed is signalled on every change.
	queue   []viewer.Input
	posted  uint64 // inputs queued so far
	written uint64 // inputs written or thrown away so far
	ended   bool
	err     error
	at      viewer.Pointer
	keys    map[uint32]viewer.Key
	order   []uint32
}

func (l *link) Done() <-chan struct{} { return l.done }

func (l *link) Err() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	return l.err
}

func (l *link) end(err error) {
	l.m.mu.Lock()
	first := !l.ended
	l.ended = true
	if first {
		l.err = err
	}
	l.m.changed.Broadcast()
	l.m.mu.Unlock()
	l.writers.Wait()
	if first {
		close(l.done)
	}
}

func (l *link) Close() error {
	l.end(nil)
	<-l.done
	return nil
}

func (l *link) Demand(on bool) {
	if l.wanted.Swap(on) != on && on {
		l.m.whole()
	}
}

// whole paints all of the screen, unless the machine is silent.
func (m *machine) whole() {
	if !m.silent {
		m.paint(0x40, frame.Painted, m.all())
	}
}

func (l *link) Refresh() {
	l.m.mu.Lock()
	l.m.refreshes++
	l.m.mu.Unlock()
	l.m.whole()
}

func (l *link) Post(in ...viewer.Input) error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.ended {
		return &viewer.Error{Op: "post", Kind: viewer.Closed, Err: errors.New("the connection is gone")}
	}
	if len(l.queue)+len(in) > viewer.InputQueue {
		return &viewer.Error{Op: "post", Kind: viewer.Busy}
	}
	l.queue = append(l.queue, in...)
	l.posted += uint64(len(in))
	l.m.changed.Broadcast()
	return nil
}

func (l *link) Queued() int {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	return len(l.queue)
}

func (l *link) wait(ctx context.Context, ok func() bool) error {
	stop := context.AfterFunc(ctx, func() { l.m.mu.Lock(); l.m.changed.Broadcast(); l.m.mu.Unlock() })
	defer stop()
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	for {
		switch {
		case ok():
			return nil
		case l.ended:
			return &viewer.Error{Op: "flush", Kind: viewer.Closed, Err: errors.New("the connection is gone")}
		case ctx.Err() != nil:
			return ctx.Err()
		}
		l.m.changed.Wait()
	}
}

func (l *link) Flush(ctx context.Context) error {
	l.m.mu.Lock()
	mark := l.posted
	l.m.mu.Unlock()
	return l.wait(ctx, func() bool { return l.written >= mark })
}

// release marks a ReleaseAll in the queue.
type release struct{ viewer.Key }

func (l *link) ReleaseAll(ctx context.Context) error {
	l.m.mu.Lock()
	if l.ended {
		l.m.mu.Unlock()
		return &viewer.Error{Op: "release", Kind: viewer.Closed, Err: errors.New("the connection is gone")}
	}
	kept := l.queue[:0]
	held := l.at.Buttons
	for _, in := range l.queue {
		if viewer.Releases(in, held) {
			kept = append(kept, in)
		} else {
			l.written++
		}
	}
	l.queue = append(kept, release{})
	l.posted++
	mark := l.posted
	l.m.changed.Broadcast()
	l.m.mu.Unlock()
	return l.wait(ctx, func() bool { return l.written >= mark })
}

// write puts the queue on the wire.
func (l *link) write() {
	m := l.m
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		for !l.ended && (len(l.queue) == 0 || m.stuck) {
			m.changed.Wait()
		}
		if l.ended {
			return
		}
		in := l.queue[0]
		l.queue = l.queue[1:]
		entries := l.entries(in)
		m.log = append(m.log, entries...)
		hook := m.onWire
		if hook != nil {
			m.mu.Unlock()
			for _, e := range entries {
				hook(e)
			}
			m.mu.Lock()
		}
		l.written++
		m.changed.Broadcast()
	}
}

// entries are the wire form of an input. The caller holds m.mu.
func (l *link) entries(in viewer.Input) (out []string) {
	point := func(p viewer.Pointer, mask viewer.Buttons) string { return fmt.Sprintf("P %d,%d %d", p.X, p.Y, mask) }
	switch in := in.(type) {
	case release:
		l.at.Buttons = 0
		out = append(out, point(l.at, 0))
		for i := len(l.order) - 1; i >= 0; i-- {
			out = append(out, fmt.Sprintf("K-%x", l.order[i]))
		}
		l.order = nil
	case viewer.Key:
		if in.Down {
			if !slices.Contains(l.order, in.Sym) {
				l.order = append(l.order, in.Sym)
			}
			return []string{fmt.Sprintf("K+%x", in.Sym)}
		}
		l.order = slices.DeleteFunc(l.order, func(s uint32) bool { return s == in.Sym })
		return []string{fmt.Sprintf("K-%x", in.Sym)}
	case viewer.Pointer:
		l.at = in
		if in.WheelX == 0 && in.WheelY == 0 {
			return []string{point(in, in.Buttons)}
		}
		for bit, n := range map[viewer.Buttons]int{8: -in.WheelY, 16: in.WheelY, 32: -in.WheelX, 64: in.WheelX} {
			for range max(n, 0) {
				out = append(out, point(in, in.Buttons|bit), point(in, in.Buttons))
			}
		}
	}
	return out
}

func (l *link) SetClipboard(_ context.Context, text string) (int, error) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	l.m.clip = text
	lost := 0
	for _, r := range text {
		if r > 0xff {
			lost++
		}
	}
	return lost, nil
}

func (l *link) Resize(_ context.Context, w, h int) error {
	l.m.resize(w, h)
	return nil
}

// resize gives the machine's screen another size and paints it.
func (m *machine) resize(w, h int) {
	l := m.link()
	m.mu.Lock()
	m.w, m.h = w, h
	m.mu.Unlock()
	l.env.Frame.Resize(w, h)
	l.env.Emit(viewer.Resized{Width: w, Height: h})
	m.paint(0x41, frame.Painted, m.all())
}

func (l *link) Signals() map[viewer.SignalName]viewer.Signal {
	return map[viewer.SignalName]viewer.Signal{
		viewer.SignalCursorShape: {Availability: viewer.Live},
		viewer.SignalLEDState:    {Availability: viewer.Unknown, Reason: "no report has arrived"},
	}
}
