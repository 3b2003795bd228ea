// Package paths is the one place that opens local files for an agent. It holds
// the folders that an agent may read and those it may write, finds out where a
// path really leads, and opens what is inside through [os.Root], so that a link
// that is changed between the look and the open still leads nowhere else.
//
// Only regular files are opened. A written file gets its name when it is whole;
// folders are never made. Two things cannot be told: a second name (hard link)
// inside a folder for a file outside it, and what another process does to the
// folders themselves meanwhile.
package paths
