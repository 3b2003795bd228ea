package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// busyTime is how long a call waits for another process to end its change.
const busyTime = 10 * time.Second

// turnPause is the longest pause between two looks whether the library is free
// to be changed. SQLite's own waiting looks ever less often, down to ten times
// a second, and so finds no moment for it between others who change it again
// and again: with eight of them, some waited in vain.
const turnPause = 6 * time.Millisecond

// retry does f again while another process holds the library in a way that
// SQLite does not wait for by itself.
func retry(f func() error) error {
	end := time.Now().Add(busyTime)
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := f()
		if code(err) != codeBusy || time.Now().After(end) {
			return err
		}
		time.Sleep(wait)
	}
}

// write does f in one transaction of db, once no other process changes it.
func write(ctx context.Context, db *sql.DB, f func(tx *sql.Tx) error) (err error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	// Within a change SQLite is to wait as usual, and not for its turn.
	defer func() {
		if patience(c, busyTime) != nil {
			// Never to be used again: it would not wait.
			_ = c.Raw(func(any) error { return driver.ErrBadConn })
		}
		if cerr := c.Close(); err == nil && !errors.Is(cerr, driver.ErrBadConn) && !errors.Is(cerr, sql.ErrConnDone) {
			err = cerr
		}
	}()
	for end := time.Now().Add(busyTime); ; {
		err := attempt(ctx, c, f)
		if code(err) != codeBusy || time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(time.Millisecond + rand.N(turnPause)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// attempt does f in one transaction, if it can begin now.
func attempt(ctx context.Context, c *sql.Conn, f func(tx *sql.Tx) error) error {
	if err := patience(c, 0); err != nil {
		return err
	}
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = patience(c, busyTime)
	if err == nil {
		err = f(tx)
	}
	if err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	return tx.Commit()
}

// patience sets how long a connection waits for others by itself.
func patience(c *sql.Conn, d time.Duration) error {
	_, err := c.ExecContext(context.Background(), fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()))
	return err
}

// ignoreDone is err, unless the transaction ended by itself.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}
