-- A library of form 3.
PRAGMA application_id = 1146506819;
PRAGMA user_version = 3;
PRAGMA foreign_keys = OFF;
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
ALTER TABLE hosts ADD COLUMN repeater TEXT NOT NULL DEFAULT '';
INSERT INTO logins VALUES ('l_admin', 1, 'admin', 'root', '', '', 1700000000000, 1700000000000);
INSERT INTO groups VALUES ('g_lab', 1, 'Lab', NULL);
INSERT INTO hosts VALUES ('h_gate', 4, 1700000000000, 1700000001000, NULL, 'gate', 'ssh', 'lab01.example.com', 2222, 'me', 'CORP', NULL, NULL, 0, 1, 1, 'many', 'required', '/home/me/.ssh/id', '/etc/ca.pem', 'socks5://proxy:1080', 'fast', 'high', 'zoom', 150, 'follow', 'to-remote', 'scancode', 1, '52:54:00:12:34:56', '10.0.0.255', '/home/me/share', '["lab","linux"]', 'null', '["zrle","hextile"]', '{"type":"xterm","command":"tmux attach","fontSize":12,"scrollback":5000,"scheme":"dark","encoding":"latin1","bell":"visible"}', '{"forwardAgent":true,"noAgent":true,"noConfig":true,"keepAlive":30,"tunnels":[{"direction":"local","listen":"8080","target":"web:80"}]}', '{"gateway":"gw:443","security":"nla","admin":true,"loadBalance":"lb","program":"calc","audio":"here","microphone":true,"printers":true,"allScreens":true}', 'rack 3,
second shelf', 1, '');
INSERT INTO hosts VALUES ('h_full', 4, 1700000000000, 1700000001000, NULL, 'full', 'ssh', 'lab01.example.com', 2222, 'me', 'CORP', 'l_admin', 'g_lab', 1, 1, 1, 'many', 'required', '/home/me/.ssh/id', '/etc/ca.pem', 'socks5://proxy:1080', 'fast', 'high', 'zoom', 150, 'follow', 'to-remote', 'scancode', 1, '52:54:00:12:34:56', '10.0.0.255', '/home/me/share', '["lab","linux"]', '["h_gate"]', '["zrle","hextile"]', '{"type":"xterm","command":"tmux attach","fontSize":12,"scrollback":5000,"scheme":"dark","encoding":"latin1","bell":"visible"}', '{"forwardAgent":true,"noAgent":true,"noConfig":true,"keepAlive":30,"tunnels":[{"direction":"local","listen":"8080","target":"web:80"}]}', '{"gateway":"gw:443","security":"nla","admin":true,"loadBalance":"lb","program":"calc","audio":"here","microphone":true,"printers":true,"allScreens":true}', 'rack 3,
second shelf', 2, 'ID:1234');
INSERT INTO hosts VALUES ('h_gone', 4, 1700000000000, 1700000001000, 4102444800000, 'gone', 'ssh', 'lab01.example.com', 2222, 'me', 'CORP', NULL, NULL, 0, 1, 1, 'many', 'required', '/home/me/.ssh/id', '/etc/ca.pem', 'socks5://proxy:1080', 'fast', 'high', 'zoom', 150, 'follow', 'to-remote', 'scancode', 1, '52:54:00:12:34:56', '10.0.0.255', '/home/me/share', '["lab","linux"]', 'null', '["zrle","hextile"]', '{"type":"xterm","command":"tmux attach","fontSize":12,"scrollback":5000,"scheme":"dark","encoding":"latin1","bell":"visible"}', '{"forwardAgent":true,"noAgent":true,"noConfig":true,"keepAlive":30,"tunnels":[{"direction":"local","listen":"8080","target":"web:80"}]}', '{"gateway":"gw:443","security":"nla","admin":true,"loadBalance":"lb","program":"calc","audio":"here","microphone":true,"printers":true,"allScreens":true}', 'rack 3,
second shelf', 3, '');
INSERT INTO settings VALUES ('theme', '"dark"');
INSERT INTO counters VALUES ('changes', 4);
INSERT INTO history VALUES (1, 1700000000000, 'h_full', 'add', NULL);
INSERT INTO host_pictures VALUES ('h_full', 1700000000000, x'706e67');
INSERT INTO recents VALUES ('h_full', 1700000000000);
INSERT INTO tabs VALUES ('main', 0, '{"hostId":"h_full"}');
INSERT INTO placements VALUES ('main', '{"x":1,"y":2,"width":3,"height":4}');
