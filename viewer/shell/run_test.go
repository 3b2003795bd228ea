//go:build unix

package shell

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"deskvnc/viewer"
)

func TestRunTellsHowItEnded(t *testing.T) {
	s := start(t)
	l := open(t, driver(s), target(s))
	dir := t.TempDir()
	odd := filepath.Join(dir, "it's $(touch x) \"a\" b")
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name           string
		command        viewer.Command
		code           int
		signal         string
		stdout, stderr string
	}{
		{"nothing", viewer.Command{Line: "true"}, 0, "", "", ""},
		{"both outputs", viewer.Command{Line: "echo a; echo b >&2"}, 0, "", "a\n", "b\n"},
		{"a code", viewer.Command{Line: "echo a; exit 3"}, 3, "", "a\n", ""},
		{"the highest code", viewer.Command{Line: "exit 255"}, 255, "", "", ""},
		{"no such program", viewer.Command{Line: "exec 2>/dev/null; /nope/nope"}, 127, "", "", ""},
		{"killed", viewer.Command{Line: "kill -KILL $$"}, 0, "KILL", "", ""},
		{"terminated", viewer.Command{Line: "echo x; kill -TERM $$"}, 0, "TERM", "x\n", ""},
		{"stdin is at its end", viewer.Command{Line: "cat; echo end"}, 0, "", "end\n", ""},
		{"bytes as they are", viewer.Command{Line: `printf '\377\376\200x\000y'`}, 0, "", "\xff\xfe\x80x\x00y", ""},
		{"a folder", viewer.Command{Line: "pwd", Dir: "/usr"}, 0, "", "/usr\n", ""},
		{"a folder with every quote", viewer.Command{Line: "pwd", Dir: odd}, 0, "", odd + "\n", ""},
		{"several lines", viewer.Command{Line: "cat <<E\none\ntwo\nE\necho $0 | wc -w", Dir: "/"}, 0, "", "one\ntwo\n1\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), guard)
			defer cancel()
			r, err := l.Run(ctx, tt.command)
			if err != nil {
				t.Fatal(err)
			}
			if string(r.Stdout.Head) != tt.stdout || string(r.Stderr.Head) != tt.stderr || r.Stdout.Dropped != 0 || len(r.Stdout.Tail) != 0 {
				t.Errorf("got %q and %q, want %q and %q", r.Stdout.Head, r.Stderr.Head, tt.stdout, tt.stderr)
			}
			if r.Code != tt.code || r.Signal != tt.signal || r.Exited != (tt.signal == "") || r.Unanswered != "" || r.TimedOut || r.Open {
				t.Errorf("got %+v", r)
			}
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	defer cancel()
	r, err := l.Run(ctx, viewer.Command{Line: "echo ran", Dir: "/no/such"})
	if err != nil || r.Code == 0 || len(r.Stdout.Head) != 0 || !strings.Contains(string(r.Stderr.Head), "/no/such") {
		t.Errorf("a folder that is not there: got %+v, %v", r, err)
	}
	if _, err := l.Run(ctx, viewer.Command{Line: "echo a\x00b"}); viewer.KindOf(err) != viewer.Invalid {
		t.Errorf("a NUL: got %v", err)
	}
}

// What a command leaves behind does not hold the answer up.
func TestRunWithABackgroundChild(t *testing.T) {
	s := start(t)
	l := open(t, driver(s), target(s))
	r := l.run("sleep 300 & echo $!")
	pid := strings.TrimSpace(string(r.Stdout.Head))
	if !r.Exited || r.Code != 0 || !r.Open || pid == "" {
		t.Errorf("got %+v", r)
	}
	l.run("kill " + pid)
}

// A command whose sshd is killed has no code, and says so.
func TestRunIsNeverAnsweredByAGuess(t *testing.T) {
	s := start(t)
	l := open(t, driver(s), target(s))
	started := filepath.Join(t.TempDir(), "started")
	type answer struct {
		viewer.Ran
		err error
	}
	got := make(chan answer, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), guard)
		defer cancel()
		r, err := l.Run(ctx, viewer.Command{Line: "echo here; touch " + started + "; exec sleep 300"})
		got <- answer{r, err}
	}()
	awaitFile(t, started)
	s.KillConnections()
	a := <-got
	if a.err != nil || a.Exited || a.Signal != "" || !a.Lost || a.TimedOut || a.Unanswered == "" || string(a.Stdout.Head) != "here\n" {
		t.Errorf("got %+v", a)
	}
}

// awaitFile waits until a file is there.
func awaitFile(t testing.TB, path string) {
	t.Helper()
	for end := time.Now().Add(guard); ; runtime.Gosched() {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s never appeared", path)
		}
		time.Sleep(time.Millisecond)
	}
}

// At the deadline the command is stopped, and no code is made up.
func TestRunStopsAtTheDeadline(t *testing.T) {
	s := start(t)
	l := open(t, driver(s), target(s))
	dir := t.TempDir()
	for _, tt := range []struct{ name, line string }{
		{"it ends when told", "sleep 4; touch FILE"},
		{"it ignores TERM", "trap '' TERM; echo deaf; sleep 4; sleep 4; touch FILE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(dir, strings.ReplaceAll(tt.name, " ", "-"))
			ctx, cancel := context.WithTimeout(context.Background(), 700*time.Millisecond)
			defer cancel()
			r, err := l.Run(ctx, viewer.Command{Line: strings.ReplaceAll(tt.line, "FILE", file)})
			if err != nil || !r.TimedOut || r.Exited || r.Signal != "" || r.Unanswered == "" || r.Lost {
				t.Fatalf("got %+v, %v", r, err)
			}
			if !r.Stopped {
				t.Errorf("it was not stopped: %s", r.Unanswered)
			}
			// Whoever would write the file has gone.
			if n := strings.TrimSpace(string(l.run("pgrep -f '[s]leep 4; touch " + file + "' | wc -l").Stdout.Head)); n != "0" {
				t.Errorf("%s of its processes still run", n)
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("it went on")
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	started := filepath.Join(dir, "started")
	go func() {
		awaitFile(t, started)
		cancel()
	}()
	r, err := l.Run(ctx, viewer.Command{Line: "echo on; touch " + started + "; exec sleep 300"})
	if viewer.KindOf(err) != viewer.Cancelled || r.Exited || string(r.Stdout.Head) != "on\n" || r.TimedOut {
		t.Errorf("cancelled: got %+v, %v", r, err)
	}
}

// Output of any length is counted, and costs the same memory.
func TestRunKeepsHeadAndTail(t *testing.T) {
	s := start(t)
	l := open(t, driver(s), target(s))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const total = 200 << 20
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	defer cancel()
	r, err := l.Run(ctx, viewer.Command{Line: fmt.Sprintf("echo first; yes | head -c %d; echo last", total), Keep: 1 << 20})
	if err != nil || !r.Exited || r.Code != 0 {
		t.Fatalf("got %v, %v", r.Unanswered, err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	o := r.Stdout
	if o.Bytes != total+11 || int64(len(o.Head)+len(o.Tail))+o.Dropped != o.Bytes || len(o.Head)+len(o.Tail) > 1<<20 {
		t.Errorf("%d bytes, %d + %d kept, %d dropped", o.Bytes, len(o.Head), len(o.Tail), o.Dropped)
	}
	if !bytes.HasPrefix(o.Head, []byte("first\ny\n")) || !bytes.HasSuffix(o.Tail, []byte("y\nlast\n")) {
		t.Errorf("%.20q ... %q", o.Head, o.Tail[len(o.Tail)-20:])
	}
	if kept := int64(bytes.Count(o.Head, []byte("\n")) + bytes.Count(o.Tail, []byte("\n"))); kept+o.Lines != total/2+2 {
		t.Errorf("%d lines kept and %d dropped, of %d", kept, o.Lines, total/2+2)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("%d bytes more are in use", grown)
	}
}

// More commands than there are places wait for one.
func TestRunSeveralAtOnce(t *testing.T) {
	s := start(t)
	l := open(t, driver(s), target(s))
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), guard)
			defer cancel()
			r, err := l.Run(ctx, viewer.Command{Line: fmt.Sprintf("echo %d", n)})
			if err != nil || string(r.Stdout.Head) != fmt.Sprintf("%d\n", n) {
				t.Errorf("%d: got %+v, %v", n, r, err)
			}
		})
	}
	all.Wait()
}

func TestKeeper(t *testing.T) {
	text := []byte(strings.Repeat("é\n€", 700))
	for keep := 1; keep < 60; keep++ {
		for _, piece := range []int{1, 2, 3, 7, 50, len(text)} {
			for _, n := range []int{0, 1, 5, keep, keep + 1, 333, len(text)} {
				k := newKeeper(keep)
				for b := text[:n]; len(b) > 0; {
					m := min(piece, len(b))
					k.Write(b[:m])
					b = b[m:]
				}
				o := k.output()
				if o.Bytes != int64(n) || int64(len(o.Head)+len(o.Tail))+o.Dropped != o.Bytes || len(o.Head)+len(o.Tail) > max(keep, 1) {
					t.Fatalf("keep %d of %d: %+v", keep, n, o)
				}
				gap := text[len(o.Head) : n-len(o.Tail)]
				if !bytes.HasPrefix(text[:n], o.Head) || !bytes.HasSuffix(text[:n], o.Tail) || int64(bytes.Count(gap, []byte("\n"))) != o.Lines {
					t.Fatalf("keep %d of %d in pieces of %d: %q %q, %d lines", keep, n, piece, o.Head, o.Tail, o.Lines)
				}
				if o.Dropped > 0 && (!utf8.Valid(o.Head) || o.Dropped > 4 && len(o.Tail) > 0 && !utf8.RuneStart(o.Tail[0])) {
					t.Fatalf("keep %d of %d: cut inside a character: %q %q", keep, n, o.Head, o.Tail)
				}
			}
		}
	}
}
