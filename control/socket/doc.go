// Package socket listens and dials for the control socket: TCP on 127.0.0.1
// with a key file, or a unix socket in the user's runtime folder where the
// peer's user is checked. It knows nothing of what is said over it.
package socket
