// Package client carries tool calls to a running window over its control
// socket. It connects when there is something to send, so that it may be
// started before the window; it believes no reply that is not exactly one, and
// after the first byte of a request may have left it never sends that request
// again.
package client
