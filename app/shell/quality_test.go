package shell

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/app/library"
	"deskvnc/control"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// plainSession is a session that can do nothing.
type plainSession struct {
	once sync.Once
	done chan struct{}
}

func (s *plainSession) Done() <-chan struct{} { return s.done }
func (s *plainSession) Err() error            { return nil }
func (s *plainSession) Close() error {
	s.once.Do(func() { close(s.done) })
	return nil
}

// tunable is one whose picture can be asked for in another way.
type tunable struct {
	plainSession
	mu  sync.Mutex
	pic viewer.Picture
}

func (s *tunable) Tune(p viewer.Picture) error {
	if p.Encodings == "nonsense" {
		return &viewer.Error{Op: "tune", Kind: viewer.Invalid, Err: errors.New("nonsense is not the name of an encoding")}
	}
	s.mu.Lock()
	s.pic = p
	s.mu.Unlock()
	return nil
}

func (s *tunable) Tuned() viewer.Picture {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pic
}

// opens is a driver of one sort of session.
type opens func(viewer.Target) viewer.Session

func (o opens) Open(_ context.Context, t viewer.Target, _ viewer.Env) (viewer.Session, error) {
	return o(t), nil
}

// The command of a holder: what is given changes, what is left out stays, and
// a machine that cannot says so.
func TestQualityCommand(t *testing.T) {
	e := engine.New(engine.Config{Drivers: viewer.Registry{
		viewer.VNC: opens(func(t viewer.Target) viewer.Session {
			return &tunable{plainSession: plainSession{done: make(chan struct{})}, pic: t.Picture}
		}),
		viewer.SSH: opens(func(viewer.Target) viewer.Session { return &plainSession{done: make(chan struct{})} }),
	}})
	defer e.Close()
	open := func(target viewer.Target) *engine.Session {
		t.Helper()
		s, err := e.Open(target)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := s.WaitState(ctx, func(st viewer.State) bool { return st.Phase == viewer.Connected }); err != nil {
			t.Fatal(err)
		}
		return s
	}
	r, err := (&local{desk: &library.Desk{Engine: e}}).commands()
	if err != nil {
		t.Fatal(err)
	}
	run := func(params string) (string, error) {
		t.Helper()
		v, err := r.Execute(t.Context(), qualityCommand, json.RawMessage(params))
		if err != nil {
			return "", err
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b), nil
	}
	says := func(params, want string) {
		t.Helper()
		if got, err := run(params); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %s, %v, want %q", params, got, err, want)
		}
	}
	says(`{"preset":"best"}`, "0 sessions are open")
	vnc := open(viewer.Target{Protocol: viewer.VNC, Address: "a", Port: 1, Picture: viewer.Picture{Colors: viewer.ColorsLow, Encodings: "zrle"}})
	if got, err := run(`{"preset":"fast"}`); err != nil || !strings.Contains(got, `"colors":"low"`) || !strings.Contains(got, `"encoding":"zrle"`) || !strings.Contains(got, `"preset":"fast"`) {
		t.Errorf("got %s, %v", got, err)
	}
	if p, err := vnc.Tuned(); err != nil || p != (viewer.Picture{Quality: viewer.QualityFast, Colors: viewer.ColorsLow, Encodings: "zrle"}) {
		t.Errorf("got %+v, %v", p, err)
	}
	limb := control.LimbID(vnc.Target(), vnc.Slot())
	if got, err := run(`{"session":"` + limb + `","preset":"auto","encoding":"auto","colors":"full"}`); err != nil || !strings.Contains(got, limb) {
		t.Errorf("got %s, %v", got, err)
	}
	if p, err := vnc.Tuned(); err != nil || p != (viewer.Picture{}) {
		t.Errorf("got %+v, %v", p, err)
	}
	ssh := open(viewer.Target{Protocol: viewer.SSH, Address: "b", Port: 22})
	says(`{"preset":"best"}`, "2 sessions are open: say which one")
	says(`{"session":"`+ssh.ID()+`","preset":"best"}`, "the picture of b:22 cannot be asked for in another way: a ssh session cannot do this")
	says(`{"session":"s_99","preset":"best"}`, `no session "s_99"`)
	says(`{"session":"`+vnc.ID()+`","preset":"pretty"}`, "one of auto, lossless")
	says(`{"session":"`+vnc.ID()+`","preset":"best","encoding":"nonsense"}`, "nonsense is not the name of an encoding")
	says(`{"session":"`+vnc.ID()+`"}`, `"preset" is missing`)
}
