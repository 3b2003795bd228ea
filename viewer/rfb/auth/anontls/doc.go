// Package anontls is a TLS 1.2 client for servers that have no certificate:
// anonymous Diffie-Hellman (RFC 5246 F.1.1.1), which the security types TLSNone,
// TLSVnc and TLSPlain of VNC servers use and the standard library leaves out.
//
// It does exactly that: two cipher suites (AES-GCM, RFC 5288), extended master
// secret (RFC 7627), no sessions, no renegotiation, no compression. What passes
// is safe from listeners; nothing proves who the server is.
package anontls
