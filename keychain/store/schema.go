package store

// applicationID marks the file as a library of ours: "DVNC".
const applicationID = 0x44564e43

// migrations lead from nothing to the present schema, one step a version.
// A step that has been released is never edited: a change is a new step, with
// a testdata file of a library as the step before left it.
var migrations = []string{
	// 1: the library.
	`
CREATE TABLE logins (
	id TEXT PRIMARY KEY,
	revision INTEGER NOT NULL,
	name TEXT NOT NULL,
	user TEXT NOT NULL,
	domain TEXT NOT NULL,
	key_file TEXT NOT NULL,
	created INTEGER NOT NULL,
	changed INTEGER NOT NULL
) STRICT;

CREATE TABLE groups (
	id TEXT PRIMARY KEY,
	revision INTEGER NOT NULL,
	name TEXT NOT NULL,
	parent TEXT REFERENCES groups (id) ON DELETE SET NULL
) STRICT;

CREATE TABLE hosts (
	id TEXT PRIMARY KEY,
	revision INTEGER NOT NULL,
	created INTEGER NOT NULL,
	changed INTEGER NOT NULL,
	deleted INTEGER,
	name TEXT NOT NULL,
	protocol TEXT NOT NULL CHECK (protocol IN ('vnc', 'rdp', 'ssh')),
	address TEXT NOT NULL,
	port INTEGER NOT NULL CHECK (port BETWEEN 1 AND 65535),
	user TEXT NOT NULL,
	domain TEXT NOT NULL,
	login_id TEXT REFERENCES logins (id),
	group_id TEXT REFERENCES groups (id) ON DELETE SET NULL,
	favourite INTEGER NOT NULL,
	view_only INTEGER NOT NULL,
	exclusive INTEGER NOT NULL,
	sessions TEXT NOT NULL,
	encryption TEXT NOT NULL,
	key_file TEXT NOT NULL,
	certificate_file TEXT NOT NULL,
	proxy TEXT NOT NULL,
	quality TEXT NOT NULL,
	colors TEXT NOT NULL,
	scaling TEXT NOT NULL,
	zoom INTEGER NOT NULL,
	remote_resize TEXT NOT NULL,
	clipboard TEXT NOT NULL,
	keyboard TEXT NOT NULL,
	last_picture INTEGER NOT NULL,
	mac TEXT NOT NULL,
	wake_broadcast TEXT NOT NULL,
	shared_folder TEXT NOT NULL,
	tags TEXT NOT NULL,      -- JSON, as are the next five
	via TEXT NOT NULL,
	encodings TEXT NOT NULL,
	terminal TEXT NOT NULL,
	ssh TEXT NOT NULL,
	rdp TEXT NOT NULL,
	notes TEXT NOT NULL,
	change INTEGER NOT NULL  -- the counter 'changes' after the last one of this host
) STRICT;

CREATE INDEX hosts_by_change ON hosts (change);
CREATE INDEX hosts_by_name ON hosts (name COLLATE NOCASE) WHERE deleted IS NULL;
CREATE INDEX hosts_by_group ON hosts (group_id);
CREATE INDEX hosts_by_login ON hosts (login_id);

CREATE TABLE settings (
	key TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT;

CREATE TABLE counters (
	name TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT;
INSERT INTO counters VALUES ('changes', 0);
`,
	// 2: what was before, and what comes and goes.
	`
CREATE TABLE history (
	seq INTEGER PRIMARY KEY,
	at INTEGER NOT NULL,
	host_id TEXT NOT NULL,
	what TEXT NOT NULL,
	before TEXT
) STRICT;
CREATE INDEX history_by_host ON history (host_id, seq);

CREATE TABLE host_pictures (
	host_id TEXT PRIMARY KEY REFERENCES hosts (id) ON DELETE CASCADE,
	taken INTEGER NOT NULL,
	data BLOB NOT NULL
) STRICT;

CREATE TABLE recents (
	target TEXT PRIMARY KEY, -- the id of a host, or a URL
	connected INTEGER NOT NULL
) STRICT;

CREATE TABLE tabs (
	window TEXT NOT NULL,
	position INTEGER NOT NULL,
	tab TEXT NOT NULL,
	PRIMARY KEY (window, position)
) STRICT;

CREATE TABLE placements (
	window TEXT PRIMARY KEY,
	placement TEXT NOT NULL
) STRICT;
`,
	// 3: repeaters.
	`
ALTER TABLE hosts ADD COLUMN repeater TEXT NOT NULL DEFAULT '';
`,
}
