package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

// A script is a driver whose sessions do what a test says.
type script struct {
	w, h int
	open func(ctx context.Context, t viewer.Target, env viewer.Env) error // before a session is live

	mu   sync.Mutex
	live []*scripted
}

type scripted struct {
	env    viewer.Env
	done   chan struct{}
	end    sync.Once
	mu     sync.Mutex
	err    error
	demand []bool
	spared []bool
	posted []viewer.Input
	closed int
}

func (d *script) Open(ctx context.Context, t viewer.Target, env viewer.Env) (viewer.Session, error) {
	env.Emit(viewer.Progress{Phase: viewer.Negotiating})
	if d.open != nil {
		if err := d.open(ctx, t, env); err != nil {
			return nil, err
		}
	}
	if err := env.Frame.Reset(max(d.w, 1), max(d.h, 1), frame.BGRX); err != nil {
		return nil, err
	}
	s := &scripted{env: env, done: make(chan struct{})}
	d.mu.Lock()
	d.live = append(d.live, s)
	d.mu.Unlock()
	return s, nil
}

func (d *script) session(i int) *scripted {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i >= len(d.live) {
		return nil
	}
	return d.live[i]
}

func (s *scripted) Done() <-chan struct{} { return s.done }
func (s *scripted) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
func (s *scripted) Close() error {
	s.mu.Lock()
	s.closed++
	s.mu.Unlock()
	s.fail(nil)
	return nil
}
func (s *scripted) fail(err error) {
	s.end.Do(func() {
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
		close(s.done)
	})
}
func (s *scripted) Demand(on bool) {
	s.mu.Lock()
	s.demand = append(s.demand, on)
	s.mu.Unlock()
}
func (s *scripted) Refresh() {}
func (s *scripted) Post(in ...viewer.Input) error {
	s.mu.Lock()
	s.posted = append(s.posted, in...)
	s.mu.Unlock()
	return nil
}
func (s *scripted) Queued() int                 { return 0 }
func (s *scripted) Flush(context.Context) error { return nil }

func (s *scripted) Spare(on bool) {
	s.mu.Lock()
	s.spared = append(s.spared, on)
	s.mu.Unlock()
}

func wanted(s *scripted) []bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.demand)
}

var lab = viewer.Target{Protocol: viewer.VNC, Address: "lab01", Port: 5900}

func start(t *testing.T, d *script, c Config) *Engine {
	t.Helper()
	c.Drivers = viewer.Registry{viewer.VNC: d}
	e := New(c)
	t.Cleanup(e.Close)
	return e
}

func waitFor(t *testing.T, s *Session, p viewer.Phase) viewer.State {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	st, err := s.WaitState(ctx, func(st viewer.State) bool { return st.Phase == p })
	if err != nil {
		t.Fatalf("waiting for %s: %v; state %+v", p, err, st)
	}
	return st
}

func TestSessionKeepsIDFrameAndWatchersOverAReconnect(t *testing.T) {
	d := &script{w: 40, h: 30}
	e := start(t, d, Config{})
	s, err := e.Open(lab)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, s, viewer.Connected)
	release, err := s.Watch()
	if err != nil {
		t.Fatal(err)
	}
	id, f, gen := s.ID(), s.Frame(), s.Frame().Generations().Geometry
	var phases []viewer.Phase
	var mu sync.Mutex
	cancel := s.Subscribe(func(ev viewer.Event) {
		if c, ok := ev.(viewer.StateChanged); ok {
			mu.Lock()
			phases = append(phases, c.State.Phase)
			mu.Unlock()
		}
	})
	defer cancel()
	s.Reconnect()
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	if st, err := s.WaitState(ctx, func(st viewer.State) bool { return st.Phase == viewer.Connected && s.Info().Connections == 2 }); err != nil {
		t.Fatalf("no second connection: %v, %+v", err, st)
	}
	if s.ID() != id || s.Frame() != f || f.Generations().Geometry <= gen {
		t.Errorf("after a reconnect: id %s, same frame %v, generation %d after %d", s.ID(), s.Frame() == f, f.Generations().Geometry, gen)
	}
	mu.Lock()
	if want := []viewer.Phase{viewer.Connecting, viewer.Negotiating, viewer.Connected}; !slices.Equal(phases, want) {
		t.Errorf("phases %v, want %v", phases, want)
	}
	mu.Unlock()
	if got := wanted(d.session(1)); !slices.Equal(got, []bool{true}) {
		t.Errorf("the new connection was told %v, want that somebody looks", got)
	}
	release()
	release() // twice is once
	if got := wanted(d.session(1)); !slices.Equal(got, []bool{true, false}) {
		t.Errorf("after release: %v", got)
	}
	if d.session(0).closed == 0 {
		t.Error("the old connection was not closed")
	}
}

func TestNobodyLooksNoPixels(t *testing.T) {
	d := &script{}
	e := start(t, d, Config{})
	s, err := e.Open(lab)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, s, viewer.Connected)
	if got := wanted(d.session(0)); slices.Contains(got, true) {
		t.Errorf("pixels were asked for: %v", got)
	}
}

func TestFailureIsKeptUntilReconnect(t *testing.T) {
	refuse := true
	d := &script{}
	var mu sync.Mutex
	d.open = func(context.Context, viewer.Target, viewer.Env) error {
		mu.Lock()
		defer mu.Unlock()
		if refuse {
			return fmt.Errorf("rfb: %w", &viewer.Error{Op: "rfb.Auth", Kind: viewer.Denied, Err: errors.New("Authentication failure")})
		}
		return nil
	}
	e := start(t, d, Config{})
	s, err := e.Open(lab)
	if err != nil {
		t.Fatal(err)
	}
	st := waitFor(t, s, viewer.Disconnected)
	if st.Kind != viewer.Denied || st.Reason != "Authentication failure" || !st.CanRetry {
		t.Errorf("state %+v", st)
	}
	if err := s.Post(viewer.Key{Sym: 'a', Down: true}); viewer.KindOf(err) != viewer.Closed {
		t.Errorf("input to a session without connection: %v", err)
	}
	mu.Lock()
	refuse = false
	mu.Unlock()
	s.Reconnect()
	waitFor(t, s, viewer.Connected)
	if i := s.Info(); viewer.KindOf(i.LastErr) != viewer.Denied || i.Connections != 1 {
		t.Errorf("info %+v", i)
	}
	d.session(0).fail(&viewer.Error{Op: "rfb", Kind: viewer.Limit, Err: errors.New("too large")})
	if st := waitFor(t, s, viewer.Disconnected); st.CanRetry || st.Reason != "too large" {
		t.Errorf("state %+v", st)
	}
}

func TestCloseStopsAnAttemptAtOnce(t *testing.T) {
	d := &script{open: func(ctx context.Context, _ viewer.Target, _ viewer.Env) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	e := start(t, d, Config{})
	s, err := e.Open(lab)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, s, viewer.Negotiating)
	s.Close()
	select {
	case <-s.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("the session goes on after Close")
	}
	if got := e.Sessions(); len(got) != 0 {
		t.Errorf("the closed session is still listed: %v", got)
	}
	s.Close()
}

func TestSlotsStay(t *testing.T) {
	e := start(t, &script{}, Config{})
	var got []*Session
	for range 3 {
		s, err := e.Open(lab)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s)
	}
	other, err := e.Open(viewer.Target{Protocol: viewer.VNC, Address: "LAB01.", Port: 5901})
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Slot() != 0 || got[1].Slot() != 1 || got[2].Slot() != 2 || other.Slot() != 0 {
		t.Errorf("slots %d %d %d, other machine %d", got[0].Slot(), got[1].Slot(), got[2].Slot(), other.Slot())
	}
	got[1].Close()
	again, err := e.Open(viewer.Target{Protocol: viewer.VNC, Address: "LAB01.", Port: 5900})
	if err != nil {
		t.Fatal(err)
	}
	if again.Slot() != 1 || got[2].Slot() != 2 {
		t.Errorf("after closing slot 1: new session has slot %d, the last one %d", again.Slot(), got[2].Slot())
	}
}

func TestLimits(t *testing.T) {
	d := &script{w: 100, h: 100}
	e := start(t, d, Config{Sessions: 3, FrameBytes: 2 * 100 * 100 * 4})
	if _, err := e.Open(viewer.Target{Protocol: viewer.SSH, Address: "x", Port: 22}); viewer.KindOf(err) != viewer.Unsupported {
		t.Errorf("a protocol without driver: %v", err)
	}
	var all []*Session
	for range 3 {
		s, err := e.Open(lab)
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, s, viewer.Connected)
		all = append(all, s)
	}
	if _, err := e.Open(lab); viewer.KindOf(err) != viewer.Limit {
		t.Errorf("the fourth session: %v", err)
	}
	draw := func(s *Session) { s.Frame().Lock(); s.Frame().Unlock() }
	r0, err := all[0].Watch()
	if err != nil {
		t.Fatal(err)
	}
	draw(all[0])
	r1, err := all[1].Watch()
	if err != nil {
		t.Fatal(err)
	}
	draw(all[1])
	if _, err := all[2].Watch(); viewer.KindOf(err) != viewer.Limit {
		t.Errorf("a third picture over the bound: %v", err)
	}
	r0()
	if _, err := all[2].Watch(); err != nil {
		t.Errorf("with an unwatched picture to drop: %v", err)
	}
	if all[0].Frame().Memory() != 0 || all[1].Frame().Memory() == 0 {
		t.Errorf("pictures hold %d and %d bytes; the unwatched one is to go", all[0].Frame().Memory(), all[1].Frame().Memory())
	}
	r1()
}

func TestQuestionsWithoutAnybody(t *testing.T) {
	ask := func(ctx context.Context, tg viewer.Target, env viewer.Env) error {
		_, err := env.Ask.Ask(ctx, viewer.Question{Kind: viewer.AskVNCPassword, Target: tg})
		return err
	}
	e := start(t, &script{open: ask}, Config{})
	s, err := e.Open(lab)
	if err != nil {
		t.Fatal(err)
	}
	if st := waitFor(t, s, viewer.Disconnected); st.Kind != viewer.Credentials {
		t.Errorf("state %+v", st)
	}

	asked, answer := make(chan viewer.State, 1), make(chan struct{})
	var s2 *Session
	ready := make(chan struct{})
	e2 := start(t, &script{open: ask}, Config{Asker: func(*Session) viewer.Asker {
		return viewer.AskFunc(func(ctx context.Context, q viewer.Question) (viewer.Answer, error) {
			<-ready
			asked <- s2.State()
			select {
			case <-answer:
			case <-ctx.Done():
			}
			return viewer.Answer{Secret: viewer.SecretString("x")}, nil
		})
	}})
	s2, err = e2.Open(lab)
	if err != nil {
		t.Fatal(err)
	}
	close(ready)
	if st := <-asked; st.Asking != viewer.AskVNCPassword {
		t.Errorf("while asking: %+v", st)
	}
	close(answer)
	if st := waitFor(t, s2, viewer.Connected); st.Asking != "" {
		t.Errorf("after the answer: %+v", st)
	}
}

func TestEventsFillInfo(t *testing.T) {
	d := &script{}
	e := start(t, d, Config{})
	s, err := e.Open(lab)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, s, viewer.Connected)
	if i := s.Info(); i.NameKnown || i.CutTextKnown || i.CursorSet || i.Locks.Known {
		t.Errorf("before anything was told: %+v", i)
	}
	var seen []viewer.Event
	cancel := s.Subscribe(func(ev viewer.Event) { seen = append(seen, ev) })
	env := d.session(0).env
	env.Emit(viewer.Named{Name: "lab"})
	env.Emit(viewer.CutText{Text: "copied"})
	env.Emit(viewer.LockState{Locks: viewer.Locks{Caps: true, Known: true}})
	env.Emit(viewer.Cursor{})
	env.Emit(viewer.Resized{Width: 1, Height: 1, Screens: []viewer.Screen{{ID: 7}}})
	env.Emit(viewer.Bell{})
	cancel()
	env.Emit(viewer.Bell{})
	if len(seen) != 6 {
		t.Errorf("%d events, want 6", len(seen))
	}
	i := s.Info()
	if i.Name != "lab" || i.CutText != "copied" || !i.Locks.Caps || !i.CursorSet || len(i.Screens) != 1 || i.Screens[0].ID != 7 {
		t.Errorf("info %+v", i)
	}
}

func TestCloseOfTheEngineEndsAll(t *testing.T) {
	d := &script{}
	e := start(t, d, Config{})
	var changes []bool
	var mu sync.Mutex
	e.Subscribe(func(c Change) { mu.Lock(); changes = append(changes, c.Gone); mu.Unlock() })
	s, err := e.Open(lab)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, s, viewer.Connected)
	e.Close()
	select {
	case <-s.Done():
	default:
		t.Error("a session outlived its engine")
	}
	if _, err := e.Open(lab); err == nil {
		t.Error("a closed engine opened a session")
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(changes, []bool{false, true}) {
		t.Errorf("changes %v", changes)
	}
}
