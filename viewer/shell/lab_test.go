//go:build unix

package shell

import (
	"context"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/grid"
	"deskvnc/viewer/key"
	"deskvnc/viewer/sshdial/sshtest"
)

// guard bounds what would hang otherwise.
const guard = 60 * time.Second

// start starts a server whose shells read no files of this account's.
func start(t testing.TB, config ...string) *sshtest.Server {
	t.Helper()
	return sshtest.Start(t, sshtest.Options{Config: append(config, "SetEnv HOME="+t.TempDir())})
}

// nobody answers, since nothing is to be asked.
var nobody = viewer.AskFunc(func(_ context.Context, q viewer.Question) (viewer.Answer, error) {
	return viewer.Answer{}, &viewer.Error{Op: "ask", Kind: viewer.Credentials}
})

// target is a server of the lab, with the key that is let in.
func target(s *sshtest.Server) viewer.Target {
	t := s.Target()
	t.SSH = &viewer.SSHSettings{KeyFile: s.KeyFile, NoAgent: true, NoConfig: true}
	return t
}

// with changes the SSH settings of a target.
func with(t viewer.Target, change func(*viewer.SSHSettings)) viewer.Target {
	set := t.Settings()
	change(&set)
	t.SSH = &set
	return t
}

func driver(s *sshtest.Server) *Driver {
	return New(Options{Home: s.Dir, KnownHostsFiles: []string{s.KnownHosts()}})
}

// A live is a session of an engine, which ends with the test.
type live struct {
	*engine.Session
	t testing.TB
	e *engine.Engine
}

// open opens a target in an engine, and waits until it is connected.
func open(t testing.TB, d viewer.Driver, to viewer.Target) *live {
	t.Helper()
	e := engine.New(engine.Config{Drivers: viewer.Registry{viewer.SSH: d}, Asker: func(*engine.Session) viewer.Asker { return nobody }})
	t.Cleanup(e.Close)
	s, err := e.Open(to)
	if err != nil {
		t.Fatal(err)
	}
	l := &live{s, t, e}
	l.state(func(st viewer.State) bool { return st.Phase == viewer.Connected })
	return l
}

// state waits for a state.
func (l *live) state(ok func(viewer.State) bool) viewer.State {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	defer cancel()
	st, err := l.WaitState(ctx, func(st viewer.State) bool { return ok(st) || st.Phase == viewer.Disconnected })
	if err != nil || !ok(st) {
		l.t.Fatalf("the state is %+v: %v", st, err)
	}
	return st
}

// shows waits until the screen fits.
func (l *live) shows(what string, ok func(grid.Screen) bool) grid.Screen {
	l.t.Helper()
	w := l.Grid().Watch()
	defer w.Close()
	limit := time.After(guard)
	for {
		sc := l.Grid().Screen()
		if ok(sc) {
			return sc
		}
		select {
		case <-w.Wake():
		case <-limit:
			l.t.Fatalf("the screen never showed %s:\n%s", what, sc.String())
		}
	}
}

// text waits for a text on the screen.
func (l *live) text(want string) grid.Screen {
	l.t.Helper()
	return l.shows(want, func(s grid.Screen) bool { return strings.Contains(s.String(), want) })
}

// typed types text, and Return for each line end.
func (l *live) typed(text string) {
	l.t.Helper()
	for _, r := range text {
		k := viewer.Key{Sym: key.FromRune(r).Sym, Rune: r, Down: true}
		if r == '\n' {
			k = viewer.Key{Sym: key.Return, Down: true}
		}
		up := k
		up.Down = false
		l.post(k, up)
	}
}

// post posts inputs, and waits for places where there are none.
func (l *live) post(in ...viewer.Input) {
	l.t.Helper()
	for {
		err := l.Post(in...)
		if err == nil {
			return
		}
		if viewer.KindOf(err) != viewer.Busy {
			l.t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), guard)
		if err := l.Flush(ctx); err != nil {
			l.t.Fatal(err)
		}
		cancel()
	}
}

// run runs a command.
func (l *live) run(line string) viewer.Ran {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	defer cancel()
	r, err := l.Run(ctx, viewer.Command{Line: line})
	if err != nil {
		l.t.Fatalf("%s: %v", line, err)
	}
	return r
}

func TestTypesAndRuns(t *testing.T) {
	s := start(t)
	l := open(t, driver(s), with(target(s), func(set *viewer.SSHSettings) { set.Command = "PS1='$ ' sh" }))
	l.text("$")
	l.typed("echo $((6*7))-there\n")
	l.text("42-there")
	r := l.run("echo out; echo err >&2; exit 3")
	if string(r.Stdout.Head) != "out\n" || string(r.Stderr.Head) != "err\n" || !r.Exited || r.Code != 3 {
		t.Errorf("got %+v", r)
	}
	l.typed("exit 5\n")
	st := l.state(func(st viewer.State) bool { return st.Kind == viewer.Exited })
	if !strings.Contains(st.Reason, "exit code 5") || !st.CanRetry {
		t.Errorf("the state is %+v", st)
	}
}
