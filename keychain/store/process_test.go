package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

// hang is how long a test waits before it calls something hung.
const hang = 2 * time.Minute

// Other processes are this test program once more, with a part to play.
const (
	partVariable = "STORE_TEST_PART"
	pathVariable = "STORE_TEST_PATH"
)

func TestMain(m *testing.M) {
	if part := os.Getenv(partVariable); part != "" {
		if err := play(part, os.Getenv(pathVariable)); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play is what another process does.
func play(part, path string) error {
	ctx := context.Background()
	s, err := Open(path)
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println("open")
	switch part {
	case "open":
		return nil
	case "add": // for ever, with pauses as people make them
		return person(ctx, s)
	case "spin": // a hundred hosts, without a pause
		for i := range 100 {
			if _, err := s.Add(ctx, lab(fmt.Sprint("process ", os.Getpid(), " host ", i))); err != nil {
				return err
			}
		}
		return nil
	case "some": // fifty hosts, and one that all change
		for i := range 50 {
			if _, err := s.Add(ctx, lab(fmt.Sprint("process ", os.Getpid(), " host ", i))); err != nil {
				return err
			}
			for {
				h, err := s.Get(ctx, "h_shared")
				if err != nil {
					return err
				}
				h.Notes += "x"
				_, err = s.Update(ctx, h)
				var e *keychain.Error
				if errors.As(err, &e) && e.Kind == keychain.Conflict {
					continue // another was faster: nothing of it is lost
				}
				if err != nil {
					return err
				}
				break
			}
			if err := s.Connected(ctx, viewer.Target{Protocol: viewer.VNC, Address: "x", Port: 1 + i}); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.New("no such part: " + part)
}

// A process is another process that uses the library.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	out io.ReadCloser
}

func start(t *testing.T, part, path string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), partVariable+"="+part, pathVariable+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(hang, func() { cmd.Process.Kill() })
	t.Cleanup(func() { guard.Stop(); cmd.Process.Kill() })
	return &process{t, cmd, out}
}

// end reads all it says and waits for it.
func (p *process) end() string {
	p.t.Helper()
	b, err := io.ReadAll(p.out)
	if err == nil {
		err = p.cmd.Wait()
	}
	if err != nil {
		p.t.Errorf("%v, having said %q", err, b)
	}
	return string(b)
}

// TestManyOpenAtOnce: processes that all make the library at the same time.
func TestManyOpenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "library.db")
	var ps []*process
	for range 8 {
		ps = append(ps, start(t, "open", path))
	}
	for _, p := range ps {
		if out := p.end(); out != "open\n" {
			t.Errorf("got %q", out)
		}
	}
}

// TestManyWrite: processes that all write at the same time lose nothing of
// each other, not even in a host that all of them change.
func TestManyWrite(t *testing.T) {
	ctx := t.Context()
	s := newStore(t)
	shared := keychain.Host{ID: "h_shared", Name: "shared", Protocol: viewer.VNC, Address: "x"}
	if _, err := s.Add(ctx, shared); err != nil {
		t.Fatal(err)
	}
	const processes = 4
	var ps []*process
	for range processes {
		ps = append(ps, start(t, "some", s.path))
	}
	// And readers meanwhile, in this one.
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for last := 0; ; {
				hs, err := s.List(ctx)
				if err != nil || len(hs) < last {
					t.Errorf("got %d hosts after %d, %v", len(hs), last, err)
				}
				last = len(hs)
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for _, p := range ps {
		p.end()
	}
	close(done)
	wg.Wait()
	hs, err := s.List(ctx)
	if err != nil || len(hs) != 1+processes*50 {
		t.Errorf("got %d hosts, %v, want %d", len(hs), err, 1+processes*50)
	}
	h, err := s.Get(ctx, "h_shared")
	if err != nil || len(h.Notes) != processes*50 || h.Revision != 1+processes*50 {
		t.Errorf("got %d changes, revision %d, %v, want %d", len(h.Notes), h.Revision, err, processes*50)
	}
}

// TestNobodyStarves: of eight processes that all write without a pause, each has
// its turn.
func TestNobodyStarves(t *testing.T) {
	s := newStore(t)
	const processes = 8
	var ps []*process
	for range processes {
		ps = append(ps, start(t, "spin", s.path))
	}
	for _, p := range ps {
		p.end()
	}
	hs, err := s.List(t.Context())
	if err != nil || len(hs) != processes*100 {
		t.Errorf("got %d hosts, %v, want %d", len(hs), err, processes*100)
	}
}

// TestChanges: changes by another process, and by this one, are told of; what
// comes and goes is not.
func TestChanges(t *testing.T) {
	s := newStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ch, err := s.Changes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	wait := func(what string) {
		t.Helper()
		select {
		case _, ok := <-ch:
			if !ok {
				t.Fatalf("closed before %s", what)
			}
		case <-time.After(hang):
			t.Fatalf("not told of %s", what)
		}
	}
	if _, err := s.AddGroup(ctx, keychain.Group{Name: "g"}); err != nil {
		t.Fatal(err)
	}
	wait("a change of its own")
	if _, err := s.Add(ctx, keychain.Host{ID: "h_shared", Name: "shared", Protocol: viewer.VNC, Address: "x"}); err != nil {
		t.Fatal(err)
	}
	wait("a host")
	p := start(t, "some", s.path)
	wait("a change by another process")
	p.end()

	// Look by look: what comes and goes moves the file and not the counter.
	db, err := connect(s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	w := watcher{db: db}
	look := func() bool {
		t.Helper()
		moved, err := w.look(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return moved
	}
	look()
	if err := s.SetPlacement(ctx, "w", keychain.Placement{Width: 1}); err != nil {
		t.Fatal(err)
	}
	if look() {
		t.Error("told of a window's place")
	}
	if _, err := s.SetFavourite(ctx, "h_shared", true); err != nil {
		t.Fatal(err)
	}
	if !look() || look() {
		t.Error("not told once of a favourite")
	}

	cancel()
	for end := time.After(hang); ; {
		select {
		case _, ok := <-ch:
			if !ok {
				return
			}
		case <-end:
			t.Fatal("not closed at the end")
		}
	}
}

// TestChangesEndWithTheStore: nothing watches a closed library.
func TestChangesEndWithTheStore(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "library.db"))
	if err != nil {
		t.Fatal(err)
	}
	ch, err := s.Changes(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := <-ch; ok {
		t.Error("still open")
	}
}

// TestShelfFollowsOthers: a list is as fresh as the file.
func TestShelfFollowsOthers(t *testing.T) {
	ctx := t.Context()
	a := newStore(t)
	b, err := Open(a.path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	names := func(s *Store) (out string) {
		hs, err := s.List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hs {
			out += h.Name + " "
		}
		return out
	}
	add := func(s *Store, name string) keychain.Host {
		h, err := s.Add(ctx, keychain.Host{Name: name, Protocol: viewer.VNC, Address: "x"})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	g, err := a.AddGroup(ctx, keychain.Group{Name: "g"})
	if err != nil {
		t.Fatal(err)
	}
	one := add(a, "one")
	check := func(want string) {
		t.Helper()
		for i, s := range []*Store{a, b} {
			if got := names(s); got != want {
				t.Errorf("store %d: got %q, want %q", i, got, want)
			}
		}
	}
	check("one ")
	two := add(b, "two")
	check("one two ")
	two.Name, two.Group = "a two", g.ID
	if two, err = a.Update(ctx, two); err != nil {
		t.Fatal(err)
	}
	check("a two one ")
	if _, err := b.SetFavourite(ctx, one.ID, true); err != nil {
		t.Fatal(err)
	}
	check("one a two ")
	if err := a.Delete(ctx, one.ID); err != nil {
		t.Fatal(err)
	}
	check("a two ")
	if _, err := b.Restore(ctx, one.ID); err != nil {
		t.Fatal(err)
	}
	check("one a two ")
	if err := b.DeleteGroup(ctx, g.ID); err != nil {
		t.Fatal(err)
	}
	hs, err := a.List(ctx)
	if err != nil || hs[1].Group != "" || hs[1].Revision != two.Revision+1 {
		t.Errorf("got %+v, %v", hs, err)
	}
	// What is given away can be changed without the shelf noticing.
	hs[0].Name = "changed"
	check("one a two ")
}
