package auth

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"deskvnc/viewer/conn"
	"deskvnc/viewer/trust"
)

// The subtypes of VeNCrypt (community RFB document, "VeNCrypt").
const (
	subPlain     = 256
	subTLSNone   = 257
	subTLSVnc    = 258
	subTLSPlain  = 259
	subX509None  = 260
	subX509Vnc   = 261
	subX509Plain = 262
)

var subNames = map[uint32]string{
	1: "None", 2: "VNC password",
	subPlain: "Plain", subTLSNone: "TLSNone", subTLSVnc: "TLSVnc", subTLSPlain: "TLSPlain",
	subX509None: "X509None", subX509Vnc: "X509Vnc", subX509Plain: "X509Plain",
	263: "TLSSASL", 264: "X509SASL", 265: "Ident", 266: "TLSIdent", 267: "X509Ident",
}

func subName(s uint32) string {
	if n, ok := subNames[s]; ok {
		return n
	}
	return fmt.Sprintf("subtype %d", s)
}

// veNCrypt is security type 19: TLS with or without a certificate, and a login
// inside it. Version 0.2 is spoken.
type veNCrypt struct{ l *Login }

func (veNCrypt) Type() uint8 { return TypeVeNCrypt }

// preference lists the subtypes that can be logged in with, the best first.
func (v veNCrypt) preference() []uint32 {
	list := []uint32{subX509None, subX509Vnc, subX509Plain, subTLSNone, subTLSVnc, subTLSPlain}
	if v.l.Target.User != "" {
		list = []uint32{subX509None, subX509Plain, subX509Vnc, subTLSNone, subTLSPlain, subTLSVnc}
	}
	if !v.l.Target.RequireEncryption {
		list = append(list, 1, 2, subPlain)
	}
	return list
}

func (v veNCrypt) Login(c *conn.Conn) error {
	version, err := take(c, 2)
	if err != nil {
		return err
	}
	if version[0] == 0 && version[1] < 2 {
		return unsupported("the machine speaks version %d.%d of VeNCrypt, older than 0.2", version[0], version[1])
	}
	if err := write(c, 0, 2); err != nil {
		return err
	}
	switch ack, err := takeU8(c); {
	case err != nil:
		return err
	case ack != 0:
		return unsupported("the machine does not want to speak version 0.2 of VeNCrypt")
	}
	n, err := takeU8(c)
	if err != nil {
		return err
	}
	b, err := take(c, 4*int(n))
	if err != nil {
		return err
	}
	var offered []uint32
	for ; len(b) > 0; b = b[4:] {
		offered = append(offered, binary.BigEndian.Uint32(b))
	}
	for _, sub := range v.preference() {
		if slices.Contains(offered, sub) {
			return v.login(c, sub)
		}
	}
	return v.none(offered)
}

// none is the error for a machine with no subtype that is usable.
func (v veNCrypt) none(offered []uint32) error {
	names := make([]string, len(offered))
	for i, s := range offered {
		names[i] = subName(s)
	}
	list := strings.Join(names, ", ")
	switch {
	case len(offered) == 0:
		return unsupported("the machine offers VeNCrypt, but no subtype of it: its server's log tells why")
	case v.l.Target.RequireEncryption:
		return unsupported("encryption is required for %s, but of VeNCrypt it offers only %s", v.l.Target.Label(), list)
	}
	return unsupported("of VeNCrypt the machine offers only %s, which this viewer cannot do: turn on X509Vnc, X509Plain or TLSVnc there", list)
}

// login logs in by a subtype.
func (v veNCrypt) login(c *conn.Conn, sub uint32) error {
	if _, err := c.Write(binary.BigEndian.AppendUint32(nil, sub)); err != nil {
		return err
	}
	v.l.Chosen("VeNCrypt, " + subName(sub))
	start := v.l.startAnonTLS
	switch sub {
	case 1, 2, subPlain:
		start = func(*conn.Conn) error { return v.l.Judge(trust.Key{}) }
	case subX509None, subX509Vnc, subX509Plain:
		start = v.l.startTLS
		fallthrough
	default:
		switch ready, err := takeU8(c); {
		case err != nil:
			return err
		case ready != 1:
			return unsupported("the machine cannot start TLS: look at the certificate in its server's settings")
		}
	}
	if err := start(c); err != nil {
		return err
	}
	switch sub {
	case 2, subTLSVnc, subX509Vnc:
		return v.l.vnc().Login(c)
	case subTLSPlain, subX509Plain:
		return v.l.sendPlain(c)
	case subPlain:
		if err := v.l.Consent("the user name and the password"); err != nil {
			return err
		}
		return v.l.sendPlain(c)
	}
	return nil
}

// maxPlainBytes bounds a user name or password: servers take no more.
const maxPlainBytes = 1024

// sendPlain sends a user and a password as they are (VeNCrypt "Plain", and the
// Unix login of the Tight type).
func (l *Login) sendPlain(c *conn.Conn) error {
	user, secret, err := l.User()
	if err != nil {
		return err
	}
	password := secret.Open()
	if len(user) > maxPlainBytes || len(password) > maxPlainBytes {
		return unusable("a user name or password of more than %d bytes cannot be sent to this machine", maxPlainBytes)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(len(user)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(password)))
	_, err = c.Write(append(append(b, user...), password...))
	return err
}
