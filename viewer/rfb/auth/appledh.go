package auth

import (
	"crypto/aes"
	"crypto/md5"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math/big"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
)

const (
	// appleFieldBytes is the size of the fields for user and password, each
	// ended by a zero.
	appleFieldBytes = 64
	// maxAppleKeyBytes bounds the group; Macs use up to 512 bytes.
	maxAppleKeyBytes = 1024
	// minAppleKeyBytes is the smallest group a Mac has used.
	minAppleKeyBytes = 64
	// appleKeyStep divides the size of every group.
	appleKeyStep = 8
)

// appleDH is security type 30 of Macs: a key exchange that proves nothing, and
// user and password encrypted with its key. Nothing that follows is encrypted
// (community RFB document, "Diffie-Hellman Authentication").
type appleDH struct{ l *Login }

func (appleDH) Type() uint8 { return TypeAppleDH }

func (a appleDH) Login(c *conn.Conn) error {
	b, err := take(c, 4)
	if err != nil {
		return err
	}
	generator, size := big.NewInt(int64(binary.BigEndian.Uint16(b))), int(binary.BigEndian.Uint16(b[2:]))
	if size < minAppleKeyBytes || size > maxAppleKeyBytes {
		return tooLong("the machine's key exchange has %d bytes; %d to %d are accepted", size, minAppleKeyBytes, maxAppleKeyBytes)
	}
	if size%appleKeyStep != 0 {
		// neatvnc 0.9 counts the bytes of its own value without the zeros at its
		// front, and then cuts as many off its end: nobody can go on from there.
		return &viewer.Error{Op: "rfb.Login", Kind: viewer.Closed,
			Err: fmt.Errorf("the machine cut its part of the key exchange short, to %d bytes, as wayvnc does in one login of 256: connect once more", size)}
	}
	if b, err = take(c, 2*size); err != nil {
		return err
	}
	modulus, theirs := new(big.Int).SetBytes(b[:size]), new(big.Int).SetBytes(b[size:])
	public, shared, err := agree(generator, modulus, theirs, size)
	if err != nil {
		return err
	}
	user, secret, err := a.l.User()
	if err != nil {
		return err
	}
	fields := make([]byte, 2*appleFieldBytes)
	if _, err := rand.Read(fields); err != nil {
		return err
	}
	if err := appleSeal(fields, shared, []byte(user), secret.Open()); err != nil {
		return err
	}
	_, err = c.Write(append(fields, public...))
	return err
}

// appleSeal puts user and password, each ended by a zero, over the beginnings
// of the two fields in b and encrypts them by AES-128-ECB with the MD5 of the
// shared secret.
func appleSeal(b, shared, user, password []byte) error {
	for i, field := range [][]byte{user, password} {
		if len(field) >= appleFieldBytes {
			return unusable("a Mac takes at most %d bytes of user name and of password each by this type of login: use a shorter one, or a VNC password", appleFieldBytes-1)
		}
		to := b[i*appleFieldBytes : (i+1)*appleFieldBytes]
		to[copy(to, field)] = 0
	}
	key := md5.Sum(shared)
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return err
	}
	for i := 0; i < len(b); i += aes.BlockSize {
		block.Encrypt(b[i:], b[i:])
	}
	return nil
}
