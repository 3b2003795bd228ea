package auth

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/binary"
	"errors"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
	"deskvnc/viewer/trust"
)

// Bounds of the messages of Macs.
const (
	// maxAppleMessage bounds one message from a Mac: two numbers of 512 bytes
	// and some text need far less.
	maxAppleMessage = 8 << 10
	// maxAppleUserBytes bounds a user name: it has to fit into a block of RSA.
	maxAppleUserBytes = 200
)

// takeApple reads a message with its length before it.
func takeApple(c *conn.Conn) ([]byte, error) {
	n, err := takeU32(c)
	if err != nil {
		return nil, err
	}
	if n > maxAppleMessage {
		return nil, tooLong("the machine sent a message of %d bytes; at most %d are read", n, maxAppleMessage)
	}
	return take(c, int(n))
}

func writeApple(c *conn.Conn, b []byte) error {
	_, err := c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

// inner is what a message of a Mac holds behind its header. The header is a
// version of two bytes and two lengths, the first counting the second, or only
// the second length (type 36).
func inner(b []byte) ([]byte, error) {
	u32 := func(at int) int64 {
		if len(b) < at+4 {
			return -1
		}
		return int64(binary.BigEndian.Uint32(b[at:]))
	}
	for _, header := range []int{10, 4} {
		n := u32(header - 4)
		if n >= 0 && n <= int64(len(b)-header) && (header == 4 || u32(2) == n+4) {
			return b[header : header+int(n)], nil
		}
	}
	return nil, malformed("a message of the machine makes no sense")
}

// identity names the user: an empty text, the name, an empty text, nothing.
func identity(user string) ([]byte, error) {
	if len(user) > maxAppleUserBytes {
		return nil, unusable("a user name of more than %d bytes cannot be sent to a Mac", maxAppleUserBytes)
	}
	b := appendM(appendM(nil, nil), []byte(user))
	b = append(b, 0, 0, 0)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...), nil
}

// appleSRP is security type 36 of Macs: SRP with the user's name in the clear.
// Nothing that follows is encrypted.
type appleSRP struct{ l *Login }

func (appleSRP) Type() uint8 { return TypeAppleSRP }

func (a appleSRP) Login(c *conn.Conn) error {
	user, password, err := a.l.User()
	if err != nil {
		return err
	}
	id, err := identity(user)
	if err != nil {
		return err
	}
	if err := writeApple(c, id); err != nil {
		return err
	}
	return a.l.srp(c, password, func(msg []byte) error {
		return writeApple(c, append(binary.BigEndian.AppendUint32(nil, uint32(len(msg))), msg...))
	})
}

// srp reads the challenge, sends the answer in the type's own envelope and
// checks the machine's proof.
func (l *Login) srp(c *conn.Conn, password viewer.Secret, send func([]byte) error) error {
	next := func() ([]byte, error) {
		b, err := takeApple(c)
		if err != nil {
			return nil, err
		}
		return inner(b)
	}
	b, err := next()
	if err != nil {
		return err
	}
	ch, err := parseSRPChallenge(b)
	if err != nil {
		return err
	}
	proof, msg, err := ch.solve(password)
	if err != nil {
		return err
	}
	if err := send(msg); err != nil {
		return err
	}
	if refused(c) {
		return nil // the security result says so
	}
	if b, err = next(); err != nil {
		return err
	}
	return proof.check(b, l.Target.Label())
}

// refused reports whether a Mac sends its security result in place of its
// proof: a length is never so small. Success in its place is not a result, it
// is a machine without a proof.
func refused(c *conn.Conn) bool {
	b, err := c.Peek(4)
	if err != nil {
		return false // the next read tells
	}
	n := binary.BigEndian.Uint32(b)
	return n > 0 && n < srpHashBytes
}

// appleRSA is security type 33 of Macs: SRP with the user's name encrypted for
// the Mac's key, which is pinned. Nothing that follows is encrypted.
type appleRSA struct{ l *Login }

func (appleRSA) Type() uint8 { return TypeAppleRSA }

// The envelope of the client's messages: version, name, kind, length.
const (
	rsa1KeyRequest = 0
	rsa1SRP        = 2
	// rsa1Rest is sent behind the content by the Mac's own viewer.
	rsa1Rest = 384
)

func rsa1(kind, length uint16, content []byte) []byte {
	b := append([]byte{1, 0}, "RSA1"...)
	b = binary.BigEndian.AppendUint16(b, kind)
	b = binary.BigEndian.AppendUint16(b, length)
	return append(b, content...)
}

func (a appleRSA) Login(c *conn.Conn) error {
	if err := writeApple(c, rsa1(rsa1KeyRequest, 0, nil)); err != nil {
		return err
	}
	b, err := takeApple(c)
	if err != nil {
		return err
	}
	key, der, err := parseAppleKey(b)
	if err != nil {
		return err
	}
	if err := a.l.Judge(trust.RSAKey(key.N.BitLen(), der, "")); err != nil {
		return err
	}
	user, password, err := a.l.User()
	if err != nil {
		return err
	}
	id, err := identity(user)
	if err != nil {
		return err
	}
	sealed, err := encryptPKCS1(key, id)
	if err != nil {
		return err
	}
	if err := writeApple(c, rsa1(rsa1SRP, uint16(len(sealed)), append(sealed, make([]byte, rsa1Rest)...))); err != nil {
		return err
	}
	return a.l.srp(c, password, func(msg []byte) error {
		content := binary.BigEndian.AppendUint32(nil, uint32(len(msg)))
		content = append(append(content, msg...), make([]byte, rsa1Rest)...)
		return writeApple(c, rsa1(rsa1SRP, uint16(len(msg)+4), content))
	})
}

// parseAppleKey reads a Mac's public key: a version, a length, the key as a
// SubjectPublicKeyInfo, and perhaps a byte more.
func parseAppleKey(b []byte) (*rsa.PublicKey, []byte, error) {
	r := tokens{b: b}
	r.bytes(2)
	n := binary.BigEndian.Uint32(r.bytes(4))
	if r.short || uint64(n) > uint64(len(r.b)) {
		return nil, nil, malformed("the machine's key makes no sense")
	}
	der := r.bytes(int(n))
	parsed, err := x509.ParsePKIXPublicKey(der)
	key, ok := parsed.(*rsa.PublicKey)
	if err == nil && !ok {
		err = errors.New("it is not an RSA key")
	}
	if err != nil {
		return nil, nil, malformed("the machine's key: %w", err)
	}
	if b := key.N.BitLen(); b < 2*minRSABits || b > maxRSABits {
		return nil, nil, tooLong("the machine has an RSA key of %d bits; %d to %d are accepted", b, 2*minRSABits, maxRSABits)
	}
	return key, der, nil
}
