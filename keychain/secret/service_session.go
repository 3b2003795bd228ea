//go:build !windows && !darwin

package secret

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"

	"github.com/godbus/dbus/v5"

	"deskvnc/viewer"
)

// Secrets travel encrypted over the bus, so that a bus monitor left running
// shows none: "dh-ietf1024-sha256-aes128-cbc-pkcs7" of the Secret Service API,
// which every known service has. It hides from onlookers, not from a program
// that takes the service's place.
const (
	algorithmDH    = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
	algorithmPlain = "plain"
)

// dhPrime is the second Oakley group, RFC 2409 6.2; its generator is 2.
var dhPrime, _ = new(big.Int).SetString(
	"FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74"+
		"020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F1437"+
		"4FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"+
		"EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF", 16)

const dhBytes = 128

// wireSecret is the struct Secret of the API, signature (oayays).
type wireSecret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

// A session is what the service calls one: the key of an exchange.
type session struct {
	path dbus.ObjectPath
	key  []byte // nil when the service knows only plain
}

// openSession agrees on a key. The session ends with the connection.
func (l *link) openSession(ctx context.Context) (session, error) {
	private, err := rand.Int(rand.Reader, new(big.Int).Rsh(dhPrime, 1))
	if err != nil {
		return session{}, &Error{Kind: Failed, Reason: "no random numbers", Err: err}
	}
	private.Add(private, big.NewInt(2))
	public := new(big.Int).Exp(big.NewInt(2), private, dhPrime).FillBytes(make([]byte, dhBytes))

	var answer dbus.Variant
	var s session
	const method = ifService + ".OpenSession"
	err = l.call(ctx, secretsPath, method, []any{&answer, &s.path}, algorithmDH, dbus.MakeVariant(public))
	var refused dbus.Error
	if errors.As(err, &refused) && refused.Name == "org.freedesktop.DBus.Error.NotSupported" {
		err = l.call(ctx, secretsPath, method, []any{&answer, &s.path}, algorithmPlain, dbus.MakeVariant(""))
		return s, err
	}
	if err != nil {
		return session{}, err
	}
	theirs, _ := answer.Value().([]byte)
	if s.key, err = sessionKey(private, theirs); err != nil {
		return session{}, &Error{Kind: Failed, Reason: "no key could be agreed on with the keyring service", Err: err}
	}
	return s, nil
}

// sessionKey derives the key from our private and their public number.
func sessionKey(private *big.Int, theirs []byte) ([]byte, error) {
	if len(theirs) > dhBytes+1 { // one leading zero is harmless
		return nil, fmt.Errorf("its number has %d bytes", len(theirs))
	}
	y := new(big.Int).SetBytes(theirs)
	one := big.NewInt(1)
	if y.Cmp(one) <= 0 || y.Cmp(new(big.Int).Sub(dhPrime, one)) >= 0 {
		return nil, errors.New("its number is out of range")
	}
	shared := new(big.Int).Exp(y, private, dhPrime).FillBytes(make([]byte, dhBytes))
	return hkdf.Key(sha256.New, shared, nil, "", aes.BlockSize)
}

// wrap makes the struct that carries a secret to the service.
func (s session) wrap(value viewer.Secret) (wireSecret, error) {
	open := value.Open()
	w := wireSecret{Session: s.path, Parameters: []byte{}, ContentType: contentType(open)}
	if s.key == nil {
		w.Value = bytes.Clone(open)
		return w, nil
	}
	block, err := aes.NewCipher(s.key)
	if err != nil {
		return wireSecret{}, err
	}
	w.Parameters = make([]byte, aes.BlockSize)
	rand.Read(w.Parameters) // never fails: crypto/rand
	pad := aes.BlockSize - len(open)%aes.BlockSize
	w.Value = append(bytes.Clone(open), bytes.Repeat([]byte{byte(pad)}, pad)...)
	cipher.NewCBCEncrypter(block, w.Parameters).CryptBlocks(w.Value, w.Value)
	return w, nil
}

// unwrap opens what the service sent. It overwrites w's value.
func (s session) unwrap(w wireSecret) (viewer.Secret, error) {
	value := w.Value
	defer clear(value)
	if len(value) > MaxBytes+aes.BlockSize {
		return viewer.Secret{}, errTooLarge(len(value), MaxBytes)
	}
	if s.key == nil {
		return viewer.NewSecret(value), nil
	}
	bad := &Error{Kind: Failed, Reason: "the keyring service sent a secret that cannot be decrypted", Advice: "try again"}
	if len(w.Parameters) != aes.BlockSize || len(value) == 0 || len(value)%aes.BlockSize != 0 {
		return viewer.Secret{}, bad
	}
	block, err := aes.NewCipher(s.key)
	if err != nil {
		return viewer.Secret{}, err
	}
	cipher.NewCBCDecrypter(block, w.Parameters).CryptBlocks(value, value)
	pad := int(value[len(value)-1])
	if pad == 0 || pad > aes.BlockSize || !bytes.Equal(value[len(value)-pad:], bytes.Repeat([]byte{byte(pad)}, pad)) {
		return viewer.Secret{}, bad
	}
	return viewer.NewSecret(value[:len(value)-pad]), nil
}
