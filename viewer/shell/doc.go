// Package shell is the driver of SSH machines: a terminal, drawn into a grid,
// and commands beside it, each on a channel of its own. Logging in is
// sshdial's work; what runs through the login otherwise, files and tunnels, is
// found by [viewer.Carrier].
//
// One goroutine reads what the program prints and draws it, and no faster: the
// window of the SSH channel holds the program back. Another one writes, from
// one queue in which inputs keep their order.
package shell
