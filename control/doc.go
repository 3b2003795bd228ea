// Package control holds the words between the control plane and everything
// that drives it: the tool rows ([Row]), tool results ([Result]), refusals
// ([Refused]), the observation an agent sees ([Observation]), limb ids, and the
// envelopes of the control socket.
//
// One row describes a tool for all four faces (MCP, the control socket, the
// command line, the documentation), and one handler in control/plane serves it.
// The package does no work and knows no engine, driver or MCP library.
package control
