// Package door is how agents come in and what they may do: the switch of the
// control socket, the grant of whoever comes through it, and what of that a
// person wants remembered.
//
// Only a person may change anything here. No tool and no command that the
// socket serves leads to it, and the window's commands are served through it
// only to agents that were allowed them.
package door
