// Package files reads and writes the files of a machine over SFTP: list, stat,
// get and put of files and folders with progress, pause, cancel and resume,
// make, remove, rename, and a queue of transfers that survives a lost link.
//
// The protocol is spoken here (draft-ietf-secsh-filexfer-02 and OpenSSH's
// PROTOCOL), not by github.com/pkg/sftp, whose server the tests talk to: its
// client holds a listing until it is whole and without bound, takes a short
// answer for the end of a file, does not tell which attributes are missing, ends
// no call with its context, and moving 1 GiB through it cost 1.7 times the
// processor time of OpenSSH's own client.
//
// Every name, text and number of the far side is hostile input. A name is kept
// byte for byte where it is sent, cleaned where it is shown, and becomes the
// name of a local file only through [LocalName]; local folders are written
// through [os.Root], so that no link leads out of them.
//
// # Modes
//
// A new file has the permission bits of its source without set-user, set-group
// and sticky, without write for group and others, and always with read and
// write for its owner; on this side the umask takes its part too. A file that
// replaces another keeps the other's bits. A mode that the caller names is set
// as named.
//
// The package knows no shell, no window and no agent.
package files
