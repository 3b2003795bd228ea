// Package callers waits for machines that call the viewer by themselves, as a
// VNC server does that is told to connect to a viewer which listens, and opens
// a session for each that a person agrees to.
//
// A caller is a stranger: nothing is sent to it before somebody has agreed, how
// many wait at once is bounded, and what does not speak VNC is hung up on
// without a question. Both programs use it; it shows nothing and asks nobody by
// itself.
package callers
