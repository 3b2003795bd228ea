// Package rfb is the driver for machines reached over VNC (the RFB protocol).
//
// It stands on go-vnc for the order of the handshake and for dispatching
// messages, and hands it a connection ([translator]) that speaks the version
// 3.8 it knows whatever the machine speaks, and that checks every length
// before go-vnc sees it. Reading messages and drawing happen on go-vnc's loop
// goroutine; every message to the machine is written, whole, by one writer
// goroutine of ours.
//
// Documents: RFC 6143, and the community's rfbproto document for what came
// after it.
package rfb
