package engine

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deskvnc/viewer"
)

var gone = &viewer.Error{Op: "rfb", Kind: viewer.Closed, Err: errors.New("reset by peer")}

func TestPausesGrowAndStopGrowing(t *testing.T) {
	r := retrier{ever: true}
	for i, want := range []time.Duration{300 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second} {
		got, attempt, ok := r.next(gone)
		if low, high := want*79/100, want*121/100; !ok || attempt != i+1 || got < low || got > high {
			t.Errorf("attempt %d: pause %v, number %d, ok %v; want %v give or take a fifth", i+1, got, attempt, ok, want)
		}
	}
	r.connected(time.Minute)
	if got, attempt, _ := r.next(gone); attempt != 1 || got > 400*time.Millisecond {
		t.Errorf("after a connection that worked: attempt %d, pause %v", attempt, got)
	}
}

func TestWhatDoesNotComeBack(t *testing.T) {
	fresh := retrier{}
	if _, _, ok := fresh.next(gone); ok {
		t.Error("a machine that was never reached is tried again by itself")
	}
	for _, k := range []viewer.Kind{viewer.Denied, viewer.Credentials, viewer.Cancelled, viewer.Untrusted, viewer.Malformed, viewer.Unsupported, viewer.Limit, viewer.Invalid} {
		r := retrier{ever: true}
		if _, _, ok := r.next(&viewer.Error{Kind: k}); ok {
			t.Errorf("%s is tried again by itself", k)
		}
	}
}

func TestAMachineThatThrowsUsOutIsLeftAlone(t *testing.T) {
	r := retrier{}
	tries := 0
	for range 10 {
		r.connected(time.Second)
		if _, _, ok := r.next(gone); !ok {
			break
		}
		tries++
	}
	if tries != maxShort-1 {
		t.Errorf("tried %d times, want %d", tries, maxShort-1)
	}
	if err := r.gaveUp(gone); viewer.Reason(err) == viewer.Reason(gone) {
		t.Errorf("the reason does not say why it stops: %v", err)
	}
}

func TestComesBackByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &script{}
		e := New(Config{Drivers: viewer.Registry{viewer.VNC: d}})
		defer e.Close()
		s, err := e.Open(lab)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		gen := s.Frame().Generations().Geometry
		time.Sleep(time.Minute)
		d.session(0).fail(gone)
		synctest.Wait()
		st := s.State()
		if until := time.Until(st.NextRetry); st.Phase != viewer.Reconnecting || st.Attempt != 1 || st.Reason != "reset by peer" || until <= 0 || until > time.Second {
			t.Errorf("state %+v, next in %v", st, until)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if st := s.State(); st.Phase != viewer.Connected {
			t.Errorf("state %+v", st)
		}
		if got := s.Frame().Generations().Geometry; got <= gen {
			t.Errorf("geometry generation %d after %d", got, gen)
		}

		// "Now" does not wait for the pause.
		time.Sleep(time.Minute)
		down := true
		var mu sync.Mutex
		d.open = func(context.Context, viewer.Target, viewer.Env) error {
			mu.Lock()
			defer mu.Unlock()
			if down {
				return &viewer.Error{Op: "dial", Kind: viewer.Unreachable, Err: errors.New("refused")}
			}
			return nil
		}
		d.session(1).fail(gone)
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if st := s.State(); st.Phase != viewer.Reconnecting || st.Attempt < 5 {
			t.Errorf("after 40 s without the machine: %+v", st)
		}
		mu.Lock()
		down = false
		mu.Unlock()
		s.Reconnect()
		synctest.Wait()
		if st := s.State(); st.Phase != viewer.Connected {
			t.Errorf("after \"now\": %+v", st)
		}
	})
}

func TestAnswersAreKeptForTheSessionAndDroppedWhenRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, refuse := 0, false
		d := &script{open: func(ctx context.Context, tg viewer.Target, env viewer.Env) error {
			a, err := env.Ask.Ask(ctx, viewer.Question{Kind: viewer.AskVNCPassword, Target: tg, Attempt: 1})
			if err != nil {
				return err
			}
			if refuse || string(a.Secret.Open()) != "sesame" {
				return &viewer.Error{Op: "auth", Kind: viewer.Denied, Err: errors.New("wrong password")}
			}
			return nil
		}}
		e := New(Config{Drivers: viewer.Registry{viewer.VNC: d}, Asker: func(*Session) viewer.Asker {
			return viewer.AskFunc(func(context.Context, viewer.Question) (viewer.Answer, error) {
				asked++
				return viewer.Answer{Secret: viewer.SecretString("sesame")}, nil
			})
		}})
		defer e.Close()
		s, err := e.Open(lab)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(time.Minute)
		d.session(0).fail(gone)
		time.Sleep(time.Second)
		synctest.Wait()
		if st := s.State(); st.Phase != viewer.Connected || asked != 1 {
			t.Fatalf("asked %d times, state %+v; want one question for both connections", asked, st)
		}
		// The password changes on the machine: one try with the old one, then
		// nothing more by itself, and the next try asks.
		refuse = true
		time.Sleep(time.Minute)
		d.session(1).fail(gone)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if st := s.State(); st.Phase != viewer.Disconnected || st.Kind != viewer.Denied || asked != 1 {
			t.Errorf("asked %d times, state %+v", asked, st)
		}
		refuse = false
		s.Reconnect()
		synctest.Wait()
		if st := s.State(); st.Phase != viewer.Connected || asked != 2 {
			t.Errorf("asked %d times, state %+v", asked, st)
		}
	})
}
