package ui

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"fyne.io/fyne/v2/widget"

	"deskvnc/app/callers"
	"deskvnc/app/ui/look"
	"deskvnc/control/command"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/sample"
)

// listening lets machines call the window.
func listening(c *Config) {
	c.Listen = func(address string, agree func(context.Context, viewer.Target) bool, told func(viewer.Target, *engine.Session, error)) (Listener, error) {
		l, err := callers.Listen(address, callers.Config{Engine: c.Engine, Agree: agree, Told: func(o callers.Outcome) { told(o.From, o.Session, o.Err) }})
		if err != nil {
			return nil, err
		}
		return l, nil
	}
}

// A caller is a sample machine that calls the viewer.
type caller struct {
	viewer  net.Conn
	answers atomic.Int64 // bytes that came from the viewer
	ended   chan struct{}
}

// dials has the sample machine call the window.
func dials(t *testing.T, l *lab) *caller {
	t.Helper()
	machine, err := net.Dial("tcp", l.w.config.Samples[0].HostPort())
	if err != nil {
		t.Fatal(err)
	}
	v, err := net.Dial("tcp", l.w.calls.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := &caller{viewer: v, ended: make(chan struct{})}
	gone := make(chan struct{})
	go func() {
		io.Copy(v, machine)
		v.Close()
		close(gone)
	}()
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := v.Read(b)
			c.answers.Add(int64(n))
			if n > 0 {
				machine.Write(b[:n])
			}
			if err != nil {
				break
			}
		}
		machine.Close()
		<-gone
		close(c.ended)
	}()
	t.Cleanup(func() { v.Close(); <-c.ended })
	return c
}

// A machine that calls is asked about, gets nothing before the answer, shows
// its screen in a tab, and comes back there when it calls again.
func TestMachineCalls(t *testing.T) {
	l := newLab(t, sample.Options{}, listening)
	w := l.w
	if !w.invoke("session.listen", command.Params{"on": true, "port": freePort(t), "here": true}) {
		t.Fatal(w.status.message)
	}
	if got := w.status.control.Value(); !strings.Contains(got, "Calls at port") {
		t.Errorf("the status line says %q", got)
	}
	if w.needCall(nil) == nil || w.calls.object.Visible() {
		t.Error("a call is shown that is none")
	}
	c := dials(t, l)
	l.until("the question", func() bool { return w.calls.object.Visible() })
	if got := w.calls.title.Value(); got != "127.0.0.1 wants to show its screen" {
		t.Errorf("the question is %q", got)
	}
	if n := c.answers.Load(); n != 0 || len(w.tabs) != 0 {
		t.Errorf("%d bytes were sent, %d tabs, before the answer", n, len(w.tabs))
	}
	w.invoke("calls.accept", nil)
	l.until("the session", func() bool {
		return len(w.tabs) == 1 && w.selected == w.tabs[0] && w.selected.session.State().Phase == viewer.Connected && w.selected.pane.Place().Remote.X > 0
	})
	s := w.selected
	if w.calls.object.Visible() {
		t.Error("the question stays")
	}
	if w.invoke("session.reconnect", nil) {
		t.Error("a machine that called is called")
	}
	c.viewer.Close()
	l.until("the end", func() bool { return s.session.State().Phase == viewer.Disconnected })
	l.until("the words", func() bool { return strings.Contains(said(s), "calls again") })
	if choice(s, "Try again") != nil || choice(s, "Close") == nil {
		t.Errorf("a machine that calls by itself is offered to be called: %s", said(s))
	}

	// It calls again: the same tab goes on.
	dials(t, l)
	l.until("the second question", func() bool { return w.calls.object.Visible() })
	w.invoke("calls.accept", nil)
	l.until("the session again", func() bool { return s.session.State().Phase == viewer.Connected && s.session.Info().Connections == 2 })
	if len(w.tabs) != 1 {
		t.Errorf("%d tabs", len(w.tabs))
	}
}

// Refusing hangs up; a caller that hangs up, or the end of the waiting, takes
// the question away.
func TestCallsThatComeToNothing(t *testing.T) {
	l := newLab(t, sample.Options{}, listening)
	w := l.w
	port := freePort(t)
	on := command.Params{"on": true, "port": port, "here": true}
	w.invoke("session.listen", on)
	c := dials(t, l)
	l.until("the question", func() bool { return w.calls.object.Visible() })
	w.invoke("calls.refuse", nil)
	l.until("the end of the refused call", func() bool { return closed(c.ended) })
	if c.answers.Load() != 0 || len(w.tabs) != 0 || w.calls.object.Visible() {
		t.Errorf("%d bytes were sent, %d tabs, question %v", c.answers.Load(), len(w.tabs), w.calls.object.Visible())
	}

	c = dials(t, l)
	l.until("the question", func() bool { return w.calls.object.Visible() })
	c.viewer.Close()
	l.until("the question to go", func() bool { return !w.calls.object.Visible() })

	c = dials(t, l)
	l.until("the question", func() bool { return w.calls.object.Visible() })
	w.invoke("session.listen", command.Params{"on": false})
	l.until("the end of the call", func() bool { return closed(c.ended) })
	if w.calls.object.Visible() || w.status.control.Value() != "" {
		t.Errorf("still waiting: question %v, status %q", w.calls.object.Visible(), w.status.control.Value())
	}
	l.until("the port to be free", func() bool {
		n, err := net.Listen("tcp", net.JoinHostPort("localhost", itoa(port)))
		if err == nil {
			n.Close()
		}
		return err == nil
	})

	// A port that is taken is said to be.
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	on["port"] = taken.Addr().(*net.TCPAddr).Port
	if w.invoke("session.listen", on) || !w.status.trouble || w.calls.listener != nil {
		t.Errorf("a port that is taken: %q", w.status.message)
	}
}

// The card begins and ends the waiting, and says what is wrong with a port.
func TestCardOfCalls(t *testing.T) {
	l := newLab(t, sample.Options{}, listening)
	w := l.w
	w.invoke("session.listen", nil)
	if w.modal == nil {
		t.Fatal("no card")
	}
	text := func() (all string) {
		for _, o := range seen[*look.Text](w.modal.Content) {
			all += o.Value() + "\n"
		}
		for _, o := range seen[*widget.RichText](w.modal.Content) {
			all += o.String() + "\n"
		}
		return all
	}
	port := seen[*cardEntry](w.modal.Content)[0]
	press := func(label string) {
		t.Helper()
		for _, b := range seen[*look.Choice](w.modal.Content) {
			if b.Text == label {
				b.OnTapped()
				return
			}
		}
		t.Fatalf("there is no %q; the card says %s", label, text())
	}
	if !strings.Contains(text(), "Not waiting.") || port.Text != "5500" {
		t.Errorf("port %q, the card says %s", port.Text, text())
	}
	for _, bad := range []string{"x", "0", "70000"} {
		port.SetText(bad)
		if press("Wait"); !strings.Contains(text(), "is not a port") || w.calls.listener != nil {
			t.Errorf("port %q: the card says %s", bad, text())
		}
	}
	port.SetText(itoa(freePort(t)))
	press("Wait")
	if w.calls.listener == nil || !strings.Contains(text(), "Waiting at port "+port.Text) || !port.Disabled() {
		t.Errorf("the card says %s", text())
	}
	press("Stop")
	if w.calls.listener != nil || !strings.Contains(text(), "Not waiting.") || port.Disabled() {
		t.Errorf("the card says %s", text())
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
