package store

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/keychain"
)

// exhaustiveVariable has tests take as long as they like.
const exhaustiveVariable = "DESKVNC_EXHAUSTIVE"

// person saves hosts for ever, pausing now and then, and says each thing once
// it is saved.
func person(ctx context.Context, s *Store) error {
	for i := 0; ; i++ {
		h, err := s.Add(ctx, lab(fmt.Sprint("process ", os.Getpid(), " host ", i)))
		if err != nil {
			return err
		}
		fmt.Println("saved", h.ID)
		if i%3 == 2 { // and some of the other kinds of change
			h.Notes = "second"
			if h, err = s.Update(ctx, h); err != nil {
				return err
			}
			fmt.Println("updated", h.ID)
		}
		if i%5 == 4 {
			if err := s.Delete(ctx, h.ID); err != nil {
				return err
			}
			fmt.Println("deleted", h.ID)
		}
		time.Sleep(rand.N(40 * time.Millisecond)) // a person, who is faster than most
	}
}

// An account is what processes said they have saved.
type account struct {
	mu    sync.Mutex
	hosts map[string]saved
	wrong []string // what they said of failures
}

type saved struct{ updated, deleted bool }

func (a *account) note(line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	what, id, ok := strings.Cut(line, " ")
	switch {
	case what == "error:":
		a.wrong = append(a.wrong, line)
	case ok:
		st := a.hosts[id]
		st.updated = st.updated || what == "updated"
		st.deleted = st.deleted || what == "deleted"
		a.hosts[id] = st
	}
}

// check compares the library with what was said.
func (a *account) check(t *testing.T, path string) {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	hs, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	there := make(map[string]keychain.Host)
	for _, h := range hs {
		there[h.ID] = h
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, line := range a.wrong {
		t.Error(line)
	}
	for id, st := range a.hosts {
		h, ok := there[id]
		switch {
		case ok && st.deleted:
			t.Errorf("%s is back", id)
		case !ok && !st.deleted:
			// The last change before the end may be a delete not told of.
			if _, err := s.Restore(t.Context(), id); err != nil {
				t.Errorf("%s is lost: %v", id, err)
			}
		case ok && st.updated && h.Notes != "second":
			t.Errorf("%s has lost its update", id)
		}
	}
	var verdict string
	if err := s.db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("%s, %v", verdict, err)
	}
}

// TestKilled: eight processes write as people do and are killed in the midst of
// it, one after the other while the rest goes on, two hundred times in all; what
// they had said is saved is there, whole, each time all are gone.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	const writers = 8
	kills := 200
	if os.Getenv(exhaustiveVariable) == "1" {
		kills = 1000
	}
	path := filepath.Join(t.TempDir(), "data", "library.db")
	a := &account{hosts: map[string]saved{}}
	for round := range kills / writers {
		said := make(chan struct{}, 1024)
		var ps []*process
		var reading sync.WaitGroup
		for range writers {
			p := start(t, "add", path)
			ps = append(ps, p)
			reading.Go(func() { // also what it said before it died counts
				for r := bufio.NewScanner(p.out); r.Scan(); {
					a.note(r.Text())
					select {
					case said <- struct{}{}:
					default:
					}
				}
			})
		}
		for _, p := range ps {
			for range 1 + rand.IntN(16) {
				select {
				case <-said:
				case <-time.After(hang):
					t.Fatalf("round %d: nothing is saved any more", round)
				}
			}
			_ = p.cmd.Process.Kill()
		}
		reading.Wait()
		for _, p := range ps {
			_ = p.cmd.Wait()
		}
		if a.check(t, path); t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	if len(a.hosts) < kills {
		t.Errorf("only %d hosts were saved: nothing was tested", len(a.hosts))
	}
	t.Logf("%d kills, %d hosts saved", kills, len(a.hosts))
}
