package auth

import (
	"crypto/cipher"
	"crypto/des"
	"crypto/rand"
	"math/big"
	"math/bits"

	"deskvnc/viewer/conn"
)

// The sizes of MS-Logon II.
const (
	msKeyBytes      = 8
	msUserBytes     = 256
	msPasswordBytes = 64
)

// msLogon is security type 113 of UltraVNC: user and password of a Windows
// account, encrypted with the key of an exchange of 64 bits. That keeps nobody
// out for long (community RFB document, "MSLogonII Authentication").
type msLogon struct{ l *Login }

func (msLogon) Type() uint8 { return TypeMSLogonII }

func (m msLogon) Login(c *conn.Conn) error {
	b, err := take(c, 3*msKeyBytes)
	if err != nil {
		return err
	}
	number := func(i int) *big.Int { return new(big.Int).SetBytes(b[i*msKeyBytes : (i+1)*msKeyBytes]) }
	public, key, err := agree(number(0), number(1), number(2), msKeyBytes)
	if err != nil {
		return err
	}
	m.l.Notice("user and password go to this machine with an encryption that is easy to break (MS-Logon II): use a tunnel where others can listen")
	user, secret, err := m.l.User()
	if err != nil {
		return err
	}
	out := public
	for _, f := range []struct {
		content []byte
		size    int
	}{{[]byte(user), msUserBytes}, {secret.Open(), msPasswordBytes}} {
		field := make([]byte, f.size)
		if _, err := rand.Read(field); err != nil {
			return err
		}
		if err := msSeal(field, f.content, key); err != nil {
			return err
		}
		out = append(out, field...)
	}
	_, err = c.Write(out)
	return err
}

// msSeal puts content, ended by a zero, over the beginning of the field and
// encrypts all of it by DES-CBC. The key is the first block's too; its bits
// are reversed for DES, as everywhere in VNC.
func msSeal(field, content, key []byte) error {
	if len(content) >= len(field) {
		return unusable("UltraVNC takes at most %d bytes of user name and %d of password", msUserBytes-1, msPasswordBytes-1)
	}
	field[copy(field, content)] = 0
	var reversed [msKeyBytes]byte
	for i, k := range key {
		reversed[i] = bits.Reverse8(k)
	}
	block, err := des.NewCipher(reversed[:])
	if err != nil {
		return err
	}
	cipher.NewCBCEncrypter(block, key).CryptBlocks(field, field)
	return nil
}
