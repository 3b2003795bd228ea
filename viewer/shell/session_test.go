//go:build unix

package shell

import (
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/grid"
	"deskvnc/viewer/key"
	"deskvnc/viewer/sshdial/sshtest"
)

// command is a target that runs a command instead of a login shell.
func command(s *sshtest.Server, line string) viewer.Target {
	return with(target(s), func(set *viewer.SSHSettings) { set.Command = line })
}

const plainShell = "PS1='$ ' exec sh"

// press presses a key with others held.
func (l *live) press(sym uint32, held ...uint32) {
	l.t.Helper()
	var in []viewer.Input
	for _, h := range held {
		in = append(in, viewer.Key{Sym: h, Down: true})
	}
	in = append(in, viewer.Key{Sym: sym, Down: true}, viewer.Key{Sym: sym})
	for _, h := range held {
		in = append(in, viewer.Key{Sym: h})
	}
	l.post(in...)
}

// The terminal has the size of its pane from the start, after each change, and
// after each new connection.
func TestSize(t *testing.T) {
	s := start(t)
	d := driver(s)
	to := command(s, "stty size; "+plainShell)
	l := open(t, d, to)
	l.text("40 120")
	if err := l.Resize(t.Context(), 100, 30); err != nil {
		t.Fatal(err)
	}
	l.typed("clear; stty size\n")
	l.text("30 100")
	l.typed("clear\n")
	s.KillConnections()
	l.text("connected again")
	l.text("30 100")
	st := l.state(func(st viewer.State) bool { return st.Phase == viewer.Connected })
	if st.Kind != "" {
		t.Errorf("the state is %+v", st)
	}
	// A pane that is there before the connection.
	e, err := l.e.Open(to)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Resize(t.Context(), 77, 21); err != nil {
		t.Fatal(err)
	}
	(&live{e, t, l.e}).shows("its size", func(s grid.Screen) bool {
		return strings.Contains(s.String(), "21 77") || strings.Contains(s.String(), "40 120")
	})
	(&live{e, t, l.e}).typed("clear; stty size\n")
	(&live{e, t, l.e}).text("21 77")
	if err := l.Resize(t.Context(), 0, 5); viewer.KindOf(err) != viewer.Invalid {
		t.Errorf("got %v", err)
	}
}

// A machine whose shell has ended is not called again; its code and signal are
// told.
func TestShellEnds(t *testing.T) {
	s := start(t)
	d := driver(s)
	for _, tt := range []struct {
		line string
		want viewer.Exit
	}{
		{"exit 0", viewer.Exit{}}, {"exit 255", viewer.Exit{Code: 255}}, {"kill -KILL $$", viewer.Exit{Signal: "KILL"}},
	} {
		l := open(t, d, command(s, "read x; "+tt.line))
		l.typed("\n")
		st := l.state(func(st viewer.State) bool { return st.Phase == viewer.Disconnected })
		var exit *viewer.Exit
		if st.Kind != viewer.Exited || !st.CanRetry || !errors.As(l.Info().LastErr, &exit) || *exit != tt.want {
			t.Errorf("%s: got %+v, %v", tt.line, st, l.Info().LastErr)
		}
	}
	if n := s.Accepted(); n != 3 {
		t.Errorf("%d connections were made, want 3", n)
	}
}

// What is refused is refused once, in words.
func TestRefusals(t *testing.T) {
	s := start(t)
	for _, tt := range []struct {
		name, config, want string
		target             viewer.Target
		kind               viewer.Kind
	}{
		{"no terminals", "PermitTTY no", "gives no terminal", target(s), viewer.Unsupported},
		{"no sessions", "MaxSessions 0", "MaxSessions", target(s), viewer.Limit},
		{"another key", "", "", with(target(s), func(set *viewer.SSHSettings) { set.KeyFile = sshtest.Key(t, s.Dir, "ed25519", "") }), viewer.Denied},
		{"an unknown encoding", "", "no known text encoding", with(target(s), func(set *viewer.SSHSettings) { set.Encoding = "klingon" }), viewer.Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.SetConfig("SetEnv HOME="+s.Dir, tt.config)
			before := runtime.NumGoroutine()
			_, err := driver(s).Open(t.Context(), tt.target, viewer.Env{Grid: grid.New(grid.Options{Cols: 80, Rows: 24}), Ask: nobody, Emit: func(viewer.Event) {}})
			if got := viewer.KindOf(err); err == nil || got != tt.kind || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v (%s), want %s: %q", err, got, tt.kind, tt.want)
			}
			settle(t, before)
		})
	}
}

// settle waits until no more goroutines are left than there were.
func settle(t testing.TB, before int) {
	t.Helper()
	for end := time.Now().Add(guard); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			b := make([]byte, 1<<16)
			t.Fatalf("%d goroutines are left, %d were there before\n%s", runtime.NumGoroutine(), before, b[:runtime.Stack(b, true)])
		}
	}
}

// Nothing is left behind, however a session ends.
func TestNothingIsLeft(t *testing.T) {
	s := start(t)
	d := driver(s)
	for name, end := range map[string]func(*live){
		"closed": func(l *live) { l.Close() },
		"exited": func(l *live) {
			l.typed("exit\n")
			l.state(func(st viewer.State) bool { return st.Kind == viewer.Exited })
			l.Close()
		},
		"while it floods": func(l *live) {
			l.typed("yes\n")
			l.text("y\ny")
			l.Close()
		},
		"with input that nobody reads": func(l *live) {
			l.typed("stty -icanon -echo; sleep 300\n")
			l.post(viewer.Bytes{Data: []byte(strings.Repeat("x", 8<<20))})
			l.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			l := open(t, d, command(s, plainShell))
			l.text("$")
			l.t = t
			end(l)
			settle(t, before)
		})
	}
}

// A program that prints without an end costs no memory, and hears Ctrl+C.
func TestFloodIsHeldBack(t *testing.T) {
	s := start(t)
	l := open(t, driver(s), with(command(s, plainShell), func(set *viewer.SSHSettings) { set.Scrollback = 1000 }))
	l.text("$")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 5 {
		l.typed("yes 'a line of it'\n")
		l.shows("a flood", func(s grid.Screen) bool { return strings.HasPrefix(s.Lines[0], "a line of it") })
		l.press('c', key.ControlL)
		l.shows("a prompt", func(s grid.Screen) bool { return strings.HasPrefix(s.Lines[s.Y], "$") })
		l.typed("clear\n")
		l.shows("nothing", func(s grid.Screen) bool { return !strings.Contains(s.String(), "a line of it") })
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 24<<20 {
		t.Errorf("%d bytes more are in use", grown)
	}
}

// A link that is cut inside of a program leaves a terminal that is usable: its
// text, and none of its modes.
func TestLinkCutInsideAProgram(t *testing.T) {
	sshtest.Need(t, "vim")
	s := start(t)
	d := driver(s)
	l := open(t, d, command(s, plainShell))
	l.typed("echo before; vim -u NONE -n -i NONE -c 'set mouse=a' -c 'call setline(1, \"inside\" . \" vim\")'\n")
	l.text("inside vim")
	l.shows("modes", func(s grid.Screen) bool { return s.Alternate && s.Modes.Mouse != 0 })
	id := l.ID()
	s.KillConnections()
	sc := l.text("connected again")
	m := sc.Modes
	if sc.Alternate || m.Mouse != 0 || m.BracketedPaste || m.AppCursor || !strings.Contains(sc.String(), "before") || strings.Contains(sc.String(), "inside vim") {
		t.Errorf("the modes are %+v, and the screen\n%s", m, sc.String())
	}
	l.state(func(st viewer.State) bool { return st.Phase == viewer.Connected })
	l.post(viewer.Pointer{X: 3, Y: 3, Buttons: viewer.Left}, viewer.Pointer{X: 3, Y: 3})
	l.typed("echo $((40+2))\n")
	l.text("42")
	if l.ID() != id || l.Info().Connections != 2 {
		t.Errorf("the session is %s after %d connections", l.ID(), l.Info().Connections)
	}
}

// What is refused at a new connection is not tried again and again.
func TestChangedKeyStopsReconnecting(t *testing.T) {
	s := start(t)
	l := open(t, driver(s), command(s, plainShell))
	s.NewHostKeys("ed25519")
	s.KillConnections()
	st := l.state(func(st viewer.State) bool { return st.Phase == viewer.Disconnected })
	if st.Kind != viewer.Untrusted || st.CanRetry {
		t.Errorf("the state is %+v", st)
	}
}

// The screen is the one that tmux shows for the same program.
func TestProgramsLookAsInTmux(t *testing.T) {
	sshtest.Need(t, "vim", "less", "tmux")
	s := start(t)
	d := driver(s)
	for _, tt := range []struct {
		name, line string
		keys       string
		ready      string
	}{
		{"vim", "vim -u NONE -n -i NONE -N -c 'set nu hls' -c 'syntax off' FILE", "5Gdd/line 30\nihello\x1b", "hello"},
		{"less", "less -N FILE", "10j/line 77\n", "line 77"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "text")
			if out, err := exec.Command("sh", "-c", `i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo "line $i of the tèxt 漢字"; done > "$0"`, file).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			line := "export LANG=C.UTF-8 LC_ALL=C.UTF-8 TERM=tmux-256color LESSHISTFILE=-; " + strings.ReplaceAll(tt.line, "FILE", file)
			tmux := func(args ...string) string {
				out, err := exec.Command("tmux", append([]string{"-f", "/dev/null", "-S", filepath.Join(dir, "s")}, args...)...).CombinedOutput()
				if err != nil {
					t.Fatalf("tmux %v: %v: %s", args, err, out)
				}
				return string(out)
			}
			tmux("-u", "new-session", "-d", "-x", "90", "-y", "30", line+"; sleep 300")
			tmux("set", "-g", "status", "off")
			defer tmux("kill-server")
			tmux("resize-window", "-x", "90", "-y", "30")
			e, err := open(t, d, command(s, plainShell)).e.Open(command(s, line))
			if err != nil {
				t.Fatal(err)
			}
			l := &live{e, t, nil}
			if err := e.Resize(t.Context(), 90, 30); err != nil {
				t.Fatal(err)
			}
			l.state(func(st viewer.State) bool { return st.Phase == viewer.Connected })
			l.text("line 1 of")
			for end := time.Now().Add(guard); !strings.Contains(tmux("capture-pane", "-p"), "line 1 of"); {
				if time.Now().After(end) {
					t.Fatal("tmux never showed it")
				}
			}
			for _, r := range tt.keys {
				name := string(r)
				switch r {
				case '\n':
					name = "Enter"
					l.press(key.Return)
				case '\x1b':
					name = "Escape"
					l.press(key.Escape)
				default:
					l.typed(name)
				}
				if name == " " {
					name = "Space"
				}
				tmux("send-keys", name)
			}
			l.text(tt.ready)
			got, want := "", ""
			for end := time.Now().Add(guard); time.Now().Before(end); {
				got, want = trimmed(l.Grid().Screen().String()), trimmed(tmux("capture-pane", "-p"))
				if got == want && strings.Contains(want, tt.ready) {
					return
				}
			}
			t.Errorf("got\n%s\nwant\n%s", got, want)
		})
	}
}

// trimmed is text without blanks at the ends of its lines.
func trimmed(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// Inputs keep their order, and those that find no place say so.
func TestInputs(t *testing.T) {
	s := start(t)
	l := open(t, driver(s), command(s, "stty raw -echo; echo READY; exec cat -v"))
	l.text("READY")
	l.typed("abc")
	l.press('d', key.ControlL)
	l.press(0xff52) // Up
	l.press(0xff52, key.ShiftL)
	l.post(viewer.Bytes{Data: []byte{0x1b, 'O', 'P'}}, viewer.Paste{Text: "one\r\ntwo\x1b[201~\x03end"}, viewer.Focus{In: true}, viewer.Pointer{X: 1, Y: 1, Buttons: viewer.Left})
	l.typed("!")
	l.text("abc^D^[[A^[[1;2A^[OPone^Mtwo[201~end!")

	l = open(t, driver(s), command(s, `stty raw -echo; printf '\033[?1000h\033[?1006h\033[?1004h\033[?2004hREADY'; exec cat -v`))
	l.text("READY")
	l.post(viewer.Focus{In: true}, viewer.Pointer{X: 4, Y: 2, Buttons: viewer.Left}, viewer.Pointer{X: 4, Y: 2}, viewer.Pointer{X: 5, Y: 2, WheelY: 2}, viewer.Paste{Text: "a\nb"})
	l.text("^[[I^[[<0;5;3M^[[<0;5;3m^[[<65;6;3M^[[<65;6;3M^[[200~a^Mb^[[201~")
	l.post(viewer.Pointer{X: 7, Y: 7, Buttons: viewer.Right})
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.ReleaseAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.text("^[[<2;8;8M^[[<2;8;8m")

	// A program on the alternate screen that did not ask for the mouse.
	l = open(t, driver(s), command(s, `stty raw -echo; printf '\033[?1049h\033[?1007hREADY'; exec cat -v`))
	l.text("READY")
	l.post(viewer.Pointer{X: 5, Y: 2, WheelY: -1})
	l.text("^[[A^[[A^[[A")
}

// A long paste is given up by a release, and its end is told.
func TestReleaseGivesUpAPaste(t *testing.T) {
	g := grid.New(grid.Options{Cols: 80, Rows: 24})
	g.Write([]byte("\x1b[?2004h"))
	o := newOutbox(g, nil)
	long := viewer.Paste{Text: strings.Repeat("long ", 3<<20)}
	if err := o.post([]viewer.Input{long, viewer.Bytes{Data: []byte("never")}}); err != nil {
		t.Fatal(err)
	}
	if err := o.post([]viewer.Input{long, long}); viewer.KindOf(err) != viewer.Busy {
		t.Errorf("more bytes than may wait: got %v", err)
	}
	b, ok := o.take()
	if !ok || len(b) != writePiece || !strings.HasPrefix(string(b), "\x1b[200~long ") {
		t.Fatalf("got %d bytes, %v", len(b), ok)
	}
	released := make(chan error, 1)
	go func() { released <- o.releaseAll(t.Context()) }()
	for o.queued() > 1 {
		runtime.Gosched()
	}
	o.wrote(nil)
	if b, ok = o.take(); !ok || string(b) != pasteEnd {
		t.Errorf("got %.40q, want the end of the paste", b)
	}
	o.wrote(nil)
	more := make(chan bool)
	go func() {
		_, ok := o.take() // what is nothing is written at once
		more <- ok
	}()
	if err := <-released; err != nil {
		t.Error(err)
	}
	if n := o.queued(); n != 0 {
		t.Errorf("%d inputs wait after a release", n)
	}
	o.stop(errClosed)
	if <-more {
		t.Error("there was something more to write")
	}
}

func TestBusy(t *testing.T) {
	o := newOutbox(grid.New(grid.Options{Cols: 80, Rows: 24}), nil)
	if err := o.post([]viewer.Input{viewer.Key{Sym: 'h', Down: true}}); err != nil {
		t.Fatal(err)
	}
	for range viewer.InputQueue - 1 {
		if err := o.post([]viewer.Input{viewer.Key{Sym: 'a', Down: true}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.post([]viewer.Input{viewer.Key{Sym: 'b', Down: true}, viewer.Key{Sym: 'b'}}); viewer.KindOf(err) != viewer.Busy {
		t.Errorf("a full queue: got %v", err)
	}
	if n := o.queued(); n != viewer.InputQueue {
		t.Errorf("%d are queued: a part of what was refused is", n)
	}
	if err := o.post([]viewer.Input{viewer.Key{Sym: 'h'}}); err != nil {
		t.Errorf("the release of a held key: %v", err)
	}
	if err := o.post(make([]viewer.Input, 1)); viewer.KindOf(err) != viewer.Invalid {
		t.Errorf("no input: got %v", err)
	}
	o.stop(errClosed)
	if err := o.post([]viewer.Input{viewer.Focus{}}); viewer.KindOf(err) != viewer.Closed {
		t.Errorf("after the end: got %v", err)
	}
}

// Titles, bells and requests for the clipboard are told, and not obeyed.
func TestEvents(t *testing.T) {
	s := start(t)
	l := open(t, driver(s), command(s, plainShell))
	var mu sync.Mutex
	var got []viewer.Event
	seen := make(chan struct{}, 1)
	l.Subscribe(func(ev viewer.Event) {
		switch ev.(type) {
		case viewer.Named, viewer.Bell, viewer.ClipboardAsked, viewer.Notified:
			mu.Lock()
			got = append(got, ev)
			mu.Unlock()
			if _, last := ev.(viewer.Notified); last {
				seen <- struct{}{}
			}
		}
	})
	l.typed(`printf '\033]0;a title\007'; sleep 0.2; printf '\007'; sleep 0.2; printf '\033]52;c;aGVsbG8=\007'; sleep 0.2; printf '\033]9;done\007'` + "\n")
	select {
	case <-seen:
	case <-time.After(guard):
		t.Fatal("the last event never came")
	}
	mu.Lock()
	defer mu.Unlock()
	want := []viewer.Event{viewer.Named{Name: "a title"}, viewer.Bell{}, viewer.ClipboardAsked{Text: "hello"}, viewer.Notified{Text: "done"}}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %#v, want %#v", got[i], want[i])
		}
	}
	if l.Info().Name != "a title" || l.Info().CutTextKnown {
		t.Errorf("got %+v", l.Info())
	}
}

// Text in another encoding is shown and typed, wherever a character is cut.
func TestEncoding(t *testing.T) {
	s := start(t)
	l := open(t, driver(s), with(command(s, `printf 'caf\351 '; printf '\244\n'; stty raw -echo; exec od -An -tx1 -N4`), func(set *viewer.SSHSettings) { set.Encoding = "iso-8859-15" }))
	l.text("café €")
	l.typed("é€")
	l.post(viewer.Paste{Text: "ü漢"})
	l.text("e9 a4 fc 3f")
	c, err := charsetOf("gbk")
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for _, b := range c.out([]byte("漢字 ok")) {
		out = append(out, c.in([]byte{b})...)
	}
	if string(out) != "漢字 ok" {
		t.Errorf("got %q", out)
	}
	if out := c.in([]byte{0xff, 'a', 0xff}); !strings.HasSuffix(string(out), "a") && !strings.Contains(string(out), "a") {
		t.Errorf("got %q", out)
	}
}
