package viewertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
)

// A TerminalPeer is a machine with a shell that a driver is tried on. The shell
// knows echo, stty size, exit with a code, and $?; commands beside it too.
type TerminalPeer interface {
	// Target is the machine, listening.
	Target(t testing.TB) viewer.Target
	// Kill ends the machine's side as a crash would.
	Kill(t testing.TB)
}

// A TerminalSuite is one driver with one kind of machine that has a terminal:
// the contract of a session, as far as terminals have it.
type TerminalSuite struct {
	Driver  viewer.Driver
	Machine func(t *testing.T) TerminalPeer
	Ask     viewer.Asker // answers what the machine asks; nil: nothing is asked
}

// Run runs the suite.
func (s TerminalSuite) Run(t *testing.T) {
	plain := Suite{Driver: s.Driver, Ask: s.Ask}
	for _, c := range []struct {
		name string
		test func(*testing.T, TerminalSuite)
	}{
		{"open reports each phase", terminalOpens},
		{"what is typed arrives in order", terminalTypes},
		{"a full queue says busy and takes releases", terminalBusy},
		{"release all clears the queue", terminalReleases},
		{"the terminal is resized", terminalResizes},
		{"commands run beside it", terminalRuns},
		{"a shell that ends is told", terminalExits},
		{"close ends", terminalCloses},
		{"a machine that dies is noticed", terminalDies},
		{"open ends with its context", func(t *testing.T, _ TerminalSuite) { testCancel(t, plain) }},
		{"nobody listens", func(t *testing.T, _ TerminalSuite) { testUnreachable(t, plain) }},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, s) })
	}
}

// Shows waits until the terminal shows a text.
func (l *Live) Shows(t testing.TB, text string) {
	t.Helper()
	w := l.Grid.Watch()
	defer w.Close()
	guard := time.After(Patience)
	for !strings.Contains(l.Grid.Screen().String(), text) {
		select {
		case <-w.Wake():
		case <-l.Done():
			t.Fatalf("the session ended before it showed %q: %v\n%s", text, l.Err(), l.Grid.Screen().String())
		case <-guard:
			t.Fatalf("the terminal never showed %q:\n%s", text, l.Grid.Screen().String())
		}
	}
}

// keys are the inputs that type a text, with Return for each line end.
func keys(text string) (in []viewer.Input) {
	for _, r := range text {
		k := viewer.Key{Sym: uint32(r), Rune: r}
		if r == '\n' {
			k = viewer.Key{Sym: 0xff0d}
		}
		k.Down = true
		in = append(in, k)
		k.Down = false
		in = append(in, k)
	}
	return in
}

func (s TerminalSuite) open(t *testing.T) (TerminalPeer, *Live) {
	t.Helper()
	p := s.Machine(t)
	return p, Open(t, s.Driver, p.Target(t), s.Ask)
}

func terminalOpens(t *testing.T, s TerminalSuite) {
	_, l := s.open(t)
	var phases []viewer.Phase
	for _, e := range l.Events() {
		if p, ok := e.(viewer.Progress); ok && (len(phases) == 0 || phases[len(phases)-1] != p.Phase) {
			phases = append(phases, p.Phase)
		}
	}
	if !slices.Contains(phases, viewer.Connecting) || !slices.Contains(phases, viewer.Negotiating) {
		t.Errorf("the phases were %v", phases)
	}
	cols, rows := l.Grid.Size()
	e := l.Event(t, "its size", func(e viewer.Event) bool { _, ok := e.(viewer.Resized); return ok }).(viewer.Resized)
	if e.Width != cols || e.Height != rows {
		t.Errorf("the size is %dx%d, and the terminal's %dx%d", e.Width, e.Height, cols, rows)
	}
	signals := l.Session.(viewer.Signaller).Signals()
	if signals[viewer.SignalAltScreen].Availability != viewer.Live {
		t.Errorf("the signals are %v", signals)
	}
}

func terminalTypes(t *testing.T, s TerminalSuite) {
	_, l := s.open(t)
	var want strings.Builder
	l.Post(t, keys("echo g''ot")...)
	for n := range 20 {
		word := fmt.Sprint(" ", n)
		want.WriteString(word)
		l.Post(t, keys(word)...)
	}
	l.Post(t, keys("\n")...)
	l.Shows(t, "got"+want.String())
	if n := l.Session.(viewer.Inputter).Queued(); n != 0 {
		t.Errorf("%d inputs are queued after a flush", n)
	}
}

func terminalBusy(t *testing.T, s TerminalSuite) {
	p := s.Machine(t)
	var g Gate
	l, err := TryOpen(t, s.Driver, p.Target(t), s.Ask, g.Dial)
	if err != nil {
		t.Fatal(err)
	}
	i := l.Session.(viewer.Inputter)
	l.Post(t, key('h', true))
	g.Shut()
	var full error
	for range 2*viewer.InputQueue + 2 { // some may be in the writer's hands
		if full = i.Post(key('b', true), viewer.Bytes{Data: []byte("x")}); full != nil {
			break
		}
	}
	queued := i.Queued()
	if viewer.KindOf(full) != viewer.Busy {
		t.Errorf("a full queue: got %v, want the kind %q", full, viewer.Busy)
	}
	if err := i.Post(key('h', false)); err != nil {
		t.Errorf("the release of a held key into a full queue: %v", err)
	}
	if queued == 0 {
		t.Error("nothing is queued")
	}
	g.Open()
	l.Flush(t)
}

func terminalReleases(t *testing.T, s TerminalSuite) {
	_, l := s.open(t)
	r, ok := l.Session.(viewer.Releaser)
	if !ok {
		t.Skip("the driver does not release")
	}
	l.Post(t, key(0xffe3, true)) // Control_L
	if err := r.ReleaseAll(context.Background()); err != nil {
		t.Fatal(err)
	}
	l.Post(t, keys("echo no-''control\n")...)
	l.Shows(t, "no-control")
}

func terminalResizes(t *testing.T, s TerminalSuite) {
	_, l := s.open(t)
	if err := l.Session.(viewer.Resizer).Resize(context.Background(), 93, 31); err != nil {
		t.Fatal(err)
	}
	l.Event(t, "its size", func(e viewer.Event) bool {
		r, ok := e.(viewer.Resized)
		return ok && r.Width == 93 && r.Height == 31
	})
	l.Post(t, keys("stty size\n")...)
	l.Shows(t, "31 93")
}

func terminalRuns(t *testing.T, s TerminalSuite) {
	_, l := s.open(t)
	r, ok := l.Session.(viewer.Runner)
	if !ok {
		t.Skip("the driver runs no commands")
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	ran, err := r.Run(ctx, viewer.Command{Line: "echo beside; exit 3"})
	if err != nil || string(ran.Stdout.Head) != "beside\n" || !ran.Exited || ran.Code != 3 || ran.Unanswered != "" {
		t.Errorf("got %+v, %v", ran, err)
	}
}

func terminalExits(t *testing.T, s TerminalSuite) {
	_, l := s.open(t)
	l.Post(t, keys("exit 5\n")...)
	l.Wait(t)
	var exit *viewer.Exit
	if err := l.Err(); viewer.KindOf(err) != viewer.Exited || !errors.As(err, &exit) || exit.Code != 5 {
		t.Errorf("got %v", l.Err())
	}
}

func terminalCloses(t *testing.T, s TerminalSuite) {
	_, l := s.open(t)
	l.Post(t, keys("echo bef''ore\n")...)
	l.Shows(t, "before")
	for range 2 {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	select {
	case <-l.Done():
	default:
		t.Error("close returned before the end")
	}
	if err := l.Err(); err != nil {
		t.Errorf("a closed session has the error %v", err)
	}
	if err := l.Session.(viewer.Inputter).Post(key('w', true)); viewer.KindOf(err) != viewer.Closed {
		t.Errorf("a closed session takes input: %v", err)
	}
	if !strings.Contains(l.Grid.Screen().String(), "before") {
		t.Error("the text has gone with the session")
	}
}

func terminalDies(t *testing.T, s TerminalSuite) {
	p, l := s.open(t)
	l.Post(t, keys("echo bef''ore\n")...)
	l.Shows(t, "before")
	p.Kill(t)
	l.Wait(t)
	if got := viewer.KindOf(l.Err()); l.Err() == nil || got != viewer.Closed {
		t.Errorf("got %q: %v, want %q", got, l.Err(), viewer.Closed)
	}
}
