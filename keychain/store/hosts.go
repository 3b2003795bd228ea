package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"deskvnc/keychain"
)

// Add saves a new host and returns it with its id. An id that it has already
// is kept, so that an import can keep what secrets and pins go by.
func (s *Store) Add(ctx context.Context, h keychain.Host) (keychain.Host, error) {
	h, err := h.Checked()
	if err != nil {
		return h, err
	}
	if h.ID == "" {
		h.ID = newID("h_")
	} else if !strings.HasPrefix(h.ID, "h_") || len(h.ID) > 64 || strings.Trim(h.ID[2:], "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return h, &keychain.Error{Op: "add host", Kind: keychain.Invalid, Err: errors.New("the id of a host is h_ and small letters and digits")}
	}
	h.Revision, h.Created = 1, s.stamp()
	h.Changed = h.Created
	err = s.change(ctx, "add host", func(tx *sql.Tx) error {
		if err := check(ctx, tx, &h); err != nil {
			return err
		}
		var there int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM hosts WHERE id = ?`, h.ID).Scan(&there); err != nil {
			return err
		}
		if there > 0 {
			return refuse(keychain.Conflict, "there is a host with the id %s already", h.ID)
		}
		if err := insert(ctx, tx, &h); err != nil {
			return err
		}
		return remember(ctx, tx, h.Changed, "add", h.ID, nil)
	})
	return h, err
}

// stamp is the present time as it is stored.
func (s *Store) stamp() time.Time { return fromMillis(millis(s.now())) }

func insert(ctx context.Context, tx *sql.Tx, h *keychain.Host) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO hosts (`+hostColumns+`, change) VALUES (`+hostMarks+`, `+nextChange+`)`, values(h)...)
	return err
}

// check refuses a host whose group, login or hops are not there, and hops
// that lead back.
func check(ctx context.Context, tx *sql.Tx, h *keychain.Host) error {
	for _, ref := range []struct{ id, query, what string }{
		{h.Group, `SELECT count(*) FROM groups WHERE id = ?`, "group"},
		{h.Login, `SELECT count(*) FROM logins WHERE id = ?`, "shared login"},
		{h.RDP.GatewayLogin, `SELECT count(*) FROM logins WHERE id = ?`, "login of the gateway"},
	} {
		if ref.id == "" {
			continue
		}
		var n int
		if err := tx.QueryRowContext(ctx, ref.query, ref.id).Scan(&n); err != nil {
			return err
		}
		if n == 0 {
			return refuse(keychain.Invalid, "the %s %q is not there any more: choose another", ref.what, ref.id)
		}
	}
	seen := []string{h.ID}
	for next := h.Via; len(next) > 0; {
		id := next[0]
		next = next[1:]
		if id == h.ID {
			return refuse(keychain.Invalid, "the hops of %s lead back to itself", h.Name)
		}
		if slices.Contains(seen, id) {
			continue
		}
		seen = append(seen, id)
		hop, err := get(ctx, tx, id)
		if err == nil && hop.Protocol != "ssh" {
			return refuse(keychain.Invalid, "%s cannot be a hop: it is reached over %s, and a hop is over ssh", hop.Name, hop.Protocol)
		}
		if err != nil {
			var e *keychain.Error
			if errors.As(err, &e) && e.Kind == keychain.NotFound {
				return refuse(keychain.Invalid, "the hop %q is not there any more: choose another", id)
			}
			return err
		}
		next = append(slices.Clone(next), hop.Via...)
	}
	return nil
}

// remember notes a change of a host in the history.
func remember(ctx context.Context, tx *sql.Tx, at time.Time, what, id string, before *keychain.Host) error {
	old := sql.NullString{}
	if before != nil {
		old = nullable(text(before))
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO history (at, host_id, what, before) VALUES (?, ?, ?, ?)`, millis(at), id, what, old)
	return err
}

// get reads a host that is not deleted.
func get(ctx context.Context, q querier, id string) (keychain.Host, error) {
	h, err := scan(q.QueryRowContext(ctx, `SELECT `+hostColumns+` FROM hosts WHERE id = ? AND deleted IS NULL`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return h, refuse(keychain.NotFound, "there is no host %q", id)
	}
	return h, err
}

// Get returns the host with an id.
func (s *Store) Get(ctx context.Context, id string) (keychain.Host, error) {
	h, err := get(ctx, s.db, id)
	return h, s.fail("read host", err)
}

// ByName returns the host with a name. Without one of exactly that name, one
// that differs in small and capital letters will do. Several with the name
// are an error that lists them.
func (s *Store) ByName(ctx context.Context, name string) (keychain.Host, error) {
	const op = "find host"
	found, err := s.query(ctx, op, `WHERE deleted IS NULL AND name = ? COLLATE NOCASE ORDER BY created`, name)
	if err != nil {
		return keychain.Host{}, err
	}
	exact := slices.DeleteFunc(slices.Clone(found), func(h keychain.Host) bool { return h.Name != name })
	if len(exact) > 0 {
		found = exact
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return keychain.Host{}, s.fail(op, refuse(keychain.NotFound, "no host is called %q", name))
	}
	var ids []string
	for _, h := range found[:min(len(found), 8)] {
		ids = append(ids, h.ID+" ("+string(h.Protocol)+" "+h.Address+")")
	}
	return keychain.Host{}, s.fail(op, refuse(keychain.Ambiguous, "%d hosts are called %q: use an id: %s", len(found), name, strings.Join(ids, ", ")))
}

// query reads hosts.
func (s *Store) query(ctx context.Context, op, rest string, args ...any) ([]keychain.Host, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+hostColumns+` FROM hosts `+rest, args...)
	if err != nil {
		return nil, s.fail(op, err)
	}
	defer rows.Close()
	var out []keychain.Host
	for rows.Next() {
		h, err := scan(rows)
		if err != nil {
			return nil, s.fail(op, err)
		}
		out = append(out, h)
	}
	return out, s.fail(op, rows.Err())
}

// Update saves a host that was read before and changed. When somebody else
// has changed it since, nothing is saved and the error's Kind is Conflict.
func (s *Store) Update(ctx context.Context, h keychain.Host) (keychain.Host, error) {
	h, err := h.Checked()
	if err != nil {
		return h, err
	}
	err = s.change(ctx, "save host", func(tx *sql.Tx) error {
		old, err := get(ctx, tx, h.ID)
		if err != nil {
			return err
		}
		if old.Revision != h.Revision {
			return refuse(keychain.Conflict, "%s has been changed elsewhere since it was read: read it again and repeat the change", old.Name)
		}
		if err := check(ctx, tx, &h); err != nil {
			return err
		}
		h.Revision, h.Created, h.Changed = old.Revision+1, old.Created, s.stamp()
		return replace(ctx, tx, "update", &old, &h)
	})
	return h, err
}

// replace puts a host in the place of what it was.
func replace(ctx context.Context, tx *sql.Tx, what string, old, h *keychain.Host) error {
	if err := remember(ctx, tx, h.Changed, what, h.ID, old); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE hosts SET (`+hostColumns+`, change) = (`+hostMarks+`, `+nextChange+`) WHERE id = ?`,
		append(values(h), h.ID)...)
	if err == nil && !h.LastPicture {
		_, err = tx.ExecContext(ctx, `DELETE FROM host_pictures WHERE host_id = ?`, h.ID)
	}
	return err
}

// SetFavourite makes a host a favourite, or no longer one.
func (s *Store) SetFavourite(ctx context.Context, id string, on bool) (keychain.Host, error) {
	return s.edit(ctx, "save host", id, func(h *keychain.Host) { h.Favourite = on })
}

// Move puts a host into a group; an empty group is the top.
func (s *Store) Move(ctx context.Context, id, group string) (keychain.Host, error) {
	return s.edit(ctx, "move host", id, func(h *keychain.Host) { h.Group = group })
}

// edit changes a host as it is now, whoever has changed it before.
func (s *Store) edit(ctx context.Context, op, id string, f func(h *keychain.Host)) (h keychain.Host, err error) {
	err = s.change(ctx, op, func(tx *sql.Tx) error {
		old, err := get(ctx, tx, id)
		if err != nil {
			return err
		}
		h = old
		f(&h)
		if err := check(ctx, tx, &h); err != nil {
			return err
		}
		h.Revision, h.Changed = old.Revision+1, s.stamp()
		return replace(ctx, tx, "update", &old, &h)
	})
	return h, err
}

// Duplicate saves a copy of a host under another name; without one, the name
// says that it is a copy. Secrets are not copied.
func (s *Store) Duplicate(ctx context.Context, id, name string) (keychain.Host, error) {
	h, err := s.Get(ctx, id)
	if err != nil {
		return h, err
	}
	if name == "" {
		r := []rune(h.Name)
		const more = " copy"
		name = string(r[:min(len(r), keychain.MaxName-len(more))]) + more
	}
	h.ID, h.Name, h.Favourite = "", name, false
	return s.Add(ctx, h)
}

// Delete takes a host out of the library. It can be restored for thirty days.
// One that is a hop of others is kept, and the error's Kind is InUse.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.change(ctx, "delete host", func(tx *sql.Tx) error {
		old, err := get(ctx, tx, id)
		if err != nil {
			return err
		}
		var user string
		err = tx.QueryRowContext(ctx, `SELECT name FROM hosts, json_each(hosts.via) WHERE deleted IS NULL AND json_each.value = ? LIMIT 1`, id).Scan(&user)
		if err == nil {
			return refuse(keychain.InUse, "%s is a hop on the way to %s: give that another way first", old.Name, user)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		now := s.stamp()
		if err := remember(ctx, tx, now, "delete", id, &old); err != nil {
			return err
		}
		for _, q := range []string{`DELETE FROM host_pictures WHERE host_id = ?`, `DELETE FROM recents WHERE target = ?`} {
			if _, err := tx.ExecContext(ctx, q, id); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `UPDATE hosts SET deleted = ?, revision = revision + 1, change = `+nextChange+` WHERE id = ?`, millis(now), id)
		return err
	})
}

// Restore brings back a deleted host, as it was.
func (s *Store) Restore(ctx context.Context, id string) (h keychain.Host, err error) {
	err = s.change(ctx, "restore host", func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, `UPDATE hosts SET deleted = NULL, revision = revision + 1 WHERE id = ? AND deleted IS NOT NULL`, id)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, refuse(keychain.NotFound, "no deleted host %q is left to restore", id))
		}
		if h, err = get(ctx, tx, id); err != nil {
			return err
		}
		// Its hops may have gone in the meantime; they can be set anew.
		h.Via = slices.DeleteFunc(h.Via, func(hop string) bool {
			_, e := get(ctx, tx, hop)
			return e != nil
		})
		return replace(ctx, tx, "restore", nil, &h)
	})
	return h, err
}

// History returns the changes of a host, the newest first.
func (s *Store) History(ctx context.Context, id string) ([]keychain.Change, error) {
	const op = "read history"
	rows, err := s.db.QueryContext(ctx, `SELECT at, what, before FROM history WHERE host_id = ? ORDER BY seq DESC LIMIT 1000`, id)
	if err != nil {
		return nil, s.fail(op, err)
	}
	defer rows.Close()
	var out []keychain.Change
	for rows.Next() {
		var at int64
		var c keychain.Change
		var before sql.NullString
		if err := rows.Scan(&at, &c.What, &before); err != nil {
			return nil, s.fail(op, err)
		}
		c.At = fromMillis(at)
		if before.Valid {
			c.Before = new(keychain.Host)
			if err := json.Unmarshal([]byte(before.String), c.Before); err != nil {
				return nil, s.fail(op, refuse(keychain.Corrupt, "the history of %s makes no sense: %v", id, err))
			}
		}
		out = append(out, c)
	}
	return out, s.fail(op, rows.Err())
}
