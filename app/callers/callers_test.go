package callers

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/drivers"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/sample"
)

// patience bounds every wait, so that only what hangs fails.
const patience = time.Minute

// A lab waits for calls; what is asked and told can be waited for.
type lab struct {
	t      *testing.T
	engine *engine.Engine
	w      *Waiting
	asked  chan viewer.Target
	answer chan bool
	told   chan Outcome
	over   chan error // why a question was not needed any more
}

func newLab(t *testing.T, known func(viewer.Target) viewer.Target, ask viewer.Asker) *lab {
	t.Helper()
	b := &lab{t: t, asked: make(chan viewer.Target, 64), answer: make(chan bool), told: make(chan Outcome, 64), over: make(chan error, 64)}
	b.engine = engine.New(engine.Config{Drivers: drivers.Registry(), Asker: func(*engine.Session) viewer.Asker { return ask }})
	t.Cleanup(b.engine.Close)
	var err error
	b.w, err = Listen("127.0.0.1:0", Config{
		Engine: b.engine, Known: known,
		Agree: func(ctx context.Context, from viewer.Target) bool {
			b.asked <- from
			select {
			case yes := <-b.answer:
				return yes
			case <-ctx.Done():
				b.over <- ctx.Err()
				return false
			}
		},
		Told: func(o Outcome) { b.told <- o },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.w.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func wait[T any](t *testing.T, ch <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(patience):
		t.Fatalf("no %s", what)
	}
	return v
}

// A desk is a machine that calls when it is told to.
type desk struct {
	t      *testing.T
	target viewer.Target
}

func newDesk(t *testing.T, password string) *desk {
	t.Helper()
	m, err := sample.Start(sample.Options{Width: 320, Height: 200, Password: viewer.SecretString(password)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return &desk{t, m.Targets()[0]}
}

// call connects the desk with the viewer, and gives what hangs up.
func (d *desk) call(b *lab) (hangUp func()) {
	d.t.Helper()
	here, err := net.Dial("tcp", d.target.HostPort())
	if err != nil {
		d.t.Fatal(err)
	}
	there := b.dial()
	var wg sync.WaitGroup
	hangUp = func() {
		here.Close()
		there.Close()
		wg.Wait()
	}
	for _, way := range [][2]net.Conn{{here, there}, {there, here}} {
		wg.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			here.Close()
			there.Close()
		})
	}
	d.t.Cleanup(hangUp)
	return hangUp
}

func (b *lab) dial() net.Conn {
	b.t.Helper()
	c, err := net.Dial("tcp", b.w.Addr().String())
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { c.Close() })
	return c
}

func TestCallBecomesASession(t *testing.T) {
	b := newLab(t, nil, nil)
	hangUp := newDesk(t, "").call(b)
	if from := wait(t, b.asked, "question"); from.Address != "127.0.0.1" || from.Port != Port || from.Protocol != viewer.VNC {
		t.Errorf("got %+v", from)
	}
	b.answer <- true
	o := wait(t, b.told, "outcome")
	if o.Err != nil || o.Session == nil || !o.Session.Called() || o.Session.State().Phase != viewer.Connected {
		t.Fatalf("got %+v", o)
	}
	if w, h := o.Session.Frame().Size(); w != 320 || h != 200 {
		t.Errorf("got a picture of %dx%d", w, h)
	}
	// It goes on when nobody listens any more, and waits when it has ended.
	if err := b.w.Close(); err != nil {
		t.Error(err)
	}
	if o.Session.State().Phase != viewer.Connected {
		t.Errorf("got %+v", o.Session.State())
	}
	hangUp()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	st, err := o.Session.WaitState(ctx, func(st viewer.State) bool { return st.Phase == viewer.Disconnected })
	if err != nil || !strings.Contains(st.Reason, "until it calls again") {
		t.Errorf("got %+v, %v", st, err)
	}
}

// A machine that calls again goes on in the session it had.
func TestCallsAgain(t *testing.T) {
	b := newLab(t, func(t viewer.Target) viewer.Target {
		t.HostID, t.Name = "h_desk", "desk"
		return t
	}, nil)
	d := newDesk(t, "")
	var first *engine.Session
	for range 3 {
		hangUp := d.call(b)
		if from := wait(t, b.asked, "question"); from.Name != "desk" {
			t.Errorf("asked about %+v", from)
		}
		b.answer <- true
		o := wait(t, b.told, "outcome")
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		if first == nil {
			first = o.Session
		}
		if o.Session != first || o.Session.Target().HostID != "h_desk" {
			t.Errorf("got another session for %+v", o.Session.Target())
		}
		hangUp()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		if _, err := o.Session.WaitState(ctx, func(st viewer.State) bool { return st.Phase == viewer.Disconnected }); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	if n := first.Info().Connections; n != 3 {
		t.Errorf("got %d connections, want 3", n)
	}
}

// Nothing is sent to a caller before somebody agrees, and nothing after a no.
func TestNothingIsSentBeforeAYes(t *testing.T) {
	b := newLab(t, nil, nil)
	c := b.dial()
	if _, err := io.WriteString(c, "RFB 003.008\n"); err != nil {
		t.Fatal(err)
	}
	wait(t, b.asked, "question")
	b.answer <- false
	if o := wait(t, b.told, "outcome"); o.Err == nil || viewer.Reason(o.Err) != "refused" || o.Session != nil {
		t.Errorf("got %+v", o)
	}
	if got, err := io.ReadAll(c); len(got) > 0 {
		t.Errorf("got %q, %v, want nothing", got, err)
	}
	if n := len(b.engine.Sessions()); n != 0 {
		t.Errorf("got %d sessions", n)
	}
}

// What is no machine is hung up on, and no person is asked.
func TestStrangersAreNotAskedAbout(t *testing.T) {
	b := newLab(t, nil, nil)
	for text, want := range map[string]string{"GET / HTTP/1.1\r\n\r\n": "does not speak VNC", "RF": "does not speak VNC", strings.Repeat("x", 4096): "does not speak VNC"} {
		c := b.dial()
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		if len(text) < len(word) {
			c.Close()
		}
		if o := wait(t, b.told, "outcome"); o.Err == nil || !strings.Contains(o.Err.Error(), want) {
			t.Errorf("%.10q: got %v", text, o.Err)
		}
		b.w.mu.Lock() // so that the same reason is told again
		clear(b.w.told)
		b.w.mu.Unlock()
		c.Close()
	}
	if len(b.asked) > 0 {
		t.Error("a person was asked")
	}
}

// A caller that hangs up takes its question back, a second call from the same
// address is not asked about, and closing ends all.
func TestHungUpWhileWaiting(t *testing.T) {
	b := newLab(t, nil, nil)
	d := newDesk(t, "")
	hangUp := d.call(b)
	wait(t, b.asked, "question")
	other := d.call(b)
	if o := wait(t, b.told, "outcome"); viewer.KindOf(o.Err) != viewer.Limit {
		t.Errorf("a second call: got %v", o.Err)
	}
	other()
	hangUp()
	if err := wait(t, b.over, "end of the question"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if o := wait(t, b.told, "outcome"); viewer.Reason(o.Err) != "it has hung up" {
		t.Errorf("got %v", o.Err)
	}

	d.call(b)
	wait(t, b.asked, "question")
	if err := b.w.Close(); err != nil {
		t.Error(err)
	}
	if err := wait(t, b.over, "end of the question"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(b.told) > 0 || len(b.engine.Sessions()) > 0 {
		t.Error("something became of the call")
	}
}

// How many wait at once is bounded.
func TestManyCallers(t *testing.T) {
	b := newLab(t, nil, nil)
	for i := range MaxWaiting {
		b.w.mu.Lock()
		b.w.waiting[string(rune('a'+i))] = true
		b.w.mu.Unlock()
	}
	c := b.dial()
	if o := wait(t, b.told, "outcome"); viewer.KindOf(o.Err) != viewer.Limit || !strings.Contains(o.Err.Error(), "wait already") {
		t.Errorf("got %v", o.Err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("it is not hung up on")
	}
}

// A machine whose password is not known leaves no session behind.
func TestCallWithoutItsPassword(t *testing.T) {
	b := newLab(t, nil, nil)
	newDesk(t, "sesame").call(b)
	wait(t, b.asked, "question")
	b.answer <- true
	if o := wait(t, b.told, "outcome"); viewer.KindOf(o.Err) != viewer.Credentials || o.Session != nil {
		t.Errorf("got %+v", o)
	}
	if n := len(b.engine.Sessions()); n != 0 {
		t.Errorf("got %d sessions", n)
	}
}

func TestFrom(t *testing.T) {
	f, err := ParseFrom("10.0.0.0/8", " 192.168.1.5", "fd00::/8", "::ffff:172.16.0.0/108")
	if err != nil {
		t.Fatal(err)
	}
	for a, want := range map[string]bool{
		"10.1.2.3": true, "192.168.1.5": true, "192.168.1.6": false, "fd00::1": true, "fe80::1%eth0": false, "::ffff:10.0.0.1": true, "172.16.1.1": true, "172.32.0.1": false, "lab": false, "": false,
	} {
		if got := f.Has(viewer.Target{Address: a}); got != want {
			t.Errorf("%s: got %v, want %v", a, got, want)
		}
	}
	for _, text := range []string{"", "lab", "10.0.0.0/33", "fe80::1%eth0", "::ffff:0.0.0.0/8"} {
		if f, err := ParseFrom(text); err == nil {
			t.Errorf("%q: got %v", text, f)
		}
	}
}
