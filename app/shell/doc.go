// Package shell is the command line of the sessions: one verb for every tool,
// made from the tools' rows, the holder that keeps sessions open between the
// calls of a shell, and the commands that change the saved machines and their
// passwords.
//
// A verb does what its tool does and nothing else. It finds out which program
// serves it (see [Register]), calls it once and prints the answer.
package shell
