// Package trust decides whether a machine is the one it was: certificates and
// host keys, each trusted, unknown or changed, and the pins of those that a
// person has accepted.
//
// A certificate that an authority of this system vouches for, for the address
// that was asked for and for this day, is trusted without a question. Anything
// else is compared with the pin of the target: the protocol, the address, the
// port and the saved host, never the near end of a tunnel. An unknown key is a
// question; a changed one is a hard stop that only an explicit replacement
// passes.
//
// The package speaks no protocol: drivers hand it what the machine has shown.
package trust
