package auth

import (
	"crypto/des"
	"math/bits"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
)

// PasswordBytes is how much of a password security type 2 uses.
const PasswordBytes = 8

// challengeBytes is the size of the server's challenge (RFC 6143 7.2.2).
const challengeBytes = 16

// VNC is security type 2: the server sends 16 bytes, the client returns them
// encrypted by DES with the password as the key (RFC 6143 7.2.2). Nothing that
// follows is encrypted.
type VNC struct {
	// Password asks for the password once the challenge is there. It may take
	// as long as a person needs.
	Password func() (viewer.Secret, error)
}

// Type returns 2.
func (VNC) Type() uint8 { return TypeVNC }

// Login answers the challenge.
func (v VNC) Login(c *conn.Conn) error {
	b, err := c.Peek(challengeBytes)
	if err != nil {
		return err
	}
	challenge := [challengeBytes]byte(b)
	if err := c.Discard(challengeBytes); err != nil {
		return err
	}
	secret, err := v.Password()
	if err != nil {
		return err
	}
	answer, err := respond(secret.Open(), challenge)
	if err != nil {
		return err
	}
	_, err = c.Write(answer[:])
	return err
}

// respond encrypts the challenge. The key is the first eight bytes of the
// password, padded with zeros, each with its bits reversed: what every VNC
// server expects of DES, although the document does not say so.
func respond(password []byte, challenge [challengeBytes]byte) (answer [challengeBytes]byte, err error) {
	var key [PasswordBytes]byte
	copy(key[:], password)
	for i, b := range key {
		key[i] = bits.Reverse8(b)
	}
	block, err := des.NewCipher(key[:])
	if err != nil {
		return answer, err
	}
	block.Encrypt(answer[:8], challenge[:8])
	block.Encrypt(answer[8:], challenge[8:])
	return answer, nil
}
