package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

// The bounds of what comes and goes.
const (
	maxPicture = 4 << 20 // bytes of a last picture
	maxRecents = 200
	maxSetting = 1 << 20 // bytes of a setting
)

// volatile writes what may be lost with the power.
func (s *Store) volatile(ctx context.Context, op string, f func(tx *sql.Tx) error) error {
	return s.fail(op, write(ctx, s.fast, f))
}

// A Recent is a machine that was connected to.
type Recent struct {
	HostID string // of a saved host, or
	Target string // a URL, or unix: and the path of a socket
	At     time.Time
}

// recentKey is a machine's key in the list: a host's id, or a URL.
func recentKey(t viewer.Target) string {
	if t.HostID != "" {
		return t.HostID
	}
	if t.Socket() {
		return "unix:" + t.Address
	}
	return string(t.Protocol) + "://" + t.HostPort()
}

// Connected notes that a machine has just been connected to.
func (s *Store) Connected(ctx context.Context, t viewer.Target) error {
	return s.volatile(ctx, "note connection", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO recents (target, connected) VALUES (?, ?) ON CONFLICT DO UPDATE SET connected = excluded.connected`, recentKey(t), millis(s.now()))
		if err == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM recents WHERE target NOT LIKE 'h\_%' ESCAPE '\' AND target NOT IN (SELECT target FROM recents ORDER BY connected DESC LIMIT ?)`, maxRecents)
		}
		return err
	})
}

// Recents returns the machines last connected to, the newest first, at most n.
func (s *Store) Recents(ctx context.Context, n int) ([]Recent, error) {
	const op = "list recent connections"
	rows, err := s.db.QueryContext(ctx, `SELECT target, connected FROM recents ORDER BY connected DESC, target LIMIT ?`, n)
	if err != nil {
		return nil, s.fail(op, err)
	}
	defer rows.Close()
	var out []Recent
	for rows.Next() {
		var key string
		var at int64
		if err := rows.Scan(&key, &at); err != nil {
			return nil, s.fail(op, err)
		}
		r := Recent{Target: key, At: fromMillis(at)}
		if len(key) > 2 && key[:2] == "h_" {
			r.HostID, r.Target = key, ""
		}
		out = append(out, r)
	}
	return out, s.fail(op, rows.Err())
}

// ForgetRecents empties the list of recent connections.
func (s *Store) ForgetRecents(ctx context.Context) error {
	return s.volatile(ctx, "forget connections", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM recents`)
		return err
	})
}

// SetPicture keeps the last picture of a host, as a PNG or JPEG. For a host
// that does not want one kept, it does nothing and reports false.
func (s *Store) SetPicture(ctx context.Context, hostID string, data []byte) (kept bool, err error) {
	if len(data) == 0 || len(data) > maxPicture {
		return false, &keychain.Error{Op: "keep picture", Kind: keychain.Invalid, Err: errors.New("a picture has 1 byte to 4 MiB")}
	}
	err = s.volatile(ctx, "keep picture", func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, `INSERT INTO host_pictures (host_id, taken, data)
			SELECT id, ?, ? FROM hosts WHERE id = ? AND deleted IS NULL AND last_picture
			ON CONFLICT DO UPDATE SET taken = excluded.taken, data = excluded.data`, millis(s.now()), data, hostID)
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		kept = n > 0
		return err
	})
	return kept && err == nil, err
}

// Picture returns the last picture of a host and when it was taken; nil
// without one.
func (s *Store) Picture(ctx context.Context, hostID string) (data []byte, taken time.Time, err error) {
	var at int64
	err = s.db.QueryRowContext(ctx, `SELECT taken, data FROM host_pictures WHERE host_id = ?`, hostID).Scan(&at, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, time.Time{}, nil
	}
	return data, fromMillis(at), s.fail("read picture", err)
}

// SetTabs notes which sessions a window shows.
func (s *Store) SetTabs(ctx context.Context, window string, tabs []keychain.Tab) error {
	return s.volatile(ctx, "keep tabs", func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM tabs WHERE window = ?`, window); err != nil {
			return err
		}
		for i, t := range tabs {
			if _, err := tx.ExecContext(ctx, `INSERT INTO tabs (window, position, tab) VALUES (?, ?, ?)`, window, i, text(t)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Tabs returns what SetTabs noted, by window.
func (s *Store) Tabs(ctx context.Context) (map[string][]keychain.Tab, error) {
	const op = "read tabs"
	rows, err := s.db.QueryContext(ctx, `SELECT window, tab FROM tabs ORDER BY window, position`)
	if err != nil {
		return nil, s.fail(op, err)
	}
	defer rows.Close()
	out := make(map[string][]keychain.Tab)
	for rows.Next() {
		var window, tab string
		var t keychain.Tab
		if err := rows.Scan(&window, &tab); err != nil {
			return nil, s.fail(op, err)
		}
		if err := json.Unmarshal([]byte(tab), &t); err != nil {
			continue // an open tab is not worth an error
		}
		out[window] = append(out[window], t)
	}
	return out, s.fail(op, rows.Err())
}

// SetPlacement notes where a window is.
func (s *Store) SetPlacement(ctx context.Context, window string, p keychain.Placement) error {
	return s.volatile(ctx, "keep placement", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO placements (window, placement) VALUES (?, ?) ON CONFLICT DO UPDATE SET placement = excluded.placement`, window, text(p))
		return err
	})
}

// Placement returns where a window was, and whether that is known.
func (s *Store) Placement(ctx context.Context, window string) (p keychain.Placement, known bool, err error) {
	var v string
	err = s.db.QueryRowContext(ctx, `SELECT placement FROM placements WHERE window = ?`, window).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return p, false, nil
	}
	if err != nil {
		return p, false, s.fail("read placement", err)
	}
	return p, json.Unmarshal([]byte(v), &p) == nil, nil
}

// SetSetting saves a preference, in the form of JSON; nil takes it away.
func (s *Store) SetSetting(ctx context.Context, key string, value json.RawMessage) error {
	const op = "save setting"
	if key == "" || len(key) > 128 || len(value) > maxSetting || value != nil && !json.Valid(value) {
		return &keychain.Error{Op: op, Kind: keychain.Invalid, Err: errors.New("a setting has a name of 1 to 128 bytes and a value of JSON up to 1 MiB")}
	}
	return s.change(ctx, op, func(tx *sql.Tx) error {
		if value == nil {
			_, err := tx.ExecContext(ctx, `DELETE FROM settings WHERE key = ?`, key)
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`, key, string(value))
		return err
	})
}

// Setting returns a preference; nil when it was never set.
func (s *Store) Setting(ctx context.Context, key string) (json.RawMessage, error) {
	var v string
	err := s.db.QueryRowContext(ctx, `SELECT value FROM settings WHERE key = ?`, key).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, s.fail("read setting", err)
	}
	return json.RawMessage(v), nil
}
