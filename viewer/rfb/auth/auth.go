// Package auth holds the security types of RFB that this viewer can log in
// with, one file each, and the names of those it cannot.
package auth

import (
	"fmt"
	"strings"

	"deskvnc/viewer/conn"
)

// The security types by their registered numbers (RFC 6143 7.2 and the
// community's RFB document, "Security Types").
const (
	TypeInvalid = 0
	TypeNone    = 1
	TypeVNC     = 2
)

// A Method logs in by one security type.
type Method interface {
	// Type is the security type's number.
	Type() uint8
	// Login speaks the type's own messages, from after the choice of the type
	// to before the security result.
	Login(c *conn.Conn) error
}

// names are what a person finds in the settings of servers.
var names = map[uint8]string{
	TypeNone: "None", TypeVNC: "VNC password",
	TypeRA2: "RA2", TypeRA2ne: "RA2ne", 13: "RA2 in two steps", TypeTight: "Tight", TypeUltraVNC: "UltraVNC",
	TypeTLS: "TLS", TypeVeNCrypt: "VeNCrypt",
	20: "SASL", 21: "MD5", 22: "xvp", 23: "Secure Tunnel", 24: "Integrated SSH",
	TypeAppleDH: "Apple Remote Desktop", 31: "Apple, asking to observe", 32: "Apple, asking to control",
	TypeAppleRSA: "Apple RSA-SRP", 35: "Apple Kerberos", TypeAppleSRP: "Apple SRP",
	104: "UltraVNC prompt", 105: "UltraVNC session choice", 112: "UltraVNC MS-Logon I",
	TypeMSLogonII: "UltraVNC MS-Logon II", 114: "UltraVNC SecureVNC plugin", 115: "UltraVNC SecureVNC plugin (new)",
	116: "UltraVNC extra messages", 117: "UltraVNC extra messages (new)",
	TypeRA2x256: "RA2-256", TypeRA2nex256: "RA2ne-256", 133: "RA2-256 in two steps",
}

// Name is what a security type is called.
func Name(t uint8) string {
	if n, ok := names[t]; ok {
		return n
	}
	return fmt.Sprintf("type %d", t)
}

// Names lists security types for a person.
func Names(types []uint8) string {
	list := make([]string, len(types))
	for i, t := range types {
		list[i] = Name(t)
	}
	return strings.Join(list, ", ")
}
