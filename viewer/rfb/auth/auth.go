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
	5: "RA2", 6: "RA2ne", 16: "Tight", 17: "UltraVNC", 18: "TLS", 19: "VeNCrypt",
	20: "SASL", 21: "MD5", 22: "xvp", 23: "Secure Tunnel", 24: "Integrated SSH",
	30: "Apple Remote Desktop", 31: "Apple 31", 32: "Apple 32", 33: "Apple Kerberos",
	35: "Apple 35", 36: "Apple SRP",
	113: "UltraVNC MS-Logon II", 114: "UltraVNC SecureVNC plugin",
	129: "RA256", 130: "RA256ne",
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
