package store

import (
	"context"
	"database/sql"
	"errors"

	"deskvnc/keychain"
)

const loginColumns = `id, revision, name, user, domain, key_file, created, changed`

func scanLogin(row interface{ Scan(...any) error }) (keychain.Login, error) {
	var l keychain.Login
	var created, changed int64
	err := row.Scan(&l.ID, &l.Revision, &l.Name, &l.User, &l.Domain, &l.KeyFile, &created, &changed)
	l.Created, l.Changed = fromMillis(created), fromMillis(changed)
	return l, err
}

// Logins returns all shared logins, by name.
func (s *Store) Logins(ctx context.Context) ([]keychain.Login, error) {
	const op = "list logins"
	rows, err := s.db.QueryContext(ctx, `SELECT `+loginColumns+` FROM logins ORDER BY name COLLATE NOCASE, id`)
	if err != nil {
		return nil, s.fail(op, err)
	}
	defer rows.Close()
	var out []keychain.Login
	for rows.Next() {
		l, err := scanLogin(rows)
		if err != nil {
			return nil, s.fail(op, err)
		}
		out = append(out, l)
	}
	return out, s.fail(op, rows.Err())
}

// Login returns the shared login with an id.
func (s *Store) Login(ctx context.Context, id string) (keychain.Login, error) {
	l, err := scanLogin(s.db.QueryRowContext(ctx, `SELECT `+loginColumns+` FROM logins WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		err = refuse(keychain.NotFound, "there is no shared login %q", id)
	}
	return l, s.fail("read login", err)
}

// AddLogin saves a new shared login and returns it with its id.
func (s *Store) AddLogin(ctx context.Context, l keychain.Login) (keychain.Login, error) {
	l, err := l.Checked()
	if err != nil {
		return l, err
	}
	l.ID, l.Revision, l.Created = newID("l_"), 1, s.stamp()
	l.Changed = l.Created
	return l, s.change(ctx, "add login", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO logins (`+loginColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			l.ID, l.Revision, l.Name, l.User, l.Domain, l.KeyFile, millis(l.Created), millis(l.Changed))
		return err
	})
}

// UpdateLogin saves a shared login that was read before and changed.
func (s *Store) UpdateLogin(ctx context.Context, l keychain.Login) (keychain.Login, error) {
	l, err := l.Checked()
	if err != nil {
		return l, err
	}
	err = s.change(ctx, "save login", func(tx *sql.Tx) error {
		if err := fresh(ctx, tx, "logins", "shared login", l.ID, l.Revision); err != nil {
			return err
		}
		l.Revision, l.Changed = l.Revision+1, s.stamp()
		_, err := tx.ExecContext(ctx, `UPDATE logins SET revision = ?, name = ?, user = ?, domain = ?, key_file = ?, changed = ? WHERE id = ?`,
			l.Revision, l.Name, l.User, l.Domain, l.KeyFile, millis(l.Changed), l.ID)
		return err
	})
	return l, err
}

// DeleteLogin takes a shared login away. One that hosts use is kept, and the
// error's Kind is InUse.
func (s *Store) DeleteLogin(ctx context.Context, id string) error {
	return s.change(ctx, "delete login", func(tx *sql.Tx) error {
		var user string
		err := tx.QueryRowContext(ctx, `SELECT name FROM hosts WHERE deleted IS NULL AND (login_id = ?1 OR json_extract(rdp, '$.gatewayLogin') = ?1) LIMIT 1`, id).Scan(&user)
		if err == nil {
			return refuse(keychain.InUse, "%s logs in with it: give that another login first", user)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		// Deleted hosts that would come back without it, come back with none.
		if _, err := tx.ExecContext(ctx, `UPDATE hosts SET login_id = NULL WHERE login_id = ?`, id); err != nil {
			return err
		}
		r, err := tx.ExecContext(ctx, `DELETE FROM logins WHERE id = ?`, id)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, refuse(keychain.NotFound, "there is no shared login %q", id))
		}
		return nil
	})
}
