package engine

import (
	"context"
	"testing"
	"time"

	"deskvnc/viewer"
)

// A tunable is a scripted session whose picture can be asked for in another way.
type tunable struct {
	*scripted
	picture viewer.Picture
	tuned   chan viewer.Picture
}

func (t *tunable) Tune(p viewer.Picture) error {
	t.picture = p
	t.tuned <- p
	return nil
}

func (t *tunable) Tuned() viewer.Picture { return t.picture }

// tuner is a driver of tunable sessions; opened tells what each was opened
// with.
type tuner struct {
	script
	opened chan viewer.Picture
	tuned  chan viewer.Picture
}

func (d *tuner) Open(ctx context.Context, t viewer.Target, env viewer.Env) (viewer.Session, error) {
	s, err := d.script.Open(ctx, t, env)
	if err != nil {
		return nil, err
	}
	d.opened <- t.Picture
	return &tunable{s.(*scripted), t.Picture, d.tuned}, nil
}

// What a person chose holds when the connection is made anew.
func TestTunedHoldsOverAReconnect(t *testing.T) {
	d := &tuner{opened: make(chan viewer.Picture, 4), tuned: make(chan viewer.Picture, 4)}
	e := New(Config{Drivers: viewer.Registry{viewer.VNC: d}})
	defer e.Close()
	s, err := e.Open(viewer.Target{Protocol: viewer.VNC, Address: "a", Port: 1, Picture: viewer.Picture{Quality: viewer.QualityBest}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	connected := func(n int) {
		t.Helper()
		if _, err := s.WaitState(ctx, func(st viewer.State) bool { return st.Phase == viewer.Connected && s.Info().Connections == n }); err != nil {
			t.Fatal(err)
		}
	}
	connected(1)
	if p := <-d.opened; p.Quality != viewer.QualityBest {
		t.Errorf("opened with %+v", p)
	}
	want := viewer.Picture{Quality: viewer.QualityFast, Colors: viewer.ColorsLow}
	if err := s.Tune(want); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Tuned(); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	s.Reconnect()
	connected(2)
	if p := <-d.opened; p != want {
		t.Errorf("opened again with %+v, want %+v", p, want)
	}
	if s.Target().Picture.Quality != viewer.QualityBest {
		t.Error("the target has changed")
	}
}

// A session that cannot says so, and what was wished for.
func TestTuneUnsupported(t *testing.T) {
	d := &script{}
	e := New(Config{Drivers: viewer.Registry{viewer.VNC: d}})
	defer e.Close()
	s, err := e.Open(viewer.Target{Protocol: viewer.VNC, Address: "a", Port: 1, Picture: viewer.Picture{Quality: viewer.QualityBest}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if _, err := s.WaitState(ctx, func(st viewer.State) bool { return st.Phase == viewer.Connected }); err != nil {
		t.Fatal(err)
	}
	if err := s.Tune(viewer.Picture{}); viewer.KindOf(err) != viewer.Unsupported {
		t.Errorf("Tune gave %v", err)
	}
	if p, err := s.Tuned(); viewer.KindOf(err) != viewer.Unsupported || p.Quality != viewer.QualityBest {
		t.Errorf("Tuned gave %+v, %v", p, err)
	}
}
