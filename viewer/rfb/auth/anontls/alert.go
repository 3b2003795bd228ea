package anontls

import (
	"fmt"
	"io"
)

// An Alert is the reason for which the server ended the connection (RFC 5246
// 7.2).
type Alert uint8

// HandshakeFailure: the server can do none of the cipher suites offered.
const HandshakeFailure Alert = 40

const (
	alertCloseNotify   Alert = 0
	alertLevelWarning        = 1
	alertLevelFatal          = 2
	alertUnexpected    Alert = 10
	alertProtocolError Alert = 50 // decode_error
)

var alertNames = map[Alert]string{
	10: "unexpected message", 20: "bad record", 22: "record overflow", 40: "no common cipher suite",
	47: "illegal parameter", 50: "decode error", 51: "decrypt error", 70: "protocol version not supported",
	71: "insufficient security", 80: "internal error", 86: "inappropriate fallback", 90: "cancelled",
}

// Error names the alert.
func (a Alert) Error() string {
	if n, ok := alertNames[a]; ok {
		return "tls: the server said: " + n
	}
	return fmt.Sprintf("tls: the server sent the alert %d", uint8(a))
}

// readAlert is the error that an alert means; nil for a warning to be ignored.
func readAlert(content []byte) error {
	if len(content) != 2 {
		return recordError("tls: an alert of a wrong size")
	}
	switch a := Alert(content[1]); {
	case a == alertCloseNotify:
		return io.EOF
	case content[0] == alertLevelWarning:
		return nil
	default:
		return a
	}
}
