package keyfile

import (
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// maxRounds bounds the rounds of bcrypt that a file may ask for. ssh-keygen
// takes 16 or 24; a thousand take some ten seconds.
const maxRounds = 2000

// openSSHMagic begins every key of this form (PROTOCOL.key, 1).
const openSSHMagic = "openssh-key-v1\x00"

// parseOpenSSH reads OpenSSH's own form. The public half stands outside what
// is encrypted.
func parseOpenSSH(text, b []byte) (*File, error) {
	damaged := errors.New("the OpenSSH private key is damaged")
	rest, ok := cutPrefix(b, openSSHMagic)
	if !ok {
		return nil, damaged
	}
	cipher, rest, ok1 := cutString(rest)
	kdf, rest, ok2 := cutString(rest)
	options, rest, ok3 := cutString(rest)
	if !ok1 || !ok2 || !ok3 || len(rest) < 4 || binary.BigEndian.Uint32(rest) != 1 {
		return nil, damaged
	}
	blob, _, ok := cutString(rest[4:])
	if !ok {
		return nil, damaged
	}
	pub, err := ssh.ParsePublicKey(blob)
	if err != nil {
		return nil, fmt.Errorf("the OpenSSH private key is of an unknown kind: %w", err)
	}
	f := &File{Public: pub, Encrypted: string(kdf) != "none" || string(cipher) != "none"}
	if f.Encrypted {
		if string(kdf) != "bcrypt" {
			return nil, fmt.Errorf("the OpenSSH private key is locked by %q, which is not known", kdf)
		}
		_, n, ok := cutString(options)
		if !ok || len(n) < 4 {
			return nil, damaged
		}
		if r := binary.BigEndian.Uint32(n); r > maxRounds {
			return nil, fmt.Errorf("the OpenSSH private key asks for %d rounds of bcrypt, more than %d", r, maxRounds)
		}
		f.open = func(pass []byte) (any, error) {
			if len(pass) == 0 {
				return nil, ErrPassphrase
			}
			raw, err := ssh.ParseRawPrivateKeyWithPassphrase(text, pass)
			if errors.Is(err, x509.IncorrectPasswordError) {
				return nil, ErrPassphrase
			}
			return raw, err
		}
		return f, nil
	}
	raw, err := ssh.ParseRawPrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("the OpenSSH private key is damaged or of an unknown kind: %w", err)
	}
	f.open = func([]byte) (any, error) { return raw, nil }
	return f, nil
}

func cutPrefix(b []byte, p string) ([]byte, bool) {
	if len(b) < len(p) || string(b[:len(p)]) != p {
		return nil, false
	}
	return b[len(p):], true
}

// cutString takes a string with its length before it (RFC 4251 5).
func cutString(b []byte) (s, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return nil, nil, false
	}
	return b[4 : 4+n], b[4+n:], true
}
