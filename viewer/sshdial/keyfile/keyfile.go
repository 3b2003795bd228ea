// Package keyfile reads private keys as people keep them: OpenSSH's own form,
// PEM (PKCS #1, SEC 1, PKCS #8) and PuTTY's .ppk, with and without a
// passphrase.
//
// What it reads is hostile input: sizes, and the work that a file may ask for
// to turn a passphrase into a key, are bounded.
package keyfile

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/crypto/ssh"
)

// maxFileBytes bounds a key file. An RSA key of 16384 bits takes 13 KB.
const maxFileBytes = 128 << 10

// ErrPassphrase says that the passphrase does not open the key.
var ErrPassphrase = errors.New("the passphrase does not open the key")

// A File is a private key that has been read but perhaps not opened.
type File struct {
	// Public is the public half, nil when the file tells it only to those who
	// open it.
	Public ssh.PublicKey
	// Comment is what the file says about the key, or empty.
	Comment string
	// Encrypted says that it takes a passphrase to open.
	Encrypted bool

	open func(passphrase []byte) (any, error)
}

// Read reads the file of that name.
func Read(name string) (*File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.IsDir() {
		return nil, fmt.Errorf("%s is a folder", name)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	k, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return k, nil
}

// Parse reads a key of any of the forms.
func Parse(b []byte) (*File, error) {
	if len(b) > maxFileBytes {
		return nil, errors.New("the file is larger than a key")
	}
	if bytes.HasPrefix(bytes.TrimLeft(b, "\ufeff \t\r\n"), []byte("PuTTY-User-Key-File-")) {
		return parsePPK(b)
	}
	block, _ := pem.Decode(b)
	if block == nil {
		if _, _, _, _, err := ssh.ParseAuthorizedKey(b); err == nil {
			return nil, errors.New("this is the public half of a key: name the private one, without .pub")
		}
		return nil, errors.New("this is not a private key in a form that is known: OpenSSH, PEM or PuTTY (.ppk)")
	}
	switch block.Type {
	case "OPENSSH PRIVATE KEY":
		return parseOpenSSH(b, block.Bytes)
	case "ENCRYPTED PRIVATE KEY":
		return parsePKCS8(block.Bytes)
	}
	return parsePEM(b, block)
}

// Open returns the signer of the key. The passphrase is not looked at when the
// key is not encrypted. A wrong one is [ErrPassphrase].
func (f *File) Open(passphrase []byte) (ssh.Signer, error) {
	raw, err := f.open(passphrase)
	if err != nil {
		return nil, err
	}
	s, err := ssh.NewSignerFromKey(raw)
	if err != nil {
		return nil, fmt.Errorf("a key of this kind cannot be used for SSH: %w", err)
	}
	if f.Public != nil && !bytes.Equal(s.PublicKey().Marshal(), f.Public.Marshal()) {
		return nil, errors.New("the two halves of the key do not belong together")
	}
	return s, nil
}

// parsePEM reads PKCS #1, SEC 1 and open PKCS #8. Encrypted ones are of the
// old kind, with the cipher in the head of the block.
func parsePEM(b []byte, block *pem.Block) (*File, error) {
	if !bytes.Contains([]byte(block.Headers["Proc-Type"]), []byte("ENCRYPTED")) {
		raw, err := ssh.ParseRawPrivateKey(b)
		if err != nil {
			return nil, fmt.Errorf("the private key is damaged or of an unknown kind: %w", err)
		}
		return opened(raw)
	}
	return &File{Encrypted: true, open: func(pass []byte) (any, error) {
		raw, err := ssh.ParseRawPrivateKeyWithPassphrase(b, pass)
		if err != nil {
			return nil, wrong(err) // a bad decryption cannot be told from a damaged key
		}
		return raw, nil
	}}, nil
}

// opened is the file of a key that takes no passphrase.
func opened(raw any) (*File, error) {
	s, err := ssh.NewSignerFromKey(raw)
	if err != nil {
		return nil, fmt.Errorf("a key of this kind cannot be used for SSH: %w", err)
	}
	return &File{Public: s.PublicKey(), open: func([]byte) (any, error) { return raw, nil }}, nil
}

func wrong(error) error { return ErrPassphrase }
