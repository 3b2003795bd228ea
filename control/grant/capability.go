package grant

import "slices"

// The capabilities.
const (
	View            = "view"
	Capture         = "capture"
	Control         = "control"
	Open            = "open"
	Close           = "close"
	Admin           = "admin"
	HostsRead       = "hosts.read"
	ClipboardRead   = "clipboard.read"
	ClipboardWrite  = "clipboard.write"
	TerminalRead    = "terminal.read"
	TerminalWrite   = "terminal.write"
	FilesRead       = "files.read"
	FilesWrite      = "files.write"
	BrowserNavigate = "browser.navigate"
	BrowserTabs     = "browser.tabs"
	Exec            = "exec"     // in no bundle
	Scancode        = "scancode" // in no bundle
	// App, Peers and Record open the toolsets of those names; in no bundle.
	App    = "app"
	Peers  = "peers"
	Record = "record"
)

// Capabilities are all of them, in the order they are shown.
func Capabilities() []string {
	return []string{
		View, Capture, Control, Open, Close, Admin, HostsRead, ClipboardRead, ClipboardWrite, TerminalRead,
		TerminalWrite, FilesRead, FilesWrite, BrowserNavigate, BrowserTabs, Exec, Scancode, App, Peers, Record,
	}
}

// Known reports whether name is a capability.
func Known(name string) bool { return slices.Contains(Capabilities(), name) }

// The bundles. Each is written out in full, so that a change of one is no
// change of another.
var bundles = map[string][]string{
	"observer": {View},
	"driver": {
		View, Control, ClipboardWrite, TerminalRead, TerminalWrite, BrowserNavigate, BrowserTabs,
	},
	"operator": {
		View, Control, ClipboardWrite, TerminalRead, TerminalWrite, BrowserNavigate, BrowserTabs,
		Open, Close, Capture, ClipboardRead, HostsRead, FilesRead, FilesWrite,
	},
	"agent": {
		View, Control, Capture, TerminalRead, TerminalWrite, BrowserNavigate, BrowserTabs,
	},
	"owner": {
		View, Capture, Control, Open, Close, Admin, HostsRead, ClipboardRead, ClipboardWrite, TerminalRead,
		TerminalWrite, FilesRead, FilesWrite, BrowserNavigate, BrowserTabs,
	},
}

// Bundles are the names of the bundles, from the least to the most.
func Bundles() []string { return []string{"observer", "driver", "agent", "operator", "owner"} }

// Bundle is the capabilities of a bundle; nil for a name that is none.
func Bundle(name string) []string { return slices.Clone(bundles[name]) }
