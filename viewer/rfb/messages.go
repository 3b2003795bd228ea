package rfb

import (
	"io"

	vnc "github.com/mitchellh/go-vnc"
)

// The server messages by their numbers (RFC 6143 7.6). Fences and the end of
// continuous updates have the numbers of the client's messages.
const (
	msgFramebufferUpdate   = 0
	msgSetColourMapEntries = 1
	msgBell                = 2
	msgServerCutText       = 3
)

// A message makes a reader one of go-vnc's server messages. The readers keep
// no state of their own, so one object serves all messages of a type.
type message struct {
	number uint8
	read   func() error
	fail   func(error) error
}

var _ vnc.ServerMessage = (*message)(nil)

// Type is the message's number.
func (m *message) Type() uint8 { return m.number }

// Read reads the rest of one message.
func (m *message) Read(*vnc.ClientConn, io.Reader) (vnc.ServerMessage, error) {
	if err := m.read(); err != nil {
		return nil, m.fail(err)
	}
	return m, nil
}
