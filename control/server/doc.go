// Package server serves the plane's attachments, and commands, to programs on
// the control socket: one JSON object a line, one reply a request, in order
// within a connection. What a connection may do is decided by whoever attaches
// it; the package knows no tool.
package server
