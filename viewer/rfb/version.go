package rfb

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"deskvnc/viewer"
)

// greetingBytes is the size of the ProtocolVersion message (RFC 6143 7.1.1).
const greetingBytes = 12

// A version is the minor number of the protocol version that is spoken: 3, 7
// or 8. The major number is always 3.
type version int

// reply is the client's ProtocolVersion message.
func (v version) reply() []byte { return fmt.Appendf(nil, "RFB 003.%03d\n", int(v)) }

// parseGreeting finds the version to speak with a machine that sent greeting.
// Macs say 3.889 and RealVNC 4.x and 5.x; all of these do as 3.8. Minors under
// 7 were given out by mistake and mean 3.3.
func parseGreeting(greeting []byte) (version, error) {
	s := string(greeting)
	if len(s) != greetingBytes || !strings.HasPrefix(s, "RFB ") || s[7] != '.' || s[11] != '\n' {
		return 0, &viewer.Error{Op: "rfb.Greeting", Kind: viewer.Malformed,
			Err: fmt.Errorf("this is not a VNC server: it greets with %s", strconv.QuoteToASCII(s))}
	}
	major, err1 := strconv.ParseUint(s[4:7], 10, 16)
	minor, err2 := strconv.ParseUint(s[8:11], 10, 16)
	if err := errors.Join(err1, err2); err != nil {
		return 0, &viewer.Error{Op: "rfb.Greeting", Kind: viewer.Malformed,
			Err: fmt.Errorf("the version in the greeting %s is not a number", strconv.QuoteToASCII(s))}
	}
	switch {
	case major == 0:
		return 0, &viewer.Error{Op: "rfb.Greeting", Kind: viewer.Unsupported,
			Err: errors.New("this is a VNC repeater, not a machine: give the number under which the machine waits at it")}
	case major < 3, major == 3 && minor < 3:
		return 0, &viewer.Error{Op: "rfb.Greeting", Kind: viewer.Unsupported,
			Err: fmt.Errorf("the machine speaks RFB %d.%d, which is older than 3.3", major, minor)}
	case major == 3 && minor < 7:
		return 3, nil
	case major == 3 && minor == 7:
		return 7, nil
	}
	return 8, nil
}
