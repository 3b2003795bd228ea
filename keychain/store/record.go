package store

import (
	"database/sql"
	"encoding/json"
	"strings"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

// hostColumns are the columns of a host, in the order that values and scan
// have them.
const hostColumns = `id, revision, created, changed, name, protocol, address, port, user, domain, login_id, group_id,
	favourite, view_only, exclusive, sessions, encryption, key_file, certificate_file, proxy, quality, colors,
	scaling, zoom, remote_resize, clipboard, keyboard, last_picture, mac, wake_broadcast, shared_folder,
	tags, via, encodings, terminal, ssh, rdp, notes, repeater`

// nextChange is what the counter of changes will be after this one.
const nextChange = `(SELECT value + 1 FROM counters WHERE name = 'changes')`

// hostMarks are as many question marks.
var hostMarks = strings.TrimSuffix(strings.Repeat("?, ", strings.Count(hostColumns, ",")+1), ", ")

// text is v as JSON; the types here always have a form.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func nullable(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// storedPort is the port of a host as the column takes it, which has no 0: a
// socket of this computer has a port that nobody looks at.
func storedPort(h *keychain.Host) int {
	if h.Target().Socket() {
		return h.Protocol.DefaultPort()
	}
	return h.Port
}

// values are a host's columns.
func values(h *keychain.Host) []any {
	return []any{
		h.ID, h.Revision, millis(h.Created), millis(h.Changed), h.Name, string(h.Protocol), h.Address, storedPort(h), h.User, h.Domain,
		nullable(h.Login), nullable(h.Group), h.Favourite, h.ViewOnly, h.Exclusive, string(h.Sessions), string(h.Encryption),
		h.KeyFile, h.CertificateFile, h.Proxy, string(h.Quality), string(h.Colors), string(h.Scaling), h.Zoom,
		string(h.RemoteResize), string(h.Clipboard), string(h.Keyboard), h.LastPicture, h.MAC, h.WakeBroadcast, h.SharedFolder,
		text(h.Tags), text(h.Via), text(h.Encodings), text(h.Terminal), text(h.SSH), text(h.RDP), h.Notes, h.Repeater,
	}
}

// scan reads a host from a row of hostColumns, and what more there is in it.
func scan(row interface{ Scan(...any) error }, more ...any) (keychain.Host, error) {
	var h keychain.Host
	var created, changed int64
	var protocol, tags, via, encodings, terminal, ssh, rdp string
	var login, group sql.NullString
	err := row.Scan(append([]any{
		&h.ID, &h.Revision, &created, &changed, &h.Name, &protocol, &h.Address, &h.Port, &h.User, &h.Domain,
		&login, &group, &h.Favourite, &h.ViewOnly, &h.Exclusive, &h.Sessions, &h.Encryption,
		&h.KeyFile, &h.CertificateFile, &h.Proxy, &h.Quality, &h.Colors, &h.Scaling, &h.Zoom,
		&h.RemoteResize, &h.Clipboard, &h.Keyboard, &h.LastPicture, &h.MAC, &h.WakeBroadcast, &h.SharedFolder,
		&tags, &via, &encodings, &terminal, &ssh, &rdp, &h.Notes, &h.Repeater,
	}, more...)...)
	if err != nil {
		return h, err
	}
	h.Created, h.Changed = fromMillis(created), fromMillis(changed)
	h.Protocol, h.Login, h.Group = viewer.Protocol(protocol), login.String, group.String
	if h.Target().Socket() {
		h.Port = 0
	}
	for _, f := range []struct {
		text string
		to   any
	}{{tags, &h.Tags}, {via, &h.Via}, {encodings, &h.Encodings}, {terminal, &h.Terminal}, {ssh, &h.SSH}, {rdp, &h.RDP}} {
		if f.text == "null" || f.text == "{}" {
			continue
		}
		if err := json.Unmarshal([]byte(f.text), f.to); err != nil {
			return h, refuse(keychain.Corrupt, "the host %s holds settings that make no sense: %v", h.ID, err)
		}
	}
	return h, nil
}
