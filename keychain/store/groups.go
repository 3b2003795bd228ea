package store

import (
	"context"
	"database/sql"
	"errors"

	"deskvnc/keychain"
)

// maxDepth bounds how deep groups are nested.
const maxDepth = 16

// Groups returns all groups, by name.
func (s *Store) Groups(ctx context.Context) ([]keychain.Group, error) {
	const op = "list groups"
	rows, err := s.db.QueryContext(ctx, `SELECT id, revision, name, ifnull(parent, '') FROM groups ORDER BY name COLLATE NOCASE, id`)
	if err != nil {
		return nil, s.fail(op, err)
	}
	defer rows.Close()
	var out []keychain.Group
	for rows.Next() {
		var g keychain.Group
		if err := rows.Scan(&g.ID, &g.Revision, &g.Name, &g.Parent); err != nil {
			return nil, s.fail(op, err)
		}
		out = append(out, g)
	}
	return out, s.fail(op, rows.Err())
}

// AddGroup saves a new group and returns it with its id.
func (s *Store) AddGroup(ctx context.Context, g keychain.Group) (keychain.Group, error) {
	g, err := g.Checked()
	if err != nil {
		return g, err
	}
	g.ID, g.Revision = newID("g_"), 1
	err = s.change(ctx, "add group", func(tx *sql.Tx) error {
		if err := checkParents(ctx, tx, &g); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO groups (id, revision, name, parent) VALUES (?, ?, ?, ?)`, g.ID, g.Revision, g.Name, nullable(g.Parent))
		return err
	})
	return g, err
}

// UpdateGroup renames or moves a group that was read before.
func (s *Store) UpdateGroup(ctx context.Context, g keychain.Group) (keychain.Group, error) {
	g, err := g.Checked()
	if err != nil {
		return g, err
	}
	err = s.change(ctx, "save group", func(tx *sql.Tx) error {
		if err := fresh(ctx, tx, "groups", "group", g.ID, g.Revision); err != nil {
			return err
		}
		if err := checkParents(ctx, tx, &g); err != nil {
			return err
		}
		g.Revision++
		_, err := tx.ExecContext(ctx, `UPDATE groups SET revision = ?, name = ?, parent = ? WHERE id = ?`, g.Revision, g.Name, nullable(g.Parent), g.ID)
		return err
	})
	return g, err
}

// fresh refuses what is not there any more, or was changed since revision.
func fresh(ctx context.Context, tx *sql.Tx, table, what, id string, revision int64) error {
	var now int64
	err := tx.QueryRowContext(ctx, `SELECT revision FROM `+table+` WHERE id = ?`, id).Scan(&now)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return refuse(keychain.NotFound, "there is no %s %q", what, id)
	case err == nil && now != revision:
		return refuse(keychain.Conflict, "the %s has been changed elsewhere since it was read: read it again and repeat the change", what)
	}
	return err
}

// checkParents refuses a parent that is not there, is the group itself or in
// it, or is nested too deep.
func checkParents(ctx context.Context, tx *sql.Tx, g *keychain.Group) error {
	depth := 1
	for id := g.Parent; id != ""; depth++ {
		if id == g.ID {
			return refuse(keychain.Invalid, "the group %s cannot be in itself", g.Name)
		}
		if depth == maxDepth {
			return refuse(keychain.Invalid, "groups can be nested %d deep", maxDepth)
		}
		err := tx.QueryRowContext(ctx, `SELECT ifnull(parent, '') FROM groups WHERE id = ?`, id).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return refuse(keychain.Invalid, "the group that %s should be in is not there any more: choose another", g.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// DeleteGroup takes a group away. What was in it, hosts and groups, goes to
// where the group was.
func (s *Store) DeleteGroup(ctx context.Context, id string) error {
	return s.change(ctx, "delete group", func(tx *sql.Tx) error {
		var parent sql.NullString
		err := tx.QueryRowContext(ctx, `SELECT parent FROM groups WHERE id = ?`, id).Scan(&parent)
		if errors.Is(err, sql.ErrNoRows) {
			return refuse(keychain.NotFound, "there is no group %q", id)
		}
		if err != nil {
			return err
		}
		for _, q := range []string{
			`UPDATE hosts SET group_id = ?, revision = revision + 1, change = ` + nextChange + ` WHERE group_id = ?`,
			`UPDATE groups SET parent = ?, revision = revision + 1 WHERE parent = ?`,
		} {
			if _, err := tx.ExecContext(ctx, q, parent, id); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM groups WHERE id = ?`, id)
		return err
	})
}
