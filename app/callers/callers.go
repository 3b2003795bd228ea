package callers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/rfb"
)

// Port is where viewers usually wait for machines that call them.
const Port = rfb.ListenPort

const (
	// MaxWaiting bounds the calls that wait at once, for their first word or for
	// a person's. One more is hung up on.
	MaxWaiting = 8
	// greetTime is how long a caller may take to say that it speaks VNC.
	greetTime = 10 * time.Second
	// agreeTime is how long a person may take.
	agreeTime = 2 * time.Minute
	// acceptPause is the pause after a call that could not be taken.
	acceptPause = time.Second
)

// A Config says who is let in, and how. Engine and Agree are required.
type Config struct {
	Engine *engine.Engine
	// Known gives the saved machine that a caller is, or the same target; nil
	// knows none. Callers have the port [Port].
	Known func(viewer.Target) viewer.Target
	// Agree asks whether a caller may be let in. It is called from a goroutine
	// of its own, at most [MaxWaiting] at once and one for each address. ctx
	// ends when the caller has hung up, has waited for too long, or nobody
	// listens any more.
	Agree func(ctx context.Context, from viewer.Target) bool
	// Told is told what became of each call, from any goroutine; it may be nil.
	Told func(Outcome)
}

// An Outcome is what became of one call: a session that is connected, or an
// error that says why there is none.
type Outcome struct {
	From    viewer.Target
	Session *engine.Session
	Err     error
}

// A Waiting waits for calls until it is closed.
type Waiting struct {
	config Config
	l      *rfb.Listener
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex        // guards below
	waiting map[string]bool   // addresses of those that wait
	told    map[string]string // the last thing told of an address
}

// Listen waits for calls at address, host:port; without a host at every
// address of this computer.
func Listen(address string, c Config) (*Waiting, error) {
	ctx, cancel := context.WithCancel(context.Background())
	l, err := rfb.Listen(ctx, address)
	if err != nil {
		cancel()
		return nil, err
	}
	w := &Waiting{config: c, l: l, ctx: ctx, cancel: cancel, waiting: map[string]bool{}, told: map[string]string{}}
	w.work.Go(w.accept)
	return w, nil
}

// Addr is where it waits.
func (w *Waiting) Addr() net.Addr { return w.l.Addr() }

// Close ends the waiting and hangs up on those that wait. Sessions go on.
func (w *Waiting) Close() error {
	w.cancel()
	err := w.l.Close()
	w.work.Wait()
	if errors.Is(err, net.ErrClosed) { // ctx has closed it
		return nil
	}
	return err
}

// accept takes calls.
func (w *Waiting) accept() {
	for w.ctx.Err() == nil {
		call, err := w.l.Accept(w.ctx)
		if err == nil {
			w.take(call)
			continue
		}
		select { // too many open files may pass
		case <-w.ctx.Done():
		case <-time.After(acceptPause):
		}
	}
}

// take has a call wait, or hangs up.
func (w *Waiting) take(call *rfb.Call) {
	from := call.Target()
	w.mu.Lock()
	full, again := len(w.waiting) >= MaxWaiting, w.waiting[from.Address]
	if full || again {
		w.mu.Unlock()
		_ = call.Close()
		text := fmt.Sprintf("%d callers wait already", MaxWaiting)
		if again {
			text = "a call from there waits already"
		}
		w.tell(Outcome{From: from, Err: &viewer.Error{Op: "call", Kind: viewer.Limit, Err: errors.New(text)}})
		return
	}
	w.waiting[from.Address] = true
	w.mu.Unlock()
	w.work.Go(func() { w.serve(call, from) })
}

// serve is the life of one call until its session is connected.
func (w *Waiting) serve(call *rfb.Call, from viewer.Target) {
	c, err := call.Dial(w.ctx, "", "")
	if err != nil {
		_ = call.Close()
		w.settled(from)
		return
	}
	k := w.config.Known
	known := from
	if k != nil {
		known = k(from)
	}
	held := hold(c)
	err = w.agreed(held, known)
	w.settled(from)
	if err != nil {
		_ = held.Close()
		if w.ctx.Err() == nil {
			w.tell(Outcome{From: from, Err: err})
		}
		return
	}
	s, err := w.open(held, known)
	if err == nil || w.ctx.Err() == nil {
		w.tell(Outcome{From: from, Session: s, Err: err})
	}
}

// settled lets the next call from an address wait.
func (w *Waiting) settled(from viewer.Target) {
	w.mu.Lock()
	delete(w.waiting, from.Address)
	w.mu.Unlock()
}

// agreed waits until a caller has said that it speaks VNC, and then for a
// person's yes.
func (w *Waiting) agreed(held *line, from viewer.Target) error {
	fail := func(k viewer.Kind, text string) error {
		return &viewer.Error{Op: "call", Kind: k, Err: errors.New(text)}
	}
	late := time.NewTimer(greetTime)
	defer late.Stop()
	select {
	case <-held.greeted:
	case <-late.C:
		return fail(viewer.Timeout, "it says nothing")
	case <-w.ctx.Done():
		return fail(viewer.Cancelled, "nobody listens any more")
	}
	if !held.speaks() {
		return fail(viewer.Malformed, "it does not speak VNC")
	}
	ctx, cancel := context.WithTimeout(w.ctx, agreeTime)
	defer cancel()
	stop := held.onEnd(cancel)
	yes := w.config.Agree(ctx, from)
	stop()
	switch {
	case held.ended():
		return fail(viewer.Closed, "it has hung up")
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fail(viewer.Timeout, "nobody has answered")
	case !yes:
		return fail(viewer.Cancelled, "refused")
	}
	return nil
}

// open makes a session of a call and waits until it is connected. One that
// never was is closed.
func (w *Waiting) open(held *line, t viewer.Target) (*engine.Session, error) {
	used := make(chan struct{})
	var once sync.Once
	dial := func(context.Context, string, string) (c net.Conn, err error) {
		err = &viewer.Error{Op: "call", Kind: viewer.Closed, Err: errors.New("the machine has called once only")}
		once.Do(func() {
			close(used)
			c, err = held.release()
		})
		return c, err
	}
	s, err := w.config.Engine.Called(t, dial)
	if err != nil {
		_ = held.Close()
		return nil, err
	}
	// A session that waited is disconnected until it has taken the call.
	st, err := s.WaitState(w.ctx, func(st viewer.State) bool {
		select {
		case <-used:
			return st.Phase == viewer.Connected || st.Phase == viewer.Disconnected
		default:
			return false
		}
	})
	select {
	case <-used:
	default:
		if err != nil { // it was closed before it took the call, or may take it yet
			w.work.Go(func() {
				select {
				case <-used:
				case <-s.Done():
					_ = held.Close()
				}
			})
		}
	}
	switch {
	case err != nil && w.ctx.Err() != nil: // nobody listens any more
		switch {
		case s.Info().Connections > 0:
			return s, nil
		case s.State().Asking == "": // a person who is being asked may go on
			s.Close()
		}
		return nil, err
	case err != nil:
		return nil, err
	case st.Phase == viewer.Connected:
		return s, nil
	case s.Info().Connections == 0:
		s.Close()
	}
	return nil, &viewer.Error{Op: "call", Kind: st.Kind, Err: errors.New(st.Reason)}
}

// maxTold bounds what is remembered of what was told.
const maxTold = 256

// tell tells of a call. A machine that is refused again and again for the same
// reason is told of once.
func (w *Waiting) tell(o Outcome) {
	w.mu.Lock()
	text := ""
	if o.Err != nil {
		text = viewer.Reason(o.Err)
	}
	again := text != "" && w.told[o.From.Address] == text
	if len(w.told) >= maxTold {
		clear(w.told)
	}
	w.told[o.From.Address] = text
	w.mu.Unlock()
	if w.config.Told != nil && !again {
		w.config.Told(o)
	}
}
