package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/grid"
)

// A Session is one machine that is open, connected or not. It keeps its id,
// its picture and its watchers when the connection is made anew. It is safe
// for concurrent use.
type Session struct {
	engine  *Engine
	driver  viewer.Driver
	target  viewer.Target
	id      string
	slot    int
	started time.Time
	frame   *frame.Frame
	grid    *grid.Terminal // nil for desktops

	ctx    context.Context // ends when the session is closed
	cancel context.CancelFunc
	again  chan struct{} // one place: reconnect
	done   chan struct{}

	retry   retrier // owned by run
	answers answers
	beside  answers // of logins beside the connection

	lastRead atomic.Int64 // unix nanoseconds of the last Watch or release

	emitting  sync.Mutex // one event at a time, in order; held while calling subscribers
	demanding sync.Mutex // one Demand at a time, the newest last

	mu         sync.Mutex
	live       viewer.Session // nil while not connected
	over       chan struct{}  // of the connection: closed when the state says that it has ended; nil without one
	state      viewer.State
	info       Info
	subs       []*subscriber
	watching   int
	glancing   int
	inspecting int
	tuned      *viewer.Picture    // how the picture was last asked for, once that was changed
	drop       context.CancelFunc // ends the current attempt or connection
	line       line

	side    side // logins beside the connection
	tunnels tunnels
}

type subscriber struct{ fn func(viewer.Event) }

// Info is what the far side has told so far. Fields are known only after the
// far side spoke of them; the Known fields say so.
type Info struct {
	Name      string
	NameKnown bool
	Screens   []viewer.Screen
	Locks     viewer.Locks
	Cursor    viewer.Cursor
	CursorSet bool
	// CutText is the last text the far side put on its clipboard.
	CutText      string
	CutTextKnown bool
	// LastErr is the last failure of this session, also one got over.
	LastErr error
	// Connections counts the times it was connected.
	Connections int
	// Method is how the last login was made, as the driver calls it; empty
	// before there was one.
	Method string
}

func newSession(e *Engine, d viewer.Driver, t viewer.Target, id string, slot int) *Session {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Session{
		engine: e, driver: d, target: t, id: id, slot: slot, started: time.Now(), frame: frame.New(),
		ctx: ctx, cancel: cancel, again: make(chan struct{}, 1), done: make(chan struct{}),
		state: viewer.State{Phase: viewer.Connecting}, grid: newGrid(t),
	}
	s.side.session = s
	s.lastRead.Store(time.Now().UnixNano())
	return s
}

// ID is the session's id in this process.
func (s *Session) ID() string { return s.id }

// Target is the machine.
func (s *Session) Target() viewer.Target { return s.target }

// Slot tells the sessions to one machine apart.
func (s *Session) Slot() int { return s.slot }

// Started is when the session was opened.
func (s *Session) Started() time.Time { return s.started }

// Frame is the session's picture, the same for its whole life.
func (s *Session) Frame() *frame.Frame { return s.frame }

// Done is closed when the session has been closed and all of it has stopped.
func (s *Session) Done() <-chan struct{} { return s.done }

// State is where the session stands.
func (s *Session) State() viewer.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Info is what the far side has told so far.
func (s *Session) Info() Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.info
	i.Screens = slices.Clone(i.Screens)
	return i
}

// Subscribe calls fn for every event of the session, in order, until cancel is
// called. fn must not block and must not call Subscribe or its cancel.
func (s *Session) Subscribe(fn func(viewer.Event)) (cancel func()) {
	sub := &subscriber{fn}
	s.mu.Lock()
	s.subs = append(s.subs, sub)
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		s.subs = slices.DeleteFunc(slices.Clone(s.subs), func(o *subscriber) bool { return o == sub })
		s.mu.Unlock()
	}
}

// run is the session's life: connections, one after the other, until Close.
func (s *Session) run() {
	defer close(s.done)
	defer s.engine.forget(s)
	defer s.side.close()
	for s.ctx.Err() == nil {
		err := s.connection()
		if s.ctx.Err() != nil {
			break
		}
		if err != nil {
			s.pause(err)
		}
	}
	s.setState(viewer.State{Phase: viewer.Disconnected, Kind: viewer.Cancelled, Reason: "closed"})
}

// connection makes one connection and serves it to its end. A nil error means
// that the next one is to be made at once.
func (s *Session) connection() error {
	select { // a reconnect asked for before this attempt is served by it
	case <-s.again:
	default:
	}
	ctx, drop := context.WithCancel(s.ctx)
	defer drop()
	s.mu.Lock()
	s.drop = drop
	s.info.Screens, s.info.Locks = nil, viewer.Locks{}
	s.mu.Unlock()
	s.setState(viewer.State{Phase: viewer.Connecting})
	s.ended()

	dial, err := s.dial()
	if err != nil {
		return err
	}
	t, way, err := s.way(ctx, s.wished())
	if way != nil {
		defer way.Close()
		dial = way.DialThrough
	}
	var live viewer.Session
	if err == nil {
		live, err = s.driver.Open(ctx, t, viewer.Env{Frame: s.frame, Grid: s.grid, Again: s.Info().Connections > 0, Ask: viewer.AskFunc(s.ask), Emit: s.emit, Dial: dial})
	}
	if err != nil {
		if ctx.Err() != nil && s.ctx.Err() == nil {
			return nil // dropped for a reconnect
		}
		return err
	}
	s.mu.Lock()
	s.live, s.over = live, make(chan struct{})
	s.info.Connections++
	s.mu.Unlock()
	s.demand()
	s.fit()
	s.answers.worked()
	s.setState(viewer.State{Phase: viewer.Connected})
	var tunnelling sync.WaitGroup
	tunnelling.Go(func() { s.openTunnels(ctx, live) })
	since := time.Now()
	defer func() { s.retry.connected(time.Since(since)) }()

	select {
	case <-live.Done():
	case <-ctx.Done():
		live.Close() // lets go of held input first
	}
	<-live.Done()
	s.mu.Lock()
	s.live = nil
	s.mu.Unlock()
	dropped := ctx.Err() != nil
	drop() // no more tunnels are opened
	tunnelling.Wait()
	s.closeTunnels()
	switch err := live.Err(); {
	case dropped:
		return nil
	case lostOnTheWay(way) != nil:
		return lostOnTheWay(way)
	case err != nil:
		return err
	}
	return &viewer.Error{Op: "session", Kind: viewer.Closed, Err: errors.New("the machine ended the connection")}
}

// pause waits after an end that nobody asked for: for the time of the next
// attempt, when the session comes back by itself, or for [Session.Reconnect].
func (s *Session) pause(err error) {
	kind := viewer.KindOf(err)
	s.answers.ended(kind, s.State().Phase != viewer.Connecting)
	wait, attempt, comes := s.retry.next(err)
	var due <-chan time.Time
	st := viewer.State{Phase: viewer.Reconnecting, Kind: kind, Reason: viewer.Reason(err), Attempt: attempt, CanRetry: true}
	called := s.hungUp()
	switch {
	case called:
		st = viewer.State{Phase: viewer.Disconnected, Kind: kind, Reason: viewer.Reason(err) + callsAgain}
	case comes && !s.engine.config.NoRetry:
		t := time.NewTimer(wait)
		defer t.Stop()
		due, st.NextRetry = t.C, time.Now().Add(wait)
	default:
		err = s.retry.gaveUp(err)
		st = viewer.State{Phase: viewer.Disconnected, Kind: kind, Reason: viewer.Reason(err), CanRetry: retryHelps(kind)}
	}
	s.mu.Lock()
	s.info.LastErr = err
	s.mu.Unlock()
	s.setState(st)
	s.ended()
	select {
	case <-s.ctx.Done():
	case <-s.again:
		s.retry = retrier{ever: s.retry.ever}
	case <-due:
	}
}

// retryHelps reports whether the same attempt may end otherwise.
func retryHelps(k viewer.Kind) bool {
	switch k {
	case viewer.Unsupported, viewer.Invalid, viewer.Limit, viewer.Untrusted:
		return false
	}
	return true
}

// ask passes a question to whoever answers for this session.
func (s *Session) ask(ctx context.Context, q viewer.Question) (viewer.Answer, error) {
	if a, ok := s.answers.known(q); ok {
		return a, nil
	}
	asker := s.asker()
	if asker == nil {
		return viewer.Answer{}, nobodyFor(q.Kind)
	}
	st := s.State()
	st.Asking = q.Kind
	s.setState(st)
	a, err := asker.Ask(ctx, q)
	st.Asking = ""
	if ctx.Err() == nil {
		s.setState(st)
	}
	if err == nil {
		s.answers.given(q, a)
	}
	return a, err
}

// asker is who answers for this session; nil for nobody.
func (s *Session) asker() viewer.Asker {
	if s.engine.config.Asker == nil {
		return nil
	}
	return s.engine.config.Asker(s)
}

func nobodyFor(k viewer.QuestionKind) error {
	return &viewer.Error{Op: "ask", Kind: viewer.Credentials, Err: errors.New("the machine asks for a " + questionWord(k) + " and nobody is here to give one")}
}

func questionWord(k viewer.QuestionKind) string {
	switch k {
	case viewer.AskVNCPassword, viewer.AskPassword:
		return "password"
	case viewer.AskProxyPassword:
		return "password for its proxy"
	}
	return string(k)
}

func (s *Session) setState(st viewer.State) {
	s.emitting.Lock()
	defer s.emitting.Unlock()
	s.mu.Lock()
	if s.state == st {
		s.mu.Unlock()
		return
	}
	s.state = st
	subs := s.subs
	s.mu.Unlock()
	for _, sub := range subs {
		sub.fn(viewer.StateChanged{State: st})
	}
}

// emit takes the driver's events.
func (s *Session) emit(ev viewer.Event) {
	if p, ok := ev.(viewer.Progress); ok {
		if p.Method != "" {
			s.mu.Lock()
			s.info.Method = p.Method
			s.mu.Unlock()
		}
		if p.Phase != viewer.Connected { // it is when the driver has given the session
			s.setState(viewer.State{Phase: p.Phase, Method: p.Method})
		}
		return
	}
	s.emitting.Lock()
	defer s.emitting.Unlock()
	s.mu.Lock()
	switch ev := ev.(type) {
	case viewer.Named:
		s.info.Name, s.info.NameKnown = ev.Name, true
	case viewer.Resized:
		s.info.Screens = slices.Clone(ev.Screens)
	case viewer.LockState:
		s.info.Locks = ev.Locks
	case viewer.Cursor:
		s.info.Cursor, s.info.CursorSet = ev, true
	case viewer.CutText:
		s.info.CutText, s.info.CutTextKnown = ev.Text, true
	}
	subs := s.subs
	s.mu.Unlock()
	for _, sub := range subs {
		sub.fn(ev)
	}
}

// WaitState waits until ok is true of the state, and returns it. It returns
// early with the state as it is when ctx ends or the session is closed.
func (s *Session) WaitState(ctx context.Context, ok func(viewer.State) bool) (viewer.State, error) {
	changed := make(chan struct{}, 1)
	cancel := s.Subscribe(func(ev viewer.Event) {
		if _, is := ev.(viewer.StateChanged); is {
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	})
	defer cancel()
	for {
		if st := s.State(); ok(st) {
			return st, nil
		}
		select {
		case <-changed:
		case <-s.done:
			st := s.State()
			if ok(st) {
				return st, nil
			}
			return st, &viewer.Error{Op: "wait", Kind: viewer.Closed, Err: errors.New("the session was closed")}
		case <-ctx.Done():
			return s.State(), ctx.Err()
		}
	}
}
