package store

import (
	"context"
	"database/sql"
	"time"
)

// lookEvery is how often a watcher looks whether another process has changed
// the library. Looking costs a few microseconds and reads no table.
const lookEvery = 400 * time.Millisecond

// Changes tells of changes to hosts, groups, logins and settings, by this or
// another process: the channel gets one value after one or more of them. It is
// closed when ctx or the store ends.
func (s *Store) Changes(ctx context.Context) (<-chan struct{}, error) {
	db, err := connect(s.path)
	if err != nil {
		return nil, s.fail("watch", err)
	}
	// One connection: data_version compares with what that one saw before.
	db.SetMaxOpenConns(1)
	w := watcher{db: db}
	if _, err := w.look(ctx); err != nil {
		db.Close()
		return nil, s.fail("watch", err)
	}
	ch := make(chan struct{}, 1)
	s.wg.Go(func() {
		defer close(ch)
		defer db.Close()
		t := time.NewTicker(lookEvery)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.done:
				return
			case <-t.C:
			}
			// An error is the file being locked or away; the next look may do
			// better, and every other call reports it.
			if moved, err := w.look(ctx); err == nil && moved {
				select {
				case ch <- struct{}{}:
				default:
				}
			}
		}
	})
	return ch, nil
}

// Revision is a number that grows with every change that [Store.Changes]
// tells of, by this or another process. Looking costs a few microseconds.
func (s *Store) Revision(ctx context.Context) (int64, error) {
	var n int64
	err := s.db.QueryRowContext(ctx, `SELECT value FROM counters WHERE name = 'changes'`).Scan(&n)
	return n, s.fail("look for changes", err)
}

// A watcher compares the library with what it was. Owned by one goroutine.
type watcher struct {
	db      *sql.DB
	version int64 // data_version: any change at all by another connection
	changes int64 // counter of changes that matter
}

// look reports whether there were changes since it was last called.
func (w *watcher) look(ctx context.Context) (moved bool, err error) {
	var version, changes int64
	if err := w.db.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&version); err != nil || version == w.version {
		return false, err
	}
	if err := w.db.QueryRowContext(ctx, `SELECT value FROM counters WHERE name = 'changes'`).Scan(&changes); err != nil {
		return false, err
	}
	moved = changes != w.changes
	w.version, w.changes = version, changes
	return moved, nil
}
