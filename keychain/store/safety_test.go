package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

// fromSQL makes a library of what a testdata file says.
func fromSQL(t *testing.T, path, file string) {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	raw(t, path, string(script))
}

// raw does something to a library behind its back.
func raw(t *testing.T, path, script string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := connect(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
}

// TestMigrations: a library of each older form is brought to the present one,
// with all that is in it, and a copy of it is kept.
func TestMigrations(t *testing.T) {
	for version := 1; version <= len(migrations); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			ctx := t.Context()
			path := filepath.Join(t.TempDir(), "library.db")
			fromSQL(t, path, fmt.Sprintf("v%d.sql", version))
			s, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			hs, err := s.List(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if len(hs) != 2 {
				t.Fatalf("got %d hosts, want 2", len(hs))
			}
			want := lab("full")
			if version < 3 {
				want.Repeater = ""
			}
			want.ID, want.Revision = "h_full", 4
			want.Group, want.Login, want.Via = "g_lab", "l_admin", []string{"h_gate"}
			want.Created, want.Changed = time.UnixMilli(1700000000000).UTC(), time.UnixMilli(1700000001000).UTC()
			if !reflect.DeepEqual(hs[0], want) {
				t.Errorf("got  %+v\nwant %+v", hs[0], want)
			}
			if v, err := s.Setting(ctx, "theme"); string(v) != `"dark"` || err != nil {
				t.Errorf("got setting %s, %v", v, err)
			}
			if h, err := s.Restore(ctx, "h_gone"); err != nil || h.Name != "gone" {
				t.Errorf("restored %+v, %v", h, err)
			}
			// All that the present form can do, works on it.
			h := hs[0]
			h.Notes = "after"
			if _, err := s.Update(ctx, h); err != nil {
				t.Error(err)
			}
			if kept, err := s.SetPicture(ctx, h.ID, []byte("png")); !kept || err != nil {
				t.Error(kept, err)
			}
			if err := s.Connected(ctx, h.Target()); err != nil {
				t.Error(err)
			}
			if cs, err := s.History(ctx, h.ID); err != nil || len(cs) == 0 || cs[0].Before == nil || cs[0].Before.Notes != want.Notes {
				t.Errorf("got history %+v, %v", cs, err)
			}
			if !sameSchema(t, path) {
				t.Error("the form is not that of a new library")
			}
			_, err = os.Stat(oldPath(path, version))
			if wantCopy := version < len(migrations); (err == nil) != wantCopy {
				t.Errorf("a copy of the old form: got %v, want %v", err == nil, wantCopy)
			}
		})
	}
}

// sameSchema reports whether a library has the tables of a new one.
func sameSchema(t *testing.T, path string) bool {
	t.Helper()
	read := func(path string) (out []string) {
		db, err := connect(path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		rows, err := db.Query(`SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_schema ORDER BY 1`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				t.Fatal(err)
			}
			out = append(out, s)
		}
		return out
	}
	return reflect.DeepEqual(read(path), read(newStore(t).path))
}

// TestFailedMigration: one step that fails leaves all as it was.
func TestFailedMigration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "library.db")
	fromSQL(t, path, "v1.sql")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	steps := append([]string{migrations[0]}, `CREATE TABLE extra (x); INSERT INTO hosts (id) VALUES ('half a host')`)
	if s, err := open(path, steps, time.Now); err == nil {
		s.Close()
		t.Fatal("a step failed, and no error")
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("the file has changed")
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if hs, err := s.List(t.Context()); len(hs) != 2 || err != nil {
		t.Errorf("got %d hosts, %v", len(hs), err)
	}
}

// refused opens what has to be refused, and looks that no file has changed.
func refused(t *testing.T, path string, want keychain.Kind, says ...string) {
	t.Helper()
	look := func() string {
		var out strings.Builder
		files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%s %d %x\n", f, len(b), b)
		}
		return out.String()
	}
	before := look()
	s, err := Open(path)
	if err == nil {
		s.Close()
		t.Fatal("opened")
	}
	if kind(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for _, w := range append(says, path) {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("got %q, want it to say %q", err, w)
		}
	}
	if look() != before {
		t.Error("files have changed")
	}
}

func TestNewerIsRefused(t *testing.T) {
	s := newStore(t)
	if _, err := s.Add(t.Context(), lab("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	raw(t, s.path, fmt.Sprintf("PRAGMA user_version = %d", len(migrations)+1))
	refused(t, s.path, keychain.Newer, "newer DeskVNC", "update this program")
}

func TestOtherFilesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(t *testing.T, path string)
	}{
		{"text", func(t *testing.T, path string) {
			if err := os.WriteFile(path, bytes.Repeat([]byte("not a database\n"), 1000), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"another program's database", func(t *testing.T, path string) { raw(t, path, "CREATE TABLE bookmarks (x)") }},
		{"another program's versioned database", func(t *testing.T, path string) {
			raw(t, path, "PRAGMA application_id = 7; PRAGMA user_version = 2; CREATE TABLE hosts (x)")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "library.db")
			tt.make(t, path)
			refused(t, path, keychain.Corrupt)
		})
	}
}

// damaged makes a library of many pages with a copy, closes it and spoils it.
func damaged(t *testing.T, spoil func(b []byte) []byte) (path string) {
	t.Helper()
	s := newStore(t)
	fill(t, s, 500)
	if err := s.backup(t.Context(), s.db, backupPath(s.path)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path, spoil(b), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.path
}

func TestDamagedIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(b []byte) []byte
	}{
		{"the first page", func(b []byte) []byte { clear(b[:512]); return b }},
		{"the first table", func(b []byte) []byte {
			for i := 100; i < 4096; i++ {
				b[i] ^= 0xa5
			}
			return b
		}},
		{"emptied", func(b []byte) []byte { return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := damaged(t, tt.spoil)
			refused(t, path, keychain.Corrupt, "damaged", backupPath(path))

			// The copy can be put in its place, and the damaged one stays.
			kept, err := Recover(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(kept); err != nil {
				t.Error(err)
			}
			s, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if hs, err := s.List(t.Context()); len(hs) != 500 || err != nil {
				t.Errorf("got %d hosts, %v", len(hs), err)
			}
		})
	}
}

// TestDamageWithin: damage that opening does not meet is named by the call
// that does, and the daily copy does not take the place of a good one.
func TestDamageWithin(t *testing.T) {
	path := damaged(t, func(b []byte) []byte {
		for i := len(b) / 3; i < len(b)*2/3; i++ {
			b[i] = 0xa5
		}
		return b
	})
	good, err := os.ReadFile(backupPath(path))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(t.Context()); kind(err) != keychain.Corrupt || !strings.Contains(err.Error(), backupPath(path)) {
		t.Errorf("got %v", err)
	}
	s.Close()

	_, err = open(path, migrations, func() time.Time { return time.Now().Add(48 * time.Hour) })
	if kind(err) != keychain.Corrupt {
		t.Errorf("the daily look: got %v", err)
	}
	now, err := os.ReadFile(backupPath(path))
	if err != nil || !bytes.Equal(good, now) {
		t.Errorf("the copy has changed, %v", err)
	}
	if _, err := Recover(filepath.Join(t.TempDir(), "none.db")); kind(err) != keychain.Failed {
		t.Errorf("recovering what has no copy: got %v", err)
	}
}

// TestDailyCopy: one a day, of what was there that day.
func TestDailyCopy(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "library.db")
	day := time.Now().Add(-100 * 24 * time.Hour)
	visit := func(f func(s *Store)) {
		t.Helper()
		s, err := open(path, migrations, func() time.Time { return day })
		if err != nil {
			t.Fatal(err)
		}
		f(s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	add := func(name string) func(s *Store) {
		return func(s *Store) {
			h := keychain.Host{Name: name, Protocol: viewer.VNC, Address: "x"}
			if h, err := s.Add(ctx, h); err != nil {
				t.Fatal(err)
			} else if name == "goes" {
				if err := s.Delete(ctx, h.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	inCopy := func() int {
		t.Helper()
		db, err := connect(backupPath(path))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var n int
		if err := db.QueryRow(`SELECT count(*) FROM hosts WHERE deleted IS NULL`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	visit(add("one"))
	if _, err := os.Stat(backupPath(path)); err == nil {
		t.Error("a copy of an empty library")
	}
	visit(add("two"))
	if n := inCopy(); n != 1 {
		t.Errorf("got %d hosts in the copy, want 1", n)
	}
	visit(add("goes"))
	if n := inCopy(); n != 1 {
		t.Errorf("the same day: got %d hosts in the copy, want 1", n)
	}
	day = day.Add(25 * time.Hour)
	visit(func(*Store) {})
	if n := inCopy(); n != 2 {
		t.Errorf("the next day: got %d hosts in the copy, want 2", n)
	}
	// In a month, what was deleted is gone for good.
	visit(func(s *Store) {
		hs := 0
		if err := s.db.QueryRow(`SELECT count(*) FROM hosts`).Scan(&hs); err != nil || hs != 3 {
			t.Errorf("got %d, %v, want 3", hs, err)
		}
	})
	day = day.Add(32 * 24 * time.Hour)
	visit(func(s *Store) {
		hs := 0
		if err := s.db.QueryRow(`SELECT count(*) FROM hosts`).Scan(&hs); err != nil || hs != 2 {
			t.Errorf("got %d, %v, want 2", hs, err)
		}
	})
	if left, err := filepath.Glob(path + "*.new-*"); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestNoRoom: what cannot be saved is an error, and nothing is lost by it.
func TestNoRoom(t *testing.T) {
	ctx := t.Context()
	s := newStore(t)
	h, err := s.Add(ctx, lab("first"))
	if err != nil {
		t.Fatal(err)
	}
	// As many pages as there are, and not one more: a full disk.
	var pages int
	if err := s.db.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	s.db.SetMaxOpenConns(1)
	if _, err := s.db.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
		t.Fatal(err)
	}
	big := lab("second")
	big.Notes = strings.Repeat("x", keychain.MaxNotes)
	if _, err := s.Add(ctx, big); kind(err) != keychain.Failed || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("got %v", err)
	}
	if got, err := s.Get(ctx, h.ID); err != nil || !reflect.DeepEqual(got, h) {
		t.Errorf("got %+v, %v", got, err)
	}
	if hs, err := s.List(ctx); len(hs) != 1 || err != nil {
		t.Errorf("got %d hosts, %v", len(hs), err)
	}
}

// TestLockedForTooLong: a call waits for another's change, and not for ever.
func TestLockedForTooLong(t *testing.T) {
	s := newStore(t)
	tx, err := s.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := s.Add(ctx, lab("x")); err == nil {
		t.Error("saved beside another's change")
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add(t.Context(), lab("x")); err != nil {
		t.Error(err)
	}
}

// TestFolderCannotBeMade: the error says what is in the way.
func TestFolderCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(file, "library.db")); kind(err) != keychain.Failed || !strings.Contains(err.Error(), "folder") {
		t.Errorf("got %v", err)
	}
	if _, err := Open(t.TempDir()); kind(err) != keychain.Failed {
		t.Errorf("a folder: got %v", err)
	}
}
