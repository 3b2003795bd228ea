package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"deskvnc/keychain"
)

// backupEvery is the least time between two copies of the library.
const backupEvery = 24 * time.Hour

// keepDeleted is how long a deleted host can be restored, and keepHistory how
// long changes are remembered.
const (
	keepDeleted = 30 * 24 * time.Hour
	keepHistory = 180 * 24 * time.Hour
)

// migrate brings the library to the version that steps lead to, in one
// transaction. A newer one is refused before anything is written.
func (s *Store) migrate(ctx context.Context, steps []string) error {
	// Without a journal mode: to set it would write into the file.
	db, err := connect(s.path)
	if err != nil {
		return err
	}
	defer db.Close()
	version := 0
	if err := retry(func() (err error) { version, err = s.version(ctx, db, len(steps)); return err }); err != nil {
		return err
	}
	if version == len(steps) {
		return nil
	}
	if version > 0 {
		if err := s.backup(ctx, db, oldPath(s.path, version)); err != nil {
			return fmt.Errorf("copy before the change to a newer form: %w", err)
		}
	}
	return write(ctx, db, func(tx *sql.Tx) error {
		// Another process may have done it in the meantime.
		version, err := s.version(ctx, tx, len(steps))
		if err != nil {
			return err
		}
		for i, step := range steps[version:] {
			if _, err := tx.ExecContext(ctx, step); err != nil {
				return fmt.Errorf("change to form %d: %w", version+i+1, err)
			}
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(steps)))
		return err
	})
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version reads the version of the library: 0 for a new file. It refuses what
// is no library, or a newer one.
func (s *Store) version(ctx context.Context, q querier, newest int) (int, error) {
	var app, version, tables int
	if err := q.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)").Scan(&app, &version, &tables); err != nil {
		return 0, err
	}
	switch {
	case app == 0 && version == 0 && tables == 0:
		return 0, nil
	case app != applicationID || version < 1:
		return 0, refuse(keychain.Corrupt, "%s is not a library of DeskVNC; it was left as it is", s.path)
	case version > newest:
		return 0, refuse(keychain.Newer, "%s is a library of form %d, written by a newer DeskVNC than this one, which knows forms up to %d; it was left as it is: update this program", s.path, version, newest)
	}
	return version, nil
}

// maintain does, once a day, what keeps the library well: it looks whether the
// file is sound, copies it, and forgets what is long gone.
func (s *Store) maintain(ctx context.Context) error {
	i, err := os.Stat(backupPath(s.path))
	switch {
	case errors.Is(err, os.ErrNotExist):
		var n int
		if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM hosts").Scan(&n); err != nil || n == 0 {
			return err // there is nothing to copy yet
		}
	case err != nil:
		return err
	case s.now().Sub(i.ModTime()) < backupEvery && !i.ModTime().After(s.now().Add(time.Hour)):
		return nil
	}
	if err := s.backup(ctx, s.db, backupPath(s.path)); err != nil {
		return fmt.Errorf("daily copy: %w", err)
	}
	return write(ctx, s.db, func(tx *sql.Tx) error {
		now := s.now()
		_, err := tx.ExecContext(ctx, `DELETE FROM hosts WHERE deleted < ?; DELETE FROM history WHERE at < ?`,
			millis(now.Add(-keepDeleted)), millis(now.Add(-keepHistory)))
		return err
	})
}

// backup copies the library to a file, which is replaced at once or not at
// all. A library that is not sound is not copied.
func (s *Store) backup(ctx context.Context, db *sql.DB, to string) (err error) {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return s.corrupt("", errors.New(verdict))
	}
	f, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".new-*") // 0600, and empty as VACUUM INTO wants it
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := f.Close(); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", f.Name()); err != nil {
		return err
	}
	if err := syncFile(f.Name()); err != nil {
		return err
	}
	if err := os.Chtimes(f.Name(), s.now(), s.now()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), to); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}

// syncFile has the system write a file to the disk.
func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Recover puts the last good copy of a library in its place. The damaged
// files are kept, under the name it returns. No process may have the library
// open.
func Recover(path string) (damaged string, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return "", failed("recover", err)
	}
	b, err := os.ReadFile(backupPath(path))
	if err != nil {
		return "", failed("recover", fmt.Errorf("there is no copy to go back to: %w", err))
	}
	damaged = path + ".damaged-" + time.Now().UTC().Format("20060102T150405")
	for _, end := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(path+end, damaged+end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", failed("recover", err)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return damaged, failed("recover", err)
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return damaged, failed("recover", err)
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return damaged, failed("recover", err)
	}
	return damaged, nil
}
