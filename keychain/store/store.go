// Package store keeps the host library in one SQLite file.
//
// Several processes may have it open at once. What has been acknowledged is on
// the disk and survives a crash. A file that is damaged, or that a newer
// version of the program wrote, is refused and left as it is.
//
// There is no secret in it.
package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver that database/sql finds as "sqlite"

	"deskvnc/keychain"
)

// A Store is an open library. It is safe for concurrent use.
type Store struct {
	path string
	db   *sql.DB // a commit is on the disk before it is acknowledged
	fast *sql.DB // for what may be lost with the power, never damaged by it
	now  func() time.Time

	shelf shelf

	wg   sync.WaitGroup // watchers
	done chan struct{}
	once sync.Once
}

// Open opens the library in a file, and makes it if there is none. Its folder
// is made as well, for this user alone.
func Open(path string) (*Store, error) { return open(path, migrations, time.Now) }

func open(path string, steps []string, now func() time.Time) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, failed("open", err)
	}
	s := &Store{path: path, now: now, done: make(chan struct{})}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if err := s.migrate(context.Background(), steps); err != nil {
		return nil, s.fail("open", err)
	}
	if s.db, err = connect(path, "journal_mode(wal)", "synchronous(full)"); err != nil {
		return nil, s.fail("open", err)
	}
	if s.fast, err = connect(path, "journal_mode(wal)", "synchronous(normal)"); err != nil {
		return nil, s.fail("open", errors.Join(err, s.db.Close()))
	}
	err = retry(func() error { return s.db.Ping() })
	if err == nil {
		err = s.maintain(context.Background())
	}
	if err != nil {
		return nil, s.fail("open", errors.Join(err, s.Close()))
	}
	return s, nil
}

// Close ends the store and what it started.
func (s *Store) Close() error {
	s.once.Do(func() { close(s.done) })
	s.wg.Wait()
	return errors.Join(s.fast.Close(), s.db.Close())
}

// Path is the library's file.
func (s *Store) Path() string { return s.path }

// prepare makes folder and file, readable for this user alone.
func (s *Store) prepare() error {
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return failed("open", fmt.Errorf("the folder for the library cannot be made: %w", err))
	}
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		return f.Close()
	case !errors.Is(err, os.ErrExist):
		return failed("open", fmt.Errorf("the library cannot be made: %w", err))
	}
	// A file that others can read was copied here, or made with other rights.
	for _, p := range []string{s.path, s.path + "-wal", s.path + "-shm"} {
		if i, err := os.Stat(p); err == nil && i.Mode().IsRegular() && i.Mode().Perm()&0o077 != 0 {
			if err := os.Chmod(p, 0o600); err != nil {
				return failed("open", fmt.Errorf("others can read the library, and that cannot be changed: %w", err))
			}
		}
	}
	i, err := os.Stat(s.path)
	if err != nil {
		return failed("open", err)
	}
	if !i.Mode().IsRegular() {
		return failed("open", fmt.Errorf("%s is not a file", s.path))
	}
	if _, err := os.Stat(backupPath(s.path)); err == nil && i.Size() == 0 {
		if w, err := os.Stat(s.path + "-wal"); err != nil || w.Size() == 0 {
			return s.corrupt("open", errors.New("it is empty, and was not always"))
		}
	}
	return nil
}

// connect opens a pool of connections with these settings.
func connect(path string, pragmas ...string) (*sql.DB, error) {
	q := url.Values{"_txlock": {"immediate"}}
	q.Add("_pragma", "busy_timeout("+strconv.Itoa(int(busyTime.Milliseconds()))+")")
	for _, p := range append(pragmas, "foreign_keys(1)", "secure_delete(1)", "trusted_schema(0)") {
		q.Add("_pragma", p)
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(2)
	return db, nil
}

// change does f in one transaction that other processes will be told of.
func (s *Store) change(ctx context.Context, op string, f func(tx *sql.Tx) error) error {
	err := write(ctx, s.db, func(tx *sql.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE counters SET value = value + 1 WHERE name = 'changes'`)
		return err
	})
	return s.fail(op, err)
}

// newID is a prefix and 16 random letters and digits: 80 bits.
func newID(prefix string) string {
	return prefix + strings.ToLower(rand.Text()[:16])
}

func itoa(n int) string { return strconv.Itoa(n) }

// millis is how times are stored.
func millis(t time.Time) int64 { return t.UnixMilli() }

func fromMillis(n int64) time.Time { return time.UnixMilli(n).UTC() }

func failed(op string, err error) error {
	return &keychain.Error{Op: op, Kind: keychain.Failed, Err: err}
}
