package engine

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
)

// caller is the connection of a machine that has called, and whether it was
// used.
func caller(t *testing.T) (dial DialFunc, used chan struct{}) {
	t.Helper()
	used = make(chan struct{}, 4)
	return func(context.Context, string, string) (net.Conn, error) {
		used <- struct{}{}
		return nil, nil
	}, used
}

// byDial is a driver that uses the connection it is given.
func byDial() *script {
	return &script{open: func(ctx context.Context, t viewer.Target, env viewer.Env) error {
		if env.Dial == nil {
			return &viewer.Error{Op: "open", Kind: viewer.Unreachable, Err: errors.New("dialled the machine")}
		}
		if t.Proxy != "" || t.RepeaterID != "" {
			return errors.New("went by a proxy or a repeater")
		}
		_, err := env.Dial(ctx, "tcp", t.HostPort())
		return err
	}}
}

func receive(t *testing.T, ch <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(10 * time.Second):
		t.Fatalf("no %s", what)
	}
}

// A session of a machine that calls is opened over that call alone, waits when
// it has ended, and goes on with the next call, under the same id.
func TestCalled(t *testing.T) {
	d := byDial()
	e := start(t, d, Config{})
	target := viewer.Target{Protocol: viewer.VNC, Address: "10.0.0.5", Port: 5500, Proxy: "socks5://p:1", RepeaterID: "ID:7"}
	dial, used := caller(t)
	s, err := e.Called(target, dial)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, s, viewer.Connected)
	receive(t, used, "use of the call")
	if !s.Called() {
		t.Error("it does not know that it was called")
	}

	// A second call while the first is live is a session of its own.
	again, used := caller(t)
	other, err := e.Called(target, again)
	if err != nil || other == s || other.Slot() != 1 {
		t.Fatalf("got %v, %v, want another session", other, err)
	}
	waitFor(t, other, viewer.Connected)
	receive(t, used, "use of the second call")

	d.session(0).fail(&viewer.Error{Op: "read", Kind: viewer.Closed, Err: errors.New("the machine has gone")})
	st := waitFor(t, s, viewer.Disconnected)
	if st.CanRetry || !st.NextRetry.IsZero() || !strings.Contains(st.Reason, "the machine has gone") || !strings.Contains(st.Reason, "waits until it calls again") {
		t.Errorf("got %+v", st)
	}
	s.Reconnect() // nobody can call the machine
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if st, err := s.WaitState(ctx, func(st viewer.State) bool { return strings.Contains(st.Reason, "cannot be called") }); err != nil || st.Phase != viewer.Disconnected {
		t.Errorf("got %+v, %v", st, err)
	}

	dial, used = caller(t)
	if back, err := e.Called(target, dial); err != nil || back != s {
		t.Fatalf("got %v, %v, want the session that waits", back, err)
	}
	receive(t, used, "use of the next call")
	waitFor(t, s, viewer.Connected)
	if n := s.Info().Connections; n != 2 {
		t.Errorf("got %d connections, want 2", n)
	}
}

// A call that comes for a session which is open the usual way, or for another
// machine, is a session of its own.
func TestCalledIsApart(t *testing.T) {
	d := &script{}
	e := start(t, d, Config{})
	usual, err := e.Open(lab)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, usual, viewer.Connected)
	dial, _ := caller(t)
	s, err := e.Called(lab, dial)
	if err != nil || s == usual || usual.Called() {
		t.Errorf("got %v, %v, want another session", s, err)
	}
	e.Close()
	if _, err := e.Called(lab, dial); viewer.KindOf(err) != viewer.Cancelled {
		t.Errorf("got %v after the end", err)
	}
}

// What a proxy accepted is kept when the machine behind it refuses, and the
// other way round.
func TestProxyAndMachineAreToldApart(t *testing.T) {
	right, wrong := viewer.Answer{Secret: viewer.SecretString("right")}, viewer.Answer{Secret: viewer.SecretString("wrong")}
	proxy, machine := viewer.Question{Kind: viewer.AskProxyPassword, Attempt: 1}, viewer.Question{Kind: viewer.AskVNCPassword, Attempt: 1}
	knows := func(a *answers, q viewer.Question) bool {
		_, ok := a.known(q)
		return ok
	}
	var a answers
	a.given(proxy, right)
	a.given(machine, wrong)
	a.ended(viewer.Denied, true)
	if !knows(&a, proxy) || knows(&a, machine) {
		t.Error("the machine refused: the proxy's password is to be kept, and that alone")
	}
	a.given(machine, right)
	a.worked()
	if !knows(&a, proxy) || !knows(&a, machine) {
		t.Error("both were accepted and are to be kept")
	}
	a.ended(viewer.Denied, false)
	if knows(&a, proxy) || !knows(&a, machine) {
		t.Error("the proxy refused: the machine's password is to be kept, and that alone")
	}
}
