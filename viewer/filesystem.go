package viewer

import "time"

// The kinds of failure that only files have. [Closed] is a link that broke in
// the middle, [Unsupported] a machine without file transfer, [Invalid] a path
// or a choice that cannot be.
const (
	// Missing: there is nothing by that name.
	Missing Kind = "missing"
	// Forbidden: the account may not do this there.
	Forbidden Kind = "forbidden"
	// Exists: the name is taken, and nobody said what to do about it.
	Exists Kind = "exists"
	// NotEmpty: a folder with something in it.
	NotEmpty Kind = "not-empty"
	// Full: no room, or a quota is used up.
	Full Kind = "full"
	// Differs: what arrived is not what was sent, or the source changed.
	Differs Kind = "differs"
)

// A FileType is what a name in a folder stands for.
type FileType string

// The types of entries. Anything that is neither a file, a folder nor a link is
// Special and is never opened: a pipe would wait for ever.
const (
	RegularFile FileType = "file"
	Folder      FileType = "folder"
	Link        FileType = "link"
	Special     FileType = "special"
)

// A FileEntry is one name on a machine. Names are bytes that the far side
// chose: show Shown, send Name and Path.
type FileEntry struct {
	Name  string // the last component, byte for byte
	Path  string // from the root of the machine, byte for byte
	Shown string // Name for a person: valid text in one line
	Type  FileType
	Size  int64 // bytes; -1 when the machine does not tell
	// Modified is zero when the machine does not tell.
	Modified time.Time
	// Mode is permission bits (07777), with HasMode only.
	Mode    uint32
	HasMode bool
	// Owner and Group are names when the machine tells them, else numbers.
	Owner, Group string
	// Target, of a Link, is what it says, cleaned; To is the type of what it
	// leads to, or empty when it leads nowhere or in a circle: Broken tells.
	Target string
	To     FileType
	Broken bool
}

// IsFolder reports whether the entry can be entered: a folder, or a link to
// one.
func (e FileEntry) IsFolder() bool { return e.Type == Folder || e.To == Folder }
